/* Which encoding of categories predicts left-out rows better (encoding=auto).
 *
 * Two first fits, to two thirds of at most TRIAL rows drawn at random, predict the other third: one with
 * positions of levels, one with levels that stand apart.  With squared errors e_i and e'_i of these rows,
 *
 *   levels stand apart where  mean(e - e') > CHANCE standard errors of it
 *
 * Both fits are of one kernel and one length-scale an input, which is enough to tell them apart: where
 * the same levels do something else elsewhere, no position is right.  Positions stay where there are more
 * than MOST_TRIED levels together, which would make the trial dear, or fewer than LEAST_ROWS rows. */
#include "fit/encoding_choice.h"

#include "base/memory.h"
#include "base/random.h"
#include "fit/drawn_rows.h"
#include "gp/noise.h"
#include "table/made_rows.h"

#include <math.h>
#include <string.h>

enum { TRIAL = 1536, MOST_TRIED = 64, LEAST_ROWS = 100, EVALUATIONS = 40 };
static const double CHANCE = 2.0, TOLERANCE = 1e-4;

typedef struct {
    const fitting *f;
    const made_request *asked;
    const hole_rule *holes;
    drawn_rows rows;
    double *X;        /* held x inputs: being asked                       */
    double *mean;     /* held                                             */
    double *error[2]; /* held: squared errors with positions, and without */
} trial;

static void trial_free(trial *t)
{
    drawn_rows_free(&t->rows);
    mem_free(t->X);
    mem_free(t->mean);
    mem_free(t->error[0]);
    mem_free(t->error[1]);
}

static quorum_status fail_memory(void)
{
    return failure(QUORUM_E_MEMORY, "out of memory for comparing encodings of categories");
}

/* ---- What can be tried ---- */

static size_t count_levels(const made_request *a)
{
    size_t count = 0;
    for (size_t d = 0; a->levels && d < a->columns; d++)
        count += a->levels[d];
    return count;
}

static int is_open(const fitting *f, const made_request *a)
{
    size_t levels = count_levels(a);
    return f->s->encoding == ENCODING_AUTO && levels > 0 && levels <= MOST_TRIED &&
           f->given->n >= LEAST_ROWS && f->s->theta[0] == '\0' && f->s->train == TRAIN_NEIGHBOURS;
}

/* ---- One of both ---- */

/* The kernel that was given, or Matern-3/2. */
static int trial_kernel(const settings *s)
{
    int k = 0;
    if (kernel_at(s->kernel))
        return s->kernel;
    while (kernel_at(k) && kernel_at(k) != &kernel_matern32)
        k++;
    return k;
}

static quorum_options trial_options(const trial *t)
{
    quorum_options o = *t->f->options;
    o.values.kernel = trial_kernel(t->f->s);
    o.values.metric = METRIC_ARD;
    o.values.trend = TREND_CONSTANT;
    o.values.warp = o.values.warp == WARP_AUTO ? WARP_NONE : o.values.warp;
    o.values.spread = "none";
    o.values.local_noise = LOCAL_NOISE_NO;
    o.values.restarts = 0.0;
    o.values.max_evaluations = fmin(o.values.max_evaluations, EVALUATIONS);
    o.values.tolerance = fmax(o.values.tolerance, TOLERANCE);
    o.values.calibrate = CALIBRATE_NO;
    o.values.graph = GRAPH_AUTO;
    o.values.checkpoint = "";
    o.values.overlap = o.values.experts = o.values.min_size = o.values.max_size = 0.0;
    return o;
}

static quorum_status fit_one(const trial *t, const made_rows *made, quorum_model **m)
{
    quorum_options o = trial_options(t);
    fitting f = *t->f;
    f.options = &o;
    f.s = &o.values;
    f.given = &t->rows.rows;
    if (made->made.count > 0) {
        f.given = &made->rows;
        f.names = made->names;
        f.categories = made->categories;
        f.made = &made->made;
    }
    return fit_rows(&f, m);
}

