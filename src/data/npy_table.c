/* Rows of an npy file, block by block, so that it may be larger than memory. */
#include "base/memory.h"
#include "archive/npy.h"
#include "data/table.h"
#include "io/again.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1 << 18 };

typedef struct {
    int file;
    npy_header header;
    size_t rows, columns;
    size_t row;        /* the next to be read                                 */
    size_t block_rows; /* rows that fit the block                             */
    unsigned char *block;
    double *values; /* block_rows x n_selected, allocated for a selection    */
    double *kept;   /* block_rows x the columns that are kept, behind these   */
    size_t values_width;
} npy_table;

/* Exactly n bytes from `offset`. */
static quorum_status read_bytes(const reader *r, const npy_table *t, unsigned char *to, size_t n,
                                size_t offset)
{
    while (n > 0) {
        ssize_t got = pread(t->file, to, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return failure(QUORUM_E_FILE, "%s: cannot be read: %s", r->label, strerror(errno));
        if (got == 0)
            return failure(QUORUM_E_FORMAT, "%s: ends too early; the file is truncated", r->label);
        to += got;
        n -= (size_t)got;
        offset += (size_t)got;
    }
    return QUORUM_OK;
}

/* Columns of the next rows that are wanted as numbers. */
typedef struct {
    const size_t *columns; /* count */
    size_t count;
    double *values; /* rows x count */
} wanted_columns;

/* C order: the rows lie one after the other. */
static quorum_status read_rows(const reader *r, npy_table *t, size_t rows, const wanted_columns *w)
{
    const npy_header *h = &t->header;
    size_t row_bytes = t->columns * h->size;
    TRY(read_bytes(r, t, t->block, rows * row_bytes, h->header_bytes + t->row * row_bytes));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < w->count; j++)
            w->values[i * w->count + j] =
                npy_value(h, t->block + i * row_bytes + w->columns[j] * h->size);
    return QUORUM_OK;
}

/* Fortran order: a piece of each column. */
static quorum_status read_columns(const reader *r, npy_table *t, size_t rows,
                                  const wanted_columns *w)
{
    const npy_header *h = &t->header;
    for (size_t j = 0; j < w->count; j++) {
        size_t first = w->columns[j] * t->rows + t->row;
        TRY(read_bytes(r, t, t->block, rows * h->size, h->header_bytes + first * h->size));
        for (size_t i = 0; i < rows; i++)
            w->values[i * w->count + j] = npy_value(h, t->block + i * h->size);
    }
    return QUORUM_OK;
}

static quorum_status read_wanted(const reader *r, npy_table *t, size_t rows,
                                 const wanted_columns *w)
{
    return t->header.fortran ? read_columns(r, t, rows, w) : read_rows(r, t, rows, w);
}

/* The next rows: selected columns, and kept ones. */
static quorum_status read_both(const reader *r, npy_table *t, size_t rows)
{
    wanted_columns selected = {r->selected, r->n_selected, t->values};
    wanted_columns kept = {r->kept.columns, r->kept.count, t->kept};
    TRY(read_wanted(r, t, rows, &selected));
    return kept.count > 0 ? read_wanted(r, t, rows, &kept) : QUORUM_OK;
}

static quorum_status fit_values(const reader *r, npy_table *t)
{
    size_t width = r->n_selected + r->kept.count;
    if (!t->values || t->values_width < width) {
        mem_free(t->values);
        t->values_width = width;
        t->values = mem_alloc(t->block_rows, width * sizeof *t->values);
    }
    if (!t->values)
        return failure(QUORUM_E_MEMORY, "%s: out of memory while reading", r->label);
    t->kept = t->values + t->block_rows * r->n_selected;
    return QUORUM_OK;
}

/* Copies the usable ones of `rows` rows in t->values to out. */
static quorum_status deliver(reader *r, npy_table *t, size_t rows, double *out, size_t *kept)
{
    for (size_t i = 0; i < rows; i++) {
        int keep;
        double *row = t->values + i * r->n_selected;
        TRY(table_check_row(r, row, &keep));
        t->row++;
        if (!keep)
            continue;
        memcpy(out + (*kept)++ * r->n_selected, row, r->n_selected * sizeof *row);
        TRY(kept_cells_add_numbers(&r->kept, r->row, t->kept + i * r->kept.count));
    }
    return QUORUM_OK;
}

