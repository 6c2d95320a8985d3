/* Forward substitution by panels of rows (packed_triangle.h). */
#include "linalg/packed_triangle.h"

#include "linalg/clones.h"

#include <string.h>

#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline))
#else
#define INLINED static inline
#endif

enum {
    R = PACKED_ROWS,
    C = PACKED_COLUMNS,
    ABREAST = 8, /* panels of one right side that are worked on at once       */
    ALONE = 3    /* right sides that are left over and solved one by one, at most */
};

static size_t panels_of(size_t m)
{
    return (m + R - 1) / R;
}

/* Where panel p starts: those before it have R, 2 R, .. columns. */
static size_t panel_start(size_t p)
{
    return (size_t)R * R * (p * (p + 1) / 2);
}

size_t packed_triangle_size(size_t m)
{
    return panel_start(panels_of(m));
}

size_t packed_triangle_room(size_t m, size_t b)
{
    return panels_of(m) * R * ((b + C - 1) / C * C);
}

/* Entry (i, j) as it is packed: reciprocals on the diagonal, and the unit matrix beyond row m. */
static double packed_entry(size_t m, const double *L, size_t i, size_t j)
{
    if (i >= m)
        return i == j;
    return i == j ? 1.0 / L[j * m + i] : i > j ? L[j * m + i] : 0.0;
}

/* Column j of panel p. */
static void pack_column(size_t m, const double *L, size_t p, size_t j, double *to)
{
    if (j < p * R && (p + 1) * R <= m)
        memcpy(to, L + j * m + p * R, R * sizeof *to);
    else
        for (size_t r = 0; r < R; r++)
            to[r] = packed_entry(m, L, p * R + r, j);
}

void packed_triangle_make(size_t m, const double *L, double *packed)
{
    for (size_t p = 0; p < panels_of(m); p++)
        for (size_t j = 0; j < (p + 1) * R; j++)
            pack_column(m, L, p, j, packed + panel_start(p) + j * R);
}

/* The rows of a panel, one right side's. */
typedef double lanes __attribute__((vector_size(R * sizeof(double))));

/* acc -= panel a over the columns before the panel's own, of c right sides; a: c numbers for each. */
INLINED void subtract(size_t c, size_t columns, const lanes *restrict panel,
                      const double *restrict a, lanes *restrict acc)
{
    for (size_t j = 0; j < columns; j++) {
        lanes column = panel[j];
#pragma GCC unroll 8
        for (size_t k = 0; k < c; k++)
            acc[k] -= column * a[j * c + k];
    }
}

/* The panel's own triangle; what is subtracted of rows that are solved already is 0 L. */
INLINED void finish(size_t c, const lanes *restrict diagonal, lanes *restrict acc,
                    double *restrict a)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < R; i++) {
        lanes column = diagonal[i];
#pragma GCC unroll 8
        for (size_t k = 0; k < c; k++) {
            double solved = acc[k][i] * column[i];
            a[i * c + k] = solved;
            acc[k] -= column * solved;
        }
    }
}

/* Panel p of c right sides, which are a (c numbers a row): k in, a out. */
INLINED void solve_panel(size_t c, size_t p, const double *restrict packed, double *restrict a)
{
    const lanes *panel = (const lanes *)(const void *)(packed + panel_start(p));
    double *own = a + p * R * c;
    lanes acc[C];
#pragma GCC unroll 8
    for (size_t k = 0; k < c; k++) {
#pragma GCC unroll 8
        for (size_t r = 0; r < R; r++)
            acc[k][r] = own[r * c + k];
    }
    subtract(c, p * R, panel, a, acc);
    finish(c, panel + p * R, acc, own);
}

CLONED
static void solve_group(size_t p, const double *restrict packed, double *restrict a)
{
    solve_panel(C, p, packed, a);
}

/* Panels p .. p + q - 1 of one right side, side by side as far as they can be: the same sums. */
INLINED void solve_panels(size_t q, size_t p, const double *restrict packed, double *restrict a)
{
    const lanes *panel[ABREAST];
    lanes acc[ABREAST];
#pragma GCC unroll 8
    for (size_t t = 0; t < q; t++) {
        panel[t] = (const lanes *)(const void *)(packed + panel_start(p + t));
        memcpy(&acc[t], a + (p + t) * R, sizeof acc[t]);
    }
    for (size_t j = 0; j < p * R; j++) {
#pragma GCC unroll 8
        for (size_t t = 0; t < q; t++)
            acc[t] -= panel[t][j] * a[j];
    }
#pragma GCC unroll 8
    for (size_t t = 0; t < q; t++) {
        for (size_t j = p * R; j < (p + t) * R; j++)
            acc[t] -= panel[t][j] * a[j];
        finish(1, panel[t] + (p + t) * R, &acc[t], a + (p + t) * R);
    }
}

CLONED
static void solve_one(size_t panels, const double *restrict packed, double *restrict a)
{
    size_t p = 0;
    for (; p + ABREAST <= panels; p += ABREAST)
        solve_panels(ABREAST, p, packed, a);
    for (; p < panels; p++)
        solve_panels(1, p, packed, a);
}

/* c columns of K, row by row, of which K has `given`, and back. */
static void take_columns(size_t m, size_t c, size_t given, const double *K, double *a)
{
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < c; k++)
            a[i * c + k] = k < given ? K[k * m + i] : 0.0;
    memset(a + m * c, 0, (panels_of(m) * R - m) * c * sizeof *a);
}

static void give_columns(size_t m, size_t c, size_t given, const double *a, double *K)
{
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < given; k++)
            K[k * m + i] = a[i * c + k];
}

static size_t columns_of(size_t b, size_t group)
{
    return b - group * C < C ? b - group * C : C;
}

/* b right sides in groups, panel after panel, while a panel is at hand. */
static void solve_groups(size_t m, const double *packed, size_t b, double *K, double *room)
{
    size_t rows = panels_of(m) * R, groups = (b + C - 1) / C;
    for (size_t g = 0; g < groups; g++)
        take_columns(m, C, columns_of(b, g), K + g * C * m, room + g * C * rows);
    for (size_t p = 0; p < panels_of(m); p++)
        for (size_t g = 0; g < groups; g++)
            solve_group(p, packed, room + g * C * rows);
    for (size_t g = 0; g < groups; g++)
        give_columns(m, C, columns_of(b, g), room + g * C * rows, K + g * C * m);
}

void packed_triangle_solve(size_t m, const double *packed, size_t b, double *K, double *room)
{
    size_t together = b % C <= ALONE ? b / C * C : b;
    solve_groups(m, packed, together, K, room);
    for (size_t k = together; k < b; k++) {
        take_columns(m, 1, 1, K + k * m, room);
        solve_one(panels_of(m), packed, room);
        give_columns(m, 1, 1, room, K + k * m);
    }
}
