/* Experts for each query: candidates by distance to the experts' centres and by the owners of
 * the nearest rows, all of whom are asked; the K that explain most, k_A(x) = k*' C_e^-1 k*, take
 * the seats. */
#include "predict/local.h"

#include "base/memory.h"
#include "base/progress.h"
#include "team/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ASKED_FOR_EACH = 3, /* candidates by their centres, for each expert wanted ... */
    ASKED_BESIDES = 8,  /* ... and besides                                         */
    OWNERS = 8          /* candidates at most for owning near rows                 */
};

/* An expert's rows begin before its centre: of its radius so much is taken off.  On protein
 * (82 experts, 20 candidates) 5 of 2,287 queries missed one by the centre alone, none with it. */
static const double REACH = 0.3;

static size_t by_centre(size_t K, size_t count)
{
    size_t wanted = ASKED_FOR_EACH * K + ASKED_BESIDES;
    return wanted < count ? wanted : count;
}

size_t local_candidates(size_t K, size_t count)
{
    size_t wanted = by_centre(K, count) + OWNERS;
    return wanted < count ? wanted : count;
}

static double squared_distance(const double *x, const double *y, size_t D)
{
    double s = 0.0;
    for (size_t d = 0; d < D; d++)
        s += (x[d] - y[d]) * (x[d] - y[d]);
    return s;
}

typedef struct {
    double key;
    size_t expert;
} scored;

static int before(const scored *x, const scored *y)
{
    return x->key < y->key || (x->key == y->key && x->expert < y->expert);
}

