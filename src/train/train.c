/* theta = (l_1 .. l_D, s_f^2, s^2), and (w, rho) of several scales, by minimising the sum of the terms' negative log likelihoods,
 * a row:
 *
 *   f(log theta) = sum_e NLML_e(theta) / n,   with its gradient, within bounds (of w the logit)
 *
 * Inputs may share a length-scale: theta then has it once in the search, and its gradient is the sum of
 * theirs.
 *
 * Terms are spread over threads and processes and added in the order of the list; NLopt searches,
 * with the next algorithm where one gives up, and from other starts where nothing was found. */
#include "train/train.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "gp/conditional.h"
#include "team/work.h"

#include <errno.h>
#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_INPUTS = 500 }; /* above, only what takes time in proportion to their number */

/* ---- Sum of the experts' likelihoods ---- */

/* Each process of a team evaluates its share of the terms; then all have all of them, and sum them
 * in the order of the caller's list. */
typedef struct {
    const parts *p;
    size_t count;
    const size_t *experts; /* count: the caller's list, whose k-th has term k         */
    const size_t *given;   /* M: rows that a part is conditioned on, or NULL          */
    double nu;             /* of the parts' own scales, or 0                          */
    const kernel *kernel;
    const hyper *theta;
    work_share share;    /* of the terms, by cost m^3                                 */
    const size_t *items; /* of this process, largest first                            */
    size_t mine, big;    /* so many; the first `big` of them by all threads together  */
    double *term;        /* count x term_width: value and gradient                    */
    int workers, threads;
    likelihood_space *space; /* workers                                               */
    int with_gradient;
} likelihood_job;

static size_t term_width(const likelihood_job *j)
{
    return 1 + theta_length(j->kernel, j->p->rows.D);
}

/* The rows of term k. */
static size_t term_rows(const likelihood_job *j, size_t k)
{
    return part_size(j->p, j->experts[k]);
}

static void job_free(likelihood_job *j)
{
    for (int w = 0; j->space && w < j->workers; w++)
        likelihood_space_free(&j->space[w]);
    mem_free(j->space);
    mem_free(j->term);
    work_share_free(&j->share);
}

static quorum_status out_of_memory(const likelihood_job *j)
{
    return failure(QUORUM_E_MEMORY, "out of memory for training on %zu experts", j->count);
}

/* Terms are spread over the processes by their cost, largest first. */
static quorum_status divide_work(likelihood_job *j)
{
    double *cost;
    if (!NEW_ARRAY(cost, j->count))
        return out_of_memory(j);
    for (size_t k = 0; k < j->count; k++)
        cost[k] = pow((double)term_rows(j, k), 3.0);
    quorum_status status = work_share_new(cost, j->count, &j->share);
    mem_free(cost);
    j->items = j->share.items;
    j->mine = j->share.mine;
    while (j->big < j->mine && term_rows(j, j->items[j->big]) > BIG_EXPERT)
        j->big++;
    return status;
}

static quorum_status check_memory(const likelihood_job *j, double memory)
{
    if (j->mine == 0)
        return QUORUM_OK;
    double first = likelihood_space_bytes(term_rows(j, j->items[0]), j->p->rows.D, j->kernel);
    double other =
        j->big < j->mine && j->workers > 1
            ? likelihood_space_bytes(term_rows(j, j->items[j->big]), j->p->rows.D, j->kernel)
            : 0.0;
    double needed = first + other * (j->workers - 1);
    if (needed <= memory)
        return QUORUM_OK;
    return failure(
        QUORUM_E_MEMORY,
        "training an expert of %zu rows on %d threads needs %.2f GB, more than memory "
        "(%.2f GB) allows: use more experts (smaller expert-size), fewer threads, or raise "
        "memory",
        term_rows(j, j->items[0]), j->workers, needed / 1e9, memory / 1e9);
}

static quorum_status make_spaces(likelihood_job *j)
{
    NEW_ZEROED(j->term, j->count * term_width(j));
    NEW_ZEROED(j->space, (size_t)j->workers);
    if (!j->term || !j->space)
        return out_of_memory(j);
    for (int w = 0; j->mine > 0 && w < j->workers; w++) {
        size_t room = term_rows(j, j->items[w == 0 || j->big == j->mine ? 0 : j->big]);
        TRY(likelihood_space_new(room, j->p->rows.D, j->kernel, &j->space[w]));
    }
    return QUORUM_OK;
}

