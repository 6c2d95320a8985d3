/* quorum_sample: joint draws at queries (docs/methods.md, "Draws").
 *
 *   draw_q = mean_q + (latent_q / spread_q) e_q + c y_scale u_q' delta + noise_q eps_q
 *
 * mean, latent and noise are quorum_predict's (margins.h), e the joint errors and spread their own
 * standard deviation (joint_errors.h), delta ~ N(0, V) the error of a linear trend, one of a draw
 * (where there is one, latent is without it), eps ~ N(0, 1).  That is mean_q + std_q U, U standard
 * normal.  Where calibration has found how errors are distributed, the draw is mean_q + std_q g(U)
 * (linalg/bent_normal.h): each query's draws have the quantiles that quorum_predict gives.
 *
 * Of a warped target that is w of the draw.  z, eps and delta come from the seed, the query's inputs
 * and the number of the draw alone. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "linalg/bent_normal.h"
#include "linalg/blas.h"
#include "sample/joint_errors.h"
#include "sample/margins.h"
#include "team/work.h"

#include <math.h>
#include <string.h>

enum {
    EARLIER = 64, /* earlier queries that one leans on */
    DRAWS = 16    /* of one item of work               */
};

typedef struct {
    const plan *p;
    joint_errors e;
    margins g;
    double *spread;            /* n, in the order of the errors            */
    double *delta;             /* count x (D + 1): of each draw; NULL      */
    double unit;               /* of a line: c y_scale                     */
    quorum_distribution shape; /* of (y - mean) / std */
    size_t count;
    double *out; /* n x count, rows as in X */
} sampling;

/* ---- The line ---- */

/* delta = W diag(sqrt(lambda)) zeta, V = W diag(lambda) W'. */
static void draw_delta(size_t p, const double *W, const double *lambda, rng *r, double *delta)
{
    memset(delta, 0, p * sizeof *delta);
    for (size_t k = 0; k < p; k++) {
        double zeta = sqrt(fmax(0.0, lambda[k])) * rng_normal(r);
        for (size_t i = 0; i < p; i++)
            delta[i] += zeta * W[k * p + i];
    }
}

static quorum_status draw_deltas(sampling *s, uint64_t seed)
{
    size_t p = s->e.D + 1;
    double *W, *lambda;
    rng r = rng_seed(seed, STREAM_SAMPLE_LINE);
    NEW_ARRAY(W, p * p);
    NEW_ARRAY(lambda, p);
    NEW_ARRAY(s->delta, s->count * p);
    quorum_status status = W && lambda && s->delta
                               ? QUORUM_OK
                               : failure(QUORUM_E_MEMORY, "out of memory for %zu lines", s->count);
    if (status == QUORUM_OK) {
        memcpy(W, s->p->m->units.line_covariance, p * p * sizeof *W);
        status = blas_eigen(p, W, p, lambda);
    }
    for (size_t j = 0; status == QUORUM_OK && j < s->count; j++)
        draw_delta(p, W, lambda, &r, s->delta + j * p);
    mem_free(W);
    mem_free(lambda);
    return status;
}

/* ---- The draws ---- */

/* out = e, for `width` draws from `first` on. */
static void draw_errors(const sampling *s, uint64_t seed, size_t first, size_t width)
{
    const joint_errors *e = &s->e;
    for (size_t i = 0; i < e->n; i++) {
        double *here = s->out + e->order[i].row * s->count + first;
        const size_t *earlier = e->earlier + i * e->given;
        const double *b = e->weight + i * e->given;
        rng r = rng_seed(key_of_both(key_of_both(seed, e->order[i].key), first), STREAM_SAMPLE);
        for (size_t j = 0; j < width; j++)
            here[j] = e->own[i] * rng_normal(&r);
        for (size_t k = 0; k < e->count[i]; k++) {
            const double *there = s->out + e->order[earlier[k]].row * s->count + first;
            for (size_t j = 0; j < width; j++)
                here[j] += b[k] * there[j];
        }
    }
}

/* std g(U) of an error std U. */
static double bend(const quorum_distribution *g, double std, double error)
{
    return g->points > 0 && std > 0.0 ? std * bent_normal_at(g, error / std) : error;
}

/* From e to draws of the target at one place. */
static void finish_place(const sampling *s, uint64_t seed, size_t i, size_t first, size_t width)
{
    const joint_errors *e = &s->e;
    size_t row = e->order[i].row, p = e->D + 1;
    const double *u = e->U ? e->U + i * p : NULL;
    double doubt = u ? s->unit * sqrt(model_line_variance(s->p->m, u)) : 0.0;
    double own = rest_of(s->g.latent[row], doubt);
    double factor = s->spread[i] > 0.0 ? own / s->spread[i] : 0.0;
    double std = hypot(s->g.latent[row], s->g.noise[row]);
    double *here = s->out + row * s->count + first;
    rng r = rng_seed(key_of_both(key_of_both(seed, e->order[i].key), first), STREAM_SAMPLE_NOISE);
    for (size_t j = 0; j < width; j++) {
        double line = u ? s->unit * vec_dot(p, u, s->delta + (first + j) * p) : 0.0;
        double noise = s->g.noise[row] > 0.0 ? s->g.noise[row] * rng_normal(&r) : 0.0;
        double error = bend(&s->shape, std, factor * here[j] + line + noise);
        here[j] = warp_back(&s->p->m->units, s->g.mean[row] + error);
    }
}

