/* Rows of an npz: the columns of X followed by y, or those of its only array. */
#include "base/memory.h"
#include "archive/npz_list.h"
#include "data/table.h"

#include <string.h>

typedef struct {
    double *X; /* rows x inputs    */
    double *y; /* rows, or NULL    */
    size_t rows, inputs;
    size_t row;   /* the next to read */
    double *kept; /* values of a row that are kept; NULL before the first */
} npz_table;

static void copy_row(const npz_table *t, size_t row, const size_t *columns, size_t count,
                     double *out)
{
    for (size_t j = 0; j < count; j++) {
        size_t column = columns[j];
        out[j] = column < t->inputs ? t->X[row * t->inputs + column] : t->y[row];
    }
}

/* The kept columns of the row. */
static quorum_status keep_row(reader *r, npz_table *t)
{
    if (!r->kept.wanted)
        return QUORUM_OK;
    if (!t->kept && !NEW_ARRAY(t->kept, r->kept.count))
        return failure(QUORUM_E_MEMORY, "%s: out of memory while reading", r->label);
    copy_row(t, t->row, r->kept.columns, r->kept.count, t->kept);
    return kept_cells_add_numbers(&r->kept, r->row, t->kept);
}

static quorum_status npz_next(reader *r, size_t max_rows, double *out, size_t *rows)
{
    npz_table *t = r->state;
    TRY(progress_report(&r->asked, "read", -1.0, "%s", r->label));
    for (; *rows < max_rows && t->row < t->rows && !kept_cells_is_full(&r->kept, r->memory);
         t->row++) {
        int keep;
        double *row = out + *rows * r->n_selected;
        copy_row(t, t->row, r->selected, r->n_selected, row);
        TRY(table_check_row(r, row, &keep));
        if (keep)
            TRY(keep_row(r, t));
        *rows += (size_t)keep;
    }
    double share = t->rows > 0 ? (double)t->row / (double)t->rows : 1.0;
    return progress_report(&r->asked, "read", share, "%s", r->label);
}

static void npz_table_close(void *state)
{
    npz_table *t = state;
    mem_free(t->X);
    mem_free(t->y);
    mem_free(t->kept);
    mem_free(t);
}

/* An npz is read whole, column-major arrays through a second copy: both must fit beside what is
 * there already. */
static quorum_status check_memory(reader *r, const char *name, size_t rows, size_t columns)
{
    double bytes = (double)rows * (double)columns * sizeof(double);
    r->held += bytes;
    if (r->held + bytes <= r->memory)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY,
                   "%s: array %s is %zu x %zu, for which memory (%.0f MB) is not enough; give more "
                   "with --memory, or an npy file, which is not read whole",
                   r->label, name, rows, columns, r->memory / (1 << 20));
}

/* An array of one or two dimensions as rows x columns. */
static quorum_status get_matrix(npz_reader *npz, reader *r, const char *name, size_t *rows,
                                size_t *columns, double **data)
{
    int ndim;
    size_t shape[2] = {0, 1};
    TRY(npz_get_ndim(npz, name, &ndim));
    if (ndim == 0)
        return failure(QUORUM_E_DATA, "%s: array %s is a single number, not rows", r->label, name);
    TRY(npz_get_shape(npz, name, ndim, shape));
    TRY(check_memory(r, name, shape[0], shape[1]));
    TRY(npz_get_doubles(npz, name, ndim, shape, data));
    *rows = shape[0];
    *columns = shape[1];
    return QUORUM_OK;
}

static quorum_status load_inputs_and_target(npz_reader *npz, reader *r, npz_table *t)
{
    size_t rows = 0, columns = 0;
    TRY(get_matrix(npz, r, "X", &t->rows, &t->inputs, &t->X));
    TRY(get_matrix(npz, r, "y", &rows, &columns, &t->y));
    if (columns != 1)
        return failure(QUORUM_E_DATA, "%s: array y has %zu columns, not one", r->label, columns);
    if (rows != t->rows)
        return failure(QUORUM_E_DATA, "%s: array X has %zu rows and y has %zu", r->label, t->rows,
                       rows);
    return QUORUM_OK;
}

static quorum_status load_only_array(npz_reader *npz, reader *r, npz_table *t)
{
    char name[256] = "";
    size_t count = npz_count_arrays(npz, name, sizeof name);
    if (count != 1)
        return failure(
            QUORUM_E_DATA,
            "%s: holds %zu arrays; arrays X and y, or one array alone, can be read as data",
            r->label, count);
    return get_matrix(npz, r, name, &t->rows, &t->inputs, &t->X);
}

/* A model has arrays X and y too, which are standardised and in another order. */
static quorum_status refuse_model(const npz_reader *npz, const reader *r)
{
    if (!npz_has(npz, "meta.json") || !npz_has(npz, "log_lengthscale"))
        return QUORUM_OK;
    return failure(QUORUM_E_DATA, "%s: is a model, not a table; give the data that are meant",
                   r->label);
}

quorum_status npz_table_open(reader *r)
{
    static const file_format format = {npz_next, npz_table_close, NULL, NULL};
    quorum_status status = QUORUM_OK;
    npz_reader *npz = NULL;
    npz_table *t = NULL;
    if (!NEW_ZEROED(t, 1))
        return failure(QUORUM_E_MEMORY, "%s: out of memory while opening", r->label);
    r->state = t; /* from here on reader_close frees it */
    r->format = &format;
    TRY_OR_DONE(npz_open(r->path, &npz));
    TRY_OR_DONE(refuse_model(npz, r));
    if (npz_has(npz, "X") && npz_has(npz, "y"))
        TRY_OR_DONE(load_inputs_and_target(npz, r, t));
    else
        TRY_OR_DONE(load_only_array(npz, r, t));
    TRY_OR_DONE(table_check_width(r, t->inputs));
    r->rows = t->rows;
    status = names_number(&r->names, t->inputs + (t->y != NULL), t->y != NULL);
done:
    npz_close(npz);
    return status;
}
