/* The distance to the nearest training row, in the model's metric:
 *
 *   distance[q] = min_i sqrt(sum_d (x_qd - x_id)^2 / l_d^2)
 *
 * x standardised, and turned where the metric is linear.  It is asked of the search for neighbours,
 * whatever the method of prediction, and depends on the query and the rows only. */
#include "predict/distance.h"

#include "base/memory.h"
#include "team/work.h"

#include <float.h>
#include <math.h>

typedef struct {
    const points *Q;
    const neighbour_index *index;
    size_t *row;     /* Q->n: the nearest, where it is searched here */
    double *squared; /* Q->n */
} nearest_distance;

/* ---- Every process has all rows ---- */

static quorum_status was_found(void *context, size_t q, int worker)
{
    (void)context, (void)q, (void)worker;
    return QUORUM_OK;
}

static quorum_status search_here(quorum_status ready, const plan *p, nearest_distance *d)
{
    team_result found = {.data = d->squared, .width = sizeof *d->squared};
    if (ready >= 0)
        ready = neighbour_search_mine(d->index, d->Q, 1, p->threads, d->row, d->squared);
    return team_map(ready, 1, d->Q->n, was_found, NULL, &found, 1);
}

/* ---- Each process has some of the rows ---- */

static quorum_status keep_distance(void *context, size_t q, const near_found *found, int worker)
{
    const nearest_distance *d = context;
    (void)worker;
    d->squared[q] = found->row[0].distance;
    return QUORUM_OK;
}

static quorum_status search_scattered(quorum_status ready, const plan *p, const committee *c,
                                      const near_holdings *held, nearest_distance *d)
{
    team_result found = {.data = d->squared, .width = sizeof *d->squared};
    near_holdings numbers = *held;
    char *claimed = NULL;
    numbers.rows = NULL; /* the rows themselves need not travel */
    if (ready >= 0 && !NEW_ARRAY(claimed, d->Q->n))
        ready = failure(QUORUM_E_MEMORY, "out of memory for %zu queries", d->Q->n);
    quorum_status status = claim_by_centre(ready, c, d->Q, p->threads, claimed);
    near_question asked = {d->Q, claimed, 1, p->threads};
    if (status == QUORUM_OK)
        status = near_ask(QUORUM_OK, &numbers, &asked, keep_distance, d, &found, 1);
    mem_free(claimed);
    return status;
}

/* The model's own rows, whatever committee predicts. */
static quorum_status search_rows(quorum_status ready, const plan *p, nearest_distance *d)
{
    plan near = *p;
    const committee *c;
    near.index = NULL;
    near.held = NULL;
    TRY(model_rows(p->m, p->s, &c));
    TRY(plan_neighbours(&near, d->Q->n));
    d->index = near.index;
    return near.index ? search_here(ready, p, d) : search_scattered(ready, p, c, near.held, d);
}

quorum_status block_distances(const plan *p, const block_space *w, const size_t *which, size_t n,
                              double *distance)
{
    points queries = points_view(&w->Q, 0, n);
    nearest_distance d = {.Q = &queries};
    quorum_status ready = QUORUM_OK;
    if (!NEW_ARRAY(d.row, n) || !NEW_ARRAY(d.squared, n))
        ready = failure(QUORUM_E_MEMORY, "out of memory for %zu distances", n);
    quorum_status status = search_rows(ready, p, &d);
    for (size_t q = 0; status == QUORUM_OK && d.squared && q < n; q++)
        distance[which[q]] = fmin(sqrt(d.squared[q]), DBL_MAX); /* squares may overflow */
    mem_free(d.row);
    mem_free(d.squared);
    return status;
}
