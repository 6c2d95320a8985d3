/* theta = (l_1 .. l_D, s_f^2, s^2) by minimising the sum of the terms' negative log likelihoods,
 * a row:
 *
 *   f(log theta) = sum_e NLML_e(theta) / n,   with its gradient, within bounds
 *
 * Terms are spread over threads and ranks and added in the order of the list; NLopt searches,
 * with the next algorithm where one gives up, and from other starts where nothing was found. */
#include "train/train.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "gp/conditional.h"
#include "team/team.h"

#include <errno.h>
#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_INPUTS = 500 }; /* above, only what takes time in proportion to their number */

/* ---- Sum of the experts' likelihoods ---- */

/* Each rank of the team evaluates its share of the experts; then all ranks have all terms and
 * sum them in the order of the caller's list. */
typedef struct {
    const parts *p;
    const size_t *given; /* M: rows that a part is conditioned on, or NULL            */
    double nu;           /* of the parts' own scales, or 0                            */
    const hyper *theta;
    size_t count;       /* experts, of all ranks                                      */
    size_t mine, big;   /* this rank's; the first `big` of them by all threads together */
    size_t *experts;    /* mine: largest first                                        */
    size_t *place;      /* count: which term belongs to the caller's k-th expert      */
    double *term;       /* count x (D + 3): value and gradient, a rank's together     */
    double *own;        /* this rank's terms, in the order of `experts`               */
    team_piece *pieces; /* team_size(): each rank's terms                             */
    int workers, threads;
    likelihood_space *space; /* workers                                               */
    int with_gradient;
} likelihood_job;

static size_t term_width(const likelihood_job *j)
{
    return j->p->D + 3;
}

static void job_free(likelihood_job *j)
{
    for (int w = 0; j->space && w < j->workers; w++)
        likelihood_space_free(&j->space[w]);
    mem_free(j->space);
    mem_free(j->experts);
    mem_free(j->place);
    mem_free(j->term);
    mem_free(j->pieces);
}

typedef struct {
    const parts *p;
    const size_t *experts;
} listed;

/* Places in a list of experts by their experts' sizes (ties: lower number first). */
static int larger_first(const void *a, const void *b, void *context)
{
    const listed *l = context;
    size_t x = l->experts[*(const size_t *)a], y = l->experts[*(const size_t *)b];
    size_t m = part_size(l->p, x), n = part_size(l->p, y);
    if (m != n)
        return m > n ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Scratch of the division: the caller's list, largest expert first. */
typedef struct {
    size_t *slot;   /* count: places in the caller's list */
    size_t *expert; /* count: who stands there            */
    int *owner;     /* count: rank                        */
} work_order;

/* Rank r's terms follow those of the ranks before it, in order of work. */
static void give_out(likelihood_job *j, const work_order *o)
{
    size_t at = 0, bytes = term_width(j) * sizeof *j->term;
    for (int r = 0; r < team_size(); r++) {
        size_t first = at;
        for (size_t i = 0; i < j->count; i++) {
            if (o->owner[i] != r)
                continue;
            if (r == team_rank())
                j->experts[j->mine++] = o->expert[i];
            j->place[o->slot[i]] = at++;
        }
        j->pieces[r] = (team_piece){
            .data = j->term + first * term_width(j), .bytes = (at - first) * bytes, .owner = r};
        if (r == team_rank())
            j->own = j->pieces[r].data;
    }
    while (j->big < j->mine && part_size(j->p, j->experts[j->big]) > BIG_EXPERT)
        j->big++;
}

/* Experts are spread over the ranks by their cost, largest first. */
static quorum_status divide_work(likelihood_job *j, const size_t *experts)
{
    work_order o = {0};
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(o.slot, j->count) || !NEW_ARRAY(o.expert, j->count) ||
        !NEW_ARRAY(o.owner, j->count)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for training on %zu experts", j->count);
        goto done;
    }
    for (size_t k = 0; k < j->count; k++)
        o.slot[k] = k;
    qsort_r(o.slot, j->count, sizeof *o.slot, larger_first, &(listed){j->p, experts});
    for (size_t i = 0; i < j->count; i++)
        o.expert[i] = experts[o.slot[i]];
    TRY_OR_DONE(spread_by_size(j->p, o.expert, j->count, o.owner));
    give_out(j, &o);
done:
    mem_free(o.slot);
    mem_free(o.expert);
    mem_free(o.owner);
    return status;
}

