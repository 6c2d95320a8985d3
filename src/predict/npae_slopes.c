/* Slopes of NPAE (npae_slopes.h).  A number w' mu, w = K_A^-1 k_A, of experts that say mu_s = h_s' Gamma_s
 * has, with v = K_A^-1 mu, the derivative
 *
 *   (w' mu)' = v' k_A' + w' mu' - w' K_A' v
 *
 * of which k_A[s]' = 2 Gamma_s' k_s',   mu_s' = h_s' C_s^-1 k_s',   and Gamma_s = C_s^-1 k_s in K_A.
 * With u_r = Cov(y_r, sum_s w_s Gamma_s' y_s) of every row r, and t_r the same of v, all of it is
 *
 *   (w' mu)' = sum_s c_s' k_s',   c_s = 2 v_s (1 - j w_s) Gamma_s + C_s^-1 (w_s h_s - w_s t_s - v_s u_s)
 *
 * j being the jitter of the unit diagonal.  Of the mean h = y.  Of the variance that is gained,
 * w' k_A, mu is k_A, v is w, and 2 w_s Gamma_s stands for w_s C_s^-1 h_s.  Of a line's variance
 * u' V u, u = f(x) - sum_s w_s F_s' Gamma_s, p = V u:   2 p' f' - 2 (w' mu)' with h = F p. */
#include "predict/npae_slopes.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "gp/covariance.h"
#include "gp/slopes.h"
#include "linalg/blas.h"
#include "predict/joint.h"
#include "predict/line_errors.h"

#include <string.h>

typedef enum { OF_TARGETS, OF_GAIN, OF_LINE } slope_kind;

/* A worker's room. */
typedef struct {
    points X;      /* the neighbourhood                    */
    double *C;     /* m^2: its covariance, then its factor */
    double *c, *k; /* the largest expert or neighbourhood; k: twice that */
    double *g;     /* D                                    */
} slope_space;

typedef struct {
    const plan *p;
    const joint_space *j;
    const npae_result *out;
    slope_kind kind;
    const double *duals; /* seats x b: v                                          */
    const double *line;  /* (D + 1) x b: p of each query; of OF_LINE              */
    row_covariances by_w, by_v;
    double *solved;       /* as the gammas of the assembly: C_s^-1 (..)            */
    double **place;       /* attending: where each expert's begin                 */
    size_t *column, *who; /* seats x b (assembly_map_seats)                        */
    double *slope;        /* n x D                                                 */
    int workers;
    slope_space *space; /* workers                                               */
} slope_job;

/* ---- What is solved for ---- */

/* h_r at column r of the committee for query q. */
static double target_at(const slope_job *s, size_t q, size_t r)
{
    const committee *c = s->j->a.c;
    size_t D = c->Z.D;
    if (s->kind == OF_TARGETS)
        return c->parts.rows.y[r];
    if (s->kind == OF_GAIN)
        return 0.0;
    const double *p = s->line + q * (D + 1), *z = c->Z.Z + r * D;
    double sum = p[0];
    for (size_t d = 0; d < D; d++)
        sum += p[d + 1] * z[d] * c->theta.lengthscale[d];
    return sum;
}

/* w h - w t - v u of one row. */
static double right_side(const slope_job *s, size_t q, size_t seat, size_t expert, size_t row)
{
    const assembly *a = &s->j->a;
    const parts *p = &a->c->parts;
    size_t at = seat * a->b + q, i = row - p->offset[expert];
    double w = s->out->weights[at], v = s->duals[at];
    double t = row_covariances_at(&s->by_v, p, expert, q)[i];
    double u = row_covariances_at(&s->by_w, p, expert, q)[i];
    return w * target_at(s, q, row) - w * t - v * u;
}

static quorum_status solve_experts(slope_job *s)
{
    const assembly *a = &s->j->a;
    const parts *p = &a->c->parts;
    question *questions;
    if (!NEW_ZEROED(questions, a->attending))
        return failure(QUORUM_E_MEMORY, "out of memory for asking %zu experts", a->attending);
    for (size_t k = 0; k < a->attending; k++) {
        const attendance *t = &a->by_expert[k];
        size_t m = part_size(p, t->expert);
        for (size_t i = 0; i < t->b; i++)
            for (size_t r = 0; r < m; r++)
                s->place[k][i * m + r] =
                    right_side(s, t->query[i], t->seat[i < t->real ? i : t->real - 1], t->expert,
                               p->offset[t->expert] + r);
        questions[k] =
            (question){.expert = t->expert, .b = t->b, .query = t->query, .solve = s->place[k]};
    }
    quorum_status status = committee_answer(QUORUM_OK, a->c, questions, a->attending, a->Q,
                                            plan_factor_bytes(s->p), s->p->threads);
    mem_free(questions);
    return status;
}

/* ---- A query's slopes ---- */

