/* Finding theta (docs/training.md).
 *
 *   first look    exact likelihood of a few random parts: theta_0, good enough for a metric
 *   quick round   block-Vecchia likelihood of few rows in theta_0's metric, for every
 *                 kernel that is a candidate; each row left out in turn scores them
 *   last round    the same with many rows, in the metric of the quick round, for the two
 *                 best kernels: length-scales with a scale of each block's own, then the
 *                 variances without
 *   spread        how far the rows around a query may scale its variance, from rows left out
 *
 * train=random and train=subset replace the rounds by likelihoods of random rows;
 * train=parts, the paper's way, trains on the experts' own rows after the partition. */
#include "fit/theta.h"

#include "base/memory.h"
#include "base/random.h"
#include "train/train.h"
#include "train/vecchia.h"
#include "train/contender.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MANY_EXPERTS = 100, /* train-experts=auto trains on so many at most         */
    LOOK_PARTS = 4,     /* first look: random parts ...                         */
    LOOK_ROWS = 500,    /* ... of so many rows                                  */
    SUBSET_ROWS = 1500, /* train=subset                                         */
    FEW_ROWS = 512,     /* up to here the exact likelihood is as cheap          */
    BLOCK = 4,          /* rows of a block, and the rows it is given            */
    GIVEN = 60,
    OWN_SCALE_ROWS = 100,    /* so many rows speak for theta in a block's own scale  */
    QUICK_ROWS = 4000,       /* targets of the quick round                           */
    HASTY_EVALUATIONS = 100, /* of the first look and the quick rounds               */
    SCORE_ROWS = 8000,       /* left out in turn to score a kernel ...               */
    SCORE_GIVEN = 96,        /* ... and predicted from so many nearest               */
    FINALISTS = 2,           /* kernels that have a last round                       */
    LEAST_SCORED = 100       /* fewer rows do not tell a spread                      */
};
static const double HASTY_TOLERANCE = 1e-4, SHAPE_TOLERANCE = 1e-5;

typedef struct {
    quorum_model *m;
    const settings *s;
    const progress *p;
    const scattered_rows *rows;
    checkpoint *checkpoint; /* or NULL */
    training_result *result;
    int searches, planned; /* so many searches are over, of so many */
} finder;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- theta as given ---- */

static quorum_status fixed_theta(quorum_model *m, const char *text)
{
    double *values;
    size_t count = 0, D = m->rows.D;
    if (!NEW_ARRAY(values, D + 2))
        return failure(QUORUM_E_MEMORY, "out of memory for theta");
    quorum_status status = parse_numbers(text, values, D + 2, &count);
    if (status < 0)
        status = failure_in(status, "theta");
    else if (count != D + 2 && count != 3)
        status = failure(QUORUM_E_ARGUMENT,
                         "theta has %zu numbers; it takes %zu length-scales (or one for all), the "
                         "signal variance and the noise variance",
                         count, D);
    for (size_t i = 0; status == QUORUM_OK && i < count; i++)
        if (!(values[i] > 0.0) || !isfinite(values[i]))
            status = failure(QUORUM_E_ARGUMENT, "theta: %g is not a positive number", values[i]);
    if (status == QUORUM_OK) {
        for (size_t d = 0; d < D; d++)
            m->theta.lengthscale[d] = values[count == D + 2 ? d : 0];
        m->theta.signal = values[count - 2];
        m->theta.noise = values[count - 1];
    }
    mem_free(values);
    return status;
}

/* theta is kept as logarithms: a model read from its file has the same bits. */
static void keep_logs(quorum_model *m)
{
    for (size_t d = 0; d < m->rows.D; d++)
        m->log_theta[d] = m->units.constant[d] ? LOG_LONGEST : log(m->theta.lengthscale[d]);
    m->log_theta[m->rows.D] = log(m->theta.signal);
    m->log_theta[m->rows.D + 1] = log(m->theta.noise);
    model_set_theta(m);
}

/* ---- One search ---- */

static quorum_status copy_theta(const hyper *from, hyper *to)
{
    *to = *from;
    if (!NEW_ARRAY(to->lengthscale, from->D))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu length-scales", from->D);
    memcpy(to->lengthscale, from->lengthscale, from->D * sizeof *to->lengthscale);
    return QUORUM_OK;
}

/* Replaces one theta by another; both keep their memory. */
static void set_theta(hyper *to, const hyper *from)
{
    to->kernel = from->kernel;
    to->signal = from->signal;
    to->noise = from->noise;
    memcpy(to->lengthscale, from->lengthscale, to->D * sizeof *to->lengthscale);
}

