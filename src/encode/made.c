/* Inputs made of columns: computed, and freed (made.h). */
#include "encode/made.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static const double TURN = 6.28318530717958647693; /* 2 pi */

void made_free(made_inputs *m)
{
    mem_free(m->of);
    *m = (made_inputs){0};
}

int made_fills(const made_inputs *m, size_t column)
{
    for (size_t k = 0; k < m->count; k++)
        if (m->of[k].kind == MADE_HOLE && m->of[k].column == column)
            return 1;
    return 0;
}

/* fmod is exact: the place in the period does not depend on how many have passed. */
static double on_circle(const made_input *in, double t)
{
    double angle = TURN * (fmod(t, in->number) / in->number);
    if (isnan(t))
        return 0.0;
    return in->kind == MADE_SIN ? sin(angle) : cos(angle);
}

static void make_row(const made_inputs *m, const double *t, double *x)
{
    memcpy(x, t, m->columns * sizeof *x);
    for (size_t k = 0; k < m->count; k++) {
        const made_input *in = &m->of[k];
        int hole = isnan(t[in->column]);
        x[m->columns + k] = in->kind == MADE_HOLE ? (double)hole : on_circle(in, t[in->column]);
        if (in->kind == MADE_HOLE && hole)
            x[in->column] = in->number;
    }
}

void made_apply(const made_inputs *m, size_t n, const double *T, double *X)
{
    for (size_t i = 0; i < n; i++)
        make_row(m, T + i * m->columns, X + i * (m->columns + m->count));
}