/* The held-out rows with what is made of their columns. */
static quorum_status make_queries(trial *t, const made_rows *made)
{
    const row_set *rest = &t->rows.rest;
    size_t inputs = rest->D + made->made.count;
    mem_free(t->X);
    if (!NEW_ARRAY(t->X, rest->n * inputs))
        return fail_memory();
    if (made->made.count > 0)
        made_apply(&made->made, rest->n, rest->X, t->X);
    else
        memcpy(t->X, rest->X, rest->n * inputs * sizeof *t->X);
    for (size_t i = 0; i < rest->n; i++)
        holes_fill(t->holes, &made->made, t->X + i * inputs, NULL);
    return QUORUM_OK;
}

typedef struct {
    trial *t;
    const made_rows *made;
    quorum_options *options;
} asking;

static quorum_status prepare_asking(void *context)
{
    asking *a = context;
    if (!(a->options = quorum_options_new()))
        return fail_memory();
    a->options->values.threads = a->t->f->s->threads;
    a->options->values.memory = a->t->f->s->memory;
    a->options->values.mean_only = 1;
    return make_queries(a->t, a->made);
}

static quorum_status ask(trial *t, const made_rows *made, const quorum_model *m, double *error)
{
    asking a = {.t = t, .made = made};
    const row_set *rest = &t->rows.rest;
    quorum_prediction out = {.mean = t->mean, .offset = rest->offset};
    quorum_status status = team_all(QUORUM_OK, prepare_asking, &a);
    if (status >= 0)
        status = quorum_predict(m, t->X, rest->n, a.options, &out, NULL);
    for (size_t i = 0; status >= 0 && i < rest->n; i++)
        error[i] = (rest->y[i] - t->mean[i]) * (rest->y[i] - t->mean[i]);
    quorum_options_free(a.options);
    return status;
}

static quorum_status try_one(trial *t, int apart)
{
    made_request asked = *t->asked;
    made_rows made = {0};
    quorum_model *m = NULL;
    asked.apart = apart;
    quorum_status status = make_rows(&t->rows.rows, &asked, t->f->categories, t->holes, &made);
    if (status >= 0)
        status = fit_one(t, &made, &m);
    if (status >= 0)
        status = ask(t, &made, m, t->error[apart]);
    quorum_model_free(m);
    made_rows_free(&made);
    return status;
}

/* ---- Both ---- */

/* Whether the errors without positions are smaller by more than chance. */
static int is_better_apart(const trial *t)
{
    const row_set *rest = &t->rows.rest;
    double weight = 0.0, mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < rest->n; i++) {
        weight += row_weight(rest, i);
        mean += row_weight(rest, i) * (t->error[0][i] - t->error[1][i]);
    }
    mean /= weight;
    for (size_t i = 0; i < rest->n; i++) {
        double d = t->error[0][i] - t->error[1][i] - mean;
        squares += row_weight(rest, i) * d * d;
    }
    return mean > CHANCE * sqrt(squares / (weight * (double)rest->n));
}

static quorum_status room_for_trial(void *context)
{
    trial *t = context;
    size_t held = t->rows.held_count;
    return NEW_ARRAY(t->mean, held) && NEW_ARRAY(t->error[0], held) && NEW_ARRAY(t->error[1], held)
               ? QUORUM_OK
               : fail_memory();
}

static quorum_status try_both(trial *t)
{
    const fitting *f = t->f;
    TRY(drawn_rows_draw(f->given, TRIAL, (uint64_t)f->s->seed, STREAM_ENCODING, &t->rows));
    TRY(team_all(QUORUM_OK, room_for_trial, t));
    for (int apart = 0; apart < 2; apart++) {
        TRY(progress_report(f->p, "categories", 0.5 * apart, "%s of levels",
                            apart ? "distances" : "positions"));
        TRY(try_one(t, apart));
    }
    return QUORUM_OK;
}

quorum_status encoding_choose(const fitting *f, const made_request *asked, const hole_rule *holes,
                              int *apart)
{
    trial t = {.f = f, .asked = asked, .holes = holes};
    *apart = f->s->encoding == ENCODING_DISTANCE;
    if (!is_open(f, asked))
        return QUORUM_OK;
    quorum_status status = try_both(&t);
    if (status >= 0)
        *apart = is_better_apart(&t);
    trial_free(&t);
    int unknown = status == QUORUM_E_DATA || status == QUORUM_E_NUMERIC; /* of so few rows */
    return status >= 0 || unknown ? QUORUM_OK : status;
}
