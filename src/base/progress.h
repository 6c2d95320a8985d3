/* Tells the caller how far the work is, and hears when it should stop.
 *
 * Two ways.  progress_report is for stages: it says something new.  progress_go_on is for loops
 * that may take long: it says the same again, at most ten times a second, only to hear the
 * answer.  It needs no argument, because a call of the library that can be cancelled keeps a
 * watch for as long as it lasts:
 *
 *     progress_watch watch;
 *     progress_watch_begin(&watch, options_progress(options));
 *     ... parallel_for asks progress_go_on before every item ...
 *     progress_watch_end(&watch);
 *
 * The callback runs in the thread that began the watch, and in no other; the workers of
 * parallel_for see what it answered. */
#ifndef QRM_BASE_PROGRESS_H
#define QRM_BASE_PROGRESS_H

#include "base/status.h"
#include "base/subnormals.h"

#include <stdatomic.h>

typedef struct {
    quorum_progress_fn callback; /* NULL: silent */
    void *user;
} progress;

/* Reports; QUORUM_E_CANCELLED when the callback asks to stop.  Only from the
 * thread that called the library. */
quorum_status progress_report(const progress *p, const char *stage, double fraction,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

typedef struct progress_watch {
    progress asked;
    atomic_int cancelled;
    double next;                 /* when to ask again, by wall_seconds          */
    float_state callers;         /* the callback computes as its caller does    */
    _Atomic(const char *) stage; /* of the last report, never freed ... */
    double fraction;             /* ... and the rest of it                      */
    char detail[256];
    struct progress_watch *outer; /* a call that this one is part of        */
} progress_watch;

/* p may be NULL or silent.  `stage` is what is said before the first report. */
void progress_watch_begin(progress_watch *w, const progress *p, const char *stage);
void progress_watch_end(progress_watch *w);

/* QUORUM_E_CANCELLED once the callback has asked to stop.  From any thread. */
quorum_status progress_go_on(void);

/* For a thread that works for another one: the watch there, to be followed here. */
progress_watch *progress_watched(void);
void progress_follow(progress_watch *w);

#endif