/* Whether this process is ready to evaluate; job_free in any case. */
static quorum_status job_new(const parts *p, const size_t *experts, size_t count,
                             const training_options *o, const kernel *k, likelihood_job *j)
{
    *j = (likelihood_job){.p = p,
                          .count = count,
                          .experts = experts,
                          .given = o->given,
                          .nu = o->nu,
                          .kernel = k,
                          .threads = o->threads};
    TRY(divide_work(j));
    j->workers = parallel_workers(o->threads, j->mine - j->big);
    TRY(check_memory(j, o->memory));
    return make_spaces(j);
}

static quorum_status one_term(likelihood_job *j, size_t k, int worker, int threads)
{
    row_set data = part_rows(j->p, j->experts[k]);
    likelihood_space *ws = &j->space[worker];
    double *value = j->term + k * term_width(j);
    double *gradient = j->with_gradient ? value + 1 : NULL;
    if (j->given)
        return negative_log_conditional(j->theta, &data, j->given[j->experts[k]], j->nu, ws, value,
                                        gradient);
    return negative_log_likelihood(j->theta, &data, ws, threads, value, gradient);
}

static quorum_status small_expert(void *context, size_t item, int worker)
{
    likelihood_job *j = context;
    return one_term(j, j->items[j->big + item], worker, 1);
}

/* The terms of this process. */
static quorum_status evaluate_mine(void *context, const size_t *items, size_t count)
{
    likelihood_job *j = context;
    for (size_t i = 0; i < j->big; i++)
        TRY(one_term(j, items[i], 0, j->threads));
    return parallel_for(j->workers, count - j->big, small_expert, j);
}

/* value = sum_e NLML_e, gradient likewise, in the order of the caller's list. */
static quorum_status evaluate(quorum_status ready, likelihood_job *j, const hyper *theta,
                              double *value, double *gradient)
{
    size_t W = term_width(j);
    team_result terms = {.data = j->term, .width = W * sizeof *j->term};
    j->theta = theta;
    j->with_gradient = gradient != NULL;
    TRY(team_map_share(ready, &j->share, evaluate_mine, j, &terms, 1));
    *value = 0.0;
    for (size_t k = 0; k < j->count; k++)
        *value += j->term[k * W];
    for (size_t i = 0; gradient && i + 1 < W; i++) {
        gradient[i] = 0.0;
        for (size_t k = 0; k < j->count; k++)
            gradient[i] += j->term[k * W + 1 + i];
    }
    return QUORUM_OK;
}

/* As how many rows each term counts, into its value: from whoever has its rows. */
static quorum_status weigh_mine(void *context, const size_t *items, size_t count)
{
    likelihood_job *j = context;
    for (size_t i = 0; i < count; i++) {
        size_t e = j->experts[items[i]];
        row_set data = part_rows(j->p, e);
        j->term[items[i] * term_width(j)] = count_weights(&data, j->given ? j->given[e] : 0);
    }
    return QUORUM_OK;
}

static quorum_status sum_weights(likelihood_job *j, double *rows)
{
    size_t W = term_width(j);
    team_result terms = {.data = j->term, .width = W * sizeof *j->term};
    if (!j->p->rows.weight)
        return QUORUM_OK;
    TRY(team_map_share(QUORUM_OK, &j->share, weigh_mine, j, &terms, 1));
    *rows = 0.0;
    for (size_t k = 0; k < j->count; k++)
        *rows += j->term[k * W];
    return QUORUM_OK;
}

quorum_status total_likelihood(const parts *p, const size_t *experts, size_t count,
                               const training_options *options, const hyper *theta, double *value,
                               double *gradient)
{
    likelihood_job j;
    quorum_status ready = job_new(p, experts, count, options, theta->kernel, &j);
    quorum_status status = evaluate(ready, &j, theta, value, gradient);
    job_free(&j);
    return status;
}

/* ---- Parameters: log theta within bounds ---- */

static const double SHORTEST = 1e-3, LONGEST = 300.0; /* length-scales                       */
static const double LEAST_SIGNAL = 1e-4, MOST_SIGNAL = 1e4;
static const double LEAST_NOISE = 1e-6, MOST_NOISE = 10.0;
static const double LEAST_SHARE = 1e-4, MOST_SHARE = 1.0 - 1e-4; /* of the long scale ...  */
static const double LEAST_REACH = 1.0, MOST_REACH = 1e4;         /* ... in length-scales  */
static const double ON_BOUND = 1e-3; /* in logarithms: so near a bound a parameter is on it */

