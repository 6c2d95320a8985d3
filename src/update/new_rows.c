/* New rows on their way into a model, by the units and encodings that it has:
 *
 *   x -> ((x - x_mean) / x_scale) E,   y -> ((w(y - offset) - y_mean) / y_scale) - line(x)
 *
 * as a fit does it with rows of its own.  A hole is filled and costs what the model says (encode/holes.h).
 * A row that has no target, or the weight 0, is as if it were not there; and so is one with a level that the
 * model does not know: where such a level stands among the others, only a fit can learn. */
#include "update/update.h"

#include "base/memory.h"
#include "fit/strict.h"
#include "table/row_weights.h"

#include <math.h>
#include <string.h>

/* The rows with holes filled. */
typedef struct {
    change *c;
    size_t *which; /* of the rows that count: those with levels that are known */
    size_t count;
    row_set filled; /* count */
    weighed_rows weighed;
} taking;

/* ---- What may be given ---- */

static quorum_status check_fields(const change *c)
{
    const quorum_model *m = c->m;
    const quorum_new_rows *g = &c->given;
    if (!g->X || !g->y)
        return failure(QUORUM_E_ARGUMENT, "quorum_update: new rows have X and y");
    if ((g->offset != NULL) != (m->columns.offset != NULL))
        return failure(QUORUM_E_ARGUMENT,
                       m->columns.offset
                           ? "the model has an offset: new rows need theirs"
                           : "the model has no offset, and none can be given with new rows");
    if (g->noise_std && m->units.warp != WARP_NONE)
        return failure(QUORUM_E_ARGUMENT,
                       "noise-std does not go with a model of the target's logarithm");
    return QUORUM_OK;
}

static quorum_status check_target(const change *c, const row_set *rows, size_t i)
{
    double y = rows->y[i], offset = rows->offset ? rows->offset[i] : 0.0;
    if (!isfinite(y) || !isfinite(y - offset))
        return failure(QUORUM_E_DATA,
                       "row %zu: the target is %g: it and its difference from an "
                       "offset must be finite",
                       i + 1, y);
    if (c->m->units.warp != WARP_NONE && !(y + c->m->units.shift > 0.0))
        return failure(QUORUM_E_DATA,
                       "row %zu: the target is %.17g, below all that the model's logarithm of it "
                       "can be of: fit again",
                       i + 1, y);
    return QUORUM_OK;
}

static quorum_status check_targets(const change *c, const row_set *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        TRY(check_target(c, rows, i));
    return QUORUM_OK;
}

/* ---- Those that count ---- */

static int has_target(const quorum_new_rows *g)
{
    for (size_t i = 0; i < g->rows; i++)
        if (!isnan(g->y[i]))
            return 1;
    return 0;
}

static quorum_status weigh(taking *t)
{
    const quorum_new_rows *g = &t->c->given;
    row_set all = rows_view_of(g->rows, t->c->m->rows.D, g->X, g->y);
    all.offset = (double *)g->offset;
    all.weight = (double *)g->weight;
    all.error = (double *)g->noise_std;
    scattered_rows given = rows_scattered(g->rows, &all);
    return weigh_rows(&given, 1, &t->weighed);
}

/* Fills the holes of x; what they cost is added to its error. */
static void fill_row(const change *c, double *x, double *error)
{
    const quorum_model *m = c->m;
    double variance = 0.0;
    if (m->holes.of && c->s->missing == MISSING_IMPUTE)
        variance = holes_fill(&m->holes, &m->made, x, NULL);
    if (error)
        *error = hypot(*error, sqrt(variance));
}

/* Room for all of them, with errors where holes may cost some. */
static quorum_status fill_rows(taking *t)
{
    const row_set *rows = &t->weighed.rows.held;
    row_set like = *rows;
    if (t->c->m->holes.of && !like.error)
        like.error = like.y; /* any field says that there is one */
    TRY(rows_new(&like, rows->n, &t->filled));
    if (t->filled.error)
        memset(t->filled.error, 0, rows->n * sizeof *t->filled.error);
    row_set same = rows_only(&t->filled, rows);
    rows_copy(rows, 0, rows->n, &same, 0);
    for (size_t i = 0; i < rows->n; i++)
        fill_row(t->c, t->filled.X + i * rows->D, t->filled.error ? &t->filled.error[i] : NULL);
    return model_check_queries(t->c->m, t->filled.X, rows->n);
}

static quorum_status choose_known(taking *t)
{
    const encoding *e = &t->c->m->encoding;
    if (!NEW_ARRAY(t->which, t->filled.n))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu new rows", t->filled.n);
    if (t->c->s->unseen == UNSEEN_ERROR)
        TRY(model_check_known_levels(t->c->m, t->filled.X, t->filled.n));
    for (size_t i = 0; i < t->filled.n; i++)
        if (!e->of || !encoding_is_new(e, t->filled.X + i * t->filled.D))
            t->which[t->count++] = i;
    t->c->report.unseen = t->filled.n - t->count;
    return QUORUM_OK;
}

/* ---- In the model's units ---- */

static quorum_status standardise(taking *t)
{
    change *c = t->c;
    row_set chosen, like = t->filled;
    TRY(rows_new(&t->weighed.rows.held, t->count, &c->asked));
    rows_take(&t->weighed.rows.held, t->which, t->count, &c->asked);
    TRY(rows_new(&like, t->count, &chosen));
    rows_take(&t->filled, t->which, t->count, &chosen);
    like.offset = NULL;
    quorum_status status = rows_new(&like, t->count, &c->own);
    if (status >= 0)
        strict_standardise(c->m, &chosen, &c->own);
    c->report.off_constants = model_count_off_constants(c->m, chosen.X, t->count);
    rows_free(&chosen);
    return status;
}

static quorum_status take(taking *t)
{
    TRY(weigh(t));
    TRY(check_targets(t->c, &t->weighed.rows.held));
    TRY(fill_rows(t));
    TRY(choose_known(t));
    return standardise(t);
}

quorum_status change_take_rows(change *c)
{
    taking t = {.c = c};
    c->asked.D = c->own.D = c->m->rows.D;
    if (c->given.rows == 0)
        return QUORUM_OK;
    TRY(check_fields(c));
    if (!has_target(&c->given))
        return QUORUM_OK;
    quorum_status status = take(&t);
    rows_free(&t.filled);
    mem_free(t.which);
    weighed_rows_free(&t.weighed);
    return status;
}
