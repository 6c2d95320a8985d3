/* Gaps of the map.  Its frame, from the OUTERMOST share of the training rows to the same at the other
 * end along either axis, is cut into across x across cells of ROWS_A_CELL training rows on average.  A
 * cell without a training row is a gap where there are some on both sides of it along an axis, and the
 * two nearest cells that have some there have ENOUGH on average: of as many rows a cell would be empty
 * by chance once in exp(ENOUGH) times.  Along an axis of few values, such as whole numbers or the levels of a
 * category, nothing is between two of them. */
#include "report/gaps.h"

#include "report/facts.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_A_CELL = 10,
    FEWEST_ACROSS = 4,
    MOST_ACROSS = 24,
    VALUES_A_CELL = 4 /* that an axis has at least, on average, if it is not one of few values */
};
static const double OUTERMOST = 0.005, ENOUGH = 5.0;

typedef struct {
    size_t across;
    double low[2], step[2];
    bool is_dense[2]; /* axes that are not of few values */
    size_t *rows;     /* across x across: training rows of each cell */
    bool *empty;      /* the same: gaps                              */
} cells;

static int compare_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t count_values(const double *sorted, size_t n)
{
    size_t count = 1;
    for (size_t i = 1; i < n; i++)
        count += sorted[i] > sorted[i - 1];
    return count;
}

static bool find_frame(const facts *f, cells *c)
{
    size_t n = f->info.rows, away = (size_t)(OUTERMOST * (double)n);
    double *sorted = malloc(n * sizeof *sorted);
    for (size_t a = 0; sorted && a < 2; a++) {
        for (size_t i = 0; i < n; i++)
            sorted[i] = f->places.training[2 * i + a];
        qsort(sorted, n, sizeof *sorted, compare_values);
        c->is_dense[a] = count_values(sorted, n) >= VALUES_A_CELL * c->across;
        c->low[a] = sorted[away];
        c->step[a] = (sorted[n - 1 - away] - sorted[away]) / (double)c->across;
    }
    free(sorted);
    return sorted != NULL;
}

/* The cell of a place; across x across: it is outside the frame. */
static size_t cell_of(const cells *c, const double *place)
{
    size_t at[2];
    for (size_t a = 0; a < 2; a++) {
        double k = floor((place[a] - c->low[a]) / c->step[a]);
        if (!(k >= 0.0 && k < (double)c->across))
            return c->across * c->across;
        at[a] = (size_t)k;
    }
    return at[1] * c->across + at[0];
}

/* Training rows of the nearest cell that has some, from cell (x, y) in steps of (dx, dy); 0: none. */
static size_t rows_towards(const cells *c, size_t x, size_t y, int dx, int dy)
{
    ptrdiff_t n = (ptrdiff_t)c->across;
    for (ptrdiff_t i = (ptrdiff_t)x + dx, j = (ptrdiff_t)y + dy; i >= 0 && i < n && j >= 0 && j < n;
         i += dx, j += dy)
        if (c->rows[j * n + i] > 0)
            return c->rows[j * n + i];
    return 0;
}

/* Whether the nearest cells that have rows, on either side along (dx, dy), have enough. */
static bool is_between(const cells *c, size_t x, size_t y, int dx, int dy)
{
    size_t before = rows_towards(c, x, y, -dx, -dy), behind = rows_towards(c, x, y, dx, dy);
    return before > 0 && behind > 0 && 0.5 * (double)(before + behind) >= ENOUGH;
}

static bool is_gap(const cells *c, size_t x, size_t y)
{
    return c->rows[y * c->across + x] == 0 && ((c->is_dense[0] && is_between(c, x, y, 1, 0)) ||
                                               (c->is_dense[1] && is_between(c, x, y, 0, 1)));
}

static void fill(const facts *f, cells *c, found_gaps *g)
{
    size_t n = c->across;
    for (size_t i = 0; i < f->info.rows; i++) {
        size_t cell = cell_of(c, f->places.training + 2 * i);
        if (cell < n * n)
            c->rows[cell]++;
    }
    for (size_t y = 0; y < n; y++)
        for (size_t x = 0; x < n; x++) {
            c->empty[y * n + x] = is_gap(c, x, y);
            if (!c->empty[y * n + x])
                continue;
            g->x[g->count] = c->low[0] + ((double)x + 0.5) * c->step[0];
            g->y[g->count++] = c->low[1] + ((double)y + 0.5) * c->step[1];
        }
}

static void ask_gaps(const facts *f, const cells *c, found_gaps *g)
{
    double sum = 0.0, weight = 0.0;
    for (size_t i = 0; i < f->rows.count; i++) {
        size_t cell = cell_of(c, f->places.asked + 2 * i);
        if (cell == c->across * c->across || !c->empty[cell])
            continue;
        g->asked++;
        weight += asked_weight(&f->rows, i);
        sum += asked_weight(&f->rows, i) * pow(f->rows.y[i] - f->rows.mean[i], 2.0);
    }
    g->rmse = weight > 0.0 ? sqrt(sum / weight) : 0.0;
}

static size_t cells_across(size_t rows)
{
    size_t across = (size_t)sqrt((double)rows / ROWS_A_CELL);
    return across < MOST_ACROSS ? across : MOST_ACROSS;
}

int gaps_find(facts *f)
{
    found_gaps *g = &f->gaps;
    cells c = {.across = cells_across(f->info.rows)};
    if (c.across < FEWEST_ACROSS || f->places.of_target)
        return EXIT_DONE;
    size_t all = c.across * c.across;
    c.rows = calloc(all, sizeof *c.rows);
    c.empty = calloc(all, sizeof *c.empty);
    g->x = malloc(all * sizeof *g->x);
    g->y = malloc(all * sizeof *g->y);
    bool fits = c.rows && c.empty && g->x && g->y && find_frame(f, &c);
    if (fits && c.step[0] > 0.0 && c.step[1] > 0.0) {
        g->across = c.across;
        memcpy(g->cell, c.step, sizeof g->cell);
        fill(f, &c, g);
        ask_gaps(f, &c, g);
    }
    free(c.rows);
    free(c.empty);
    return fits ? EXIT_DONE : failure(f->given, "out of memory for %zu rows", f->info.rows);
}

void gaps_free(found_gaps *g)
{
    free(g->x);
    free(g->y);
    memset(g, 0, sizeof *g);
}
