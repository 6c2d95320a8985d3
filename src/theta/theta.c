/* Finding theta (docs/training.md).
 *
 *   warp          with warp=auto, before all else, which target: a first look and a quick round of each
 *   start         with the option start, another model's theta, kernel and metric instead of the next one
 *   first look    exact likelihood of a few random parts: theta_0, good enough for a metric
 *   quick round   block-Vecchia likelihood of few rows in theta_0's metric, for every
 *                 kernel that is a candidate; each row left out in turn scores them
 *   last round    the same with many rows, in the metric of the quick round, for the two
 *                 best kernels: length-scales with a scale of each block's own, then the
 *                 variances without; for the winner also all of theta without such scales,
 *                 and the better of the two by rows left out
 *   spread        how far the rows around a query may scale its variance, from rows left out
 *   noise         whether a neighbourhood has a noise of its own, from rows left out
 *
 * train=random and train=subset replace the rounds by likelihoods of random rows;
 * train=parts, the paper's way, trains on the experts' own rows after the partition. */
#include "theta/finder.h"

#include "base/memory.h"
#include "base/random.h"
#include "team/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- theta as given ---- */

/* So many numbers, a length-scale for each input or one for all, then the others. */
static quorum_status check_fixed(const hyper *theta, const double *values, size_t count)
{
    size_t P = theta_length(theta->kernel, theta->D);
    if (count != P && count != P - theta->D + 1)
        return failure(QUORUM_E_ARGUMENT,
                       "theta has %zu numbers; it takes %zu length-scales (or one for all), the "
                       "signal variance and the noise variance%s",
                       count, theta->D,
                       theta->kernel->component ? ", and the longer scales' share and reach" : "");
    for (size_t i = 0; i < count; i++)
        if (!(values[i] > 0.0) || !isfinite(values[i]))
            return failure(QUORUM_E_ARGUMENT, "theta: %g is not a positive number", values[i]);
    if (theta->kernel->component && !(values[count - 2] < 1.0 && values[count - 1] >= 1.0))
        return failure(QUORUM_E_ARGUMENT,
                       "theta: the long scale's share is below 1 and its reach 1 or more, not %g "
                       "and %g",
                       values[count - 2], values[count - 1]);
    return QUORUM_OK;
}

static void take_fixed(hyper *theta, const double *values, size_t count)
{
    size_t others = theta_length(theta->kernel, 0);
    const double *other = values + count - others;
    for (size_t d = 0; d < theta->D; d++)
        theta->lengthscale[d] = values[count > others + 1 ? d : 0];
    theta->signal = other[0];
    theta->noise = other[1];
    if (theta->kernel->component) {
        theta->share = other[2];
        theta->reach = other[3];
    }
}

static quorum_status fixed_theta(quorum_model *m, const char *text)
{
    double *values;
    size_t count = 0, P = theta_length(m->theta.kernel, m->rows.D);
    if (!NEW_ARRAY(values, P))
        return failure(QUORUM_E_MEMORY, "out of memory for theta");
    quorum_status status = parse_numbers(text, values, P, &count);
    status = status < 0 ? failure_in(status, "theta") : check_fixed(&m->theta, values, count);
    if (status == QUORUM_OK)
        take_fixed(&m->theta, values, count);
    mem_free(values);
    return status;
}

/* theta is kept as logarithms: a model read from its file has the same bits. */
static void keep_logs(quorum_model *m)
{
    size_t D = m->rows.D, P = theta_length(m->theta.kernel, D);
    for (size_t i = 0; i < P; i++)
        m->log_theta[i] = i < D && m->units.constant[i] ? LOG_LONGEST : theta_log(&m->theta, i);
    model_set_theta(m);
}

/* The option as a number; 0: to be learned. */
static double wanted_spread(const quorum_model *m, const settings *s)
{
    int learned = s->train != TRAIN_PARTS && s->theta[0] == '\0' && m->rows.n >= LEAST_SCORED;
    double prior = options_spread(s);
    return prior > 0.0 || learned ? prior : INFINITY;
}

/* ---- In order ---- */

/* A search that goes on from m->theta when there is one to go on from; train=neighbours had its
 * rounds when the kernel was chosen. */
