/* Reads test rows block by block and keeps all that a page says of them: inputs + 10 numbers a row. */
#include "report/asked.h"

#include "events.h"
#include "rows.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool grow(double **array, size_t count)
{
    double *grown = realloc(*array, count * sizeof(double));
    if (grown)
        *array = grown;
    return grown != NULL;
}

static bool grow_all(asked_rows *a, size_t rows)
{
    size_t *number = realloc(a->number, rows * sizeof *number);
    if (number)
        a->number = number;
    return number && grow(&a->X, rows * a->inputs) && grow(&a->y, rows) && grow(&a->mean, rows) &&
           grow(&a->std, rows) && grow(&a->lower, rows) && grow(&a->upper, rows) &&
           grow(&a->distance, rows) && grow(&a->novelty, rows) && grow(&a->below, rows) &&
           (!a->weighted || grow(&a->weight, rows));
}

int asked_reserve(asked_rows *a, size_t inputs, size_t more, const arguments *given)
{
    size_t needed = a->count + more, rows = a->count + a->count / 2;
    double bytes = sizeof(double) * ((double)inputs + 10.0 + a->weighted);
    double memory = quorum_options_memory(given->options);
    a->inputs = inputs;
    if (needed <= a->room)
        return EXIT_DONE;
    if (rows < needed)
        rows = needed;
    if (bytes * (double)rows > memory)
        return failure(given,
                       "a report keeps %.0f bytes of every test row, and memory, which is %.0f MB, "
                       "has room for %.0f rows: raise --memory or take fewer rows",
                       bytes, memory / (1 << 20), floor(memory / bytes));
    if (!grow_all(a, rows))
        return failure(given, "out of memory for %zu test rows", rows);
    a->room = rows;
    return EXIT_DONE;
}

void asked_free(asked_rows *a)
{
    free(a->X);
    free(a->y);
    free(a->mean);
    free(a->std);
    free(a->lower);
    free(a->upper);
    free(a->distance);
    free(a->novelty);
    free(a->below);
    free(a->weight);
    free(a->number);
    memset(a, 0, sizeof *a);
}

/* ---- Predicting ---- */

/* P(Y <= y), row by row: each has a threshold of its own. */
static quorum_status find_below(asked_rows *a, size_t more, const quorum_model *model,
                                const arguments *given)
{
    quorum_status status = QUORUM_OK;
    for (size_t i = a->count; status >= 0 && i < a->count + more; i++)
        status = quorum_probability_below(model, given->options, 1, &a->mean[i], &a->std[i],
                                          a->y[i], &a->below[i]);
    return status;
}

int asked_predict(asked_rows *a, size_t more, const double *offset, const double *noise,
                  const quorum_model *model, const arguments *given)
{
    size_t at = a->count;
    quorum_report report = {0};
    quorum_prediction out = {.mean = a->mean + at,
                             .std = a->std + at,
                             .lower = a->lower + at,
                             .upper = a->upper + at,
                             .distance = a->distance + at,
                             .novelty = a->novelty + at,
                             .offset = offset,
                             .noise_std = noise};
    quorum_status status =
        quorum_predict(model, a->X + at * a->inputs, more, given->options, &out, &report);
    if (status >= 0)
        status = quorum_distribution_of(model, given->options, &a->z);
    if (status >= 0)
        status = find_below(a, more, model, given);
    if (status < 0)
        return library_failure(given, status);
    add_events(&a->events, &report, more);
    a->count += more;
    return EXIT_DONE;
}

/* ---- Reading ---- */

/* The rows that were just read, to their place behind those that are there. */
static int take_block(asked_rows *a, const row_block *r, const quorum_model *model,
                      const arguments *given)
{
    a->weighted = r->weights != NULL;
    int code = asked_reserve(a, r->inputs, r->count, given);
    if (code != EXIT_DONE)
        return code;
    memcpy(a->X + a->count * a->inputs, r->X, r->count * a->inputs * sizeof *a->X);
    memcpy(a->y + a->count, r->y, r->count * sizeof *a->y);
    memcpy(a->number + a->count, r->kept.number, r->count * sizeof *a->number);
    if (r->weights)
        memcpy(a->weight + a->count, r->weights, r->count * sizeof *a->weight);
    return asked_predict(a, r->count, r->offset, r->noise, model, given);
}

static int read_blocks(asked_rows *a, row_block *r, const char *path, const quorum_model *model,
                       progress *p, const arguments *given)
{
    size_t block = quorum_block_rows(model, given->options), limit = block ? block : 1;
    double weight = 0.0;
    int code;
    while ((code = rows_next(r, limit, given)) == EXIT_DONE && r->count > 0) {
        progress_task(p, "rows from %zu", a->count + 1);
        code = take_block(a, r, model, given);
        progress_clear(p);
        if (code != EXIT_DONE)
            return code;
    }
    if (code == EXIT_DONE && a->count == 0)
        return failure(given, "%s: has no rows to report on", path);
    for (size_t i = 0; i < a->count; i++)
        weight += asked_weight(a, i);
    if (code == EXIT_DONE && weight == 0.0)
        return failure(given, "%s: all rows have the weight 0: there is nothing to score", path);
    a->dropped = quorum_stream_dropped(r->stream);
    return code;
}

int asked_read(asked_rows *a, const char *path, const quorum_model *model, progress *p,
               const arguments *given)
{
    row_block rows = {0};
    quorum_stream_request wanted = {.with_target = true, .keep = ""};
    quorum_status status = rows_open_with(&rows, path, model, &wanted, 0, given);
    int code =
        status < 0 ? library_failure(given, status) : read_blocks(a, &rows, path, model, p, given);
    rows_close(&rows);
    return code;
}

/* ---- Scores ---- */

double asked_weight(const asked_rows *a, size_t i)
{
    return a->weighted ? a->weight[i] : 1.0;
}

quorum_metrics asked_scores(const asked_rows *a, const quorum_info *info)
{
    quorum_scores sums = {0};
    quorum_metrics m;
    quorum_scores_add_weighted(&sums, info, a->count, a->y, a->mean, a->std, &a->z,
                               a->weighted ? a->weight : NULL);
    quorum_scores_finish(&sums, &m);
    return m;
}
