/* L L' = A, (L L')^-1 and L^-1 B by tiles.  Up to WHOLE rows one LAPACK call is the tile; above,
 * tiles of fixed size are the items of parallel_for, step by step. */
#include "linalg/tiles.h"

#include "base/parallel.h"
#include "linalg/blas.h"

#include <string.h>

enum {
    WHOLE = 1024, /* up to this size one LAPACK call is the tile               */
    TILE = 256,   /* rows and columns of a tile of a larger matrix             */
    PANEL = 64    /* columns that the inverse and the solve take at a time     */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t pieces(size_t n, size_t size)
{
    return (n + size - 1) / size;
}

/* ---- Cholesky: right-looking over tiles ---- */

typedef struct {
    size_t m, k; /* order; first row of the present diagonal tile */
    size_t width;
    double *A;
} cholesky_step;

/* Tile row `item` below the diagonal tile: A_ik = A_ik L_kk^-T. */
static quorum_status column_tile(void *context, size_t item, int worker)
{
    (void)worker;
    cholesky_step *s = context;
    size_t row = s->k + s->width + item * TILE;
    size_t rows = smaller(TILE, s->m - row);
    blas_solve_right_transposed(rows, s->width, s->A + s->k * s->m + s->k, s->m,
                                s->A + s->k * s->m + row, s->m);
    return QUORUM_OK;
}

/* The item-th tile (i >= j) of the trailing matrix: A_ij -= A_ik A_jk'. */
static quorum_status trailing_tile(void *context, size_t item, int worker)
{
    (void)worker;
    cholesky_step *s = context;
    size_t i = 0;
    while ((i + 1) * (i + 2) / 2 <= item)
        i++;
    size_t j = item - i * (i + 1) / 2;
    size_t first = s->k + s->width;
    size_t row = first + i * TILE, column = first + j * TILE;
    size_t rows = smaller(TILE, s->m - row), columns = smaller(TILE, s->m - column);
    const double *Aik = s->A + s->k * s->m + row, *Ajk = s->A + s->k * s->m + column;
    double *Aij = s->A + column * s->m + row;
    if (i == j)
        blas_outer_lower(rows, s->width, -1.0, Aik, s->m, 1.0, Aij, s->m);
    else
        blas_gemm('N', 'T', rows, columns, s->width, -1.0, Aik, s->m, Ajk, s->m, 1.0, Aij, s->m);
    return QUORUM_OK;
}

quorum_status tiles_cholesky(size_t m, double *A, int threads, size_t *minor)
{
    if (m <= WHOLE) {
        *minor = blas_cholesky(m, A, m);
        return QUORUM_OK;
    }
    for (size_t k = 0; k < m; k += TILE) {
        cholesky_step s = {.m = m, .k = k, .width = smaller(TILE, m - k), .A = A};
        *minor = blas_cholesky(s.width, A + k * m + k, m);
        if (*minor) {
            *minor += k;
            return QUORUM_OK;
        }
        size_t below = pieces(m - k - s.width, TILE);
        TRY(parallel_for(threads, below, column_tile, &s));
        TRY(parallel_for(threads, below * (below + 1) / 2, trailing_tile, &s));
    }
    return QUORUM_OK;
}

/* ---- Inverse: up to WHOLE rows by halves, above by block columns, each solved by itself ---- */

typedef struct {
    size_t m;
    const double *L;
    double *out;
} inverse_job;

/* Columns c .. c+w of the inverse need rows c.. only: L L' Z = E_c restricted
 * to the trailing block, whose forward and backward solves never look above. */
static quorum_status inverse_panel(void *context, size_t item, int worker)
{
    (void)worker;
    inverse_job *s = context;
    size_t c = item * PANEL, w = smaller(PANEL, s->m - c), r = s->m - c;
    const double *L = s->L + c * s->m + c;
    double *Z = s->out + c * s->m + c;
    for (size_t j = 0; j < w; j++) {
        memset(Z + j * s->m, 0, r * sizeof *Z);
        Z[j * s->m + j] = 1.0;
    }
    blas_solve_lower(r, w, L, s->m, Z, s->m);
    blas_solve_lower_transposed(r, w, L, s->m, Z, s->m);
    return QUORUM_OK;
}

quorum_status tiles_inverse(size_t m, const double *L, double *out, int threads)
{
    if (m <= WHOLE) {
        for (size_t j = 0; j < m; j++)
            memcpy(out + j * m + j, L + j * m + j, (m - j) * sizeof *out);
        blas_inverse_lower(m, out, m);
        return QUORUM_OK;
    }
    inverse_job job = {.m = m, .L = L, .out = out};
    return parallel_for(threads, pieces(m, PANEL), inverse_panel, &job);
}

/* ---- Solve ---- */

typedef struct {
    size_t m, n, ldb;
    const double *L;
    double *B;
} solve_job;

static quorum_status solve_panel(void *context, size_t item, int worker)
{
    (void)worker;
    solve_job *s = context;
    size_t c = item * PANEL;
    blas_solve_lower(s->m, smaller(PANEL, s->n - c), s->L, s->m, s->B + c * s->ldb, s->ldb);
    return QUORUM_OK;
}

quorum_status tiles_solve_lower(size_t m, size_t n, const double *L, double *B, size_t ldb,
                                int threads)
{
    solve_job job = {.m = m, .n = n, .ldb = ldb, .L = L, .B = B};
    return parallel_for(threads, pieces(n, PANEL), solve_panel, &job);
}
