/* The target as a latent node of a Gaussian graphical model whose other nodes are the experts.  At row i
 *
 *   f ~ N(0, s_f^2),   u = g f + w,   w ~ N(0, Omega^-1),   y = f + noise of variance t
 *
 * with u and g from each expert's mean and variance (latent_target.h), so that Omega alone is unknown: edges
 * between experts are what they have in common beyond the target.  Omega = I is the Bayesian committee machine.
 * The log likelihood of all u and y, less the penalty, is climbed by EM:
 *
 *   E   P_i = 1/s_f^2 + 1/t_i + g_i' Omega g_i,   f_i = (y_i / t_i + g_i' Omega u_i) / P_i
 *       S = (1/n) sum_i (u_i - g_i f_i)(u_i - g_i f_i)' + g_i g_i' / P_i
 *   M   Omega = graphical lasso of S
 *
 *   l_i = (log|Omega| - log P_i - u_i' Omega u_i + P_i f_i^2) / 2 + terms without Omega
 *
 * until a step gains less than GAIN a row.  Lambda is fixed by the first S. */
#include "graph/latent_target.h"

#include "base/memory.h"
#include "graph/glasso.h"
#include "linalg/blas.h"
#include "linalg/tiles.h"

#include <string.h>

enum { MOST_STEPS = 200 };
static const double GAIN = 1e-6;
/* Of the graphical lasso's gap, relative: what is asked for, and what does where rounding allows no more. */
static const double GAP_WANTED = 1e-15, GAP_FINE = 1e-6;

typedef struct {
    const latent_rows *r;
    const graph_options *o;
    double *omega;     /* M x M                               */
    double *S;         /* M x M                               */
    double *factor;    /* M x M: room for that of Omega       */
    double *u, *g, *w; /* M: Omega u_i, Omega g_i, the rest's mean */
    double likelihood; /* of all rows                         */
    double lambda;
} climb;

static void multiply(size_t M, const double *omega, const double *x, double *out)
{
    for (size_t i = 0; i < M; i++)
        out[i] = vec_dot(M, omega + i * M, x);
}

/* S += w w' + g g' / P, lower triangle. */
static void add_moments(size_t M, const double *w, const double *g, double P, double *S)
{
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j <= i; j++)
            S[i * M + j] += w[i] * w[j] + g[i] * g[j] / P;
}

static void expect_row(climb *k, size_t i)
{
    const latent_rows *r = k->r;
    size_t M = r->M;
    const double *u = r->u + i * M, *g = r->g + i * M;
    multiply(M, k->omega, u, k->u);
    multiply(M, k->omega, g, k->g);
    double P = 1.0 / r->signal + 1.0 / r->noise[i] + vec_dot(M, g, k->g);
    double f = (r->y[i] / r->noise[i] + vec_dot(M, g, k->u)) / P;
    for (size_t e = 0; e < M; e++)
        k->w[e] = u[e] - g[e] * f;
    add_moments(M, k->w, g, P, k->S);
    k->likelihood += 0.5 * (P * f * f - log(P) - vec_dot(M, u, k->u));
}

/* log|Omega|; -infinity where it is not positive definite. */
static quorum_status log_determinant(climb *k, double *out)
{
    size_t M = k->r->M, minor = 0;
    memcpy(k->factor, k->omega, M * M * sizeof *k->factor);
    TRY(tiles_cholesky(M, k->factor, 1, &minor));
    *out = minor ? -INFINITY : 0.0;
    for (size_t i = 0; i < M && !minor; i++)
        *out += 2.0 * log(k->factor[i * M + i]);
    return QUORUM_OK;
}

/* S and the likelihood of Omega. */
static quorum_status expect(climb *k)
{
    size_t M = k->r->M, n = k->r->n;
    double determinant;
    memset(k->S, 0, M * M * sizeof *k->S);
    k->likelihood = 0.0;
    TRY(progress_go_on());
    for (size_t i = 0; i < n; i++)
        expect_row(k, i);
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j <= i; j++)
            k->S[i * M + j] = k->S[j * M + i] = k->S[i * M + j] / (double)n;
    TRY(log_determinant(k, &determinant));
    k->likelihood += 0.5 * (double)n * determinant;
    return QUORUM_OK;
}

static double penalty(const climb *k)
{
    size_t M = k->r->M;
    double sum = 0.0;
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < M; j++)
            sum += i == j && k->o->free_diagonal ? 0.0 : fabs(k->omega[i * M + j]);
    return 0.5 * (double)k->r->n * k->lambda * sum;
}

static quorum_status maximise(climb *k)
{
    glasso_options settings = glasso_defaults(k->lambda);
    settings.free_diagonal = k->o->free_diagonal;
    settings.tolerance = GAP_WANTED;
    settings.start = k->omega;
    glasso_result found = {0};
    quorum_status status = glasso(k->r->M, k->S, &settings, k->omega, &found);
    if (status == QUORUM_E_NUMERIC && found.gap > 0.0 &&
        found.gap <= GAP_FINE * fmax(1.0, fabs(found.objective)))
        return QUORUM_OK;
    return status < 0 ? failure_in(status, "the graph of the experts given the target") : status;
}

static quorum_status climb_up(climb *k, int *steps)
{
    double before = -INFINITY, now;
    *steps = 0;
    TRY(expect(k));
    TRY(graph_lambda(k->r->M, k->r->n, k->S, k->o, &k->lambda));
    for (now = k->likelihood - penalty(k);
         *steps < MOST_STEPS && now - before > GAIN * (double)k->r->n; ++*steps) {
        before = now;
        TRY(maximise(k));
        TRY(expect(k));
        now = k->likelihood - penalty(k);
    }
    return QUORUM_OK;
}

quorum_status latent_target_learn(const latent_rows *r, const graph_options *o, double *omega,
                                  int *steps)
{
    size_t M = r->M;
    int taken;
    climb k = {.r = r, .o = o, .omega = omega};
    NEW_ARRAY(k.S, M * M);
    NEW_ARRAY(k.factor, M * M);
    NEW_ARRAY(k.u, 3 * M);
    quorum_status status = QUORUM_OK;
    if (!k.S || !k.factor || !k.u)
        status = failure(QUORUM_E_MEMORY, "out of memory for the graph of %zu experts", M);
    memset(omega, 0, M * M * sizeof *omega);
    for (size_t i = 0; i < M; i++)
        omega[i * M + i] = 1.0;
    if (status == QUORUM_OK) {
        k.g = k.u + M;
        k.w = k.g + M;
        status = climb_up(&k, steps ? steps : &taken);
    }
    mem_free(k.S);
    mem_free(k.factor);
    mem_free(k.u);
    return status;
}

void latent_target_predict(size_t count, const double *omega, const double *u, const double *g,
                           double signal, double *mean, double *var)
{
    double P = 1.0 / signal, sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        P += g[i] * vec_dot(count, omega + i * count, g);
        sum += g[i] * vec_dot(count, omega + i * count, u);
    }
    *mean = sum / P;
    *var = 1.0 / P;
}
