/* JSON read in two passes: the first counts the values, the second makes their nodes in one
 * block and decodes texts over themselves in a copy of the text. */
#include "archive/json.h"

#include "base/memory.h"
#include "base/plain.h"
#include "base/progress.h"
#include "base/number.h"
#include "io/utf8.h"

#include <math.h>
#include <string.h>

/* ---- Parsing: one pass counts the nodes, one makes them and decodes the texts in place ---- */

typedef struct {
    char *start, *p, *end; /* *end is 0 */
    json_node *node;
    size_t used; /* nodes */
    int depth;
    locale_t c_locale;
} parser;

static quorum_status wrong(const parser *s, const char *what)
{
    return failure(QUORUM_E_FORMAT, "not JSON at byte %zu: %s", (size_t)(s->p - s->start), what);
}

/* Every value but the first follows a comma, '[' or '{'. */
static size_t count_nodes(const char *p, const char *end)
{
    size_t count = 1;
    int quoted = 0;
    for (; p < end; p++) {
        if (*p == '"')
            quoted = !quoted;
        else if (quoted)
            p += *p == '\\';
        else
            count += *p == ',' || *p == '[' || *p == '{';
    }
    return count;
}

static void skip_blanks(parser *s)
{
    while (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r')
        s->p++;
}

static int take(parser *s, char c)
{
    skip_blanks(s);
    int found = *s->p == c;
    s->p += found;
    return found;
}

/* ---- Texts ---- */

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Four digits; the zero at the end of the text is none. */
static int scan_hex(parser *s, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++, s->p++) {
        int digit = hex_value(*s->p);
        if (digit < 0)
            return 0;
        *value = 16 * *value + (uint32_t)digit;
    }
    return 1;
}

/* After \u: a character, or two halves of one beyond U+FFFF. */
static quorum_status decode_unicode(parser *s, char **to)
{
    uint32_t high, low;
    if (!scan_hex(s, &high))
        return wrong(s, "\\u needs four digits");
    if (high == 0)
        return wrong(s, "a text has a zero character");
    if (high >= 0xD800 && high <= 0xDFFF) {
        if (high > 0xDBFF || s->p[0] != '\\' || s->p[1] != 'u')
            return wrong(s, "half a character");
        s->p += 2;
        if (!scan_hex(s, &low) || low < 0xDC00 || low > 0xDFFF)
            return wrong(s, "half a character");
        high = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    }
    *to += utf8_encode(high, *to); /* at most 3 bytes of 6, 4 of 12 */
    return QUORUM_OK;
}

static quorum_status decode_escape(parser *s, char **to)
{
    static const char letter[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    char c = s->p[1];
    const char *found = c ? strchr(letter, c) : NULL;
    if (!found && c != 'u')
        return wrong(s, "no such escape");
    s->p += 2;
    if (!found)
        return decode_unicode(s, to);
    *(*to)++ = meaning[found - letter];
    return QUORUM_OK;
}

/* From the opening quote on; the text is decoded over itself, its end over the closing quote
 * or before it. */
static quorum_status parse_text(parser *s, const char **out)
{
    char *to = ++s->p;
    *out = to;
    while (*s->p != '"') {
        size_t length = utf8_length(s->p, s->end);
        if (length == 0)
            return wrong(s, s->p == s->end ? "a text has no end" : "a text is not UTF-8");
        if (length == 1 && (unsigned char)*s->p < 0x20)
            return wrong(s, "a control character in a text");
        if (*s->p == '\\') {
            TRY(decode_escape(s, &to));
            continue;
        }
        memmove(to, s->p, length);
        to += length;
        s->p += length;
    }
    s->p++;
    *to = '\0';
    return QUORUM_OK;
}

/* ---- Numbers and words ---- */

static size_t count_digits(const char *p)
{
    return strspn(p, "0123456789");
}

/* Where [-] int [frac] [exp] ends, NULL when it is none; *whole: without the last two. */
static const char *scan_number(const char *p, int *whole)
{
    p += *p == '-';
    size_t digits = count_digits(p);
    if (digits == 0 || (digits > 1 && *p == '0'))
        return NULL;
    p += digits;
    *whole = *p != '.' && *p != 'e' && *p != 'E';
    if (*p == '.') {
        digits = count_digits(p + 1);
        if (digits == 0)
            return NULL;
        p += 1 + digits;
    }
    if (*p == 'e' || *p == 'E') {
        p += 1 + (p[1] == '-' || p[1] == '+');
        digits = count_digits(p);
        return digits ? p + digits : NULL;
    }
    return p;
}

/* Exact within 64 bits; 0 beyond them.  Negative all the way: -2^63 has no positive. */
static int parse_integer(const char *p, const char *end, int64_t *value)
{
    int negative = *p == '-';
    int64_t v = 0;
    for (p += negative; p < end; p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, *p - '0', &v))
            return 0;
    if (!negative && __builtin_sub_overflow(0, v, &v))
        return 0;
    *value = v;
    return 1;
}