/* Keeps the `room` smallest of what is offered, in order. */
static size_t offer(scored *list, size_t held, size_t room, scored item)
{
    if (held == room && !before(&item, &list[held - 1]))
        return held;
    size_t at = held < room ? held++ : held - 1;
    for (; at > 0 && before(&item, &list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = item;
    return held;
}

typedef struct {
    assembly *a;
    assembly *candidates; /* by query, as if they were seated */
    const size_t *experts;
    size_t count, K, centres;
    const neighbourhoods *near;
    char *listed;  /* M: 1 for the experts that may be seated */
    scored *lists; /* a worker: candidates                    */
    char *unsure;  /* b                                       */
} local_job;

static int is_candidate(const local_job *j, size_t q, size_t e)
{
    for (size_t s = 0; s < j->candidates->seats; s++)
        if (j->candidates->member[s * j->a->b + q] == e)
            return 1;
    return 0;
}

/* The owners of the query's nearest rows, nearest first, behind the `held` that there are. */
static void add_owners(local_job *j, size_t q, size_t held)
{
    const parts *p = &j->a->c->parts;
    for (size_t i = j->near->m; i-- > 0 && held < j->candidates->seats;) {
        size_t e = part_of_row(p, j->near->row[q * j->near->m + i]);
        if (j->listed[e] && !is_candidate(j, q, e))
            j->candidates->member[held++ * j->a->b + q] = e;
    }
}

static quorum_status find_candidates(void *context, size_t q, int worker)
{
    local_job *j = context;
    const committee *c = j->a->c;
    size_t D = c->parts.rows.D, held = 0;
    scored *list = j->lists + (size_t)worker * j->candidates->seats;
    for (size_t i = 0; i < j->count; i++) {
        size_t e = j->experts[i];
        double d = sqrt(squared_distance(j->a->Q->Z + q * D, c->centre + e * D, D));
        held =
            offer(list, held, j->centres, (scored){.key = d - REACH * c->radius[e], .expert = e});
    }
    for (size_t s = 0; s < held; s++)
        j->candidates->member[s * j->a->b + q] = list[s].expert;
    if (j->near)
        add_owners(j, q, held);
    return QUORUM_OK;
}

/* What an expert could explain at most: k_A <= sum_i k*_i^2 / noise_i <= worth k(r)^2 / s^2, r being
 * the least distance that any of its rows can have from the query. */
static double bound(const committee *c, size_t e, double distance)
{
    const hyper *theta = &c->theta;
    double r = fmax(0.0, distance - c->radius[e]), k = r * r;
    kernel_values(theta, 1, &k);
    return fmin(theta->signal, c->worth[e] * k * k / theta->noise);
}

static int could_miss(const local_job *j, size_t q, double least)
{
    const committee *c = j->a->c;
    size_t D = c->parts.rows.D;
    for (size_t i = 0; j->candidates->seats < j->count && i < j->count; i++) {
        size_t e = j->experts[i];
        double d = sqrt(squared_distance(j->a->Q->Z + q * D, c->centre + e * D, D));
        if (bound(c, e, d) > least && !is_candidate(j, q, e))
            return 1;
    }
    return 0;
}

static quorum_status choose(void *context, size_t q, int worker)
{
    local_job *j = context;
    const assembly *c = j->candidates;
    size_t held = 0, b = j->a->b;
    scored *list = j->lists + (size_t)worker * c->seats;
    for (size_t s = 0; s < c->seats && c->member[s * b + q] != NOBODY; s++)
        held = offer(list, held, j->K,
                     (scored){.key = -c->explained[s * b + q], .expert = c->member[s * b + q]});
    for (size_t s = 0; s < held; s++)
        j->a->member[s * b + q] = list[s].expert;
    j->unsure[q] = (char)could_miss(j, q, -list[held - 1].key);
    return QUORUM_OK;
}

/* The padding repeats the last query. */
static void fill_padding(assembly *a, size_t seats, size_t real)
{
    for (size_t s = 0; s < seats; s++)
        for (size_t q = real; q < a->b; q++)
            a->member[s * a->b + q] = a->member[s * a->b + real - 1];
}

static team_result members(const assembly *a, size_t seats)
{
    return (team_result){
        .data = a->member, .width = sizeof *a->member, .rows = seats, .stride = a->b};
}

static void job_free(local_job *j)
{
    assembly_free(j->candidates);
    mem_free(j->lists);
    mem_free(j->unsure);
    mem_free(j->listed);
}

static quorum_status job_new(local_job *j, size_t workers, size_t room)
{
    const assembly *a = j->a;
    TRY(assembly_new(a->c, a->Q, room, j->candidates));
    if (!NEW_ARRAY(j->lists, workers * room) || !NEW_ZEROED(j->unsure, a->b) ||
        !NEW_ZEROED(j->listed, a->c->parts.M))
        return failure(QUORUM_E_MEMORY, "out of memory for choosing experts at %zu queries", a->b);
    for (size_t i = 0; i < j->count; i++)
        j->listed[j->experts[i]] = 1;
    return QUORUM_OK;
}

/* Who is asked at each query, and what they explain there. */
static quorum_status ask_candidates(quorum_status ready, local_job *j, size_t real, double budget,
                                    int threads)
{
    assembly *c = j->candidates;
    const team_result found = members(c, c->seats);
    TRY(team_map(ready, threads, real, find_candidates, j, &found, 1));
    fill_padding(c, c->seats, real);
    return assembly_ask(QUORUM_OK, c, 1, 0, budget, threads);
}

/* Who of them is seated. */
static quorum_status seat_best(local_job *j, size_t real, int threads, size_t *unsure)
{
    const team_result chosen[] = {members(j->a, j->K),
                                  {.data = j->unsure, .width = sizeof *j->unsure}};
    TRY(team_map(QUORUM_OK, threads, real, choose, j, chosen, 2));
    fill_padding(j->a, j->K, real);
    *unsure = 0;
    for (size_t q = 0; q < real; q++)
        *unsure += (size_t)j->unsure[q];
    return QUORUM_OK;
}

quorum_status seat_local(quorum_status ready, assembly *a, const size_t *experts, size_t count,
                         size_t K, size_t real, const neighbourhoods *near, double budget,
                         int threads, size_t *unsure)
{
    size_t room = local_candidates(K, count), workers = (size_t)parallel_workers(threads, real);
    assembly candidates = {0};
    local_job j = {.a = a,
                   .candidates = &candidates,
                   .experts = experts,
                   .count = count,
                   .K = K < count ? K : count,
                   .centres = by_centre(K, count),
                   .near = near};
    if (ready >= 0)
        ready = job_new(&j, workers, room);
    quorum_status status = ask_candidates(ready, &j, real, budget, threads);
    if (status >= 0)
        status = seat_best(&j, real, threads, unsure);
    job_free(&j);
    return status;
}

/* ---- By centres alone ---- */

typedef struct {
    assembly *a;
    const size_t *experts;
    size_t count, K;
    scored *lists; /* a worker: K */
} nearest_job;

/* argmin_K over e of |x - c_e|^2 in the learned metric. */
static quorum_status seat_by_centre(void *context, size_t q, int worker)
{
    nearest_job *j = context;
    const committee *c = j->a->c;
    size_t D = c->parts.rows.D, held = 0;
    scored *list = j->lists + (size_t)worker * j->K;
    for (size_t i = 0; i < j->count; i++) {
        size_t e = j->experts[i];
        double d = squared_distance(j->a->Q->Z + q * D, c->centre + e * D, D);
        held = offer(list, held, j->K, (scored){.key = d, .expert = e});
    }
    for (size_t s = 0; s < held; s++)
        j->a->member[s * j->a->b + q] = list[s].expert;
    return QUORUM_OK;
}

quorum_status seat_nearest(quorum_status ready, assembly *a, const size_t *experts, size_t count,
                           size_t K, size_t real, int threads)
{
    nearest_job j = {.a = a, .experts = experts, .count = count, .K = K};
    const team_result found = members(a, K);
    NEW_ARRAY(j.lists, (size_t)parallel_workers(threads, real) * K);
    if (ready >= 0 && !j.lists)
        ready = failure(QUORUM_E_MEMORY, "out of memory for choosing experts at %zu queries", real);
    quorum_status status = team_map(ready, threads, real, seat_by_centre, &j, &found, 1);
    if (status >= 0)
        fill_padding(a, K, real);
    mem_free(j.lists);
    return status;
}

/* ---- Order of queries ---- */

typedef struct {
    size_t first, second, query; /* nearest and second nearest expert */
} located;

static int by_place(const void *a, const void *b)
{
    const located *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->second != y->second)
        return x->second < y->second ? -1 : 1;
    return x->query < y->query ? -1 : x->query > y->query;
}

quorum_status order_by_experts(const committee *c, const points *Q, size_t *order)
{
    located *list;
    size_t D = c->parts.rows.D;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(list, Q->n))
        return failure(QUORUM_E_MEMORY, "out of memory for ordering %zu queries", Q->n);
    for (size_t q = 0; q < Q->n; q++) {
        TRY_OR_DONE(progress_go_on());
        scored two[2] = {{0}};
        size_t held = 0;
        for (size_t e = 0; e < c->parts.M; e++)
            held = offer(two, held, 2,
                         (scored){squared_distance(Q->Z + q * D, c->centre + e * D, D), e});
        list[q] = (located){.first = two[0].expert, .second = two[1].expert, .query = q};
    }
    qsort(list, Q->n, sizeof *list, by_place);
    for (size_t q = 0; q < Q->n; q++)
        order[q] = list[q].query;
done:
    mem_free(list);
    return status;
}
