#include "experts/committee.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <string.h>

enum { QUERY_TILE = 256 }; /* queries that one worker takes at a time */

/* An expert's block: L (m x m), then alpha (m), each starting on a cache line, since
 * some BLAS kernels round differently for other alignments. */
static size_t whole_lines(size_t numbers)
{
    return (numbers + 7) / 8 * 8;
}

static size_t block_numbers(size_t m)
{
    return whole_lines(m * m) + whole_lines(m);
}

double committee_factor_bytes(const parts *p)
{
    double numbers = 0.0;
    for (size_t e = 0; e < p->M; e++)
        numbers += (double)block_numbers(part_size(p, e));
    return 8.0 * numbers;
}

/* ---- Factors of a group of experts ---- */

typedef struct {
    const committee *c;
    const size_t *experts;
    size_t count, big;
    double **L;     /* count */
    double **alpha; /* count */
} factor_job;

static quorum_status factor_one(factor_job *j, size_t i, int threads)
{
    const committee *c = j->c;
    size_t e = j->experts[i];
    points X = points_view(&c->Z, c->parts.offset[e], part_size(&c->parts, e));
    quorum_status status =
        factorise(&c->theta, &X, c->parts.y + c->parts.offset[e], threads, j->L[i], j->alpha[i]);
    return status < 0 ? failure_in(status, "expert %zu", e + 1) : status;
}

static quorum_status small_factor(void *context, size_t item, int worker)
{
    (void)worker;
    factor_job *j = context;
    return factor_one(j, j->big + item, 1);
}

/* `experts` come largest first. */
static quorum_status factor_group(factor_job *j, int threads)
{
    for (j->big = 0; j->big < j->count; j->big++) {
        if (part_size(&j->c->parts, j->experts[j->big]) <= BIG_EXPERT)
            break;
        TRY(factor_one(j, j->big, threads));
    }
    return parallel_for(threads, j->count - j->big, small_factor, j);
}

/* ---- Making a committee ---- */

static quorum_status keep_factors(committee *c, int threads, const progress *report)
{
    const parts *p = &c->parts;
    quorum_status status = QUORUM_OK;
    size_t *experts = NULL;
    double **L = NULL, **alpha = NULL;
    NEW_ARRAY(experts, p->M);
    NEW_ARRAY(L, p->M);
    NEW_ARRAY(alpha, p->M);
    NEW_ARRAY(c->factors, c->start[p->M]);
    if (!experts || !L || !alpha || !c->factors) {
        status = failure(QUORUM_E_MEMORY, "out of memory for the factors of %zu experts", p->M);
        goto done;
    }
    for (size_t e = 0; e < p->M; e++)
        experts[e] = e;
    sort_by_size(p, experts, p->M);
    for (size_t i = 0; i < p->M; i++) {
        size_t m = part_size(p, experts[i]);
        L[i] = c->factors + c->start[experts[i]];
        alpha[i] = L[i] + whole_lines(m * m);
    }
    TRY_OR_DONE(progress_report(report, "factorise", -1.0, "%zu experts", p->M));
    factor_job job = {.c = c, .experts = experts, .count = p->M, .L = L, .alpha = alpha};
    TRY_OR_DONE(factor_group(&job, threads));
done:
    mem_free(experts);
    mem_free(L);
    mem_free(alpha);
    return status;
}

quorum_status committee_new(const parts *p, const hyper *theta, double budget, int threads,
                            const progress *report, committee *out)
{
    committee c = {.parts = *p, .theta = *theta};
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(c.start, p->M + 1)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu experts", p->M);
        goto done;
    }
    c.start[0] = 0;
    for (size_t e = 0; e < p->M; e++)
        c.start[e + 1] = c.start[e] + block_numbers(part_size(p, e));
    TRY_OR_DONE(points_new(p->n, p->D, &c.Z));
    points_scale(&c.Z, p->n, p->X, NULL, theta->lengthscale);
    if (committee_factor_bytes(p) <= budget)
        TRY_OR_DONE(keep_factors(&c, threads, report));
done:
    *out = c;
    if (status < 0)
        committee_free(out);
    return status;
}

void committee_free(committee *c)
{
    points_free(&c->Z);
    mem_free(c->factors);
    mem_free(c->start);
    *c = (committee){0};
}

/* ---- Posteriors ---- */

typedef struct {
    const committee *c;
    const points *Q;
    const posteriors *out;
    const size_t *experts; /* of the group, largest first                  */
    const size_t *place;   /* of each in the caller's list                 */
    double **L, **alpha;
    size_t tiles;
    size_t room; /* numbers of scratch a worker                  */
    double *scratch;
} posterior_job;

