/* JSON to csv: texts in quotes, in which a quote is doubled; numbers with 17 digits, which read back
 * as they were. */
#include "columns/json_row.h"

#include "archive/json.h"
#include "base/memory.h"

#include <string.h>

enum { LONGEST_NUMBER = 40 };

/* ---- Cells ---- */

static size_t room_of_text(const char *text)
{
    return 2 * strlen(text) + 4; /* quotes, comma, the final zero */
}

static size_t room_of_value(const json_node *node)
{
    const char *text = json_as_text(node);
    return text ? room_of_text(text) : LONGEST_NUMBER;
}

static char *put_quoted(char *out, const char *text)
{
    *out++ = '"';
    for (; *text; text++) {
        if (*text == '"')
            *out++ = '"';
        *out++ = *text;
    }
    *out++ = '"';
    return out;
}

static int append_bytes(void *context, const char *bytes, size_t n)
{
    char **out = context;
    memcpy(*out, bytes, n);
    *out += n;
    return 0;
}

static char *put_number(char *out, const json_node *node)
{
    json_writer w = json_writer_to(append_bytes, &out, 0);
    json_put_node(&w, node);
    json_finish(&w);
    return out;
}

static char *put_value(char *out, const json_node *node)
{
    switch (node->kind) {
    case JSON_INTEGER:
    case JSON_REAL: return put_number(out, node);
    case JSON_TEXT: return put_quoted(out, node->value.text);
    case JSON_TRUE: return put_quoted(out, "true");
    case JSON_FALSE: return put_quoted(out, "false");
    default: return put_quoted(out, ""); /* null */
    }
}

static char *end_line(char *out, const char *start)
{
    if (out > start)
        out--; /* the last comma */
    *out++ = '\n';
    *out = '\0';
    return out;
}

/* ---- Rows ---- */

static quorum_status check_value(const json_node *node)
{
    if (node->kind != JSON_LIST && node->kind != JSON_OBJECT)
        return QUORUM_OK;
    return failure(QUORUM_E_DATA,
                   "request: \"%.100s\" is %s: numbers, texts, true, false and null can be "
                   "values of a row",
                   node->key ? node->key : "a value",
                   node->kind == JSON_LIST ? "a list" : "an object");
}

/* All values are looked at, and what they and their names take is added up. */
static quorum_status measure(const json_node *root, size_t *names, size_t *values)
{
    *names = *values = 2;
    for (const json_node *node = json_first(root); node; node = json_next(node)) {
        TRY(check_value(node));
        *names += node->key ? room_of_text(node->key) : 0;
        *values += room_of_value(node);
    }
    return QUORUM_OK;
}

static void put_all(const json_node *root, json_row *out)
{
    char *header = out->header, *row = out->row;
    for (const json_node *node = json_first(root); node; node = json_next(node)) {
        if (node->key) {
            header = put_quoted(header, node->key);
            *header++ = ',';
        }
        row = put_value(row, node);
        *row++ = ',';
    }
    if (header > out->header)
        end_line(header, out->header);
    end_line(row, out->row);
}

static quorum_status put_ordered(const json_node *root, const char *const *order, size_t count,
                                 json_row *out)
{
    char *row = out->row;
    for (size_t i = 0; i < count; i++) {
        const json_node *node = json_member(root, order[i]);
        if (!node)
            return failure(QUORUM_E_DATA, "request: has no \"%s\", which the model needs",
                           order[i]);
        row = put_value(row, node);
        *row++ = ',';
    }
    end_line(row, out->row);
    return QUORUM_OK;
}

static quorum_status make_row(const json_node *root, const char *const *order, size_t count,
                              json_row *out)
{
    size_t names, values;
    if (!json_is_object(root) && root->kind != JSON_LIST)
        return failure(QUORUM_E_DATA, "request: a row is an object, as in {\"x1\": 1.5}, or a "
                                      "list of values, as in [1.5]");
    if (root->count == 0)
        return failure(QUORUM_E_DATA, "request: the row has no values");
    TRY(measure(root, &names, &values));
    if (!NEW_ZEROED(out->header, names) || !NEW_ZEROED(out->row, values))
        return failure(QUORUM_E_MEMORY, "out of memory for a row");
    if (json_is_object(root) && order)
        return put_ordered(root, order, count, out);
    put_all(root, out);
    return QUORUM_OK;
}

quorum_status json_row_read(const char *text, size_t bytes, const char *const *order, size_t count,
                            json_row *out)
{
    json_tree tree;
    *out = (json_row){0};
    quorum_status status = json_parse(text, bytes, &tree);
    if (status < 0)
        return failure_in(status, "request");
    status = make_row(tree.root, order, count, out);
    if (status < 0)
        json_row_free(out);
    json_free(&tree);
    return status;
}

void json_row_free(json_row *r)
{
    mem_free(r->header);
    mem_free(r->row);
    *r = (json_row){0};
}