static quorum_status check_memory(const likelihood_job *j, double memory)
{
    if (j->mine == 0)
        return QUORUM_OK;
    double first = likelihood_space_bytes(part_size(j->p, j->experts[0]), j->p->D);
    double other = j->big < j->mine && j->workers > 1
                       ? likelihood_space_bytes(part_size(j->p, j->experts[j->big]), j->p->D)
                       : 0.0;
    double needed = first + other * (j->workers - 1);
    if (needed <= memory)
        return QUORUM_OK;
    return failure(
        QUORUM_E_MEMORY,
        "training an expert of %zu rows on %d threads needs %.2f GB, more than memory "
        "(%.2f GB) allows: use more experts (smaller expert-size), fewer threads, or raise "
        "memory",
        part_size(j->p, j->experts[0]), j->workers, needed / 1e9, memory / 1e9);
}

static quorum_status make_spaces(likelihood_job *j)
{
    if (!NEW_ZEROED(j->space, (size_t)j->workers))
        return failure(QUORUM_E_MEMORY, "out of memory for training on %zu experts", j->count);
    for (int w = 0; j->mine > 0 && w < j->workers; w++) {
        size_t room = part_size(j->p, j->experts[w == 0 || j->big == j->mine ? 0 : j->big]);
        TRY(likelihood_space_new(room, j->p->D, &j->space[w]));
    }
    return QUORUM_OK;
}

static quorum_status job_new(const parts *p, const size_t *experts, size_t count,
                             const training_options *o, likelihood_job *out)
{
    likelihood_job j = {
        .p = p, .given = o->given, .nu = o->nu, .count = count, .threads = o->threads};
    quorum_status status = QUORUM_OK;
    NEW_ARRAY(j.experts, count);
    NEW_ARRAY(j.place, count);
    NEW_ZEROED(j.term, count * term_width(&j));
    NEW_ARRAY(j.pieces, (size_t)team_size());
    if (!j.experts || !j.place || !j.term || !j.pieces)
        status = failure(QUORUM_E_MEMORY, "out of memory for training on %zu experts", count);
    if (status == QUORUM_OK)
        status = divide_work(&j, experts);
    j.workers = parallel_workers(o->threads, j.mine - j.big);
    if (status == QUORUM_OK)
        status = check_memory(&j, o->memory);
    if (status == QUORUM_OK)
        status = make_spaces(&j);
    status = team_agree(status);
    if (status < 0)
        job_free(&j);
    else
        *out = j;
    return status;
}

static quorum_status one_expert(likelihood_job *j, size_t item, int worker, int threads)
{
    expert_data data = part_data(j->p, j->experts[item]);
    likelihood_space *ws = &j->space[worker];
    double *value = j->own + item * term_width(j);
    double *gradient = j->with_gradient ? value + 1 : NULL;
    if (j->given)
        return negative_log_conditional(j->theta, &data, j->given[j->experts[item]], j->nu, ws,
                                        value, gradient);
    return negative_log_likelihood(j->theta, &data, ws, threads, value, gradient);
}

static quorum_status small_expert(void *context, size_t item, int worker)
{
    likelihood_job *j = context;
    return one_expert(j, j->big + item, worker, 1);
}

/* This rank's terms. */
static quorum_status evaluate_mine(likelihood_job *j)
{
    for (size_t i = 0; i < j->big; i++)
        TRY(one_expert(j, i, 0, j->threads));
    return parallel_for(j->workers, j->mine - j->big, small_expert, j);
}

/* value = sum_e NLML_e, gradient likewise, in the order of the caller's list. */
static quorum_status evaluate(likelihood_job *j, const hyper *theta, double *value,
                              double *gradient)
{
    j->theta = theta;
    j->with_gradient = gradient != NULL;
    TRY(team_agree(evaluate_mine(j)));
    team_share(j->pieces, (size_t)team_size());
    size_t W = term_width(j);
    *value = 0.0;
    for (size_t k = 0; k < j->count; k++)
        *value += j->term[j->place[k] * W];
    for (size_t i = 0; gradient && i + 1 < W; i++) {
        gradient[i] = 0.0;
        for (size_t k = 0; k < j->count; k++)
            gradient[i] += j->term[j->place[k] * W + 1 + i];
    }
    return QUORUM_OK;
}

quorum_status total_likelihood(const parts *p, const size_t *experts, size_t count,
                               const training_options *options, const hyper *theta, double *value,
                               double *gradient)
{
    likelihood_job j;
    TRY(job_new(p, experts, count, options, &j));
    quorum_status status = evaluate(&j, theta, value, gradient);
    job_free(&j);
    return status;
}

