/* A line through the target: by ordinary least squares before theta is known, so that theta is
 * trained on what the line leaves; then by generalised least squares with that theta.
 *
 *   y_i = f(x_i)' beta + r_i,   r ~ GP        beta = (F' Sigma^-1 F)^-1 F' Sigma^-1 y
 *
 * Sigma^-1 is that of the block-Vecchia likelihood (train/vecchia.h) of up to ROWS rows: up to
 * EXACT rows it is exact. */
#include "theta/line.h"

#include "base/memory.h"
#include "base/random.h"
#include "rows/scaling.h"
#include "team/work.h"
#include "train/regression.h"
#include "train/vecchia.h"

#include <math.h>
#include <stdlib.h>

enum {
    ROWS = 20000, /* that the equations are of; more are drawn from at random   */
    EXACT = 512,  /* rows of one block                                          */
    BLOCK = 4,    /* otherwise: rows of a block, and the rows that it is given  */
    GIVEN = 60
};

/* What a line leaves of the target is not less than this share: the rest is rounding. */
static const double LEAST_LEFT = 1e-8;

/* ---- Ordinary least squares ---- */

/* The equations, and what they give. */
typedef struct {
    quorum_model *m;
    double *S;    /* (D + 2)^2 */
    double *beta; /* D + 1     */
} equations;

static quorum_status equations_new(void *context)
{
    equations *e = context;
    size_t D = e->m->rows.D;
    NEW_ARRAY(e->S, (D + 2) * (D + 2));
    NEW_ARRAY(e->beta, D + 1);
    if (!e->S || !e->beta)
        return failure(QUORUM_E_MEMORY, "out of memory for a line of %zu inputs", D);
    return e->m->units.line ? QUORUM_OK : line_new(D, &e->m->units);
}

static void equations_free(equations *e)
{
    mem_free(e->S);
    mem_free(e->beta);
}

/* y -= f(x)' beta */
static void take_from(const row_set *rows, const double *beta)
{
    for (size_t i = 0; i < rows->n; i++)
        rows->y[i] -= line_at(rows->D, beta, rows->X + i * rows->D);
}

static void add_to_line(quorum_model *m, const double *beta)
{
    for (size_t d = 0; d <= m->rows.D; d++)
        m->units.line[d] += beta[d];
}

static void take_line(quorum_model *m, const double *beta, const row_set *rows)
{
    take_from(rows, beta);
    add_to_line(m, beta);
}

static void clear_line(quorum_model *m)
{
    for (size_t d = 0; d <= m->rows.D; d++)
        m->units.line[d] = 0.0;
}

/* The target anew, without its line in the inputs as they are now. */
static quorum_status remove_line(equations *e, const scattered_rows *given,
                                 const scattered_rows *rows)
{
    quorum_model *m = e->m;
    target_apply(&m->units, &given->held, &rows->held);
    clear_line(m);
    TRY(sum_products(QUORUM_OK, rows, e->S));
    TRY(solve_line(m->rows.D, m->units.constant, e->S, e->beta, m->units.line_covariance));
    take_line(m, e->beta, &rows->held);
    return QUORUM_OK;
}

/* y_scale becomes that of what the line leaves. */
static quorum_status scale_by_rest(quorum_model *m, const scattered_rows *rows)
{
    row_set column = rows_view_of(rows->held.n, 1, rows->held.y, NULL);
    scattered_rows rest = *rows;
    double mean, scale;
    char constant;
    column.weight = rows->held.weight;
    rest.held = column;
    TRY(scaling_learn(QUORUM_OK, &rest, &mean, &scale, &constant));
    m->units.y_scale *= constant ? LEAST_LEFT : fmax(scale, LEAST_LEFT);
    return QUORUM_OK;
}

static void keep_target_units(unit_change *u)
{
    if (u->target_scale > 0.0)
        return;
    u->target_mean = u->y_mean;
    u->target_scale = u->y_scale;
}

static quorum_status check_inputs(const quorum_model *m)
{
    if (m->rows.D <= MOST_LINE_INPUTS)
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT,
                   "trend linear takes %d inputs at most, and there are %zu: use trend constant",
                   MOST_LINE_INPUTS, m->rows.D);
}

quorum_status line_begin(quorum_model *m, const scattered_rows *given, const scattered_rows *rows)
{
    equations e = {.m = m};
    quorum_status status;
    TRY(check_inputs(m));
    keep_target_units(&m->units);
    TRY_OR_DONE(team_all(QUORUM_OK, equations_new, &e));
    TRY_OR_DONE(remove_line(&e, given, rows));
    TRY_OR_DONE(scale_by_rest(m, rows));
    TRY_OR_DONE(remove_line(&e, given, rows));
done:
    equations_free(&e);
    return status;
}