static training_options search_options(const finder *f)
{
    return (training_options){.max_evaluations = (int)f->s->max_evaluations,
                              .tolerance = f->s->tolerance,
                              .restarts = (int)f->s->restarts,
                              .threads = options_threads(f->s),
                              .memory = options_memory(f->s),
                              .checkpoint = f->checkpoint,
                              .progress = f->p,
                              .varying = model_varying(f->m)};
}

static training_options hasty_options(const finder *f)
{
    training_options o = search_options(f);
    o.max_evaluations = (int)fmin(o.max_evaluations, HASTY_EVALUATIONS);
    o.tolerance = fmax(o.tolerance, HASTY_TOLERANCE);
    return o;
}

/* train(), with the evaluations of all searches counted. */
static quorum_status search_theta(finder *f, const parts *p, const size_t *experts, size_t count,
                                  training_options *o, hyper *theta)
{
    int before = f->result->evaluations;
    o->done = (double)f->searches / f->planned;
    o->share = 1.0 / f->planned;
    TRY(train(p, experts, count, o, theta, f->result));
    f->result->evaluations += before;
    f->searches++;
    return QUORUM_OK;
}

/* ---- Random rows ---- */

/* All rows' numbers (n) in a random order. */
static quorum_status draw_rows(const quorum_model *m, size_t **row)
{
    if (!NEW_ARRAY(*row, m->rows.n))
        return failure(QUORUM_E_MEMORY, "out of memory for a choice of %zu rows", m->rows.n);
    for (size_t i = 0; i < m->rows.n; i++)
        (*row)[i] = i;
    rng r = rng_seed(m->seed, STREAM_LOOK);
    rng_shuffle(&r, *row, m->rows.n);
    return QUORUM_OK;
}

/* Trains theta on `count` parts of `size` rows, all drawn at random.  start: where to
 * begin, or NULL. */
static quorum_status train_on_random_rows(finder *f, size_t count, size_t size, training_options *o,
                                          const hyper *start, hyper *theta)
{
    quorum_model *m = f->m;
    size_t total = count * size, *row = NULL, *all = NULL;
    parts p = {.M = count};
    quorum_status status = QUORUM_OK, ready = draw_rows(m, &row);
    NEW_ARRAY(p.offset, count + 1);
    NEW_ARRAY(all, count);
    if (ready >= 0 && (!p.offset || !all))
        ready = failure(QUORUM_E_MEMORY, "out of memory for training on %zu rows", total);
    if (ready >= 0)
        ready = rows_new(&f->rows->held, total, &p.rows);
    TRY_OR_DONE(rows_fetch(ready, f->rows, row, total, &p.rows));
    for (size_t e = 0; e <= count; e++)
        p.offset[e] = e * size;
    for (size_t e = 0; e < count; e++)
        all[e] = e;
    o->start = start;
    status = search_theta(f, &p, all, count, o, theta);
done:
    mem_free(row);
    mem_free(all);
    parts_free(&p);
    return status;
}

static quorum_status first_look(finder *f)
{
    size_t n = f->m->rows.n, count = n / LOOK_ROWS;
    count = count < 1 ? 1 : smaller(count, LOOK_PARTS);
    training_options o = hasty_options(f);
    return train_on_random_rows(f, count, smaller(n / count, LOOK_ROWS), &o, NULL, &f->m->theta);
}

/* ---- Neighbours: the block-Vecchia likelihood ---- */

static vecchia_problem neighbour_problem(const finder *f, const hyper *metric, double targets)
{
    return (vecchia_problem){.rows = f->rows,
                             .lengthscale = metric->lengthscale,
                             .block = f->m->rows.n <= FEW_ROWS ? f->m->rows.n : BLOCK,
                             .given = GIVEN,
                             .targets = (size_t)fmin(targets, (double)f->m->rows.n),
                             .seed = f->m->seed,
                             .threads = options_threads(f->s)};
}

static quorum_status search_blocks(finder *f, const vecchia_parts *v, training_options *o,
                                   hyper *theta)
{
    o->start = theta;
    o->given = v->given;
    return search_theta(f, &v->parts, v->all, v->parts.M, o, theta);
}

static quorum_status quick_round(finder *f, hyper *theta)
{
    training_options o = hasty_options(f);
    o.restarts = 0;
    vecchia_parts v;
    vecchia_problem problem = neighbour_problem(f, theta, QUICK_ROWS);
    TRY(vecchia_parts_new(&problem, &v));
    quorum_status status = search_blocks(f, &v, &o, theta);
    vecchia_parts_free(&v);
    return status;
}

/* Where the data are wild they would decide alone.  With a scale of each block's own they do
 * not; but such scales can hide what the noise is, so the variances come last, without. */