double theta_lower_bound(size_t D, size_t i)
{
    const double least[] = {LEAST_SIGNAL, LEAST_NOISE, LEAST_SHARE / (1.0 - LEAST_SHARE),
                            LEAST_REACH};
    return log(i < D ? SHORTEST : least[i - D]);
}

double theta_upper_bound(size_t D, size_t i)
{
    const double most[] = {MOST_SIGNAL, MOST_NOISE, MOST_SHARE / (1.0 - MOST_SHARE), MOST_REACH};
    return log(i < D ? LONGEST : most[i - D]);
}

void theta_at_bound(const hyper *theta, int *at_bound)
{
    size_t D = theta->D, P = theta_length(theta->kernel, D);
    memset(at_bound, 0, (D + 2 + MOST_SHAPES) * sizeof *at_bound);
    for (size_t i = 0; i < P; i++) {
        double x = theta_log(theta, i);
        at_bound[i] =
            (x > theta_upper_bound(D, i) - ON_BOUND) - (x < theta_lower_bound(D, i) + ON_BOUND);
    }
}

/* ---- The search ---- */

typedef struct {
    likelihood_job job;
    hyper theta;        /* scratch                                          */
    double rows;        /* of all training experts, by their weights: the objective's scale */
    size_t varying;     /* inputs that vary: others have no gradient        */
    double best;        /* lowest objective so far                          */
    size_t P;           /* numbers of theta                                 */
    double *x;          /* P: where an algorithm is                         */
    double *best_x;     /* P                                                */
    const size_t *same; /* as in training_options                       */
    size_t own;         /* numbers that the search is for ...               */
    size_t *place;      /* ... P: which of them each number of theta is     */
    double *u;          /* own: where the optimiser is                      */
    double *at;         /* P: the theta that is evaluated ...               */
    double *slope;      /* P: ... and its gradient                          */
    int evaluations, max_evaluations;
    double done, share; /* as in training_options */
    checkpoint *checkpoint;
    const progress *progress;
    nlopt_opt optimiser;
    quorum_status status; /* of a failure that ends the search                */
} search;

/* Value and gradient at x: remembered, or evaluated and written down. */
static quorum_status answer(search *s, const double *x, double *value, double *gradient)
{
    evaluation e = {.parameters = s->P, .value = HUGE_VAL, .gradient = gradient};
    int known;
    TRY(checkpoint_recall(s->checkpoint, x, &e, &known));
    if (!known) {
        theta_from_logs(x, &s->theta);
        e.status = evaluate(QUORUM_OK, &s->job, &s->theta, &e.value, gradient);
        if (e.status == QUORUM_OK || e.status == QUORUM_E_NUMERIC)
            TRY(checkpoint_record(s->checkpoint, x, &e));
    }
    *value = e.value;
    return e.status;
}

/* How far the caller's work is: this search goes on towards its end and never reaches it, since
 * nobody knows how many starts and algorithms it takes. */
static double fraction_done(const search *s)
{
    double e = s->evaluations, most = s->max_evaluations;
    double part = e < most ? 0.9 * e / most : 1.0 - 0.1 * most / e;
    return s->done + s->share * part;
}

/* NLML per row.  A theta at which some covariance is not positive definite is
 * merely a bad one; any other failure ends the search. */
static double evaluate_at(search *s, unsigned n, const double *x, double *gradient)
{
    double value = HUGE_VAL;
    quorum_status status = answer(s, x, &value, gradient);
    s->evaluations++;
    if (status == QUORUM_E_NUMERIC || (status == QUORUM_OK && !isfinite(value))) {
        for (unsigned i = 0; gradient && i < n; i++)
            gradient[i] = 0.0;
        return 1e10;
    }
    if (status == QUORUM_OK) {
        value /= s->rows;
        for (unsigned i = 0; gradient && i < n; i++)
            gradient[i] /= s->rows;
        if (value < s->best) {
            s->best = value;
            memcpy(s->best_x, x, n * sizeof *x);
        }
        status = progress_report(s->progress, "train", fraction_done(s),
                                 "evaluation %d, NLML per row %.5f", s->evaluations, s->best);
    }
    if (status < 0) {
        s->status = status;
        nlopt_force_stop(s->optimiser);
    }
    return value;
}

