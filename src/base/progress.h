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
 * What a stage counts is told item by item: progress_stretch says which part of the whole is begun,
 * progress_expect how far the next parallel_for brings it, and its items do the rest:
 *
 *     TRY(progress_stretch(p, "predict", first, count, all, "queries"));
 *     progress_expect(0.1);   ... parallel_for over searches ...
 *     progress_expect(1.0);   ... parallel_for over queries ...
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

/* Shares of a stretch, from 0 to 1. */
typedef struct {
    double from, to;
} progress_range;

/* What is counted between two reports; `all` is 0 where nothing is. */
typedef struct {
    size_t first, count, all; /* things first .. first + count - 1 of all        */
    const char *noun;         /* what they are called                           */
    progress_range within;    /* what progress_expect divides                  */
    progress_range now;       /* of the parallel_for that is next or under way  */
    int expected;             /* ... next                                       */
    size_t items;             /* ... under way: its items ...                   */
    atomic_size_t done;       /* ... and those that are done                    */
} progress_counted;

typedef struct progress_watch {
    progress asked;
    int only_told; /* 1: what the callback answers between reports is passed over */
    atomic_int cancelled;
    double next;                 /* when to ask again, by wall_seconds          */
    float_state callers;         /* the callback computes as its caller does    */
    _Atomic(const char *) stage; /* of the last report, never freed ... */
    double fraction;             /* ... and the rest of it                      */
    char detail[256];
    progress_counted counted;     /* since then                             */
    struct progress_watch *outer; /* a call that this one is part of        */
} progress_watch;

/* p may be NULL or silent.  `stage` is what is said before the first report.  Whoever cannot stop
 * between reports sets only_told after it. */
void progress_watch_begin(progress_watch *w, const progress *p, const char *stage);
void progress_watch_end(progress_watch *w);

/* Reports "first of all noun", and that what follows takes `count` further ones.  noun is not freed. */
quorum_status progress_stretch(const progress *p, const char *stage, size_t first, size_t count,
                               size_t all, const char *noun);

/* The next parallel_for of this call brings the stretch to this share of it, each item as much as any
 * other; never back.  Nothing where no stretch was begun, or in a thread that works for another. */
void progress_expect(double share);

/* From here on shares are those of what is left up to `share`; what they were of, for
 * progress_widen. */
progress_range progress_narrow(double share);
void progress_widen(progress_range outer);

/* For parallel_for: where to count its n items that are done; NULL: nobody wants to know. */
atomic_size_t *progress_claim(size_t n);

/* QUORUM_E_CANCELLED once the callback has asked to stop.  From any thread. */
quorum_status progress_go_on(void);

/* Seconds between two questions, 0.1: tests want more of them. */
extern double progress_interval;

/* For a thread that works for another one: the watch there, to be followed here. */
progress_watch *progress_watched(void);
void progress_follow(progress_watch *w);

#endif