static quorum_status parse_number(parser *s, json_node *n)
{
    int whole = 0;
    const char *stop = scan_number(s->p, &whole);
    if (!stop)
        return wrong(s, "not a number");
    n->kind = JSON_INTEGER;
    if (!whole || !parse_integer(s->p, stop, &n->value.integer)) {
        n->kind = JSON_REAL;
        if (number_parse(s->p, stop, s->c_locale, &n->value.real) != stop ||
            !isfinite(n->value.real))
            return wrong(s, "the number is too large");
    }
    s->p += stop - s->p; /* `stop` is const, the text is not */
    return QUORUM_OK;
}

static quorum_status parse_word(parser *s, json_node *n)
{
    static const struct {
        const char *word;
        json_kind kind;
    } words[] = {{"null", JSON_NULL}, {"false", JSON_FALSE}, {"true", JSON_TRUE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if (strncmp(s->p, words[i].word, length) == 0) {
            n->kind = words[i].kind;
            s->p += length;
            return QUORUM_OK;
        }
    }
    return wrong(s, s->p == s->end ? "it ends too early" : "no value begins so");
}

/* ---- Lists and objects ---- */

static quorum_status parse_value(parser *s, const char *key);

/* "key" : */
static quorum_status parse_key(parser *s, const json_node *object, const char **key)
{
    skip_blanks(s);
    if (*s->p != '"')
        return wrong(s, "a key is missing");
    if (object->count == JSON_MOST_MEMBERS)
        return wrong(s, "an object has too many members");
    TRY(parse_text(s, key));
    if (json_member(object, *key))
        return wrong(s, "a key comes twice");
    return take(s, ':') ? QUORUM_OK : wrong(s, "a colon is missing");
}

/* One more member at the end of `parent`; *last is the one before it. */
static quorum_status parse_member(parser *s, json_node *parent, json_node **last)
{
    const char *key = NULL;
    if (parent->kind == JSON_OBJECT)
        TRY(parse_key(s, parent, &key));
    json_node *member = &s->node[s->used];
    TRY(progress_go_on());
    TRY(parse_value(s, key));
    if (*last)
        (*last)->next = (size_t)(member - *last);
    *last = member;
    parent->count++;
    return QUORUM_OK;
}

static quorum_status parse_members(parser *s, json_node *parent, char closing)
{
    json_node *last = NULL;
    s->p++;
    if (take(s, closing))
        return QUORUM_OK;
    do
        TRY(parse_member(s, parent, &last));
    while (take(s, ','));
    return take(s, closing) ? QUORUM_OK : wrong(s, "a comma or an end is missing");
}

static quorum_status parse_value(parser *s, const char *key)
{
    json_node *n = &s->node[s->used++];
    *n = (json_node){.key = key};
    skip_blanks(s);
    if (*s->p == '"') {
        n->kind = JSON_TEXT;
        return parse_text(s, &n->value.text);
    }
    if (*s->p == '-' || (*s->p >= '0' && *s->p <= '9'))
        return parse_number(s, n);
    if (*s->p != '[' && *s->p != '{')
        return parse_word(s, n);
    if (s->depth == JSON_MOST_DEPTH)
        return wrong(s, "it is nested too deeply");
    s->depth++;
    n->kind = *s->p == '[' ? JSON_LIST : JSON_OBJECT;
    TRY(parse_members(s, n, *s->p == '[' ? ']' : '}'));
    s->depth--;
    return QUORUM_OK;
}

static quorum_status parse_all(parser *s)
{
    TRY(parse_value(s, NULL));
    skip_blanks(s);
    return s->p == s->end ? QUORUM_OK : wrong(s, "something follows its end");
}

quorum_status json_parse(const char *text, size_t length, json_tree *tree)
{
    parser s = {.c_locale = plain_locale()};
    quorum_status status = QUORUM_OK;
    *tree = (json_tree){0};
    if (!NEW_ARRAY(tree->text, length + 1) ||
        !NEW_ARRAY(tree->root, count_nodes(text, text + length))) {
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu bytes of JSON", length);
        goto done;
    }
    memcpy(tree->text, text, length);
    tree->text[length] = '\0';
    s.start = s.p = tree->text;
    s.end = tree->text + length;
    s.node = tree->root;
    status = parse_all(&s);
done:
    if (status < 0)
        json_free(tree);
    return status;
}

void json_free(json_tree *tree)
{
    mem_free(tree->root);
    mem_free(tree->text);
    *tree = (json_tree){0};
}

/* ---- Looking ---- */

const json_node *json_first(const json_node *list_or_object)
{
    return list_or_object && list_or_object->count > 0 ? list_or_object + 1 : NULL;
}

const json_node *json_next(const json_node *member)
{
    return member->next > 0 ? member + member->next : NULL;
}

const json_node *json_member(const json_node *object, const char *key)
{
    if (!json_is_object(object))
        return NULL;
    for (const json_node *m = json_first(object); m; m = json_next(m))
        if (strcmp(m->key, key) == 0)
            return m;
    return NULL;
}

size_t json_list_size(const json_node *node)
{
    return node && node->kind == JSON_LIST ? node->count : 0;
}

double json_as_number(const json_node *node, double otherwise)
{
    if (node && node->kind == JSON_INTEGER)
        return (double)node->value.integer;
    return node && node->kind == JSON_REAL ? node->value.real : otherwise;
}

int64_t json_as_integer(const json_node *node, int64_t otherwise)
{
    return node && node->kind == JSON_INTEGER ? node->value.integer : otherwise;
}

const char *json_as_text(const json_node *node)
{
    return node && node->kind == JSON_TEXT ? node->value.text : NULL;
}

int json_is_true(const json_node *node)
{
    return node && node->kind == JSON_TRUE;
}

int json_is_object(const json_node *node)
{
    return node && node->kind == JSON_OBJECT;
}

/* ---- Writing ---- */

static void put_members(json_writer *w, const json_node *node)
{
    for (const json_node *m = json_first(node); m; m = json_next(m)) {
        if (m->key)
            json_key(w, m->key);
        json_put_node(w, m);
    }
    json_end(w);
}

void json_put_node(json_writer *w, const json_node *node)
{
    switch (node->kind) {
    case JSON_NULL: json_put_null(w); break;
    case JSON_FALSE: json_put_flag(w, 0); break;
    case JSON_TRUE: json_put_flag(w, 1); break;
    case JSON_INTEGER: json_put_integer(w, node->value.integer); break;
    case JSON_REAL: json_put_number(w, node->value.real); break;
    case JSON_TEXT: json_put_text(w, node->value.text); break;
    case JSON_LIST:
        json_begin_list(w);
        put_members(w, node);
        break;
    case JSON_OBJECT:
        json_begin_object(w);
        put_members(w, node);
        break;
    }
}

quorum_status json_status(json_error error, const char *what)
{
    switch (error) {
    case JSON_WRITTEN: return QUORUM_OK;
    case JSON_NOT_TAKEN: return failure(QUORUM_E_MEMORY, "out of memory for %s", what);
    case JSON_NOT_UTF8: return failure(QUORUM_E_DATA, "%s: a text is not UTF-8", what);
    case JSON_MISUSED: break;
    }
    return failure(QUORUM_E_INTERNAL, "%s: not written as JSON", what);
}
