/* Cholesky factors of packed triangles, and what is solved with eight right sides abreast (packed_triangle.h).
 *
 * Of C = L L', four columns of a panel at a time, panel after panel of rows below them:
 *
 *   L_ij = (C_ij - sum_{k < j} L_ik L_jk) / L_jj,   L_jj = sqrt(C_jj - sum_{k < j} L_jk^2)
 *
 * terms in the order of k.  Matrices of 64 to 512 rows, of which training and neighbourhoods are made, stay in the
 * caches, and need no copies as those of LAPACK do. */
#include "linalg/packed_triangle.h"

#include "linalg/clones.h"
#include "linalg/lanes.h"

#include <math.h>
#include <string.h>

enum { R = PACKED_ROWS, H = 4 /* columns at a time */ };

/* ---- Packing ---- */

/* Column j of panel p of the lower triangle A (ld), the unit matrix beyond row m. */
static void pack_entries(size_t m, const double *A, size_t ld, size_t p, size_t j, double *to)
{
    for (size_t r = 0; r < R; r++) {
        size_t i = p * R + r;
        to[r] = i >= m || j >= m ? i == j : i >= j ? A[j * ld + i] : 0.0;
    }
}

static void pack_lower(size_t m, const double *A, size_t ld, double *packed)
{
    for (size_t p = 0; p < packed_panels(m); p++) {
        double *panel = packed + packed_panel_start(p);
        size_t inside = (p + 1) * R <= m ? p * R : 0;
        for (size_t j = 0; j < inside; j++)
            memcpy(panel + j * R, A + j * ld + p * R, R * sizeof *panel);
        for (size_t j = inside; j < (p + 1) * R; j++)
            pack_entries(m, A, ld, p, j, panel + j * R);
    }
}

void packed_triangle_unpack(size_t m, const double *packed, double *L, size_t ld)
{
    for (size_t p = 0; p < packed_panels(m); p++) {
        const double *panel = packed + packed_panel_start(p);
        size_t rows = m - p * R < R ? m - p * R : R;
        for (size_t j = 0; j < p * R; j++)
            memcpy(L + j * ld + p * R, panel + j * R, rows * sizeof *L);
        for (size_t j = p * R; j < p * R + rows; j++) {
            L[j * ld + j] = 1.0 / panel[j * R + j - p * R];
            for (size_t i = j + 1; i < p * R + rows; i++)
                L[j * ld + i] = panel[j * R + i - p * R];
        }
    }
}

/* ---- The factor ---- */

/* acc (H columns) -= panel's columns 0 .. count - 1, weighed by the entries of `factor`, a row of which is R apart. */
LANES_INLINED void subtract(size_t count, const double *restrict factor,
                            const double *restrict panel, lanes8 *acc)
{
    lanes8 a = acc[0], b = acc[1], c = acc[2], d = acc[3];
    for (size_t k = 0; k < count; k++) {
        lanes8 column = lanes_load(panel + k * R);
        a = lanes_less(a, column, factor[k * R]);
        b = lanes_less(b, column, factor[k * R + 1]);
        c = lanes_less(c, column, factor[k * R + 2]);
        d = lanes_less(d, column, factor[k * R + 3]);
    }
    acc[0] = a;
    acc[1] = b;
    acc[2] = c;
    acc[3] = d;
}

/* The columns first .. first + H - 1 of one panel, less those before them. */
LANES_INLINED void begin(size_t first, const double *factor, double *panel, lanes8 *acc)
{
#pragma GCC unroll 4
    for (size_t c = 0; c < H; c++)
        acc[c] = lanes_load(panel + (first + c) * R);
    subtract(first, factor, panel, acc);
}

/* Half h of panel J's own triangle; 0, or from 1 on the row at which it is not positive definite. */
LANES_INLINED size_t factor_own(size_t J, size_t h, double *packed)
{
    double *panel = packed + packed_panel_start(J);
    size_t first = J * R + h * H;
    double *own = panel + first * R + h * H;
    lanes8 acc[H];
    begin(first, panel + h * H, panel, acc);
#pragma GCC unroll 4
    for (size_t c = 0; c < H; c++) {
        double square = lanes_at(acc[c], (int)(h * H + c));
        if (!(square > 0.0))
            return first + c + 1;
        double reciprocal = 1.0 / sqrt(square);
        acc[c] = lanes_times(acc[c], reciprocal);
#pragma GCC unroll 4
        for (size_t k = c + 1; k < H; k++)
            acc[k] = lanes_less(acc[k], acc[c], lanes_at(acc[c], (int)(h * H + k)));
        lanes_store(acc[c], panel + (first + c) * R);
        own[c * R + c] = reciprocal;
    }
    return 0;
}

/* The same columns of panel I below it. */
LANES_INLINED void factor_below(size_t J, size_t h, size_t I, double *packed)
{
    const double *upper = packed + packed_panel_start(J);
    size_t first = J * R + h * H;
    double *panel = packed + packed_panel_start(I);
    const double *own = upper + first * R + h * H;
    lanes8 acc[H];
    begin(first, upper + h * H, panel, acc);
#pragma GCC unroll 4
    for (size_t c = 0; c < H; c++) {
        acc[c] = lanes_times(acc[c], own[c * R + c]);
#pragma GCC unroll 4
        for (size_t k = c + 1; k < H; k++)
            acc[k] = lanes_less(acc[k], acc[c], own[c * R + k]);
        lanes_store(acc[c], panel + (first + c) * R);
    }
}

