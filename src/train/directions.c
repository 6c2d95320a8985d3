/* Where the target changes: eigenvectors of the mean outer product of gradients.
 *
 *   mean(x) = k(x, N) alpha,  alpha = C^-1 y_N,  C = k(N, N) + s^2 I
 *   d mean / dx_d = sum_j alpha_j slope_j (z_jd - z_d) / l_d,   z = x / l
 *
 * slope_j = -2 dk/ds being the kernel's (gp/slopes.h) at s_j = |z_j - z|^2. */
#include "train/directions.h"

#include "base/memory.h"
#include "gp/covariance.h"
#include "gp/slopes.h"
#include "linalg/blas.h"
#include "team/work.h"

#include <math.h>
#include <string.h>

/* A worker's room. */
typedef struct {
    points Z;      /* the row and those before it, seen from the row */
    double *C;     /* room^2                                         */
    double *alpha; /* room                                           */
    double *value; /* room                                           */
    double *slope; /* room                                           */
} gradient_space;

typedef struct {
    const vecchia_parts *v;
    const hyper *theta;
    gradient_space *space; /* a worker                  */
    double *gradient;      /* M x D: a row's together   */
} gradient_job;

static void space_free(gradient_space *w)
{
    points_free(&w->Z);
    mem_free(w->C);
    mem_free(w->alpha);
    mem_free(w->value);
    mem_free(w->slope);
}

static quorum_status space_new(size_t room, size_t D, gradient_space *w)
{
    TRY(points_new(room, D, &w->Z));
    NEW_ARRAY(w->C, room * room);
    NEW_ARRAY(w->alpha, room);
    NEW_ARRAY(w->value, room);
    NEW_ARRAY(w->slope, room);
    if (w->C && w->alpha && w->value && w->slope)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for the gradients of %zu rows", room);
}

/* alpha = C^-1 y of the first m points. */
static quorum_status solve_for_alpha(const hyper *theta, const points *X, const row_set *rows,
                                     gradient_space *w)
{
    size_t m = X->n;
    TRY(covariance_self(theta, X, w->C, NULL, 1));
    for (size_t i = 0; i < m; i++)
        w->C[i * m + i] += noise_of(theta, rows, i);
    if (blas_cholesky(m, w->C, m) != 0)
        return failure(QUORUM_E_NUMERIC,
                       "the covariance matrix of %zu rows is not positive definite: raise the "
                       "noise variance (%g)",
                       m, theta->noise);
    memcpy(w->alpha, rows->y, m * sizeof *w->alpha);
    blas_solve_lower(m, 1, w->C, m, w->alpha, m);
    blas_solve_lower_transposed(m, 1, w->C, m, w->alpha, m);
    return QUORUM_OK;
}

/* The gradient at one part's last row. */
static quorum_status one_gradient(void *context, size_t item, int worker)
{
    gradient_job *j = context;
    gradient_space *w = &j->space[worker];
    const hyper *theta = j->theta;
    row_set data = part_rows(&j->v->parts, item);
    size_t m = data.n - 1, D = data.D;
    double *g = j->gradient + item * D;
    points_scale(&w->Z, data.n, data.X, data.X + m * D, theta->lengthscale);
    points X = points_view(&w->Z, 0, m);
    const double *z = w->Z.Z + m * D; /* of the row itself: 0 */
    TRY(solve_for_alpha(theta, &X, &data, w));
    memcpy(w->value, X.norm, m * sizeof *w->value);
    kernel_slopes(theta, m, w->value, &(pair_slopes){.slope = w->slope});
    pull_back(m, D, w->alpha, w->slope, X.Z, z, g);
    double root = sqrt(row_weight(&data, m)); /* the row counts as so many in sums of squares */
    for (size_t d = 0; d < D; d++)
        g[d] = root * (g[d] / theta->lengthscale[d]);
    return QUORUM_OK;
}

/* gradient (M x D) of all parts. */
static quorum_status find_gradients(quorum_status status, const vecchia_parts *v,
                                    const hyper *theta, int threads, double *gradient)
{
    size_t D = v->parts.rows.D, M = v->parts.M;
    int workers = parallel_workers(threads, M);
    gradient_job j = {.v = v, .theta = theta, .gradient = gradient};
    team_result result = {.data = gradient, .width = D * sizeof *gradient};
    if (status >= 0 && !NEW_ZEROED(j.space, (size_t)workers))
        status = failure(QUORUM_E_MEMORY, "out of memory for the gradients of %zu rows", M);
    for (int w = 0; status >= 0 && w < workers; w++)
        status = space_new(largest_part(&v->parts), D, &j.space[w]);
    status = team_map(status, workers, M, one_gradient, &j, &result, 1);
    for (int w = 0; j.space && w < workers; w++)
        space_free(&j.space[w]);
    mem_free(j.space);
    return status;
}

/* S (V x V, lower) = 1/M sum g g' over the V inputs that are listed. */
static void add_products(size_t M, size_t D, const double *gradient, const size_t *input, size_t V,
                         double *S)
{
    memset(S, 0, V * V * sizeof *S);
    for (size_t i = 0; i < M; i++) {
        const double *g = gradient + i * D;
        for (size_t c = 0; c < V; c++)
            for (size_t r = c; r < V; r++)
                S[c * V + r] += g[input[r]] * g[input[c]] / (double)M;
    }
}

/* 1, or -1 where the entry of largest magnitude is negative. */
static double sign_of(size_t V, const double *u)
{
    size_t most = 0;
    for (size_t i = 1; i < V; i++)
        most = fabs(u[i]) > fabs(u[most]) ? i : most;
    return u[most] < 0.0 ? -1.0 : 1.0;
}

/* From the eigenvectors S of the listed inputs, ascending, to E, descending. */
static void place_directions(size_t D, const size_t *input, size_t V, const double *S,
                             const double *value, double *E, double *change)
{
    memset(E, 0, D * D * sizeof *E);
    for (size_t d = 0; d < D; d++) {
        E[d * D + d] = 1.0;
        change[d] = 0.0;
    }
    for (size_t k = 0; k < V; k++) {
        const double *u = S + (V - 1 - k) * V;
        double sign = sign_of(V, u), *column = E + input[k] * D;
        column[input[k]] = 0.0;
        for (size_t i = 0; i < V; i++)
            column[input[i]] = sign * u[i];
        change[input[k]] = fmax(0.0, value[V - 1 - k]);
    }
}

quorum_status directions_find(const vecchia_parts *v, const hyper *theta, const char *stays,
                              int threads, double *E, double *change)
{
    size_t D = v->parts.rows.D, M = v->parts.M, V = 0, *input = NULL;
    double *gradient = NULL, *S = NULL, *value = NULL;
    quorum_status status = QUORUM_OK;
    NEW_ARRAY(gradient, M * D);
    NEW_ARRAY(input, D);
    NEW_ARRAY(S, D * D);
    NEW_ARRAY(value, D);
    if (!gradient || !input || !S || !value)
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu directions", D);
    TRY_OR_DONE(find_gradients(status, v, theta, threads, gradient));
    for (size_t d = 0; d < D; d++)
        if (!stays[d])
            input[V++] = d;
    add_products(M, D, gradient, input, V, S);
    TRY_OR_DONE(blas_eigen(V, S, V, value));
    place_directions(D, input, V, S, value, E, change);
done:
    mem_free(gradient);
    mem_free(input);
    mem_free(S);
    mem_free(value);
    return status;
}
