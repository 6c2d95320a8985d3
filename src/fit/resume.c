/* Which fit a checkpoint belongs to: the one with the same rows and options, by the same
 * version on the same kind of processor. */
#include "theta/theta.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* h <- (h xor word) * odd number, rotated: every bit of every word counts. */
static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h << 29 | h >> 35;
}

static uint64_t mix_numbers(uint64_t h, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, &numbers[i], sizeof word);
        h = mix(h, word);
    }
    return h;
}

static uint64_t mix_text(uint64_t h, const char *text)
{
    do
        h = mix(h, (unsigned char)*text);
    while (*text++);
    return h;
}

/* Options that change what is learned, not how fast. */
static uint64_t options_mark(const quorum_options *options)
{
    static const char *const apart[] = {"threads", "memory", "checkpoint"};
    uint64_t h = 1;
    for (int i = 0; i < quorum_option_count(); i++) {
        const quorum_option_info *o = quorum_option_at(i);
        int counts = strstr(o->used_by, "fit") && !options_serve_calibration(o->name);
        for (size_t k = 0; k < sizeof apart / sizeof *apart; k++)
            counts = counts && strcmp(o->name, apart[k]) != 0;
        if (strcmp(o->name, "start") ==
            0) /* others have the marks that they had before there was one */
            counts = quorum_options_get(options, o->name)[0] != '\0';
        if (counts)
            h = mix_text(mix_text(h, o->name), quorum_options_get(options, o->name));
    }
    return h;
}

typedef struct {
    uint64_t h;
    size_t column;
} marking;

static void mix_column(void *context, const row_range *range)
{
    marking *k = context;
    row_column column[ROW_COLUMNS_MOST];
    row_columns(&range->rows, column);
    k->h = mix_numbers(k->h, column[k->column].data, range->rows.n * column[k->column].width);
}

/* All inputs, then all of each field, in the order of the rows. */
static quorum_status data_mark(const scattered_rows *rows, uint64_t *mark)
{
    marking k = {.h = 1};
    row_column column[ROW_COLUMNS_MOST];
    size_t columns = row_columns(&rows->held, column);
    for (k.column = 0; k.column < columns; k.column++)
        TRY(rows_fold(QUORUM_OK, rows, &k.h, sizeof k.h, mix_column, &k));
    *mark = k.h;
    return QUORUM_OK;
}

/* Of any search of this fit. */
static size_t most_parameters(const quorum_model *m, const quorum_options *options)
{
    const kernel *given = kernel_at(options_values(options)->kernel);
    size_t most = m->rows.D + 2;
    for (int k = 0; k < kernel_candidates(); k++) {
        size_t length = theta_length(given ? given : kernel_at(k), m->rows.D);
        most = length > most ? length : most;
    }
    return most;
}

quorum_status open_checkpoint(const quorum_model *m, const scattered_rows *rows,
                              const quorum_options *options, checkpoint **out)
{
    const char *path = options_values(options)->checkpoint;
    char fit[512];
    *out = NULL;
    if (path[0] == '\0')
        return QUORUM_OK;
    uint64_t data;
    TRY(data_mark(rows, &data));
    snprintf(fit, sizeof fit,
             "version: %s\nBLAS kernels: %.64s\ndata: %zu rows, %zu inputs, %016" PRIx64
             "\noptions: %016" PRIx64 "\n",
             quorum_version(), quorum_blas_kernel(), m->rows.n, m->rows.D, data,
             options_mark(options));
    return checkpoint_open(path, fit, most_parameters(m, options), out);
}