static quorum_status some_draws(void *context, size_t item, int worker)
{
    const sampling *s = context;
    uint64_t seed = (uint64_t)s->p->s->seed;
    size_t first = item * DRAWS, left = s->count - first, width = left < DRAWS ? left : DRAWS;
    (void)worker;
    draw_errors(s, seed, first, width);
    TRY(progress_go_on());
    for (size_t i = 0; i < s->e.n; i++)
        finish_place(s, seed, i, first, width);
    return QUORUM_OK;
}

static quorum_status check_draws(const sampling *s)
{
    for (size_t i = 0; i < s->e.n * s->count; i++)
        if (!isfinite(s->out[i]))
            return failure(QUORUM_E_NUMERIC,
                           "query %zu has a draw that is not a finite number: rescale the target "
                           "before fit if its numbers are very large",
                           i / s->count + 1);
    return QUORUM_OK;
}

static quorum_status draw(plan *p, const double *X, size_t n, size_t count, double *out)
{
    sampling s = {.p = p, .count = count, .out = out};
    double scale = model_calibration_scale(p->m, p->s);
    s.unit = p->m->units.y_scale * scale;
    model_distribution(p->m, p->s, &s.shape);
    bent_normal_divide(&s.shape, scale);
    quorum_status status;
    TRY_OR_DONE(margins_new(n, &s.g));
    TRY_OR_DONE(margins_find(p, X, n, &s.g));
    TRY_OR_DONE(joint_errors_find(p, X, n, EARLIER, &s.e));
    if (!NEW_ARRAY(s.spread, n)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu queries", n);
        goto done;
    }
    TRY_OR_DONE(progress_stretch(p->progress, "spread", 0, n, n, "queries"));
    progress_expect(1.0);
    TRY_OR_DONE(joint_errors_spread(&s.e, p->threads, s.spread));
    if (s.e.U)
        TRY_OR_DONE(draw_deltas(&s, (uint64_t)p->s->seed));
    TRY_OR_DONE(progress_stretch(p->progress, "draw", 0, count, count, "draws"));
    progress_expect(1.0);
    TRY_OR_DONE(parallel_for(p->threads, (count + DRAWS - 1) / DRAWS, some_draws, &s));
    TRY_OR_DONE(check_draws(&s));
done:
    margins_free(&s.g);
    joint_errors_free(&s.e);
    mem_free(s.spread);
    mem_free(s.delta);
    return status;
}

/* ---- The call ---- */

static quorum_status check_room(const plan *p, size_t n, size_t count)
{
    double needed = joint_errors_bytes(n, p->m->rows.D, EARLIER) + 8.0 * (double)n * (double)count;
    if (needed <= p->memory)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY,
                   "%zu draws at %zu queries may need %.2f GB, more than memory (%.2f GB) allows: "
                   "ask for fewer",
                   count, n, needed / 1e9, p->memory / 1e9);
}

static quorum_status check_call(const quorum_options *options)
{
    if (!team_is_alone())
        return failure(QUORUM_E_ARGUMENT, "joint draws are work for one process, not for %d",
                       quorum_team_size());
    if (options_values(options)->mean_only)
        return failure(QUORUM_E_ARGUMENT, "mean-only: draws need variances");
    return QUORUM_OK;
}

quorum_status quorum_sample(const quorum_model *m, const double *X, size_t rows,
                            const quorum_options *options, size_t count, double *out)
{
    plan p = {0};
    progress_watch watch;
    if (!m || !X || !out || rows == 0 || count == 0)
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_sample: model, X and out must not be NULL, rows and count not 0");
    options_watch(options, "sample", &watch);
    quorum_status status = check_call(options);
    if (status == QUORUM_OK)
        status = model_check_queries(m, X, rows);
    if (status == QUORUM_OK)
        status = model_check_known_levels(m, X, rows);
    if (status == QUORUM_OK)
        status = plan_make(m, options, 0, X, rows, &p);
    if (status == QUORUM_OK)
        status = check_room(&p, rows, count);
    if (status == QUORUM_OK)
        status = draw(&p, X, rows, count, out);
    progress_watch_end(&watch);
    mem_free(p.experts);
    for (size_t i = 0; status < 0 && i < rows * count; i++)
        out[i] = NAN;
    return status;
}
