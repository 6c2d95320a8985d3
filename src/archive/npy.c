/* The header of an .npy, a Python dictionary of three entries read by hand and not believed
 * before it is checked, and its values as doubles or 64-bit integers, whatever their type and
 * byte order. */
#include "archive/npy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAGIC_SIZE = 6, MAX_HEADER = 1 << 20 };

/* ---- the header: a Python dictionary of three entries ---- */

typedef struct {
    const char *p, *end;
} cursor;

static const char *const damaged = "the npy header is damaged";

quorum_status npy_header_size(const unsigned char *prefix, size_t n, size_t *size)
{
    if (n < 10 || memcmp(prefix, "\x93NUMPY", MAGIC_SIZE) != 0)
        return failure(QUORUM_E_FORMAT, "is not an npy array");
    int version = prefix[6];
    if (version < 1 || version > 3 || (version > 1 && n < NPY_PREFIX))
        return failure(QUORUM_E_FORMAT, "npy version %d is not known (1 to 3 are)", version);
    size_t length = (size_t)prefix[8] | (size_t)prefix[9] << 8;
    if (version > 1)
        length |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
    if (length > MAX_HEADER)
        return failure(QUORUM_E_FORMAT, "%s: it says that it has %zu bytes", damaged, length);
    *size = length + (version > 1 ? 12 : 10);
    return QUORUM_OK;
}

static void skip_space(cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t'))
        c->p++;
}

static int accept(cursor *c, char wanted)
{
    skip_space(c);
    if (c->p == c->end || *c->p != wanted)
        return 0;
    c->p++;
    return 1;
}

static int accept_word(cursor *c, const char *word)
{
    size_t n = strlen(word);
    skip_space(c);
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
        return 0;
    c->p += n;
    return 1;
}

/* 'text' or "text" */
static int accept_text(cursor *c, char *out, size_t size)
{
    char quote = accept(c, '\'') ? '\'' : accept(c, '"') ? '"' : '\0';
    if (!quote)
        return 0;
    const char *close = memchr(c->p, quote, (size_t)(c->end - c->p));
    if (!close || (size_t)(close - c->p) >= size)
        return 0;
    memcpy(out, c->p, (size_t)(close - c->p));
    out[close - c->p] = '\0';
    c->p = close + 1;
    return 1;
}

static int accept_number(cursor *c, size_t *out)
{
    size_t value = 0;
    skip_space(c);
    const char *first = c->p;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (size_t)(*c->p - '0'), &value))
            return 0;
    if (c->p == first)
        return 0;
    if (c->p < c->end && *c->p == 'L') /* Python 2 */
        c->p++;
    *out = value;
    return 1;
}