void line_take_back(quorum_model *m, double y_scale, const scattered_rows *given,
                    const scattered_rows *rows)
{
    m->units.y_scale = y_scale;
    line_free(&m->units);
    target_apply(&m->units, &given->held, &rows->held);
}

/* ---- Generalised least squares ---- */

/* A choice of rows, ascending. */
typedef struct {
    const quorum_model *m;
    const row_set *like;
    size_t count, *which;
    row_set room; /* count */
} choice_of_rows;

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

static quorum_status draw_rows(void *context)
{
    choice_of_rows *c = context;
    size_t n = c->m->rows.n;
    if (!NEW_ARRAY(c->which, n))
        return failure(QUORUM_E_MEMORY, "out of memory for a choice of %zu rows", n);
    for (size_t i = 0; i < n; i++)
        c->which[i] = i;
    rng r = rng_seed(c->m->seed, STREAM_LINE);
    rng_shuffle(&r, c->which, n);
    qsort(c->which, c->count, sizeof *c->which, ascending);
    return rows_new(c->like, c->count, &c->room);
}

static quorum_status sum_of_blocks(const equations *e, const settings *s, const hyper *theta,
                                   const scattered_rows *rows)
{
    vecchia_problem problem = {.rows = rows,
                               .lengthscale = theta->lengthscale,
                               .block = rows->n <= EXACT ? rows->n : BLOCK,
                               .given = GIVEN,
                               .targets = rows->n,
                               .seed = e->m->seed,
                               .threads = options_threads(s)};
    vecchia_parts v;
    TRY(vecchia_parts_new(&problem, &v));
    quorum_status status = sum_whitened(QUORUM_OK, &v.parts, v.given, theta, problem.threads, e->S);
    vecchia_parts_free(&v);
    return status;
}

/* S of some of the rows, all where they are few. */
static quorum_status sum_of_some(const equations *e, const settings *s, const hyper *theta,
                                 const scattered_rows *rows)
{
    choice_of_rows c = {.m = e->m, .like = &rows->held, .count = ROWS};
    scattered_rows some;
    if (rows->n <= ROWS)
        return sum_of_blocks(e, s, theta, rows);
    quorum_status status = team_all(QUORUM_OK, draw_rows, &c);
    if (status >= 0)
        status = rows_pick(QUORUM_OK, rows, c.which, c.count, &c.room, &some);
    if (status >= 0)
        status = sum_of_blocks(e, s, theta, &some);
    rows_free(&c.room);
    mem_free(c.which);
    return status;
}

quorum_status line_by_theta(quorum_model *m, const settings *s, const hyper *theta,
                            const scattered_rows *given, const scattered_rows *rows)
{
    equations e = {.m = m};
    quorum_status status;
    TRY_OR_DONE(team_all(QUORUM_OK, equations_new, &e));
    TRY_OR_DONE(remove_line(&e, given, rows));
    TRY_OR_DONE(sum_of_some(&e, s, theta, rows));
    TRY_OR_DONE(solve_line(m->rows.D, m->units.constant, e.S, e.beta, m->units.line_covariance));
    add_to_line(m, e.beta);
    target_apply(&m->units, &given->held, &rows->held);
    take_from(&rows->held, m->units.line); /* in one step, as from rows that come later */
done:
    equations_free(&e);
    return status;
}

quorum_status line_settle(quorum_model *m, const settings *s, const scattered_rows *given,
                          const scattered_rows *rows)
{
    return m->units.line ? line_by_theta(m, s, &m->theta, given, rows) : QUORUM_OK;
}

/* All processes need all rows: each takes the line out of its own copy. */
quorum_status line_settle_parts(quorum_model *m, const settings *s)
{
    equations e = {.m = m};
    quorum_status status;
    if (!m->units.line)
        return QUORUM_OK;
    TRY_OR_DONE(team_all(QUORUM_OK, equations_new, &e));
    TRY_OR_DONE(model_hold_all(m));
    parts all = model_parts(m);
    TRY_OR_DONE(sum_whitened(QUORUM_OK, &all, NULL, &m->theta, options_threads(s), e.S));
    TRY_OR_DONE(solve_line(m->rows.D, m->units.constant, e.S, e.beta, m->units.line_covariance));
    take_line(m, e.beta, &m->rows);
done:
    equations_free(&e);
    return status;
}
