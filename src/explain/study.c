/* Rows for a study: drawn by the seed, as tables, so that a column can be changed and the inputs that
 * are made of it (levels that stand apart, periods of dates, a place) are made again. */
#include "explain/study.h"

#include "base/memory.h"
#include "base/random.h"
#include "model/model.h"
#include "team/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Progress: each prediction is one of so many steps ---- */

static int count_on(void *user, const char *stage, double fraction, const char *detail)
{
    const study *s = user;
    double within = fraction > 0.0 ? fraction : 0.0;
    (void)stage;
    (void)detail;
    return s->told.callback(s->told.user, s->stage, ((double)s->done + within) / (double)s->steps,
                            "");
}

static quorum_status take_options(study *s, const quorum_options *options)
{
    if (!options && !(options = s->made = quorum_options_new()))
        return failure(QUORUM_E_MEMORY, "out of memory for options");
    s->options = *options;
    s->told = options->progress;
    if (s->told.callback)
        s->options.progress = (progress){count_on, s};
    s->threads = options_threads(&options->values);
    s->seed = (uint64_t)options->values.seed;
    return QUORUM_OK;
}

/* ---- Rows ---- */

static int compare_places(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* which (kept): rows drawn without replacement, in their order. */
static void draw_rows(size_t *which, size_t rows, size_t kept, uint64_t seed)
{
    rng r = rng_seed(seed, STREAM_EXPLAIN);
    for (size_t i = 0; i < rows; i++)
        which[i] = i;
    if (kept == rows)
        return;
    for (size_t i = 0; i < kept; i++) {
        size_t other = i + rng_below(&r, rows - i), row = which[i];
        which[i] = which[other];
        which[other] = row;
    }
    qsort(which, kept, sizeof *which, compare_places);
}

static int take_values(double **to, const double *from, const size_t *which, size_t n)
{
    if (!from)
        return 1;
    if (!NEW_ARRAY(*to, n))
        return 0;
    for (size_t i = 0; i < n; i++)
        (*to)[i] = from[which[i]];
    return 1;
}

/* The table's columns of a row of inputs, of which the first are these, but for degrees of a place. */
static void take_columns(study *s, const double *x, double *columns)
{
    double *row = s->X; /* as room */
    memcpy(row, x, s->inputs * sizeof *row);
    made_degrees(&s->m->made, row);
    memcpy(columns, row, s->columns * sizeof *columns);
}

static quorum_status take_row_values(row_values *to, const quorum_new_rows *from,
                                     const size_t *which, size_t n)
{
    if (!NEW_ARRAY(to->weight, n) || !take_values(&to->y, from->y, which, n) ||
        !take_values(&to->offset, from->offset, which, n) ||
        !take_values(&to->noise, from->noise_std, which, n))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows", n);
    for (size_t i = 0; i < n; i++)
        to->weight[i] = from->weight ? from->weight[which[i]] : 1.0;
    return QUORUM_OK;
}

static void row_values_free(row_values *v)
{
    mem_free(v->weight);
    mem_free(v->y);
    mem_free(v->offset);
    mem_free(v->noise);
}

static quorum_status take_rows(study *s, const quorum_new_rows *rows, const size_t *which)
{
    NEW_ARRAY(s->table, s->n * s->columns);
    NEW_ARRAY(s->changed, s->n * s->columns);
    NEW_ARRAY(s->X, s->n * s->inputs);
    if (!s->table || !s->changed || !s->X)
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows", s->n);
    for (size_t i = 0; i < s->n; i++)
        take_columns(s, rows->X + which[i] * s->inputs, s->table + i * s->columns);
    return take_row_values(&s->all, rows, which, s->n);
}

/* Every so-manieth of the rows, which are drawn at random. */
static quorum_status choose_used(study *s, size_t used)
{
    const quorum_new_rows all = {
        .y = s->all.y, .offset = s->all.offset, .weight = s->all.weight, .noise_std = s->all.noise};
    s->used = used > 0 && used < s->n ? used : s->n;
    if (!NEW_ARRAY(s->row, s->used))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows", s->used);
    for (size_t i = 0; i < s->used; i++)
        s->row[i] = i * s->n / s->used;
    return take_row_values(&s->some, &all, s->row, s->used);
}

/* Rows of a positive weight come first in `which`; how many they are. */
static size_t find_counted(const quorum_new_rows *rows, size_t *which)
{
    size_t counted = 0;
    for (size_t i = 0; i < rows->rows; i++)
        if (!rows->weight || rows->weight[i] > 0.0)
            which[counted++] = i;
    return counted;
}

static quorum_status choose_rows(study *s, const quorum_new_rows *rows, size_t most)
{
    size_t *counted, *which;
    quorum_status status;
    NEW_ARRAY(counted, rows->rows);
    NEW_ARRAY(which, rows->rows);
    if (!counted || !which) {
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu rows", rows->rows);
        goto done;
    }
    size_t n = find_counted(rows, counted);
    s->n = most > 0 && n > most ? most : n;
    if (s->n < LEAST_ROWS) {
        status = failure(QUORUM_E_DATA, "%zu rows: %d are needed to say what depends on what", s->n,
                         LEAST_ROWS);
        goto done;
    }
    draw_rows(which, n, s->n, s->seed);
    for (size_t i = 0; i < s->n; i++)
        which[i] = counted[which[i]];
    status = take_rows(s, rows, which);
done:
    mem_free(counted);
    mem_free(which);
    return status;
}

/* ---- The study ---- */

static quorum_status check_rows(const study *s, const quorum_new_rows *rows)
{
    if (!team_is_alone())
        return failure(QUORUM_E_ARGUMENT, "%s is work for one process, not for %d", s->stage,
                       quorum_team_size());
    if ((s->info.offset_name != NULL) != (rows->offset != NULL))
        return failure(QUORUM_E_ARGUMENT,
                       "offset: it is given where the model was fitted with one, and only there");
    for (size_t i = 0; i < rows->rows; i++) {
        if (rows->weight && !(rows->weight[i] >= 0.0 && isfinite(rows->weight[i])))
            return failure(QUORUM_E_DATA, "row %zu: the weight %g is not a number from 0 on", i + 1,
                           rows->weight[i]);
        if (rows->y && !isfinite(rows->y[i]))
            return failure(QUORUM_E_DATA, "row %zu: the target is %g", i + 1, rows->y[i]);
    }
    return QUORUM_OK;
}

quorum_status study_start(study *s, const quorum_model *m, const quorum_new_rows *rows, size_t most,
                          size_t used, const quorum_options *options, const char *stage)
{
    *s = (study){.m = m, .stage = stage, .steps = 1};
    TRY(take_options(s, options));
    TRY(quorum_inspect(m, &s->info));
    s->columns = s->info.columns;
    s->inputs = s->info.inputs;
    TRY(check_rows(s, rows));
    TRY(choose_rows(s, rows, most));
    return choose_used(s, used);
}

void study_free(study *s)
{
    quorum_options_free(s->made);
    mem_free(s->table);
    mem_free(s->changed);
    mem_free(s->X);
    mem_free(s->row);
    row_values_free(&s->all);
    row_values_free(&s->some);
}

static int is_second_of_place(const study *s, size_t d)
{
    const quorum_info *info = &s->info;
    return info->place > 0 &&
           d == (info->longitude > info->latitude ? info->longitude : info->latitude);
}

size_t study_groups(const study *s, input_group *groups)
{
    size_t count = 0;
    for (size_t d = 0; d < s->columns; d++) {
        if (is_second_of_place(s, d))
            continue;
        int of_place = s->info.place > 0 && (d == s->info.longitude || d == s->info.latitude);
        groups[count++] = of_place ? (input_group){{s->info.longitude, s->info.latitude}, 2}
                                   : (input_group){{d, d}, 1};
    }
    return count;
}

void study_swap(study *s, const input_group *g, const size_t *from)
{
    for (size_t i = 0; i < s->used; i++) {
        double *row = s->changed + i * s->columns;
        memcpy(row, s->table + s->row[i] * s->columns, s->columns * sizeof *row);
        for (size_t k = 0; k < g->columns; k++)
            row[g->column[k]] = s->table[from[i] * s->columns + g->column[k]];
    }
}

static quorum_status predict(study *s, const double *table, size_t count, quorum_prediction *out)
{
    TRY(quorum_make_inputs(s->m, table, count, s->X));
    TRY(quorum_predict(s->m, s->X, count, &s->options, out, NULL));
    s->done++;
    return QUORUM_OK;
}

quorum_status study_predict_all(study *s, quorum_prediction *out)
{
    out->offset = s->all.offset;
    out->noise_std = s->all.noise;
    return predict(s, s->table, s->n, out);
}

quorum_status study_predict(study *s, quorum_prediction *out)
{
    out->offset = s->some.offset;
    out->noise_std = s->some.noise;
    return predict(s, s->changed, s->used, out);
}

double study_mean(size_t n, const double *weight, const double *values)
{
    double sum = 0.0, whole = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += weight[i] * values[i];
        whole += weight[i];
    }
    return sum / whole;
}

int study_is_category(const study *s, size_t column)
{
    return s->info.levels && s->info.levels[column] > 0;
}