/* ---- Length-scales that inputs share ---- */

/* Numbers the search's own. */
static void place_parameters(search *s)
{
    size_t D = s->theta.D;
    for (size_t i = 0; i < s->P; i++) {
        int shares = s->same && i < D && s->same[i] != i;
        s->place[i] = shares ? s->place[s->same[i]] : s->own++;
    }
}

/* x (P) of the search's own u, and the other way round. */
static void spread_out(const search *s, const double *u, double *x)
{
    for (size_t i = 0; i < s->P; i++)
        x[i] = u[s->place[i]];
}

static void draw_together(const search *s, const double *x, double *u)
{
    for (size_t i = s->P; i-- > 0;) /* the first of those that share one is the last to write */
        u[s->place[i]] = x[i];
}

static void add_slopes(const search *s, double *gradient)
{
    memset(gradient, 0, s->own * sizeof *gradient);
    for (size_t i = 0; i < s->P; i++)
        gradient[s->place[i]] += s->slope[i];
}

/* An optimiser that has met a lack of memory (see run) goes no further. */
static double objective(unsigned n, const double *u, double *gradient, void *context)
{
    search *s = context;
    (void)n;
    if (errno == ENOMEM) {
        nlopt_force_stop(s->optimiser);
        return HUGE_VAL;
    }
    int before = errno;
    spread_out(s, u, s->at);
    double value = evaluate_at(s, (unsigned)s->P, s->at, gradient ? s->slope : NULL);
    if (gradient)
        add_slopes(s, gradient);
    errno = before;
    return value;
}

/* Where a search begins: l = scale sqrt(D), D the inputs that vary, s_f^2 = 1.  With several
 * scales that is the second, and the first, which has half of the variance, is so many times shorter. */
typedef struct {
    double scale, noise;
} starting_point;

static const starting_point first_start = {1.0, 0.1};
static const starting_point other_starts[] = {{0.5, 0.1}, {2.0, 0.02}, {0.25, 0.3}, {4.0, 0.1}};
static const double FIRST_SHARE = 0.5, FIRST_REACH = 10.0;
enum { OTHER_STARTS = sizeof other_starts / sizeof *other_starts };

/* Bounds, objective and when to stop; the first result that is not a success, or success. */
static nlopt_result prepare(nlopt_opt optimiser, search *s, const training_options *o,
                            const double *x)
{
    size_t D = s->theta.D;
    nlopt_result r = nlopt_set_min_objective(optimiser, objective, s);
    for (size_t i = 0; r > 0 && i < s->P; i++) {
        int reach = i == D + 3, k = (int)s->place[i];
        int fixed = (o->variances_only && (i < D || reach)) || (o->keep_reach && reach);
        r = nlopt_set_lower_bound(optimiser, k, fixed ? x[i] : theta_lower_bound(D, i));
        if (r > 0)
            r = nlopt_set_upper_bound(optimiser, k, fixed ? x[i] : theta_upper_bound(D, i));
    }
    if (r > 0)
        r = nlopt_set_maxeval(optimiser, o->max_evaluations);
    if (r > 0)
        r = nlopt_set_ftol_rel(optimiser, o->tolerance);
    if (r > 0)
        r = nlopt_set_ftol_abs(optimiser, o->tolerance);
    return r;
}

/* One run of an algorithm from x, which becomes where it ended.
 *
 * An algorithm that is out of memory does not always say so: NLopt's L-BFGS goes on with fewer
 * updates and ends elsewhere, CCSAQ calls it a failure.  A malloc that failed leaves ENOMEM, and
 * the objective leaves errno alone. */
static nlopt_result run(nlopt_algorithm algorithm, search *s, const training_options *o, double *x)
{
    double value;
    int before = errno;
    errno = 0;
    s->optimiser = nlopt_create(algorithm, (unsigned)s->own);
    nlopt_result r = s->optimiser ? prepare(s->optimiser, s, o, x) : NLOPT_OUT_OF_MEMORY;
    draw_together(s, x, s->u);
    if (r > 0)
        r = nlopt_optimize(s->optimiser, s->u, &value);
    spread_out(s, s->u, x);
    if (errno == ENOMEM)
        r = NLOPT_OUT_OF_MEMORY;
    errno = before;
    nlopt_destroy(s->optimiser);
    s->optimiser = NULL;
    return r;
}