static quorum_status train_before_partition(finder *f, int looked)
{
    quorum_model *m = f->m;
    const hyper *start = looked ? &m->theta : NULL;
    training_options o = search_options(f);
    size_t size = smaller((size_t)f->s->expert_size, m->rows.n);
    switch (f->s->train) {
    case TRAIN_RANDOM: {
        size_t most = f->s->train_experts > 0.0 ? (size_t)f->s->train_experts : MANY_EXPERTS;
        return train_on_random_rows(f, smaller(m->rows.n / size, most), size, &o, start, &m->theta);
    }
    case TRAIN_SUBSET:
        return train_on_random_rows(f, 1, smaller(m->rows.n, SUBSET_ROWS), &o, start, &m->theta);
    default: return QUORUM_OK;
    }
}

static int has_start(const settings *s)
{
    return s->start[0] != '\0';
}

/* Whether theta has to be known, if roughly, before anything else. */
static int needs_first_look(const settings *s)
{
    return !kernel_at(s->kernel) || s->train == TRAIN_NEIGHBOURS ||
           s->partition_metric == PARTITION_LEARNED;
}

/* Searches before the partition: see the top. */
static int count_searches(const quorum_model *m, const settings *s)
{
    int given = kernel_at(s->kernel) != NULL, first = needs_first_look(s);
    int last = has_own_scales(m) ? 2 : 1, kernels = given ? 0 : kernel_candidates();
    int finalists = given ? 1 : FINALISTS, without = has_own_scales(m);
    if (given && s->train == TRAIN_NEIGHBOURS)
        kernels = 1;
    switch (s->train) {
    case TRAIN_NEIGHBOURS:
        return first + kernels + count_metric_searches(m, s, finalists) +
               finalists * (count_trials(m, s) + last) + without;
    case TRAIN_PARTS: return first + kernels;
    default: return first + kernels + 1;
    }
}

/* Room for theta; what is given of it, or where to begin. */
static quorum_status prepare_theta(void *context)
{
    const finder *f = context;
    quorum_model *m = f->m;
    const kernel *wanted = kernel_at(f->s->kernel); /* NULL: auto */
    m->theta = (hyper){.kernel = wanted ? wanted : &kernel_se, .D = m->rows.D, .reach = 1.0};
    if (!NEW_ARRAY(m->theta.lengthscale, m->rows.D) ||
        !NEW_ARRAY(m->log_theta, m->rows.D + 2 + MOST_SHAPES))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu length-scales", m->rows.D);
    return f->s->theta[0] != '\0' ? fixed_theta(m, f->s->theta) : QUORUM_OK;
}

quorum_status theta_choose_warp(quorum_model *m, const settings *s, const progress *p,
                                const scattered_rows *given, const scattered_rows *rows,
                                checkpoint *c, training_result *result, int *searches)
{
    finder f = {
        .m = m, .s = s, .p = p, .given = given, .rows = rows, .checkpoint = c, .result = result};
    *searches = 0;
    if (count_warps(m, s) == 0)
        return QUORUM_OK;
    m->spread = wanted_spread(m, s);
    f.planned = count_searches(m, s) + WARP_SEARCHES;
    quorum_status status = team_all(QUORUM_OK, prepare_theta, &f);
    if (status >= 0)
        status = find_warp(&f);
    *searches = f.searches;
    mem_free(m->theta.lengthscale);
    mem_free(m->log_theta);
    m->theta.lengthscale = m->log_theta = NULL;
    return status;
}

quorum_status theta_before_partition(quorum_model *m, const settings *s, const progress *p,
                                     const scattered_rows *given, const scattered_rows *rows,
                                     int searches, checkpoint *c, training_result *result)
{
    settings own = *s;
    finder f = {.m = m,
                .s = s,
                .p = p,
                .given = given,
                .rows = rows,
                .checkpoint = c,
                .result = result,
                .searches = searches};
    if (has_start(s) && s->theta[0] != '\0')
        return failure(QUORUM_E_ARGUMENT, "start does not go with theta, which skips training");
    m->history.train = s->train;
    m->spread = wanted_spread(m, s);
    m->nested_spread = 1;
    int learns = !(m->spread > 0.0);
    TRY(team_all(QUORUM_OK, prepare_theta, &f));
    if (s->theta[0] != '\0')
        return learn_noise(&f, 0);
    f.planned = count_searches(m, s) + searches;
    if (has_start(s)) {
        TRY(theta_start(&f, &own));
        f.s = &own;
    } else if (needs_first_look(s)) {
        TRY(first_look(&f));
    }
    TRY(choose_theta(&f));
    TRY(train_before_partition(&f, has_start(s) || needs_first_look(s)));
    if (!(m->spread > 0.0))
        TRY(learn_spread(&f));
    TRY(learn_neighbours(&f));
    TRY(learn_noise(&f, learns));
    return learns ? learn_untested(&f) : QUORUM_OK;
}

