/* The warp that the rows choose (warp=auto), and all that was learned before it for another: positions of levels
 * are effects on what is modelled, y or log(y + c), and a line is one of that too. */
#include "fit/fitting.h"

#include "theta/line.h"

/* Positions anew, then the units of the inputs that they are and the target, which was put back with the rows. */
static quorum_status code_for_log(fitting *f)
{
    TRY(code_again(&f->m->units.shift, f->coded));
    TRY(standardise_inputs(f, QUORUM_OK));
    return target_standardise(f->m, f->s, f->given, &f->own);
}

quorum_status choose_warp(fitting *f)
{
    quorum_model *m = f->m;
    if (count_warps(m, f->s) == 0)
        return QUORUM_OK;
    TRY(theta_choose_warp(m, f->s, f->p, f->given, &f->rows, f->kept, &f->found, &f->searches));
    if (m->units.warp == WARP_LOG && f->coded)
        TRY(code_for_log(f));
    return f->s->trend == TREND_LINEAR ? line_begin(m, f->given, &f->rows) : QUORUM_OK;
}
