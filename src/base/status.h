/* Status codes and the sentence that goes with them (one per thread). */
#ifndef QRM_BASE_STATUS_H
#define QRM_BASE_STATUS_H

#include "quorum.h"

/* failure(status, format, ...) records the sentence for this thread and is `status`.
 * A macro, so that compilers and analysers see which status comes back. */
#define failure(status, ...) (set_message(__VA_ARGS__), (status))

/* The same with the present sentence behind it: "where: sentence". */
#define failure_in(status, ...) (prefix_message(__VA_ARGS__), (status))

void set_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
void prefix_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

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