/* g += c' k', c being C^-1 (..) and the part of gamma (m) in it. */
static void add_seat(const slope_job *s, size_t q, size_t seat, const points *X,
                     const double *gamma, const double *solved, slope_space *w, double *g)
{
    const assembly *a = &s->j->a;
    size_t D = X->D, at = seat * a->b + q;
    double weight = s->out->weights[at], j = s->out->jitter[q];
    double share = 2.0 * s->duals[at] * (1.0 - j * weight);
    if (s->kind == OF_GAIN)
        share += 2.0 * weight;
    for (size_t i = 0; i < X->n; i++)
        w->c[i] = share * gamma[i] + solved[i];
    query_slopes(&a->c->theta, X, a->Q->Z + q * D, w->k, w->k + X->n);
    pull_back(X->n, D, w->c, w->k + X->n, X->Z, a->Q->Z + q * D, w->g);
    for (size_t d = 0; d < D; d++)
        g[d] += w->g[d];
}

/* The neighbourhood at the last seat, whose factor is made again. */
static quorum_status add_neighbourhood(const slope_job *s, size_t q, slope_space *w, double *g)
{
    const assembly *a = &s->j->a;
    const neighbourhoods *n = &s->j->near;
    const hyper *theta = &a->c->theta;
    size_t m = n->m, seat = a->seats - 1;
    const size_t *row = n->row + q * m;
    double *right = w->k + 2 * m;
    points_gather(&a->c->Z, row, m, &w->X);
    TRY(covariance_self(theta, &w->X, w->C, NULL, 1));
    for (size_t i = 0; i < m; i++) {
        w->C[i * m + i] += noise_of(theta, &a->c->parts.rows, row[i]);
        right[i] = right_side(s, q, seat, part_of_row(&a->c->parts, row[i]), row[i]);
    }
    if (blas_cholesky(m, w->C, m) != 0)
        return failure(QUORUM_E_NUMERIC,
                       "the covariance matrix of %zu rows is not positive definite", m);
    blas_solve_lower(m, 1, w->C, m, right, m);
    blas_solve_lower_transposed(m, 1, w->C, m, right, m);
    add_seat(s, q, seat, &w->X, n->gamma + q * m, right, w, g);
    return QUORUM_OK;
}

static quorum_status one_query(void *context, size_t q, int worker)
{
    const slope_job *s = context;
    const assembly *a = &s->j->a;
    const committee *c = a->c;
    slope_space *w = &s->space[worker];
    double *g = s->slope + q * a->Q->D;
    memset(g, 0, a->Q->D * sizeof *g);
    for (size_t seat = 0; seat < a->seats; seat++) {
        size_t at = seat * a->b + q, e = a->member[at];
        if (e == NOBODY)
            continue;
        size_t m = part_size(&c->parts, e), shift = s->column[at] * m;
        points X = points_view(&c->Z, c->parts.offset[e], m);
        add_seat(s, q, seat, &X, a->by_expert[s->who[at]].gamma + shift,
                 s->place[s->who[at]] + shift, w, g);
    }
    return s->j->near.m > 0 ? add_neighbourhood(s, q, w, g) : QUORUM_OK;
}

/* (w' mu)' of one kind into slope (n x D). */
static quorum_status find_kind(slope_job *s, slope_kind kind, const double *duals, size_t n,
                               double *slope)
{
    const neighbourhoods *near = s->j->near.m > 0 ? &s->j->near : NULL;
    s->kind = kind;
    s->duals = duals;
    s->slope = slope;
    row_covariances_free(&s->by_v);
    TRY(row_covariances_find(&s->j->a, duals, near, s->p->threads, &s->by_v));
    TRY(solve_experts(s));
    progress_expect((4.0 + (double)kind) /
                    6.0); /* half of the time is over before the first of 3 */
    return parallel_for(s->workers, n, one_query, s);
}

/* ---- A line ---- */

/* p = V u of every query, in place of u. */
static void weigh_errors(const quorum_model *m, size_t b, double *U, double *room)
{
    size_t width = m->rows.D + 1;
    for (size_t q = 0; q < b; q++) {
        for (size_t i = 0; i < width; i++)
            room[i] = vec_dot(width, m->units.line_covariance + i * width, U + q * width);
        memcpy(U + q * width, room, width * sizeof *U);
    }
}

/* mu_s = (F_s p)' Gamma_s of all seats, into the assembly's means. */
static void ask_line(const slope_job *s, double *mu)
{
    const assembly *a = &s->j->a;
    const neighbourhoods *n = &s->j->near;
    for (size_t k = 0; k < a->attending; k++) {
        const attendance *t = &a->by_expert[k];
        size_t m = part_size(&a->c->parts, t->expert), first = a->c->parts.offset[t->expert];
        for (size_t i = 0; i < t->real; i++) {
            double sum = 0.0;
            for (size_t r = 0; r < m; r++)
                sum += t->gamma[i * m + r] * target_at(s, t->query[i], first + r);
            mu[t->seat[i] * a->b + t->query[i]] = sum;
        }
    }
    for (size_t q = 0; n->m > 0 && q < a->b; q++) {
        double sum = 0.0;
        for (size_t i = 0; i < n->m; i++)
            sum += n->gamma[q * n->m + i] * target_at(s, q, n->row[q * n->m + i]);
        mu[(a->seats - 1) * a->b + q] = sum;
    }
}

