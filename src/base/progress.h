/* Tells the caller how far the work is, and hears when it should stop. */
#ifndef QRM_BASE_PROGRESS_H
#define QRM_BASE_PROGRESS_H

#include "base/status.h"

typedef struct {
    quorum_progress_fn callback; /* NULL: silent */
    void *user;
} progress;

/* Reports; QUORUM_E_CANCELLED when the callback asks to stop.  Only from the
 * thread that called the library. */
quorum_status progress_report(const progress *p, const char *stage, double fraction,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
