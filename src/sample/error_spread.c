/* The standard deviation of the errors that the weights make (joint_errors.h).
 *
 * e = B e + C z, so row p of (I - B)^-1 says how much of every earlier z there is in e_p:
 *
 *   a = row p of the identity;  for j = p, p-1, .. 0:  var += (a_j c_j)^2,  a_k += a_j b_jk
 *
 * Parts of e_p below NEGLIGIBLE of its deviation are not followed further. */
#include "base/memory.h"
#include "base/parallel.h"
#include "sample/joint_errors.h"

#include <math.h>
#include <string.h>

enum { PLACES = 64 }; /* of one item of work */
static const double NEGLIGIBLE = 1e-6;

typedef struct {
    const joint_errors *e;
    double *room; /* workers x n: a */
    double *spread;
} spread_job;

static double one_variance(const joint_errors *e, size_t p, double *a)
{
    double sum = 0.0, least = NEGLIGIBLE * NEGLIGIBLE * e->variance[p];
    memset(a, 0, (p + 1) * sizeof *a);
    a[p] = 1.0;
    for (size_t j = p + 1; j-- > 0;) {
        if (a[j] * a[j] * e->variance[j] <= least)
            continue;
        const size_t *earlier = e->earlier + j * e->given;
        const double *b = e->weight + j * e->given;
        sum += a[j] * e->own[j] * (a[j] * e->own[j]);
        for (size_t k = 0; k < e->count[j]; k++)
            a[earlier[k]] += a[j] * b[k];
    }
    return sum;
}

static quorum_status some_places(void *context, size_t item, int worker)
{
    const spread_job *job = context;
    size_t n = job->e->n, first = item * PLACES;
    for (size_t p = first; p < n && p < first + PLACES; p++)
        job->spread[p] = sqrt(one_variance(job->e, p, job->room + (size_t)worker * n));
    return QUORUM_OK;
}

quorum_status joint_errors_spread(const joint_errors *e, int threads, double *spread)
{
    size_t items = (e->n + PLACES - 1) / PLACES;
    spread_job job = {.e = e, .spread = spread};
    if (!NEW_ARRAY(job.room, (size_t)parallel_workers(threads, items) * e->n))
        return failure(QUORUM_E_MEMORY, "out of memory for the errors of %zu queries", e->n);
    quorum_status status = parallel_for(threads, items, some_places, &job);
    mem_free(job.room);
    return status;
}
