/* Status codes and the sentence that goes with them (one per thread). */
#ifndef QRM_BASE_STATUS_H
#define QRM_BASE_STATUS_H

#include "quorum.h"

/* Records the sentence for this thread and returns `status`. */
quorum_status fail(quorum_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prefixes this thread's sentence with where it happened: "where: sentence". */
quorum_status fail_in(quorum_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define TRY(call)                                                                                  \
    do {                                                                                           \
        quorum_status try_status_ = (call);                                                        \
        if (try_status_ < 0)                                                                       \
            return try_status_;                                                                    \
    } while (0)

/* The same inside a function with one clean-up path: sets `status`, goes to `done`. */
#define TRY_OR_DONE(call)                                                                          \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status < 0)                                                                            \
            goto done;                                                                             \
    } while (0)

#endif
