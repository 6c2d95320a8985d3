/* The errors of a line's coefficients in predictions of experts that are joined (line_errors.h):
 * U = [u_1 .. u_b], (D + 1) x b, seat by seat. */
#include "predict/line_errors.h"

#include "base/memory.h"
#include "linalg/blas.h"
#include "team/work.h"

#include <string.h>

static quorum_status out_of_memory(size_t b)
{
    return failure(QUORUM_E_MEMORY, "out of memory for the trend at %zu queries", b);
}

/* U = f(x) at the queries. */
static void begin(const points *Q, const double *lengthscale, double *U)
{
    size_t D = Q->D;
    for (size_t q = 0; q < Q->n; q++, U += D + 1) {
        U[0] = 1.0;
        for (size_t d = 0; d < D; d++)
            U[d + 1] = Q->Z[q * D + d] * lengthscale[d];
    }
}

/* U -= w sum_i gamma_i f(x_i) of one expert, at the queries where it sits; Z (D x b) is room. */
static void take_expert(const assembly *a, const attendance *t, const double *weights, double *Z,
                        double *U)
{
    const committee *c = a->c;
    size_t D = c->Z.D, m = part_size(&c->parts, t->expert);
    const double *rows = c->Z.Z + c->parts.offset[t->expert] * D;
    blas_gemm('N', 'N', D, t->b, m, 1.0, rows, D, t->gamma, m, 0.0, Z, D);
    for (size_t i = 0; i < t->real; i++) {
        double w = weights[t->seat[i] * a->b + t->query[i]], sum = 0.0;
        double *u = U + t->query[i] * (D + 1);
        for (size_t r = 0; r < m; r++)
            sum += t->gamma[i * m + r];
        u[0] -= w * sum;
        for (size_t d = 0; d < D; d++)
            u[d + 1] -= w * Z[i * D + d] * c->theta.lengthscale[d];
    }
}

/* The neighbourhoods sit at the last seat. */
static void take_neighbourhoods(const neighbourhoods *n, const double *weights, double *U)
{
    for (size_t q = 0; q < n->b; q++)
        for (size_t i = 0; i < n->width; i++)
            U[q * n->width + i] -= weights[q] * n->lift[q * n->width + i];
}

quorum_status line_errors(const quorum_model *m, const joint_space *j, const double *weights,
                          double **out)
{
    const assembly *a = &j->a;
    size_t D = m->rows.D;
    double *Z = NULL, *U = NULL;
    NEW_ARRAY(Z, D * a->b);
    *out = NEW_ARRAY(U, (D + 1) * a->b);
    if (!Z || !U) {
        mem_free(Z);
        return out_of_memory(a->b);
    }
    begin(a->Q, m->theta.lengthscale, U);
    for (size_t k = 0; k < a->attending; k++)
        take_expert(a, &a->by_expert[k], weights, Z, U);
    if (j->near.m > 0)
        take_neighbourhoods(&j->near, weights + (a->seats - 1) * a->b, U);
    mem_free(Z);
    return QUORUM_OK;
}

typedef struct {
    const quorum_model *m;
    const joint_space *j;
    const double *weights;
    size_t n;
    double *doubt;
} doubting;

static quorum_status find_doubts(void *context)
{
    const doubting *k = context;
    double *U = NULL;
    quorum_status status = line_errors(k->m, k->j, k->weights, &U);
    for (size_t q = 0; status >= 0 && q < k->n; q++)
        k->doubt[q] = model_line_variance(k->m, U + q * (k->m->rows.D + 1));
    mem_free(U);
    return status;
}

quorum_status line_doubts(const quorum_model *m, const joint_space *j, const double *weights,
                          size_t n, double *doubt)
{
    doubting k = {m, j, weights, n, doubt};
    return team_all(QUORUM_OK, find_doubts, &k);
}

/* U' V U. */
quorum_status line_error_covariance(const quorum_model *m, const joint_space *j,
                                    const double *weights, double **covariance)
{
    size_t b = j->a.b, p = m->rows.D + 1;
    double *U = NULL, *W = NULL;
    quorum_status status;
    TRY_OR_DONE(line_errors(m, j, weights, &U));
    NEW_ARRAY(W, p * b);
    if (!NEW_ARRAY(*covariance, b * b) || !W) {
        status = out_of_memory(b);
        goto done;
    }
    blas_symm_lower(p, b, m->units.line_covariance, p, U, p, W, p);
    blas_gemm('T', 'N', b, b, p, 1.0, U, p, W, p, 0.0, *covariance, b);
done:
    mem_free(U);
    mem_free(W);
    return status;
}