static quorum_status find_line_slopes(slope_job *s, joint_space *j, size_t n, block_space *w)
{
    const quorum_model *m = s->p->m;
    size_t D = m->rows.D, b = j->a.b;
    double *U = NULL, *room = NULL;
    quorum_status status = QUORUM_OK;
    npae_result line = {.real = s->out->real};
    if (!NEW_ARRAY(room, (2 * j->a.seats + 3) * b)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for the trend at %zu queries", b);
        goto done;
    }
    TRY_OR_DONE(line_errors(m, j, s->out->weights, &U));
    weigh_errors(m, b, U, w->u);
    s->line = U;
    s->kind = OF_LINE;
    ask_line(s, j->a.mean);
    line.mean = room;
    line.var = room + b;
    line.jitter = room + 2 * b;
    line.weights = room + 3 * b;
    line.duals = line.weights + j->a.seats * b;
    TRY_OR_DONE(npae_solve(&j->a, j->pairs, s->p->threads, &line));
    TRY_OR_DONE(find_kind(s, OF_LINE, line.duals, n, w->doubt_slope));
    for (size_t q = 0; q < n; q++)
        for (size_t d = 0; d < D; d++)
            w->doubt_slope[q * D + d] = 2.0 * (U[q * (D + 1) + d + 1] * m->theta.lengthscale[d] -
                                               w->doubt_slope[q * D + d]);
done:
    mem_free(U);
    mem_free(room);
    return status;
}

/* ---- All of it ---- */

static quorum_status space_new(size_t rows, size_t m, size_t D, slope_space *w)
{
    size_t most = rows > m ? rows : m;
    if (m > 0)
        TRY(points_new(m, D, &w->X));
    NEW_ARRAY(w->C, m > 0 ? m * m : 1);
    NEW_ARRAY(w->c, most);
    NEW_ARRAY(w->k, 3 * most);
    NEW_ARRAY(w->g, D);
    if (w->C && w->c && w->k && w->g)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for the gradients of %zu rows", most);
}

static void job_free(slope_job *s)
{
    for (int i = 0; s->space && i < s->workers; i++) {
        points_free(&s->space[i].X);
        mem_free(s->space[i].C);
        mem_free(s->space[i].c);
        mem_free(s->space[i].k);
        mem_free(s->space[i].g);
    }
    mem_free(s->space);
    mem_free(s->solved);
    mem_free(s->place);
    mem_free(s->column);
    mem_free(s->who);
    row_covariances_free(&s->by_w);
    row_covariances_free(&s->by_v);
}

static quorum_status job_new(slope_job *s)
{
    const assembly *a = &s->j->a;
    size_t total = 0, seats = a->seats * a->b, most = largest_part(&a->c->parts);
    for (size_t k = 0; k < a->attending; k++)
        total += part_size(&a->c->parts, a->by_expert[k].expert) * a->by_expert[k].b;
    if (!NEW_ARRAY(s->solved, total) || !NEW_ARRAY(s->place, a->attending) ||
        !NEW_ARRAY(s->column, seats) || !NEW_ARRAY(s->who, seats) ||
        !NEW_ZEROED(s->space, (size_t)s->workers))
        return failure(QUORUM_E_MEMORY, "out of memory for the gradients of %zu queries", a->b);
    total = 0;
    for (size_t k = 0; k < a->attending; k++) {
        s->place[k] = s->solved + total;
        total += part_size(&a->c->parts, a->by_expert[k].expert) * a->by_expert[k].b;
    }
    assembly_map_seats(a, s->column, s->who);
    for (int i = 0; i < s->workers; i++)
        TRY(space_new(most, s->j->near.m, a->Q->D, &s->space[i]));
    return QUORUM_OK;
}

/* var' = -gained' where any variance is left, and the neighbourhood's spread. */
static void take_variance(const joint_space *j, size_t n, block_space *w)
{
    size_t D = j->a.Q->D;
    for (size_t q = 0; q < n; q++)
        for (size_t d = 0, i = q * D; d < D; d++, i++) {
            w->var_slope[i] *= w->var[q] > 0.0 ? -1.0 : 0.0;
            w->spread_slope[i] = j->near.m > 0 ? j->near.slopes.spread[i] : 0.0;
        }
}

quorum_status npae_find_slopes(const plan *p, joint_space *j, const npae_result *out, size_t n,
                               block_space *w)
{
    slope_job s = {.p = p, .j = j, .out = out, .workers = parallel_workers(p->threads, n)};
    const neighbourhoods *near = j->near.m > 0 ? &j->near : NULL;
    quorum_status status;
    TRY_OR_DONE(job_new(&s));
    TRY_OR_DONE(row_covariances_find(&j->a, out->weights, near, p->threads, &s.by_w));
    TRY_OR_DONE(find_kind(&s, OF_TARGETS, out->duals, n, w->mean_slope));
    TRY_OR_DONE(find_kind(&s, OF_GAIN, out->weights, n, w->var_slope));
    take_variance(j, n, w);
    if (plan_line_width(p) > 0)
        TRY_OR_DONE(find_line_slopes(&s, j, n, w));
done:
    job_free(&s);
    return status;
}
