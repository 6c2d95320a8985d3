/* One watch a thread: the innermost call of the library that can be cancelled.  Workers follow
 * the watch of the call that started them, and only read it. */
#include "base/progress.h"

#include "base/parallel.h"
#include "base/plain.h"

#include <stdarg.h>
#include <stdio.h>

static const double SECONDS_BETWEEN_QUESTIONS = 0.1;

static _Thread_local progress_watch *watched; /* of this thread's call; NULL: none       */
static _Thread_local int following;           /* the call is another thread's            */

static quorum_status cancelled(const char *stage)
{
    return failure(QUORUM_E_CANCELLED, "cancelled during %s", stage);
}

/* What was said last is said again when there is nothing new. */
static void remember(const char *stage, double fraction, const char *detail)
{
    if (!watched || following)
        return;
    watched->stage = stage;
    watched->fraction = fraction;
    watched->next = wall_seconds() + SECONDS_BETWEEN_QUESTIONS;
    snprintf(watched->detail, sizeof watched->detail, "%s", detail);
}

quorum_status progress_report(const progress *p, const char *stage, double fraction,
                              const char *format, ...)
{
    if (!p || !p->callback)
        return QUORUM_OK;
    char detail[256];
    va_list args;
    va_start(args, format);
    plain_print(detail, sizeof detail, format, args);
    va_end(args);
    remember(stage, fraction, detail);
    if (p->callback(p->user, stage, fraction, detail) != 0)
        return cancelled(stage);
    return QUORUM_OK;
}

void progress_watch_begin(progress_watch *w, const progress *p, const char *stage)
{
    *w = (progress_watch){.asked = p ? *p : (progress){0},
                          .next = wall_seconds() + SECONDS_BETWEEN_QUESTIONS,
                          .callers = read_float_state(),
                          .stage = stage,
                          .fraction = -1.0,
                          .outer = watched};
    watched = w;
}

void progress_watch_end(progress_watch *w)
{
    watched = w->outer;
}

/* The callback, with the arithmetic of the program that gave it. */
static void ask(progress_watch *w)
{
    float_state mine = read_float_state();
    set_float_state(w->callers);
    if (w->asked.callback(w->asked.user, w->stage, w->fraction, w->detail) != 0)
        atomic_store(&w->cancelled, 1);
    set_float_state(mine);
    w->next = wall_seconds() + SECONDS_BETWEEN_QUESTIONS;
}

quorum_status progress_go_on(void)
{
    progress_watch *w = watched;
    if (!w || !w->asked.callback)
        return QUORUM_OK;
    if (!following && wall_seconds() >= w->next && !atomic_load(&w->cancelled))
        ask(w);
    return atomic_load(&w->cancelled) ? cancelled(w->stage) : QUORUM_OK;
}

progress_watch *progress_watched(void)
{
    return watched;
}

void progress_follow(progress_watch *w)
{
    watched = w;
    following = 1;
}