static quorum_status search_with_own_scales(finder *f, const vecchia_parts *v, training_options *o,
                                            hyper *theta)
{
    training_options shape = *o;
    shape.nu = OWN_SCALE_ROWS;
    shape.tolerance = fmax(o->tolerance, SHAPE_TOLERANCE);
    TRY(search_blocks(f, v, &shape, theta));
    o->variances_only = 1;
    return search_blocks(f, v, o, theta);
}

/* With blocks, not with all rows as one. */
static int has_own_scales(const quorum_model *m)
{
    return isfinite(m->spread) && m->rows.n > FEW_ROWS;
}

/* theta from where it is, in its own metric. */
static quorum_status last_round(finder *f, hyper *theta)
{
    training_options o = search_options(f);
    o.restarts = 0; /* the first look had them */
    vecchia_parts v;
    vecchia_problem problem = neighbour_problem(f, theta, f->s->train_rows);
    TRY(vecchia_parts_new(&problem, &v));
    quorum_status status = has_own_scales(f->m) ? search_with_own_scales(f, &v, &o, theta)
                                                : search_blocks(f, &v, &o, theta);
    vecchia_parts_free(&v);
    return status;
}

/* ---- The kernel and the spread ---- */

/* Rows are left out one at a time and predicted from their nearest others, near by theta's
 * own metric. */
static quorum_status score(finder *f, contender *c, double prior)
{
    vecchia_parts v;
    vecchia_problem problem = neighbour_problem(f, &c->theta, SCORE_ROWS);
    problem.block = 1;
    problem.given = SCORE_GIVEN;
    problem.others = 1;
    TRY(vecchia_parts_new(&problem, &v));
    quorum_status status = contender_score(c, &v, prior, options_threads(f->s));
    vecchia_parts_free(&v);
    return status;
}

static quorum_status score_and_tell(finder *f, contender *c)
{
    kernel_choice *choice = &f->m->history.kernel_choice;
    TRY(score(f, c, f->m->spread));
    choice->score[c->number] = c->density;
    return progress_report(f->p, "train", -1.0, "kernel %s: log density a row %.4f, error %.4f",
                           c->theta.kernel->name, c->density, sqrt(c->error));
}

/* The two best by their quick rounds have their last rounds too, and the better one comes
 * first: few rows can favour the wrong one. */
static quorum_status finals(finder *f, contender **list, int count)
{
    int finalists = count < FINALISTS ? count : FINALISTS;
    for (int place = 0; place < finalists; place++)
        contender_best_first(list + place, count - place);
    for (int place = 0; place < finalists; place++) {
        TRY(last_round(f, &list[place]->theta));
        list[place]->result = *f->result;
        TRY(score_and_tell(f, list[place]));
    }
    contender_best_first(list, finalists);
    return QUORUM_OK;
}

static void keep_contender(finder *f, const contender *c)
{
    int evaluations = f->result->evaluations; /* of all */
    set_theta(&f->m->theta, &c->theta);
    *f->result = c->result;
    f->result->evaluations = evaluations;
}

/* Contenders that begin with the same theta. */
typedef struct {
    const hyper *theta;
    contender *all;
    int count;
} line_up;

static quorum_status copy_thetas(void *context)
{
    const line_up *l = context;
    for (int k = 0; k < l->count; k++) {
        l->all[k].number = k;
        TRY(copy_theta(l->theta, &l->all[k].theta));
    }
    return QUORUM_OK;
}

static quorum_status have_quick_round(finder *f, contender *c)
{
    c->theta.kernel = kernel_at(c->number);
    f->m->history.kernel_choice.name[c->number] = c->theta.kernel->name;
    TRY(quick_round(f, &c->theta));
    c->result = *f->result;
    c->nlml = c->result.nlml;
    return score_and_tell(f, c);
}

/* Every kernel has its quick round from the first look's theta; the best one, its theta and,
 * if it had its last round, its spread stay. */
static quorum_status choose_kernel(finder *f)
{
    quorum_model *m = f->m;
    contender all[MOST_KERNELS] = {0}, *list[MOST_KERNELS];
    int count = kernel_count() < MOST_KERNELS ? kernel_count() : MOST_KERNELS;
    line_up kernels = {.theta = &m->theta, .all = all, .count = count};
    quorum_status status = QUORUM_OK;
    TRY_OR_DONE(team_all(QUORUM_OK, copy_thetas, &kernels));
    for (int k = 0; k < count; k++) {
        list[k] = &all[k];
        TRY_OR_DONE(have_quick_round(f, list[k]));
    }
    m->history.kernel_choice.count = count;
    if (f->s->train == TRAIN_NEIGHBOURS) {
        TRY_OR_DONE(finals(f, list, count));
        m->spread = list[0]->prior;
    } else {
        contender_best_first(list, count);
    }
    keep_contender(f, list[0]);
done:
    for (int k = 0; k < count; k++)
        contender_free(&all[k]);
    return status;
}