quorum_status theta_is_shared(quorum_model *m, const settings *s, const progress *p,
                              const scattered_rows *given, const scattered_rows *rows,
                              training_result *result)
{
    finder f = {.m = m, .s = s, .p = p, .given = given, .rows = rows, .result = result};
    m->spread = wanted_spread(m, s);
    m->nested_spread = 1;
    m->local_noise = 0;
    m->untested = 0.0;
    if (m->spread > 0.0)
        return QUORUM_OK;
    TRY(learn_spread(&f));
    return learn_untested(&f);
}

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

/* The experts to train on: all, or a random choice, in ascending order. */
static quorum_status training_experts(quorum_model *m, const settings *s, size_t **experts)
{
    size_t limit = s->train_experts > 0.0 ? (size_t)s->train_experts : MANY_EXPERTS;
    if (!NEW_ARRAY(*experts, m->M))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", m->M);
    for (size_t e = 0; e < m->M; e++)
        (*experts)[e] = e;
    m->history.train_experts = smaller(limit, m->M);
    if (m->history.train_experts < m->M) {
        rng r = rng_seed(m->seed, STREAM_TRAIN);
        rng_shuffle(&r, *experts, m->M);
        qsort(*experts, m->history.train_experts, sizeof **experts, ascending);
    }
    return QUORUM_OK;
}

/* theta from the experts' own rows, or, when it was given, its likelihood there. */
static quorum_status train_on_experts(finder *f)
{
    quorum_model *m = f->m;
    size_t *experts = NULL;
    parts rows = model_parts(m);
    training_options o = search_options(f);
    quorum_status status = QUORUM_OK, ready = training_experts(m, f->s, &experts);
    TRY_OR_DONE(model_hold(ready, m, experts, m->history.train_experts));
    if (f->s->theta[0] != '\0') {
        f->result->evaluations = 1;
        status = total_likelihood(&rows, experts, m->history.train_experts, &o, &m->theta,
                                  &f->result->nlml, NULL);
        for (size_t k = 0; k < m->history.train_experts; k++) {
            row_set part = part_rows(&rows, experts[k]);
            f->result->rows += count_weights(&part, 0);
        }
    } else {
        o.start = has_start(f->s) || needs_first_look(f->s) ? &m->theta : NULL;
        status = search_theta(f, &rows, experts, m->history.train_experts, &o, &m->theta);
    }
done:
    mem_free(experts);
    return status;
}

/* Where a line was taken out, that it leaves noise is no event: the line is what was found. */
static quorum_status say_signal(const quorum_model *m, const training_result *r)
{
    if (m->units.line)
        return QUORUM_OK;
    if (r->signal == SIGNAL_DOUBTFUL)
        return failure(QUORUM_NO_SIGNAL,
                       "%zu rows of %zu input%s are too few to tell the signal that was found from "
                       "chance: it is hardly more likely than noise alone",
                       m->history.train_rows, m->rows.D, m->rows.D == 1 ? "" : "s");
    if (r->signal == SIGNAL_NONE)
        return failure(QUORUM_NO_SIGNAL, "what was found is no more likely than noise alone: the "
                                         "inputs may not tell anything about the target");
    return QUORUM_OK;
}

quorum_status theta_after_partition(quorum_model *m, const settings *s, const progress *p,
                                    checkpoint *c, training_result *result)
{
    finder f = {.m = m, .s = s, .p = p, .checkpoint = c, .result = result, .planned = 1};
    if (s->train == TRAIN_PARTS || s->theta[0] != '\0')
        TRY(train_on_experts(&f));
    keep_logs(m);
    m->history.nlml = result->nlml;
    m->history.train_rows = (size_t)ceil(result->rows);
    m->history.evaluations = result->evaluations;
    return say_signal(m, result);
}