/* From one scale in s->x to several, of which it is the second: it was found from rows that are farther
 * apart (theta/rounds.c), or is as long as inputs are wide. */
static void start_scales(search *s)
{
    size_t D = s->theta.D;
    if (s->P == D + 2)
        return;
    for (size_t d = 0; d < D; d++)
        s->x[d] -= log(FIRST_REACH);
    s->x[D + 2] = log(FIRST_SHARE / (1.0 - FIRST_SHARE));
    s->x[D + 3] = log(FIRST_REACH);
}

static void start_at(search *s, starting_point start)
{
    size_t D = s->theta.D;
    for (size_t d = 0; d < D; d++)
        s->x[d] = log(start.scale * sqrt((double)s->varying));
    s->x[D] = 0.0;
    s->x[D + 1] = log(start.noise);
    start_scales(s);
}

/* s->x, within the bounds that algorithms insist on. */
static void bring_within_bounds(search *s)
{
    for (size_t i = 0; i < s->P; i++)
        s->x[i] =
            fmax(theta_lower_bound(s->theta.D, i), fmin(theta_upper_bound(s->theta.D, i), s->x[i]));
}

/* From a theta, which may have been searched for with one scale. */
static void start_from(search *s, const hyper *theta)
{
    for (size_t i = 0; i < s->P; i++)
        s->x[i] = theta_log(theta, i);
    if (theta->share == 0.0)
        start_scales(s);
    bring_within_bounds(s);
}

/* What an algorithm's end means for the search: a failure, or QUORUM_OK with *over set when no
 * other algorithm need go on. */
static quorum_status judge(const search *s, nlopt_result r, int *over)
{
    *over = 1;
    if (s->status < 0) /* the objective's own: r is NLOPT_FORCED_STOP */
        return s->status;
    if (r > 0) /* converged, or stopped after so many evaluations */
        return QUORUM_OK;
    switch (r) {
    case NLOPT_ROUNDOFF_LIMITED: return QUORUM_OK;   /* as good as it gets */
    case NLOPT_FAILURE: *over = 0; return QUORUM_OK; /* a line search that found nothing */
    case NLOPT_OUT_OF_MEMORY:
        return failure(QUORUM_E_MEMORY, "out of memory for the search for %zu hyperparameters",
                       s->P);
    default:
        return failure(QUORUM_E_INTERNAL, "the optimiser refuses its arguments: %s",
                       nlopt_result_to_string(r));
    }
}

/* SLSQP takes D^3 operations a step, in which it cannot be cancelled: at 5,000 inputs minutes. */
static int is_too_slow(nlopt_algorithm algorithm, size_t D)
{
    return algorithm == NLOPT_LD_SLSQP && D > MANY_INPUTS;
}

/* Minimises from s->x.  When an algorithm gives up (a line search that fails), the
 * next one goes on from the best point so far. */
static quorum_status search_on(search *s, const training_options *o)
{
    static const nlopt_algorithm algorithms[] = {NLOPT_LD_LBFGS, NLOPT_LD_SLSQP, NLOPT_LD_CCSAQ};
    int over = 0;
    for (size_t a = 0; !over && a < sizeof algorithms / sizeof *algorithms; a++) {
        if (is_too_slow(algorithms[a], s->theta.D))
            continue;
        double before = s->best;
        TRY(judge(s, run(algorithms[a], s, o, s->x), &over));
        if (s->best < before)
            memcpy(s->x, s->best_x, s->P * sizeof *s->x);
        bring_within_bounds(s);
    }
    return QUORUM_OK;
}

/* Noise alone, of the target's own variance 1, has NLML 1/2 log 2pi + 1/2 a row;
 * as many free parameters gain a little on any data. */
static const double HARDLY_ANYTHING = 0.01; /* nats a row */

static evidence weigh(const search *s)
{
    double noise = 0.5 * log(2.0 * M_PI) + 0.5;
    double by_chance = HARDLY_ANYTHING + (double)(s->varying + s->P - s->theta.D) / s->rows;
    if (s->best <= noise - by_chance)
        return SIGNAL_FOUND;
    return s->best < noise - HARDLY_ANYTHING ? SIGNAL_DOUBTFUL : SIGNAL_NONE;
}

