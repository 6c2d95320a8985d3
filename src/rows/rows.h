/* Rows: the one type for "some rows", and the one place that packs, copies and counts what a row
 * has.
 *
 * A row has D inputs, which are numbers (of a category: the number of its level), and fields, a
 * number each, that some sets have and others lack: its target, and whatever else is said of a row
 * by itself, such as a noise or a weight.  Which fields a set has is its schema.  A new field is a
 * member of row_set and a line in the table of rows.c: then it is read, moved between processes,
 * split among experts and gathered like the others. */
#ifndef QRM_ROWS_ROWS_H
#define QRM_ROWS_ROWS_H

#include "base/status.h"

#include <stddef.h>

struct further_targets;

typedef struct {
    size_t n, D;
    double *X;      /* D x n: a row's inputs together */
    double *y;      /* n: targets; NULL: there are none, as of queries */
    double *offset; /* n: what is known of the target before (option offset); NULL: nothing */
    double *weight; /* n: as how many rows each counts, above 0; NULL: 1 (gp/noise.h)      */
    double *error;  /* n: known standard deviation of the target, in its units; NULL: 0     */
    double *number; /* n: which of all rows each is, where somebody asks for it            */
    struct further_targets
        *further; /* whom they belong to besides (train/further_targets.h), or NULL */
} row_set;

/* What weights and errors may be: beyond, a row is all that counts, or nothing.  Errors are meant in
 * the model's units, where the target's deviation is 1. */
#define LEAST_WEIGHT 1e-12
#define MOST_WEIGHT 1e12
#define MOST_ERROR 1e8

/* No rows, but the schema of training rows: D inputs and a target. */
row_set rows_schema(size_t D);

/* Room for n rows with the inputs and fields of `like`, not filled; free with rows_free.  Sparse:
 * rows that are never touched take no memory. */
quorum_status rows_new(const row_set *like, size_t n, row_set *out);
quorum_status rows_new_sparse(const row_set *like, size_t n, row_set *out);
void rows_free(row_set *r);

/* n rows in arrays of the caller's, which are only read. */
row_set rows_view_of(size_t n, size_t D, const double *X, const double *y);

/* The rows first .. first + n - 1, sharing memory. */
row_set rows_view(const row_set *r, size_t first, size_t n);

/* The same rows with no other fields than `like` has. */
row_set rows_only(const row_set *r, const row_set *like);

/* Rows from .. from + count - 1 of `a` become rows to .. of `b`, in the fields that b has. */
void rows_copy(const row_set *a, size_t from, size_t count, row_set *b, size_t to);

/* The same of their fields alone. */
void rows_copy_fields(const row_set *a, size_t from, size_t count, row_set *b, size_t to);

/* The listed rows of a, in the list's order, become the first ones of b. */
void rows_take(const row_set *a, const size_t *list, size_t count, row_set *b);

/* The same of their fields alone. */
void rows_take_fields(const row_set *a, const size_t *list, size_t count, row_set *b);

/* ---- As rows travel: row_width numbers each, inputs and then fields ---- */

size_t row_width(const row_set *r);
void row_pack(const row_set *r, size_t i, double *out);
void row_unpack(const double *in, row_set *r, size_t i);

/* The columns of rows: their inputs, and then each field, as arrays of `width` numbers per row. */
enum { ROW_COLUMNS_MOST = 6 };
typedef struct {
    double *data;
    size_t width;
} row_column;
size_t row_columns(const row_set *r, row_column *out /* ROW_COLUMNS_MOST */);

#endif
