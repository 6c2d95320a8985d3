/* One search for theta: on random rows, or on blocks of near rows given their nearest earlier ones
 * (train/vecchia.h), quickly or at length. */
#include "theta/finder.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

enum {
    LOOK_PARTS = 4,  /* first look: random parts ...                */
    LOOK_ROWS = 500, /* ... of so many rows                        */
    FEW_ROWS = 512,  /* up to here the exact likelihood is as cheap */
    BLOCK = 4,       /* rows of a block, and the rows it is given   */
    GIVEN = 60,
    OWN_SCALE_ROWS = 100,   /* so many rows speak for theta in a block's own scale */
    QUICK_ROWS = 4000,      /* targets of the quick round                          */
    HASTY_EVALUATIONS = 100 /* of the first look and the quick rounds              */
};
static const double HASTY_TOLERANCE = 1e-4, SHAPE_TOLERANCE = 1e-5;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

quorum_status copy_theta(const hyper *from, hyper *to)
{
    *to = *from;
    if (!NEW_ARRAY(to->lengthscale, from->D))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu length-scales", from->D);
    memcpy(to->lengthscale, from->lengthscale, from->D * sizeof *to->lengthscale);
    return QUORUM_OK;
}

/* Replaces one theta by another; both keep their memory. */
void set_theta(hyper *to, const hyper *from)
{
    double *lengthscale = to->lengthscale;
    *to = *from;
    to->lengthscale = lengthscale;
    memcpy(to->lengthscale, from->lengthscale, to->D * sizeof *to->lengthscale);
}

training_options search_options(const finder *f)
{
    return (training_options){.max_evaluations = (int)f->s->max_evaluations,
                              .tolerance = f->s->tolerance,
                              .restarts = (int)f->s->restarts,
                              .threads = options_threads(f->s),
                              .memory = options_memory(f->s),
                              .checkpoint = f->checkpoint,
                              .progress = f->p,
                              .varying = model_scales(f->m),
                              .same = f->m->same};
}

static training_options hasty_options(const finder *f)
{
    training_options o = search_options(f);
    o.max_evaluations = (int)fmin(o.max_evaluations, HASTY_EVALUATIONS);
    o.tolerance = fmax(o.tolerance, HASTY_TOLERANCE);
    return o;
}

quorum_status search_theta(finder *f, const parts *p, const size_t *experts, size_t count,
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

quorum_status train_on_random_rows(finder *f, size_t count, size_t size, training_options *o,
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

/* Random rows are far apart and show the second of several scales, if any. */
quorum_status first_look(finder *f)
{
    hyper *theta = &f->m->theta;
    const kernel *wanted = theta->kernel;
    size_t n = f->m->rows.n, count = n / LOOK_ROWS;
    count = count < 1 ? 1 : smaller(count, LOOK_PARTS);
    training_options o = hasty_options(f);
    theta->kernel = wanted->component ? wanted->component : wanted;
    quorum_status status =
        train_on_random_rows(f, count, smaller(n / count, LOOK_ROWS), &o, NULL, theta);
    theta->kernel = wanted;
    return status;
}

/* ---- Neighbours: the block-Vecchia likelihood ---- */

vecchia_problem neighbour_problem(const finder *f, const hyper *metric, double targets)
{
    return (vecchia_problem){.rows = f->rows,
                             .lengthscale = metric->lengthscale,
                             .block = f->m->rows.n <= FEW_ROWS ? f->m->rows.n : BLOCK,
                             .given = GIVEN,
                             .targets = (size_t)fmin(targets, (double)f->m->rows.n),
                             .seed = f->m->seed,
                             .threads = options_threads(f->s)};
}

/* A long scale does not show in near rows alone: some of those given are farther and farther away. */
static vecchia_problem training_problem(const finder *f, const hyper *theta, double targets)
{
    vecchia_problem problem = neighbour_problem(f, theta, targets);
    if (theta->kernel->component) {
        problem.given -= FAR_MOST;
        problem.with_far = 1;
    }
    return problem;
}

static quorum_status search_blocks(finder *f, const vecchia_parts *v, training_options *o,
                                   hyper *theta)
{
    o->start = theta;
    o->given = v->given;
    return search_theta(f, &v->parts, v->all, v->parts.M, o, theta);
}

quorum_status quick_round(finder *f, hyper *theta)
{
    training_options o = hasty_options(f);
    o.restarts = 0;
    vecchia_parts v;
    vecchia_problem problem = training_problem(f, theta, QUICK_ROWS);
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
int has_own_scales(const quorum_model *m)
{
    return isfinite(m->spread) && m->rows.n > FEW_ROWS;
}

/* How far a long scale reaches is seen by rows that are far apart, from which it was found (first_look).
 * Near rows hardly tell, and a search on them may end anywhere between the data's width and a constant. */
quorum_status last_round(finder *f, hyper *theta, int own_scales)
{
    training_options o = search_options(f);
    o.restarts = 0; /* the first look had them */
    o.keep_reach = 1;
    vecchia_parts v;
    vecchia_problem problem = training_problem(f, theta, f->s->train_rows);
    TRY(vecchia_parts_new(&problem, &v));
    quorum_status status =
        own_scales ? search_with_own_scales(f, &v, &o, theta) : search_blocks(f, &v, &o, theta);
    vecchia_parts_free(&v);
    return status;
}