/* With more inputs than rows anything can be explained by chance, and another start tells nothing
 * that is worth its time when they are many. */
static int starts_again(const search *s, const training_options *o, int start)
{
    int hopeless = s->varying > MANY_INPUTS && (double)s->varying >= s->rows;
    return start < o->restarts || (!hopeless && weigh(s) != SIGNAL_FOUND);
}

static void search_free(search *s)
{
    job_free(&s->job);
    mem_free(s->theta.lengthscale);
    mem_free(s->best_x);
    mem_free(s->x);
    mem_free(s->place);
    mem_free(s->u);
    mem_free(s->at);
    mem_free(s->slope);
}

/* What train was asked for and fills in. */
typedef struct {
    const parts *p;
    const size_t *experts;
    size_t count;
    const training_options *o;
    hyper *theta;
    training_result *result;
    search s;
} training;

/* Whether this process is ready; search_free in any case. */
static quorum_status search_new(void *context)
{
    training *t = context;
    const parts *p = t->p;
    const training_options *o = t->o;
    search *s = &t->s;
    *s = (search){.theta = *t->theta,
                  .P = theta_length(t->theta->kernel, p->rows.D),
                  .best = HUGE_VAL,
                  .same = o->same,
                  .varying = o->varying ? o->varying : p->rows.D,
                  .max_evaluations = o->max_evaluations,
                  .done = o->done,
                  .share = o->share > 0.0 ? o->share : 1.0,
                  .checkpoint = o->checkpoint,
                  .progress = o->progress};
    NEW_ARRAY(s->theta.lengthscale, p->rows.D);
    NEW_ARRAY(s->best_x, s->P);
    NEW_ARRAY(s->x, s->P);
    NEW_ARRAY(s->place, s->P);
    NEW_ARRAY(s->u, s->P);
    NEW_ARRAY(s->at, s->P);
    NEW_ARRAY(s->slope, s->P);
    for (size_t k = 0; k < t->count; k++) {
        size_t e = t->experts[k];
        s->rows += (double)(part_size(p, e) - (o->given ? o->given[e] : 0));
    }
    TRY(job_new(p, t->experts, t->count, o, t->theta->kernel, &s->job));
    if (!s->theta.lengthscale || !s->best_x || !s->x || !s->place || !s->u || !s->at || !s->slope)
        return failure(QUORUM_E_MEMORY, "out of memory for training on %zu inputs", p->rows.D);
    place_parameters(s);
    return QUORUM_OK;
}

/* From the first start, and from others as long as they are wanted. */
static quorum_status search_all(search *s, const training_options *o)
{
    if (o->start)
        start_from(s, o->start);
    else
        start_at(s, first_start);
    TRY(search_on(s, o));
    int others = o->variances_only ? 0 : OTHER_STARTS;
    for (int r = 0; r < others && starts_again(s, o, r); r++) {
        start_at(s, other_starts[r]);
        TRY(search_on(s, o));
    }
    if (isfinite(s->best))
        return QUORUM_OK;
    return failure(QUORUM_E_NUMERIC, "training failed: no hyperparameters gave a positive "
                                     "definite covariance; are many rows identical?");
}

static quorum_status take_best(void *context)
{
    training *t = context;
    theta_from_logs(t->s.best_x, t->theta);
    *t->result = (training_result){.nlml = t->s.best * t->s.rows,
                                   .rows = t->s.rows,
                                   .evaluations = t->s.evaluations,
                                   .signal = weigh(&t->s)};
    return QUORUM_OK;
}

/* All processes hear of an evaluation that failed.  Between evaluations one alone can fail, for
 * memory: it comes to take_best early, and the others hear it at their next evaluation or there. */
quorum_status train(const parts *p, const size_t *experts, size_t count, const training_options *o,
                    hyper *theta, training_result *result)
{
    training t = {
        .p = p, .experts = experts, .count = count, .o = o, .theta = theta, .result = result};
    quorum_status status = team_all(QUORUM_OK, search_new, &t);
    if (status == QUORUM_OK)
        status = sum_weights(&t.s.job, &t.s.rows);
    if (status == QUORUM_OK) {
        status = search_all(&t.s, o);
        if (t.s.status >= 0)
            status = team_all(status, take_best, &t);
    }
    search_free(&t.s);
    return status;
}
