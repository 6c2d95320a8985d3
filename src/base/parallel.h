/* The one place where threads are started.
 *
 * parallel_for hands out the items 0..n-1 one at a time, in order, to `threads`
 * workers and waits for all of them.  Threads live for one call: nothing spins,
 * nothing is left behind, and calls from many threads do not disturb each
 * other.  Results must not depend on which worker runs an item: write to the
 * item's own place and sum in index order afterwards.
 *
 * Workers flush subnormal numbers to zero (kernel entries underflow when
 * length-scales are short); the caller's floating-point state is restored. */
#ifndef QRM_BASE_PARALLEL_H
#define QRM_BASE_PARALLEL_H

#include "base/status.h"

#include <stddef.h>

/* Does one item; `worker` is in 0..threads-1 and owns that worker's workspace. */
typedef quorum_status (*parallel_body)(void *context, size_t item, int worker);

/* Stops handing out items after the first failure, or when the call is cancelled
 * (base/progress.h), and returns the failure of the lowest item that failed, with its message.
 * An item that may take long asks progress_go_on itself.  threads >= 1. */
quorum_status parallel_for(int threads, size_t n, parallel_body body, void *context);

/* Workers that parallel_for will really use for n items. */
int parallel_workers(int threads, size_t n);

/* Logical processors that this process may use. */
int parallel_processors(void);

double wall_seconds(void);      /* a monotonic clock                     */
double processor_seconds(void); /* that all threads of this process used */

#endif
