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

/* fmod is exact: the place in the period does not depend on how many have passed. */
static double on_circle(const made_input *in, double t)
{
    double angle = TURN * (fmod(t, in->period) / in->period);
    return in->kind == MADE_SIN ? sin(angle) : cos(angle);
}

double made_of(const made_input *in, double t)
{
    if (in->kind == MADE_LEVEL)
        return level_apart(in, t);
    if (in->kind == MADE_HOLE)
        return isnan(t) ? 1.0 : 0.0;
    return isnan(t) ? 0.0 : on_circle(in, t);
}

/* Of the row t (columns). */
static double make_one(const made_input *in, const double *t)
{
    return made_is_place(in) ? on_sphere(in->kind, t[in->column], t[in->other])
                             : made_of(in, t[in->column]);
}

static void make_row(const made_inputs *m, const double *t, double *x)
{
    memcpy(x, t, m->columns * sizeof *x);
    for (size_t k = 0; k < m->count; k++)
        x[m->columns + k] = make_one(&m->of[k], t);
    for (size_t k = 0; k < m->count; k++)
        if (m->of[k].kind == MADE_X)
            x[m->of[k].column] = x[m->of[k].other] = 0.0;
}

void made_apply(const made_inputs *m, size_t n, const double *T, double *X)
{
    for (size_t i = 0; i < n; i++)
        make_row(m, T + i * m->columns, X + i * (m->columns + m->count));
}