static quorum_status tell_place(const reader *r, const npy_table *t)
{
    double share = t->rows > 0 ? (double)t->row / (double)t->rows : 1.0;
    return progress_report(&r->asked, "read", share, "%s", r->label);
}

static quorum_status npy_next(reader *r, size_t max_rows, double *out, size_t *rows)
{
    npy_table *t = r->state;
    TRY(fit_values(r, t));
    while (*rows < max_rows && t->row < t->rows && !kept_cells_is_full(&r->kept, r->memory)) {
        size_t n = t->rows - t->row;
        n = n < t->block_rows ? n : t->block_rows;
        n = n < max_rows - *rows ? n : max_rows - *rows;
        TRY(tell_place(r, t));
        TRY(read_both(r, t, n));
        TRY(deliver(r, t, n, out, rows));
    }
    return tell_place(r, t);
}

static void npy_close(void *state)
{
    npy_table *t = state;
    if (t->file >= 0)
        close(t->file);
    mem_free(t->block);
    mem_free(t->values);
    mem_free(t);
}

static quorum_status read_header(const reader *r, npy_table *t, size_t file_bytes)
{
    quorum_status status = QUORUM_OK;
    unsigned char prefix[NPY_PREFIX];
    unsigned char *bytes = NULL;
    size_t size, n = file_bytes < sizeof prefix ? file_bytes : sizeof prefix;
    TRY(read_bytes(r, t, prefix, n, 0));
    if (npy_header_size(prefix, n, &size) < 0)
        return failure_in(QUORUM_E_FORMAT, "%s", r->label);
    if (!NEW_ARRAY(bytes, size))
        return failure(QUORUM_E_MEMORY, "%s: out of memory while opening", r->label);
    TRY_OR_DONE(read_bytes(r, t, bytes, size, 0));
    if (npy_parse_header(bytes, size, &t->header) < 0)
        status = failure_in(QUORUM_E_FORMAT, "%s", r->label);
done:
    mem_free(bytes);
    return status;
}

static quorum_status check_size(const reader *r, const npy_header *h, size_t file_bytes)
{
    size_t wanted = h->header_bytes + h->bytes; /* both are far from overflow */
    if (file_bytes == wanted)
        return QUORUM_OK;
    return failure(QUORUM_E_FORMAT,
                   "%s: has %zu bytes where its header asks for %zu; the file is %s", r->label,
                   file_bytes, wanted, file_bytes < wanted ? "truncated" : "damaged");
}

static quorum_status take_shape(const reader *r, npy_table *t)
{
    const npy_header *h = &t->header;
    if (h->ndim == 0)
        return failure(QUORUM_E_DATA, "%s: holds a single number, not rows", r->label);
    t->rows = h->shape[0];
    t->columns = h->ndim == 2 ? h->shape[1] : 1;
    return table_check_width(r, t->columns);
}

static quorum_status allocate_block(const reader *r, npy_table *t)
{
    size_t row_bytes = t->columns * t->header.size;
    size_t fitting = BLOCK_BYTES / row_bytes;
    t->block_rows = fitting > 0 ? fitting : 1;
    if (!NEW_ARRAY(t->block, t->block_rows * row_bytes))
        return failure(QUORUM_E_MEMORY, "%s: out of memory while opening", r->label);
    return QUORUM_OK;
}

quorum_status npy_table_open(reader *r)
{
    static const file_format format = {npy_next, npy_close, NULL, NULL};
    npy_table *t = NULL;
    struct stat about;
    if (!NEW_ZEROED(t, 1))
        return failure(QUORUM_E_MEMORY, "%s: out of memory while opening", r->label);
    r->state = t; /* from here on reader_close frees it */
    r->format = &format;
    t->file = open_again(r->path, O_RDONLY | O_CLOEXEC);
    if (t->file < 0 || fstat(t->file, &about) != 0)
        return failure(QUORUM_E_FILE, "%s: cannot be opened: %s", r->label, strerror(errno));
    TRY(read_header(r, t, (size_t)about.st_size));
    TRY(check_size(r, &t->header, (size_t)about.st_size));
    TRY(take_shape(r, t));
    TRY(allocate_block(r, t));
    r->rows = t->rows;
    return names_number(&r->names, t->columns, 0);
}
