/* Calibration that nobody asked for: of the default prediction, by rows left out in turn.
 *
 * Some rows are predicted each from its nearest others, as many as a prediction takes, with the
 * variance that it would state:
 *
 *   z = error / sqrt(s (latent + noise) + e^2),   s: the spread factor, e: the row's known error
 *
 * No row is held back from theta, and no model is made without them, as calibrate=true does: it costs
 * as much as predicting so many queries.  calibrate.c makes a distribution of the ratios. */
#include "calibrate/calibrate.h"

#include "base/memory.h"
#include "team/work.h"
#include "train/left_out.h"

#include <math.h>

enum {
    FEW_ROWS = 2000,     /* with fewer, in this way on demand only           */
    LEFT_OUT = 2000,     /* rows left out ...                                */
    LEAST_LEFT_OUT = 500 /* ... and so many at least                         */
};
static const double MEMORY_SHARE = 0.125; /* that these rows and their neighbours may take */

int calibrates_unasked(const settings *s)
{
    return s->calibrate == CALIBRATE_AUTO && s->train == TRAIN_NEIGHBOURS && s->theta[0] == '\0';
}

int model_calibrates_unasked(size_t n, const settings *s)
{
    return calibrates_unasked(s) && n >= FEW_ROWS;
}

/* How many rows; 0: none, because the prediction is not by nearest rows, theta is not from them, or
 * there is too little to go by. */
static size_t count_rows(const quorum_model *m, const settings *s, size_t experts, recipe *r)
{
    quorum_model planned = {.rows.n = m->rows.n, .M = experts, .neighbours = m->neighbours};
    if (!model_calibrates_unasked(m->rows.n, s) || model_recipe(&planned, s, r) != QUORUM_OK ||
        r->rule->kind != TAKES_ROWS)
        return 0;
    double each = 8.0 * ((double)r->neighbours + 1.0) * ((double)m->rows.D + 1.0);
    double rows = fmin(LEFT_OUT, MEMORY_SHARE * options_memory(s) / each);
    return rows < LEAST_LEFT_OUT ? 0 : (size_t)rows;
}

typedef struct {
    size_t count;
    left_out_row *rows; /* count */
    findings found;
} leaving_out;

static quorum_status make_room(void *context)
{
    leaving_out *l = context;
    NEW_ARRAY(l->rows, l->count);
    if (l->rows && findings_new(l->count, &l->found))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for calibrating on %zu rows", l->count);
}

static void take_ratios(leaving_out *l, spread_rule spread)
{
    for (size_t i = 0; i < l->count; i++) {
        const left_out_row *row = &l->rows[i];
        double factor = spread_factor(spread, row->around, row->variance);
        double std = sqrt(factor * row->variance + row->known);
        findings_add(&l->found, row->error, std, 1.0, row->weight);
    }
    findings_summarise(&l->found);
}

static quorum_status leave_out(const quorum_model *m, const settings *s, const vecchia_parts *v,
                               leaving_out *l)
{
    const double *V = m->units.line ? m->units.line_covariance : NULL;
    l->count = v->parts.M;
    quorum_status ready = team_all(QUORUM_OK, make_room, l);
    TRY(ready);
    left_out_how how = {.V = V, .local_noise = m->local_noise, .threads = options_threads(s)};
    return left_out_predict(ready, v, &m->theta, &how, l->rows);
}

quorum_status model_calibrate_left_out(quorum_model *m, const settings *s, size_t experts,
                                       const scattered_rows *rows)
{
    recipe r;
    size_t targets = count_rows(m, s, experts, &r);
    if (targets == 0)
        return QUORUM_OK;
    vecchia_problem problem = {.rows = rows,
                               .lengthscale = m->theta.lengthscale,
                               .block = 1,
                               .given = r.neighbours,
                               .targets = targets,
                               .others = 1,
                               .seed = m->seed,
                               .threads = options_threads(s)};
    vecchia_parts v;
    leaving_out l = {0};
    TRY(vecchia_parts_new(&problem, &v));
    quorum_status status = leave_out(m, s, &v, &l);
    vecchia_parts_free(&v);
    if (status == QUORUM_OK) {
        take_ratios(&l, model_spread(m));
        m->calibration = findings_take(&l.found);
        m->calibration.unasked = 1;
    }
    mem_free(l.rows);
    findings_free(&l.found);
    return status == QUORUM_E_NUMERIC ? QUORUM_OK : status; /* then nothing is known */
}