/* Item = (expert of the group, tile of queries). */
static quorum_status posterior_tile(void *context, size_t item, int worker)
{
    posterior_job *j = context;
    size_t i = item / j->tiles, first = item % j->tiles * QUERY_TILE, b = j->Q->n;
    size_t width = b - first < QUERY_TILE ? b - first : QUERY_TILE;
    size_t e = j->experts[i], place = j->place[i], m = part_size(&j->c->parts, e);
    points X = points_view(&j->c->Z, j->c->parts.offset[e], m);
    points Q = points_view(j->Q, first, width);
    const posteriors *out = j->out;
    expert_output wanted = {
        .mean = out->mean ? out->mean + place * b + first : NULL,
        .explained = out->explained ? out->explained + place * b + first : NULL,
        .gamma = out->gamma ? out->gamma[place] + first * m : NULL,
    };
    double *room = wanted.gamma ? wanted.gamma : j->scratch + (size_t)worker * j->room;
    posterior(&j->c->theta, &X, j->L[i], j->alpha[i], &Q, room, &wanted);
    return QUORUM_OK;
}

/* Factors of the group's experts: the kept ones, or made into `store`. */
static quorum_status group_factors(posterior_job *j, size_t count, double *store, int threads)
{
    const committee *c = j->c;
    for (size_t i = 0; i < count; i++) {
        size_t e = j->experts[i], m = part_size(&c->parts, e);
        j->L[i] = c->factors ? c->factors + c->start[e] : store;
        j->alpha[i] = j->L[i] + whole_lines(m * m);
        if (!c->factors)
            store += block_numbers(m);
    }
    if (c->factors)
        return QUORUM_OK;
    factor_job job = {.c = c, .experts = j->experts, .count = count, .L = j->L, .alpha = j->alpha};
    return factor_group(&job, threads);
}

/* How many experts from the front of the list fit into `budget`, one at least;
 * *numbers is the room that their factors need. */
static size_t group_size(const committee *c, const size_t *experts, size_t count, double budget,
                         size_t *numbers)
{
    size_t taken = 0;
    *numbers = 0;
    while (taken < count) {
        size_t more = block_numbers(part_size(&c->parts, experts[taken]));
        if (taken > 0 && 8.0 * (double)(*numbers + more) > budget)
            break;
        *numbers += more;
        taken++;
    }
    return taken;
}

/* place[i]: where the i-th expert by size stands in the caller's list. */
static void order_members(const committee *c, const size_t *experts, size_t count, size_t *sorted,
                          size_t *place, size_t *position /* M */)
{
    memcpy(sorted, experts, count * sizeof *experts);
    sort_by_size(&c->parts, sorted, count);
    for (size_t i = 0; i < count; i++)
        position[experts[i]] = i;
    for (size_t i = 0; i < count; i++)
        place[i] = position[sorted[i]];
}

quorum_status committee_posteriors(const committee *c, const size_t *experts, size_t count,
                                   const points *Q, double budget, int threads,
                                   const posteriors *out)
{
    posterior_job j = {.c = c, .Q = Q, .out = out};
    quorum_status status = QUORUM_OK;
    size_t *sorted = NULL, *place = NULL, *position = NULL, first_store = 0, room = 0;
    double *store = NULL;
    if (count == 0 || Q->n == 0)
        return QUORUM_OK;
    j.tiles = (Q->n + QUERY_TILE - 1) / QUERY_TILE;
    NEW_ARRAY(sorted, count);
    NEW_ARRAY(place, count);
    NEW_ARRAY(position, c->parts.M);
    NEW_ARRAY(j.L, count);
    NEW_ARRAY(j.alpha, count);
    if (!sorted || !place || !position || !j.L || !j.alpha)
        goto no_memory;
    order_members(c, experts, count, sorted, place, position);
    size_t workers = (size_t)parallel_workers(threads, count * j.tiles);
    j.room = part_size(&c->parts, sorted[0]) * (Q->n < QUERY_TILE ? Q->n : QUERY_TILE);
    if (!out->gamma && !NEW_ARRAY(j.scratch, workers * j.room))
        goto no_memory;
    for (size_t done = 0; done < count;) {
        size_t group =
            c->factors ? count : group_size(c, sorted + done, count - done, budget, &room);
        if (!c->factors && room > first_store) {
            mem_free(store);
            first_store = room;
            if (!NEW_ARRAY(store, room))
                goto no_memory;
        }
        j.experts = sorted + done;
        j.place = place + done;
        TRY_OR_DONE(group_factors(&j, group, store, threads));
        TRY_OR_DONE(parallel_for(threads, group * j.tiles, posterior_tile, &j));
        done += group;
    }
    goto done;
no_memory:
    status = failure(QUORUM_E_MEMORY,
                     "out of memory for the posteriors of %zu experts at %zu queries", count, Q->n);
done:
    mem_free(sorted);
    mem_free(place);
    mem_free(position);
    mem_free(j.L);
    mem_free(j.alpha);
    mem_free(j.scratch);
    mem_free(store);
    return status;
}
