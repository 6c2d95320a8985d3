/* Holes of rows: their fills chosen, filled, told (holes.h). */
#include "encode/holes.h"

#include "base/memory.h"
#include "data/levels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void holes_free(hole_rule *h)
{
    mem_free(h->of);
    *h = (hole_rule){0};
}

static quorum_status fail_memory(void)
{
    return failure(QUORUM_E_MEMORY, "out of memory for the holes of columns");
}

/* ---- Fills ---- */

typedef struct {
    double mean, weight; /* of the cells that are there, kept up to date */
    double holes;        /* rows without                                 */
} column_look;

static void look_at(column_look *c, double x, double weight)
{
    if (isnan(x)) {
        c->holes += 1.0;
        return;
    }
    c->weight += weight;
    c->mean += weight / c->weight * x - weight / c->weight * c->mean;
}

typedef struct {
    size_t columns;
    column_look *look;
} looking;

static void look_at_rows(void *context, const row_range *range)
{
    const looking *l = context;
    const row_set *rows = &range->rows;
    for (size_t i = 0; i < rows->n; i++)
        for (size_t d = 0; d < l->columns; d++)
            look_at(&l->look[d], rows->X[i * l->columns + d], rows->weight ? rows->weight[i] : 1.0);
}

static int is_category(const size_t *levels, size_t d)
{
    return levels && levels[d] > 0;
}

/* The level that stands for missing cells; -1: there is none. */
static double missing_level(const hole_request *a, size_t d)
{
    for (size_t l = 0; a->level && l < a->levels[d]; l++)
        if (strcmp(a->level[d][l], NO_LEVEL) == 0)
            return (double)l;
    return -1.0;
}

static quorum_status check_column(const hole_request *a, const column_look *look, size_t d)
{
    char made_up[32];
    if (look->weight > 0.0)
        return QUORUM_OK;
    snprintf(made_up, sizeof made_up, "x%zu", d + 1);
    return failure(QUORUM_E_DATA,
                   "column %.200s has no number in any row: leave it out with --ignore",
                   a->names ? a->names[d] : made_up);
}

static quorum_status choose_fills(const hole_request *a, const column_look *look, hole_rule *h,
                                  char *has_holes)
{
    for (size_t d = 0; d < a->columns; d++) {
        h->of[d] = (column_holes){.fill = look[d].mean, .teller = NO_TELLER};
        if (is_category(a->levels, d))
            h->of[d].fill = missing_level(a, d);
        else
            TRY(check_column(a, &look[d], d));
        has_holes[d] = !is_category(a->levels, d) && look[d].holes > 0.0;
    }
    return QUORUM_OK;
}

quorum_status holes_choose(quorum_status ready, const scattered_rows *rows,
                           const hole_request *asked, hole_rule *out, char **has_holes)
{
    looking l = {.columns = asked->columns};
    *out = (hole_rule){.columns = asked->columns};
    *has_holes = NULL;
    if (ready >= 0 && (!NEW_ZEROED(l.look, l.columns) || !NEW_ZEROED(out->of, l.columns) ||
                       !NEW_ZEROED(*has_holes, l.columns)))
        ready = fail_memory();
    quorum_status status =
        rows_fold(ready, rows, l.look, l.columns * sizeof *l.look, look_at_rows, &l);
    if (status >= 0 && *has_holes) /* both, or neither */
        status = choose_fills(asked, l.look, out, *has_holes);
    mem_free(l.look);
    return status;
}

/* ---- Who tells of them ---- */

void holes_settle(hole_rule *h, const made_inputs *made, size_t d, size_t levels)
{
    column_holes *c = &h->of[d];
    if (levels > 0 && c->fill >= 0.0) {
        c->teller = d;
        c->told = c->fill;
    }
    for (size_t k = 0; k < made->count; k++)
        if (made->of[k].kind == MADE_HOLE && made->of[k].column == d) {
            c->teller = made->columns + k;
            c->told = 1.0;
        }
}

int holes_has(const hole_rule *h, const double *x, size_t d)
{
    const column_holes *c = &h->of[d];
    return c->teller != NO_TELLER && x[c->teller] == c->told;
}

double holes_variance(const hole_rule *h, const double *x)
{
    double sum = 0.0;
    for (size_t d = 0; d < h->columns; d++)
        if (holes_has(h, x, d))
            sum += h->of[d].variance;
    return sum;
}

/* ---- Filling ---- */

static void fill_column(const hole_rule *h, const made_inputs *made, size_t d, double *x)
{
    x[d] = h->of[d].fill;
    for (size_t k = 0; k < made->count; k++) {
        const made_input *in = &made->of[k];
        if (in->column == d)
            x[made->columns + k] = made_of(in, in->kind == MADE_LEVEL ? x[d] : NAN);
    }
}

double holes_fill(const hole_rule *h, const made_inputs *made, double *x, int *anew)
{
    double untold = 0.0;
    int some = 0;
    for (size_t d = 0; d < h->columns; d++) {
        if (!isnan(x[d]))
            continue;
        if (h->of[d].teller == NO_TELLER) {
            untold += h->of[d].variance;
            some = 1;
        }
        fill_column(h, made, d, x);
    }
    if (anew)
        *anew = some;
    return untold + holes_variance(h, x);
}