/* ---- Parameters: log theta within bounds ---- */

static const double SHORTEST = 1e-3, LONGEST = 300.0; /* length-scales                       */
static const double LEAST_SIGNAL = 1e-4, MOST_SIGNAL = 1e4;
static const double LEAST_NOISE = 1e-6, MOST_NOISE = 10.0;
static const double ON_BOUND = 1e-3; /* in logarithms: so near a bound a parameter is on it */

double theta_lower_bound(size_t D, size_t i)
{
    return log(i < D ? SHORTEST : i == D ? LEAST_SIGNAL : LEAST_NOISE);
}

double theta_upper_bound(size_t D, size_t i)
{
    return log(i < D ? LONGEST : i == D ? MOST_SIGNAL : MOST_NOISE);
}

static void from_logs(const double *x, hyper *theta)
{
    for (size_t d = 0; d < theta->D; d++)
        theta->lengthscale[d] = exp(x[d]);
    theta->signal = exp(x[theta->D]);
    theta->noise = exp(x[theta->D + 1]);
}

void theta_at_bound(const hyper *theta, int *at_bound)
{
    size_t D = theta->D;
    for (size_t i = 0; i < D + 2; i++) {
        double x = log(i < D ? theta->lengthscale[i] : i == D ? theta->signal : theta->noise);
        at_bound[i] =
            (x > theta_upper_bound(D, i) - ON_BOUND) - (x < theta_lower_bound(D, i) + ON_BOUND);
    }
}

/* ---- The search ---- */

