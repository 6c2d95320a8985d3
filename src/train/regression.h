/* A line through the target, f(x)' beta with f(x) = (1, x_1 .. x_D), by least squares: ordinary, or
 * generalised, when what the line leaves is a Gaussian process.
 *
 *   S = sum_i a_i a_i',   a_i = (f(x_i), y_i)              ordinary
 *   S = A' A,   A = rows B of L^-1 [F | y], all blocks     generalised, L L' = Cov(y_N, y_B)
 *
 * The first p = D + 1 rows and columns of S are the equations' matrix, its last column their right
 * side.  A block B is given the rows N before it; when these are all earlier ones, A' A is
 * [F | y]' Sigma^-1 [F | y]. */
#ifndef QRM_TRAIN_REGRESSION_H
#define QRM_TRAIN_REGRESSION_H

#include "gp/expert.h"
#include "rows/parts.h"
#include "rows/scattered.h"

/* Inputs that a line may have at most: its covariance has their square. */
enum { MOST_LINE_INPUTS = 1000 };

/* S ((D + 2) x (D + 2), the lower triangle) of all rows, in their order. */
quorum_status sum_products(quorum_status ready, const scattered_rows *rows, double *S);

/* The same of the rows in parts, each but its first given[e] rows, given those (NULL: none). */
quorum_status sum_whitened(quorum_status ready, const parts *p, const size_t *given,
                           const hyper *theta, int threads, double *S);

/* From S beta (D + 1) and its covariance V = (F' Sigma^-1 F)^-1 ((D + 1) x (D + 1)).  A small multiple of the unit matrix is added to the equations: what rows
 * cannot tell apart has small coefficients of a large variance.  Constant inputs have neither. */
quorum_status solve_line(size_t D, const char *constant, const double *S, double *beta, double *V);

#endif