/* The columns of panel J, of all panels. */
CLONED
static size_t factor_columns(size_t J, size_t panels, double *packed)
{
    size_t minor = factor_own(J, 0, packed);
    for (size_t I = J + 1; minor == 0 && I < panels; I++)
        factor_below(J, 0, I, packed);
    if (minor == 0)
        minor = factor_own(J, 1, packed);
    for (size_t I = J + 1; minor == 0 && I < panels; I++)
        factor_below(J, 1, I, packed);
    return minor;
}

/* What is above the diagonal of a panel's own triangle is 0 for those who solve with it. */
static void clear_above(size_t J, double *packed)
{
    double *own = packed + packed_panel_start(J) + J * R * R;
    for (size_t c = 1; c < R; c++)
        memset(own + c * R, 0, c * sizeof *own);
}

size_t packed_triangle_factor(size_t m, const double *A, size_t ld, double *packed)
{
    size_t panels = packed_panels(m), minor = 0;
    pack_lower(m, A, ld, packed);
    for (size_t J = 0; minor == 0 && J < panels; J++) {
        minor = factor_columns(J, panels, packed);
        clear_above(J, packed);
    }
    return minor;
}

/* ---- Eight right sides abreast ---- */

/* Panel p's own triangle, from its last row to its first. */
LANES_INLINED void finish_transposed(const double *own, double *x)
{
    for (size_t i = R; i-- > 0;) {
        lanes8 a = lanes_times(lanes_load(x + i * R), own[i * R + i]);
        lanes_store(a, x + i * R);
        for (size_t k = 0; k < i; k++)
            lanes_store(lanes_less(lanes_load(x + k * R), a, own[k * R + i]), x + k * R);
    }
}

CLONED
static void solve_transposed(size_t panels, const double *restrict packed, double *restrict X)
{
    for (size_t p = panels; p-- > 0;) {
        const double *panel = packed + packed_panel_start(p);
        double *x = X + p * R * R;
        finish_transposed(panel + p * R * R, x);
        for (size_t j = 0; j < p * R; j++) {
            lanes8 a = lanes_load(X + j * R);
#pragma GCC unroll 8
            for (size_t r = 0; r < R; r++)
                a = lanes_less(a, lanes_load(x + r * R), panel[j * R + r]);
            lanes_store(a, X + j * R);
        }
    }
}

void packed_triangle_solve_transposed(size_t m, const double *packed, double *X)
{
    solve_transposed(packed_panels(m), packed, X);
}

/* ---- Norms of the inverse's columns ---- */

/* Rows of panel p of L^-1, the columns of panel g, X being these columns from panel g on. */
LANES_INLINED void inverse_rows(const double *restrict panel, size_t g, size_t p,
                                double *restrict X)
{
    double *x = X + (p - g) * R * R;
    const double *own = panel + p * R * R;
#pragma GCC unroll 2
    for (size_t half = 0; half < R; half += H) {
        lanes8 acc[H];
#pragma GCC unroll 4
        for (size_t c = 0; c < H; c++)
            acc[c] = lanes_load(x + (half + c) * R);
        subtract((p - g) * R, panel + g * R * R + half, X, acc);
#pragma GCC unroll 4
        for (size_t c = 0; c < H; c++)
            lanes_store(acc[c], x + (half + c) * R);
    }
    for (size_t i = 0; i < R; i++) {
        lanes8 a = lanes_times(lanes_load(x + i * R), own[i * R + i]);
        lanes_store(a, x + i * R);
        for (size_t k = i + 1; k < R; k++)
            lanes_store(lanes_less(lanes_load(x + k * R), a, own[i * R + k]), x + k * R);
    }
}

/* norm[i] = sum_k (L^-1)_ki^2 for the eight columns i of panel g. */
CLONED
static void norms_of_panel(size_t g, size_t panels, const double *restrict packed,
                           double *restrict X, double *norm)
{
    lanes8 sum = {0};
    memset(X, 0, (panels - g) * R * R * sizeof *X);
    for (size_t i = 0; i < R; i++)
        X[i * R + i] = 1.0;
    for (size_t p = g; p < panels; p++) {
        inverse_rows(packed + packed_panel_start(p), g, p, X);
        for (size_t r = 0; r < R; r++)
            sum = lanes_add_square(sum, lanes_load(X + ((p - g) * R + r) * R));
    }
    lanes_store(sum, norm);
}

void packed_triangle_inverse_norms(size_t m, const double *packed, double *X, double *norm)
{
    size_t panels = packed_panels(m);
    double own[R];
    for (size_t g = 0; g < panels; g++) {
        norms_of_panel(g, panels, packed, X, own);
        memcpy(norm + g * R, own, (m - g * R < R ? m - g * R : R) * sizeof *norm);
    }
}