static quorum_status parse_descr(cursor *c, npy_header *h)
{
    char text[16];
    if (!accept_text(c, text, sizeof text))
        return failure(QUORUM_E_FORMAT, "the array does not hold plain numbers");
    size_t size = (size_t)(strlen(text) == 3 ? text[2] - '0' : 0);
    h->kind = text[0] ? text[1] : '\0';
    h->size = size;
    h->big_endian = text[0] == '>' || (text[0] == '=' && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    int order_known = text[0] && strchr("<>|=", text[0]);
    int integer =
        (h->kind == 'i' || h->kind == 'u') && (size == 1 || size == 2 || size == 4 || size == 8);
    int real = h->kind == 'f' && (size == 2 || size == 4 || size == 8);
    if (order_known && (integer || real || (h->kind == 'b' && size == 1)))
        return QUORUM_OK;
    return failure(QUORUM_E_FORMAT,
                   "the array holds elements of type '%s'; only booleans, integers and "
                   "floats of up to 8 bytes can be read",
                   text);
}

static quorum_status parse_shape(cursor *c, npy_header *h)
{
    h->ndim = 0;
    if (!accept(c, '('))
        return failure(QUORUM_E_FORMAT, "%s: no shape", damaged);
    while (!accept(c, ')')) {
        size_t length;
        if (!accept_number(c, &length))
            return failure(QUORUM_E_FORMAT, "%s: the shape is not readable or absurdly large",
                           damaged);
        if (h->ndim == 2)
            return failure(QUORUM_E_FORMAT, "the array has more than 2 dimensions");
        h->shape[h->ndim++] = length;
        if (!accept(c, ',') && !(c->p < c->end && *c->p == ')'))
            return failure(QUORUM_E_FORMAT, "%s: the shape has no end", damaged);
    }
    return QUORUM_OK;
}

static quorum_status parse_order(cursor *c, npy_header *h)
{
    h->fortran = accept_word(c, "True");
    if (h->fortran || accept_word(c, "False"))
        return QUORUM_OK;
    return failure(QUORUM_E_FORMAT, "%s: fortran_order is neither True nor False", damaged);
}

static quorum_status parse_entry(cursor *c, npy_header *h, unsigned *seen)
{
    char key[16];
    if (!accept_text(c, key, sizeof key) || !accept(c, ':'))
        return failure(QUORUM_E_FORMAT, "%s", damaged);
    if (strcmp(key, "descr") == 0) {
        *seen |= 1;
        return parse_descr(c, h);
    }
    if (strcmp(key, "fortran_order") == 0) {
        *seen |= 2;
        return parse_order(c, h);
    }
    if (strcmp(key, "shape") == 0) {
        *seen |= 4;
        return parse_shape(c, h);
    }
    return failure(QUORUM_E_FORMAT, "%s: unknown entry '%s'", damaged, key);
}

static quorum_status measure(npy_header *h)
{
    h->count = 1;
    h->bytes = 0;
    int overflow = 0;
    for (int i = 0; i < h->ndim; i++)
        overflow |= __builtin_mul_overflow(h->count, h->shape[i], &h->count);
    overflow |= __builtin_mul_overflow(h->count, h->size, &h->bytes);
    if (overflow || h->bytes > PTRDIFF_MAX)
        return failure(QUORUM_E_FORMAT, "%s: the shape is absurdly large", damaged);
    return QUORUM_OK;
}

quorum_status npy_parse_header(const unsigned char *bytes, size_t n, npy_header *out)
{
    npy_header h = {0};
    unsigned seen = 0;
    TRY(npy_header_size(bytes, n, &h.header_bytes));
    if (h.header_bytes > n)
        return failure(QUORUM_E_FORMAT, "%s: it is cut off", damaged);
    cursor c = {(const char *)bytes + (bytes[6] > 1 ? 12 : 10),
                (const char *)bytes + h.header_bytes};
    if (!accept(&c, '{'))
        return failure(QUORUM_E_FORMAT, "%s", damaged);
    while (!accept(&c, '}')) {
        TRY(parse_entry(&c, &h, &seen));
        if (!accept(&c, ',') && !(c.p < c.end && *c.p == '}'))
            return failure(QUORUM_E_FORMAT, "%s", damaged);
    }
    skip_space(&c);
    if (seen != 7 || c.p != c.end)
        return failure(QUORUM_E_FORMAT, "%s", damaged);
    TRY(measure(&h));
    *out = h;
    return QUORUM_OK;
}

void npy_format_header(char kind, int ndim, const size_t *shape, char *out)
{
    char text[NPY_WRITTEN_HEADER], dims[48] = "()";
    const char order = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? '>' : '<';
    if (ndim == 1)
        snprintf(dims, sizeof dims, "(%zu,)", shape[0]);
    else if (ndim == 2)
        snprintf(dims, sizeof dims, "(%zu, %zu)", shape[0], shape[1]);
    int used =
        snprintf(text, sizeof text, "{'descr': '%c%c8', 'fortran_order': False, 'shape': %s, }",
                 order, kind, dims);
    memset(out, ' ', NPY_WRITTEN_HEADER);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = NPY_WRITTEN_HEADER - 10;
    out[9] = 0;
    memcpy(out + 10, text, (size_t)used);
    out[NPY_WRITTEN_HEADER - 1] = '\n';
}

/* ---- the values ---- */

/* The element's bits, as an integer. */
static uint64_t load_bits(const npy_header *h, const unsigned char *bytes)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < h->size; i++)
        bits = bits << 8 | bytes[h->big_endian ? i : h->size - 1 - i];
    return bits;
}

static int64_t extend_sign(uint64_t bits, size_t size)
{
    switch (size) {
    case 1: return (int8_t)bits;
    case 2: return (int16_t)bits;
    case 4: return (int32_t)bits;
    default: return (int64_t)bits;
    }
}

/* sign, 5 bits of exponent (bias 15), 10 of fraction */
static double half_to_double(uint64_t bits)
{
    int exponent = (int)(bits >> 10) & 31;
    double fraction = (double)(bits & 1023);
    double magnitude = exponent == 0    ? ldexp(fraction, -24)
                       : exponent == 31 ? (fraction > 0 ? NAN : INFINITY)
                                        : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

static double float_to_double(uint64_t bits, size_t size)
{
    if (size == 2)
        return half_to_double(bits);
    if (size == 4) {
        uint32_t narrow = (uint32_t)bits;
        float value;
        memcpy(&value, &narrow, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double npy_value(const npy_header *h, const unsigned char *bytes)
{
    uint64_t bits = load_bits(h, bytes);
    switch (h->kind) {
    case 'f': return float_to_double(bits, h->size);
    case 'i': return (double)extend_sign(bits, h->size);
    case 'b': return bits != 0;
    default: return (double)bits;
    }
}

int npy_is_native(const npy_header *h, char kind)
{
    return h->kind == kind && h->size == 8 &&
           h->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

void npy_to_doubles(const npy_header *h, const unsigned char *bytes, size_t count, double *out)
{
    if (npy_is_native(h, 'f')) {
        memcpy(out, bytes, count * sizeof *out);
        return;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = npy_value(h, bytes + i * h->size);
}

quorum_status npy_to_int64(const npy_header *h, const unsigned char *bytes, size_t count,
                           int64_t *out)
{
    if (h->kind == 'f')
        return failure(QUORUM_E_FORMAT, "the array holds floats where integers are expected");
    if (npy_is_native(h, 'i')) {
        memcpy(out, bytes, count * sizeof *out);
        return QUORUM_OK;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = load_bits(h, bytes + i * h->size);
        if (h->kind == 'u' && bits > INT64_MAX)
            return failure(QUORUM_E_FORMAT, "element %zu is too large for an integer of 64 bits",
                           i);
        out[i] = h->kind == 'i'   ? extend_sign(bits, h->size)
                 : h->kind == 'b' ? bits != 0
                                  : (int64_t)bits;
    }
    return QUORUM_OK;
}
