/* Inputs with heavy tails are bent (rows/bend.h) where input-warp asks for it.  Columns of numbers may be; levels,
 * places and what else is made of columns may not.  A linear trend is one in inputs as they are, so that it does not
 * go with bent ones. */
#include "fit/fitting.h"

#include "base/memory.h"
#include "rows/bend.h"

quorum_status bends_check(const settings *s)
{
    if (s->input_warp == INPUT_WARP_ASINH && (s->trend == TREND_LINEAR || s->trend == TREND_AUTO))
        return failure(QUORUM_E_ARGUMENT,
                       "input-warp asinh does not go with trend linear or auto, whose line is in "
                       "inputs as they are: give input-warp none, or trend constant");
    return QUORUM_OK;
}

static int is_number(const fitting *f, size_t d)
{
    int is_made = f->made && (d >= f->made->columns || made_hides(f->made, d));
    return !is_made && !(f->categories.levels && f->categories.levels[d] > 0);
}

static quorum_status room_for_bends(const fitting *f, char **may)
{
    unit_change *u = &f->m->units;
    size_t D = f->m->rows.D;
    if (!NEW_ARRAY(*may, D) || !NEW_ZEROED(u->bend_at, D) || !NEW_ZEROED(u->bend_width, D))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu inputs", D);
    for (size_t d = 0; d < D; d++)
        (*may)[d] = (char)is_number(f, d);
    return QUORUM_OK;
}

/* None is bent: as without the option. */
static void forget_bends(unit_change *u)
{
    mem_free(u->bend_at);
    mem_free(u->bend_width);
    u->bend_at = u->bend_width = NULL;
}

quorum_status bends_begin(fitting *f, quorum_status ready)
{
    unit_change *u = &f->m->units;
    char *may = NULL;
    size_t count = 0;
    if (f->s->input_warp != INPUT_WARP_ASINH)
        return ready;
    if (ready >= 0)
        ready = room_for_bends(f, &may);
    quorum_status status = bends_learn(ready, f->given, may, u->bend_at, u->bend_width, &count);
    if (status >= 0 && count == 0)
        forget_bends(u);
    mem_free(may);
    return status;
}
