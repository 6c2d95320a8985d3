/* One watch a thread: the innermost call of the library that can be cancelled.  Workers follow
 * the watch of the call that started them, and only read it. */
#include "base/progress.h"

#include "base/parallel.h"
#include "base/plain.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

double progress_interval = 0.1;

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
    watched->next = wall_seconds() + progress_interval;
    snprintf(watched->detail, sizeof watched->detail, "%s", detail);
    watched->counted.all = 0;
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
                          .next = wall_seconds() + progress_interval,
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

/* ---- What is counted ---- */

/* The watch of this thread's own call where it counts something, or NULL. */
static progress_counted *counting(void)
{
    return watched && !following && watched->asked.callback && watched->counted.all > 0
               ? &watched->counted
               : NULL;
}

quorum_status progress_stretch(const progress *p, const char *stage, size_t first, size_t count,
                               size_t all, const char *noun)
{
    TRY(progress_report(p, stage, (double)first / (double)all, "%zu of %zu %s", first, all, noun));
    if (!watched || following)
        return QUORUM_OK;
    progress_counted *c = &watched->counted;
    *c = (progress_counted){.first = first, .count = count, .all = all, .noun = noun};
    c->within = (progress_range){0.0, 1.0};
    return QUORUM_OK;
}

void progress_expect(double share)
{
    progress_counted *c = counting();
    if (!c)
        return;
    double to = c->within.from + share * (c->within.to - c->within.from);
    c->now = (progress_range){c->now.to, fmax(c->now.to, to)};
    c->expected = 1;
    c->items = 0;
}

progress_range progress_narrow(double share)
{
    progress_counted *c = counting();
    if (!c)
        return (progress_range){0};
    progress_range outer = c->within;
    double to = outer.from + share * (outer.to - outer.from);
    c->within = (progress_range){c->now.to, fmax(c->now.to, to)};
    return outer;
}

void progress_widen(progress_range outer)
{
    progress_counted *c = counting();
    if (c)
        c->within = outer;
}

atomic_size_t *progress_claim(size_t n)
{
    progress_counted *c = counting();
    if (!c || !c->expected)
        return NULL;
    c->expected = 0;
    c->items = n;
    atomic_store(&c->done, 0);
    return &c->done;
}

/* The share of the stretch that is done: from + (to - from) done / items. */
static double share_done(progress_counted *c)
{
    double done = c->items > 0 ? (double)atomic_load(&c->done) / (double)c->items : 0.0;
    return c->now.from + (c->now.to - c->now.from) * done;
}

/* The report of this moment. */
static void count(progress_watch *w)
{
    progress_counted *c = &w->counted;
    double done = share_done(c) * (double)c->count;
    w->fraction = ((double)c->first + done) / (double)c->all;
    snprintf(w->detail, sizeof w->detail, "%zu of %zu %s", c->first + (size_t)done, c->all,
             c->noun);
}

/* ---- Questions ---- */

/* The callback, with the arithmetic of the program that gave it. */
static void ask(progress_watch *w)
{
    if (w->counted.all > 0)
        count(w);
    float_state mine = read_float_state();
    set_float_state(w->callers);
    int stop = w->asked.callback(w->asked.user, w->stage, w->fraction, w->detail) != 0;
    if (stop && !w->only_told)
        atomic_store(&w->cancelled, 1);
    set_float_state(mine);
    w->next = wall_seconds() + progress_interval;
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