static quorum_status learn_spread(finder *f)
{
    quorum_model *m = f->m;
    contender c = {0};
    line_up alone = {.theta = &m->theta, .all = &c, .count = 1};
    quorum_status status = team_all(QUORUM_OK, copy_thetas, &alone);
    if (status == QUORUM_OK)
        status = score(f, &c, m->spread);
    if (status == QUORUM_OK)
        m->spread = c.prior;
    contender_free(&c);
    return status;
}

/* The option as a number; 0: to be learned. */
static double wanted_spread(const quorum_model *m, const settings *s)
{
    int learned = s->train != TRAIN_PARTS && s->theta[0] == '\0' && m->rows.n >= LEAST_SCORED;
    double prior = options_spread(s);
    return prior > 0.0 || learned ? prior : INFINITY;
}

/* ---- In order ---- */

static quorum_status both_rounds(finder *f)
{
    TRY(quick_round(f, &f->m->theta));
    return last_round(f, &f->m->theta);
}

/* A search that goes on from m->theta when there is one to go on from.  When the kernel was
 * to be chosen, train=neighbours had its rounds then. */
static quorum_status train_before_partition(finder *f, int looked)
{
    quorum_model *m = f->m;
    const hyper *start = looked ? &m->theta : NULL;
    training_options o = search_options(f);
    size_t size = smaller((size_t)f->s->expert_size, m->rows.n);
    switch (f->s->train) {
    case TRAIN_NEIGHBOURS: return kernel_at(f->s->kernel) ? both_rounds(f) : QUORUM_OK;
    case TRAIN_RANDOM: {
        size_t most = f->s->train_experts > 0.0 ? (size_t)f->s->train_experts : MANY_EXPERTS;
        return train_on_random_rows(f, smaller(m->rows.n / size, most), size, &o, start, &m->theta);
    }
    case TRAIN_SUBSET:
        return train_on_random_rows(f, 1, smaller(m->rows.n, SUBSET_ROWS), &o, start, &m->theta);
    default: return QUORUM_OK;
    }
}

/* Whether theta has to be known, if roughly, before anything else. */
static int needs_first_look(const settings *s)
{
    return !kernel_at(s->kernel) || s->train == TRAIN_NEIGHBOURS || s->metric == METRIC_LEARNED;
}

/* Searches before the partition: see the top. */
static int count_searches(const quorum_model *m, const settings *s)
{
    int given = kernel_at(s->kernel) != NULL, first = needs_first_look(s);
    int last = has_own_scales(m) ? 2 : 1, kernels = given ? 0 : kernel_count();
    switch (s->train) {
    case TRAIN_NEIGHBOURS: return first + (given ? 1 + last : kernels + FINALISTS * last);
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
    m->theta = (hyper){.kernel = wanted ? wanted : &kernel_se, .D = m->rows.D};
    if (!NEW_ARRAY(m->theta.lengthscale, m->rows.D) || !NEW_ARRAY(m->log_theta, m->rows.D + 2))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu length-scales", m->rows.D);
    return f->s->theta[0] != '\0' ? fixed_theta(m, f->s->theta) : QUORUM_OK;
}

quorum_status theta_before_partition(quorum_model *m, const settings *s, const progress *p,
                                     const scattered_rows *rows, checkpoint *c,
                                     training_result *result)
{
    finder f = {.m = m, .s = s, .p = p, .rows = rows, .checkpoint = c, .result = result};
    m->history.train = s->train;
    m->spread = wanted_spread(m, s);
    TRY(team_all(QUORUM_OK, prepare_theta, &f));
    if (s->theta[0] != '\0')
        return QUORUM_OK;
    f.planned = count_searches(m, s);
    if (needs_first_look(s))
        TRY(first_look(&f));
    if (!kernel_at(s->kernel))
        TRY(choose_kernel(&f));
    TRY(train_before_partition(&f, needs_first_look(s)));
    return m->spread > 0.0 ? QUORUM_OK : learn_spread(&f);
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
        for (size_t k = 0; k < m->history.train_experts; k++)
            f->result->rows += (double)part_size(&rows, experts[k]);
    } else {
        o.start = needs_first_look(f->s) ? &m->theta : NULL;
        status = search_theta(f, &rows, experts, m->history.train_experts, &o, &m->theta);
    }
done:
    mem_free(experts);
    return status;
}

static quorum_status say_signal(const quorum_model *m, const training_result *r)
{
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
    m->history.train_rows = (size_t)result->rows;
    m->history.evaluations = result->evaluations;
    return say_signal(m, result);
}
