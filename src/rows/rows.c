/* What every set of rows can do, whatever fields it has: the table below lists them. */
#include "rows/rows.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>

/* The fields of a row, a number each: the pointers to their arrays. */
static const size_t fields[] = {offsetof(row_set, y), offsetof(row_set, offset),
                                offsetof(row_set, weight), offsetof(row_set, error),
                                offsetof(row_set, number)};

enum { FIELDS = sizeof fields / sizeof *fields };
static_assert(FIELDS + 1 == ROW_COLUMNS_MOST, "inputs and fields");

static double **field_at(const row_set *r, size_t f)
{
    return (double **)((char *)r + fields[f]);
}

/* Fields of a set without rows point here. */
static double present;

row_set rows_schema(size_t D)
{
    return (row_set){.D = D, .y = &present};
}

/* ---- Memory ---- */

static quorum_status make_rows(const row_set *like, size_t n,
                               void *(*alloc)(size_t count, size_t size), row_set *out)
{
    row_set r = {.n = n, .D = like->D, .further = like->further};
    r.X = alloc(n * r.D, sizeof *r.X);
    int there = r.X != NULL;
    for (size_t f = 0; f < FIELDS; f++)
        if (*field_at(like, f)) {
            *field_at(&r, f) = alloc(n, sizeof(double));
            there = there && *field_at(&r, f);
        }
    *out = r;
    if (there)
        return QUORUM_OK;
    rows_free(out);
    return failure(QUORUM_E_MEMORY, "out of memory for %zu rows of %zu inputs", n, like->D);
}

quorum_status rows_new(const row_set *like, size_t n, row_set *out)
{
    return make_rows(like, n, mem_alloc, out);
}

quorum_status rows_new_sparse(const row_set *like, size_t n, row_set *out)
{
    return make_rows(like, n, mem_alloc_sparse, out);
}

void rows_free(row_set *r)
{
    mem_free(r->X);
    for (size_t f = 0; f < FIELDS; f++)
        mem_free(*field_at(r, f));
    *r = (row_set){.D = r->D};
}

/* ---- Views ---- */

row_set rows_view_of(size_t n, size_t D, const double *X, const double *y)
{
    return (row_set){.n = n, .D = D, .X = (double *)X, .y = (double *)y};
}

row_set rows_view(const row_set *r, size_t first, size_t n)
{
    row_set v = *r;
    v.n = n;
    v.X += first * r->D;
    for (size_t f = 0; f < FIELDS; f++)
        if (*field_at(&v, f))
            *field_at(&v, f) += first;
    return v;
}

row_set rows_only(const row_set *r, const row_set *like)
{
    row_set v = *r;
    for (size_t f = 0; f < FIELDS; f++)
        if (!*field_at(like, f))
            *field_at(&v, f) = NULL;
    return v;
}

/* ---- Copies ---- */

void rows_copy(const row_set *a, size_t from, size_t count, row_set *b, size_t to)
{
    memcpy(b->X + to * b->D, a->X + from * a->D, count * a->D * sizeof *a->X);
    rows_copy_fields(a, from, count, b, to);
}

void rows_copy_fields(const row_set *a, size_t from, size_t count, row_set *b, size_t to)
{
    for (size_t f = 0; f < FIELDS; f++)
        if (*field_at(b, f))
            memcpy(*field_at(b, f) + to, *field_at(a, f) + from, count * sizeof(double));
}

void rows_take(const row_set *a, const size_t *list, size_t count, row_set *b)
{
    for (size_t i = 0; i < count; i++)
        rows_copy(a, list[i], 1, b, i);
}

void rows_take_fields(const row_set *a, const size_t *list, size_t count, row_set *b)
{
    for (size_t f = 0; f < FIELDS; f++)
        for (size_t i = 0; *field_at(b, f) && i < count; i++)
            (*field_at(b, f))[i] = (*field_at(a, f))[list[i]];
}

/* ---- As they travel ---- */

size_t row_width(const row_set *r)
{
    size_t width = r->D;
    for (size_t f = 0; f < FIELDS; f++)
        width += *field_at(r, f) != NULL;
    return width;
}

void row_pack(const row_set *r, size_t i, double *out)
{
    memcpy(out, r->X + i * r->D, r->D * sizeof *out);
    out += r->D;
    for (size_t f = 0; f < FIELDS; f++)
        if (*field_at(r, f))
            *out++ = (*field_at(r, f))[i];
}

void row_unpack(const double *in, row_set *r, size_t i)
{
    memcpy(r->X + i * r->D, in, r->D * sizeof *in);
    in += r->D;
    for (size_t f = 0; f < FIELDS; f++)
        if (*field_at(r, f))
            (*field_at(r, f))[i] = *in++;
}

size_t row_columns(const row_set *r, row_column *out)
{
    size_t count = 0;
    out[count++] = (row_column){r->X, r->D};
    for (size_t f = 0; f < FIELDS; f++)
        if (*field_at(r, f))
            out[count++] = (row_column){*field_at(r, f), 1};
    return count;
}
