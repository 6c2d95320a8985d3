/* The rows that a model was fitted to, back in the data's units:
 *
 *   x = mean + scale z, of a rotated metric z turned back first; a position of a category is that of the
 *   nearest level, and of levels that stand apart the level is the one whose input is largest; a number that the
 *   fit has filled in is NaN again;  y = y_mean + scale (z + line(x)), the warp undone, without the offset. */
#include "base/memory.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

static double nearest_level(const category *c, double position)
{
    size_t best = 0;
    for (size_t l = 1; l < c->levels; l++)
        if (fabs(c->position[l] - position) < fabs(c->position[best] - position))
            best = l;
    return (double)best;
}

/* Of inputs that are 1 in rows of their level and 0 in others. */
static double largest_level(const double *input, size_t levels)
{
    size_t best = 0;
    for (size_t l = 1; l < levels; l++)
        if (input[l] > input[best])
            best = l;
    return (double)best;
}

/* The number of the level that the row x of inputs has. */
static double level_of(const category *c, const double *x, double position)
{
    return c->apart ? largest_level(x + c->apart, c->levels) : nearest_level(c, position);
}

/* The input that tells of a hole has `told` there, but for rounding, and otherwise a number 1 away from it. */
static void open_holes(const hole_rule *h, const made_inputs *made, double *x)
{
    for (size_t d = 0; h->of && d < h->columns; d++) {
        const column_holes *c = &h->of[d];
        bool has_input = c->teller != NO_TELLER && c->teller >= made->columns;
        if (has_input && fabs(x[c->teller] - c->told) < 0.5)
            x[d] = NAN;
    }
}

/* Row i in the data's units: x has room for all inputs. */
static void row_in_units(const quorum_model *m, size_t i, double *x)
{
    model_in_units(m, m->rows.X + i * m->rows.D, x);
    for (size_t d = 0; m->encoding.of && d < m->rows.D; d++)
        if (m->encoding.of[d].levels > 0)
            x[d] = level_of(&m->encoding.of[d], x, x[d]);
    made_degrees(&m->made, x);
    open_holes(&m->holes, &m->made, x);
}

quorum_status quorum_training_rows(const quorum_model *m, double *table, double *y)
{
    double *x;
    if (!m)
        return failure(QUORUM_E_ARGUMENT, "quorum_training_rows: the model must not be NULL");
    if (!model_is_whole(m))
        return failure(QUORUM_E_ARGUMENT, "training rows are given by a process that has them all");
    size_t D = m->rows.D, columns = model_table_columns(m);
    if (!NEW_ARRAY(x, D))
        return failure(QUORUM_E_MEMORY, "out of memory for a row");
    for (size_t i = 0; i < m->rows.n; i++) {
        const double *z = m->rows.X + i * D;
        row_in_units(m, i, x);
        if (table)
            memcpy(table + i * columns, x, columns * sizeof *x);
        if (y)
            y[i] = warp_back(&m->units, model_target_in_units(m, z, m->rows.y[i]));
    }
    mem_free(x);
    return QUORUM_OK;
}