typedef struct {
    likelihood_job job;
    hyper theta;    /* scratch                                          */
    double rows;    /* of all training experts: the objective's scale   */
    size_t varying; /* inputs that vary: others have no gradient        */
    double best;    /* lowest objective of this start                   */
    double *best_x; /* D + 2                                            */
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
    evaluation e = {.value = HUGE_VAL, .gradient = gradient};
    int known;
    TRY(checkpoint_recall(s->checkpoint, x, &e, &known));
    if (!known) {
        from_logs(x, &s->theta);
        e.status = evaluate(&s->job, &s->theta, &e.value, gradient);
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

/* An optimiser that has met a lack of memory (see run) goes no further. */
static double objective(unsigned n, const double *x, double *gradient, void *context)
{
    search *s = context;
    if (errno == ENOMEM) {
        nlopt_force_stop(s->optimiser);
        return HUGE_VAL;
    }
    int before = errno;
    double value = evaluate_at(s, n, x, gradient);
    errno = before;
    return value;
}

/* Where a search begins: l = scale sqrt(D), D the inputs that vary, s_f^2 = 1. */
typedef struct {
    double scale, noise;
} starting_point;

static const starting_point first_start = {1.0, 0.1};
static const starting_point other_starts[] = {{0.5, 0.1}, {2.0, 0.02}, {0.25, 0.3}, {4.0, 0.1}};
enum { OTHER_STARTS = sizeof other_starts / sizeof *other_starts };

/* Bounds, objective and when to stop; the first result that is not a success, or success. */
static nlopt_result prepare(nlopt_opt optimiser, search *s, const training_options *o,
                            const double *x)
{
    size_t D = s->theta.D;
    nlopt_result r = nlopt_set_min_objective(optimiser, objective, s);
    for (size_t i = 0; r > 0 && i < D + 2; i++) {
        int fixed = o->variances_only && i < D;
        r = nlopt_set_lower_bound(optimiser, (int)i, fixed ? x[i] : theta_lower_bound(D, i));
        if (r > 0)
            r = nlopt_set_upper_bound(optimiser, (int)i, fixed ? x[i] : theta_upper_bound(D, i));
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
    s->optimiser = nlopt_create(algorithm, (unsigned)(s->theta.D + 2));
    nlopt_result r = s->optimiser ? prepare(s->optimiser, s, o, x) : NLOPT_OUT_OF_MEMORY;
    if (r > 0)
        r = nlopt_optimize(s->optimiser, x, &value);
    if (errno == ENOMEM)
        r = NLOPT_OUT_OF_MEMORY;
    errno = before;
    nlopt_destroy(s->optimiser);
    s->optimiser = NULL;
    return r;
}

static void starting_logs(size_t D, size_t varying, starting_point start, double *x)
{
    for (size_t d = 0; d < D; d++)
        x[d] = log(start.scale * sqrt((double)varying));
    x[D] = 0.0;
    x[D + 1] = log(start.noise);
}

static void to_logs(const hyper *theta, double *x)
{
    size_t D = theta->D;
    for (size_t i = 0; i < D + 2; i++) {
        x[i] = log(i < D ? theta->lengthscale[i] : i == D ? theta->signal : theta->noise);
        x[i] = fmax(theta_lower_bound(D, i), fmin(theta_upper_bound(D, i), x[i]));
    }
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
                       s->theta.D + 2);
    default:
        return failure(QUORUM_E_INTERNAL, "the optimiser refuses its arguments: %s",
                       nlopt_result_to_string(r));
    }
}

/* x as an algorithm left it when it gave up, within the bounds that the next one insists on. */
static void bring_within_bounds(size_t D, double *x)
{
    for (size_t i = 0; i < D + 2; i++)
        x[i] = fmax(theta_lower_bound(D, i), fmin(theta_upper_bound(D, i), x[i]));
}

/* SLSQP takes D^3 operations a step, in which it cannot be cancelled: at 5,000 inputs minutes. */
static int is_too_slow(nlopt_algorithm algorithm, size_t D)
{
    return algorithm == NLOPT_LD_SLSQP && D > MANY_INPUTS;
}

/* Minimises from x.  When an algorithm gives up (a line search that fails), the
 * next one goes on from the best point so far. */
static quorum_status search_from(search *s, const training_options *o, double *x)
{
    static const nlopt_algorithm algorithms[] = {NLOPT_LD_LBFGS, NLOPT_LD_SLSQP, NLOPT_LD_CCSAQ};
    size_t D = s->theta.D;
    int over = 0;
    for (size_t a = 0; !over && a < sizeof algorithms / sizeof *algorithms; a++) {
        if (is_too_slow(algorithms[a], D))
            continue;
        double before = s->best;
        quorum_status status = judge(s, run(algorithms[a], s, o, x), &over);
        TRY(s->status < 0 ? status : team_agree(status)); /* the objective's own are agreed on */
        if (s->best < before)
            memcpy(x, s->best_x, (D + 2) * sizeof *x);
        bring_within_bounds(D, x);
    }
    return QUORUM_OK;
}

/* Noise alone, of the target's own variance 1, has NLML 1/2 log 2pi + 1/2 a row;
 * as many free parameters gain a little on any data. */
static const double HARDLY_ANYTHING = 0.01; /* nats a row */

static evidence weigh(const search *s)
{
    double noise = 0.5 * log(2.0 * M_PI) + 0.5;
    double by_chance = HARDLY_ANYTHING + (double)(s->varying + 2) / s->rows;
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

quorum_status train(const parts *p, const size_t *experts, size_t count, const training_options *o,
                    hyper *theta, training_result *result)
{
    size_t P = p->D + 2;
    search s = {.theta = *theta,
                .best = HUGE_VAL,
                .varying = o->varying ? o->varying : p->D,
                .max_evaluations = o->max_evaluations,
                .done = o->done,
                .share = o->share > 0.0 ? o->share : 1.0,
                .checkpoint = o->checkpoint,
                .progress = o->progress};
    double *x = NULL;
    quorum_status status = job_new(p, experts, count, o, &s.job);
    if (status < 0)
        return status;
    s.theta.lengthscale = NULL;
    if (!NEW_ARRAY(s.theta.lengthscale, p->D) || !NEW_ARRAY(s.best_x, P) || !NEW_ARRAY(x, P)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for training on %zu inputs", p->D);
        goto done;
    }
    for (size_t k = 0; k < count; k++)
        s.rows += (double)(part_size(p, experts[k]) - (o->given ? o->given[experts[k]] : 0));
    if (o->start)
        to_logs(o->start, x);
    else
        starting_logs(p->D, s.varying, first_start, x);
    TRY_OR_DONE(search_from(&s, o, x));
    int others = o->variances_only ? 0 : OTHER_STARTS;
    for (int r = 0; r < others && starts_again(&s, o, r); r++) {
        starting_logs(p->D, s.varying, other_starts[r], x);
        TRY_OR_DONE(search_from(&s, o, x));
    }
    if (!isfinite(s.best)) {
        status = failure(QUORUM_E_NUMERIC, "training failed: no hyperparameters gave a positive "
                                           "definite covariance; are many rows identical?");
        goto done;
    }
    from_logs(s.best_x, theta);
    *result = (training_result){
        .nlml = s.best * s.rows, .rows = s.rows, .evaluations = s.evaluations, .signal = weigh(&s)};
done:
    job_free(&s.job);
    mem_free(s.theta.lengthscale);
    mem_free(s.best_x);
    mem_free(x);
    return status;
}
