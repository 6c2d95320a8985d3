/* What the rows' own noises are to a GP.  A row that counts as w rows (its weight), with a known error
 * of standard deviation e, is w equal rows of noise s^2 + e^2 each.  Their density is
 *
 *   N(y; f, t)^w = N(y; f, t / w) (2 pi t)^(-(w - 1)/2) w^(-1/2),   t = s^2 + e^2
 *
 * so that to the rest of the GP it is one row of noise t / w, and what w rows say beyond that depends
 * on s^2 alone.  With v = 1 / w, S = diag(t_i / w_i) = s^2 V + E,
 *
 *   V = diag(v_1 .. v_m),   E = diag(v_i e_i^2),   w = 1 and e = 0 where nothing else is said of a row.
 *
 * All that depends on weights and errors is here, so that nobody else asks which rows have them. */
#ifndef QRM_GP_NOISE_H
#define QRM_GP_NOISE_H

#include "gp/hyper.h"
#include "linalg/blas.h"
#include "rows/rows.h"

#include <math.h>

/* w_i */
static inline double row_weight(const row_set *rows, size_t i)
{
    return rows->weight ? rows->weight[i] : 1.0;
}

/* e_i^2 */
static inline double known_variance(const row_set *rows, size_t i)
{
    return rows->error ? rows->error[i] * rows->error[i] : 0.0;
}

/* v_i */
static inline double relative_noise(const row_set *rows, size_t i)
{
    return 1.0 / row_weight(rows, i);
}

/* t_i: the noise variance of one observation like row i. */
static inline double noise_of_one(const hyper *theta, const row_set *rows, size_t i)
{
    return theta->noise + known_variance(rows, i);
}

/* t_i / w_i: the noise variance of row i. */
static inline double noise_of(const hyper *theta, const row_set *rows, size_t i)
{
    return noise_of_one(theta, rows, i) / row_weight(rows, i);
}

/* tr(A' V A), A (n x columns) having a row for each of the rows. */
static inline double noise_square(const row_set *rows, size_t columns, const double *A)
{
    double sum = 0.0;
    if (!rows->weight)
        return vec_dot(rows->n * columns, A, A);
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows->n; i++)
            sum += A[j * rows->n + i] * A[j * rows->n + i] / rows->weight[i];
    return sum;
}

/* tr(A' E A). */
static inline double known_square(const row_set *rows, size_t columns, const double *A)
{
    double sum = 0.0;
    for (size_t j = 0; rows->error && j < columns; j++)
        for (size_t i = 0; i < rows->n; i++)
            sum += A[j * rows->n + i] * A[j * rows->n + i] * known_variance(rows, i) /
                   row_weight(rows, i);
    return sum;
}

/* As how many rows they count, from `first` on. */
static inline double count_weights(const row_set *rows, size_t first)
{
    double sum = 0.0;
    if (!rows->weight)
        return (double)(rows->n - first);
    for (size_t i = first; i < rows->n; i++)
        sum += rows->weight[i];
    return sum;
}

/* What the rows from `first` on say beyond rows of noise t / w, but for 2 pi, as a negative log
 * likelihood: sum (w - 1)/2 log t + 1/2 log w, and its derivative in log s^2. */
static inline double repeated_rows(const hyper *theta, const row_set *rows, size_t first,
                                   double *slope)
{
    double sum = 0.0;
    *slope = 0.0;
    for (size_t i = first; rows->weight && i < rows->n; i++) {
        double w = rows->weight[i], t = noise_of_one(theta, rows, i);
        sum += 0.5 * (w - 1.0) * log(t) + 0.5 * log(w);
        *slope += 0.5 * (w - 1.0) * theta->noise / t;
    }
    return sum;
}

#endif
