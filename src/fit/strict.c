/* calibrate=strict: one row in STRICT_FOLDS, drawn at random, is set aside before anything is learned.
 * Units, kernel, metric, theta, trend, spread and the number of neighbours come from the rest alone;
 * the model then takes all rows in, and calibrate.c predicts those set aside from the rest. */
#include "fit/strict.h"

#include "base/memory.h"
#include "base/random.h"
#include "calibrate/calibrate.h"
#include "theta/line.h"

#include <string.h>

enum { MOST_HELD_OUT = 5000 }; /* rows */

/* Marks exactly `wanted` of the rows without a mark, all sets of them equally likely, in one pass. */
static void mark_fold(rng *r, size_t n, char *fold, char mark, size_t unmarked, size_t wanted)
{
    for (size_t i = 0; i < n; i++) {
        if (fold[i])
            continue;
        if (rng_below(r, unmarked--) < wanted) {
            fold[i] = mark;
            wanted--;
        }
    }
}

/* One fold after the other from the rows that are left, up to this one. */
static void draw_held(strict_split *s, size_t wanted)
{
    size_t n = s->all->n;
    rng r = rng_seed(s->seed, STREAM_STRICT);
    for (int k = 0; k <= s->fold; k++)
        mark_fold(&r, n, s->held, (char)(k + 1), n - (size_t)k * wanted, wanted);
    s->count = 0;
    for (size_t i = 0; i < n; i++) {
        s->held[i] = s->held[i] == s->fold + 1;
        if (!s->held[i])
            s->which[s->count++] = i;
    }
}

static quorum_status draw_split(void *context)
{
    strict_split *s = context;
    size_t n = s->all->n;
    size_t wanted = n / STRICT_FOLDS < MOST_HELD_OUT ? n / STRICT_FOLDS : MOST_HELD_OUT;
    if (wanted < LEAST_HELD_OUT)
        return failure(QUORUM_E_DATA,
                       "calibrate=strict can hold out %zu of %zu rows, and needs %d: leave it off",
                       wanted, n, LEAST_HELD_OUT);
    if (!NEW_ZEROED(s->held, n) || !NEW_ARRAY(s->which, n))
        return failure(QUORUM_E_MEMORY, "out of memory for holding out %zu rows", wanted);
    draw_held(s, wanted);
    return rows_new(&s->all->held, s->count, &s->room);
}

quorum_status strict_split_make(const scattered_rows *all, uint64_t seed, int fold, strict_split *s)
{
    *s = (strict_split){.all = all, .seed = seed, .fold = fold};
    TRY(team_all(QUORUM_OK, draw_split, s));
    return rows_pick(QUORUM_OK, all, s->which, s->count, &s->room, &s->rest);
}

void strict_split_free(strict_split *s)
{
    mem_free(s->held);
    mem_free(s->which);
    rows_free(&s->room);
    *s = (strict_split){0};
}

/* ---- What was learned, for another model ---- */

static quorum_status copy_units(const quorum_model *from, quorum_model *m)
{
    unit_change *to = &m->units;
    const unit_change *u = &from->units;
    TRY(model_copy_input_units(from, m));
    to->warp = u->warp;
    to->shift = u->shift;
    to->y_mean = u->y_mean;
    to->y_scale = u->y_scale;
    to->target_mean = u->target_mean;
    to->target_scale = u->target_scale;
    return line_copy(from->rows.D, u, to);
}

quorum_status strict_adopt(const quorum_model *learned, quorum_model *m)
{
    char *options = m->history.options;
    m->history = learned->history;
    m->history.options = options;
    TRY(copy_units(learned, m));
    return model_copy_theta(learned, m);
}

quorum_status shared_adopt(const quorum_model *learned, quorum_model *m)
{
    char *options = m->history.options;
    int trend = m->history.trend;
    m->history = learned->history;
    m->history.options = options;
    m->history.trend = trend;
    m->history.seconds_partition = m->history.seconds_train = m->history.seconds_graph =
        m->history.seconds_calibrate = m->history.seconds_total = 0.0;
    TRY(model_copy_input_units(learned, m));
    return model_copy_theta(learned, m);
}

void strict_standardise(const quorum_model *m, const row_set *given, row_set *own)
{
    size_t D = m->rows.D;
    model_standardise(m, own->n, given->X, own->X);
    rows_copy_fields(given, 0, own->n, own, 0);
    target_apply(&m->units, given, own);
    for (size_t i = 0; m->units.line && i < own->n; i++)
        own->y[i] -= line_at(D, m->units.line, own->X + i * D);
}
