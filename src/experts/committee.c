/* A committee: rows divided by the length-scales, the experts' factors and their posteriors.
 *
 *   C_i = k(X_i, X_i) + s^2 I = L L',   alpha = C_i^-1 y_i            (factors)
 *   mean = k*' alpha,   explained = |L^-1 k*|^2,   Gamma = C_i^-1 k*  (answers, b columns)
 *
 * Large experts are worked on one after another by all threads, small ones side by side.
 * Questions whose factors do not fit into memory together are answered group by group. */
#include "experts/committee.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "team/team.h"

#include <math.h>
#include <stdlib.h>

enum {
    QUERY_TILE = 256, /* queries that one worker takes at a time ...                 */
    LEAST_TILE = 64   /* ... and of a large expert without asking whether to go on   */
};
static const double LARGE_SOLVE = 5e9; /* multiplications between two questions     */

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

double committee_factor_bytes(const committee *c)
{
    return 8.0 * (double)c->start[c->parts.M];
}

int committee_owner(const committee *c, size_t e)
{
    return c->owner ? c->owner[e] : 0;
}

int committee_is_mine(const committee *c, size_t e)
{
    return committee_owner(c, e) == team_rank();
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

static quorum_status make_factors(committee *c, int threads, const progress *report)
{
    const parts *p = &c->parts;
    quorum_status status = QUORUM_OK;
    size_t *experts = NULL, own = 0;
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
        if (committee_is_mine(c, e))
            experts[own++] = e;
    sort_by_size(p, experts, own);
    for (size_t i = 0; i < own; i++) {
        size_t m = part_size(p, experts[i]);
        L[i] = c->factors + c->start[experts[i]];
        alpha[i] = L[i] + whole_lines(m * m);
    }
    TRY_OR_DONE(progress_report(report, "factorise", -1.0, "%zu experts", p->M));
    factor_job job = {.c = c, .experts = experts, .count = own, .L = L, .alpha = alpha};
    TRY_OR_DONE(factor_group(&job, threads));
done:
    if (status < 0) {
        mem_free(c->factors);
        c->factors = NULL;
    }
    mem_free(experts);
    mem_free(L);
    mem_free(alpha);
    return status;
}

quorum_status committee_keep_factors(committee *c, double budget, int threads,
                                     const progress *report)
{
    quorum_status status = QUORUM_OK;
    if (!c->factors && committee_factor_bytes(c) <= budget)
        status = make_factors(c, threads, report);
    return team_agree(status);
}

static double scaled_input(const committee *c, size_t row, size_t d)
{
    return bring_in(c->parts.X[row * c->parts.D + d] / c->theta.lengthscale[d]);
}

static void find_centre(committee *c, size_t e)
{
    size_t D = c->parts.D;
    double *centre = c->centre + e * D, m = (double)part_size(&c->parts, e);
    for (size_t r = c->parts.offset[e]; r < c->parts.offset[e + 1]; r++)
        for (size_t d = 0; d < D; d++)
            centre[d] += scaled_input(c, r, d) / m;
    for (size_t r = c->parts.offset[e]; r < c->parts.offset[e + 1]; r++) {
        double s = 0.0;
        for (size_t d = 0; d < D; d++) {
            double z = scaled_input(c, r, d) - centre[d];
            s += z * z;
        }
        c->radius[e] = fmax(c->radius[e], sqrt(s));
    }
}

/* Where a rank does not have all rows, owners tell the others. */
static quorum_status find_centres(committee *c)
{
    const parts *p = &c->parts;
    team_piece *pieces;
    size_t listed = 0;
    for (size_t e = 0; e < p->M; e++)
        if (!p->held || p->held[e])
            find_centre(c, e);
    if (!p->held || team_size() == 1)
        return QUORUM_OK;
    NEW_ARRAY(pieces, 2 * p->M);
    TRY(team_agree(pieces ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for a message")));
    for (size_t e = 0; e < p->M; e++) {
        int owner = committee_owner(c, e);
        pieces[listed++] = (team_piece){c->centre + e * p->D, p->D * sizeof *c->centre, owner};
        pieces[listed++] = (team_piece){&c->radius[e], sizeof *c->radius, owner};
    }
    team_share(pieces, listed);
    mem_free(pieces);
    return QUORUM_OK;
}

quorum_status expert_owners(const parts *p, int *out)
{
    size_t *experts = NULL;
    int *owner = NULL;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(experts, p->M) || !NEW_ARRAY(owner, p->M)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu experts", p->M);
        goto done;
    }
    for (size_t e = 0; e < p->M; e++)
        experts[e] = e;
    sort_by_size(p, experts, p->M);
    TRY_OR_DONE(spread_by_size(p, experts, p->M, owner));
    for (size_t i = 0; i < p->M; i++)
        out[experts[i]] = owner[i];
done:
    mem_free(experts);
    mem_free(owner);
    return status;
}

static quorum_status find_owners(committee *c)
{
    if (!NEW_ARRAY(c->owner, c->parts.M))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", c->parts.M);
    return expert_owners(&c->parts, c->owner);
}

void committee_scale_held(committee *c)
{
    const parts *p = &c->parts;
    for (size_t e = 0; c->scaled && e < p->M; e++) {
        if (c->scaled[e] || (p->held && !p->held[e]))
            continue;
        points Z = points_view(&c->Z, p->offset[e], part_size(p, e));
        points_scale(&Z, Z.n, p->X + p->offset[e] * p->D, NULL, c->theta.lengthscale);
        c->scaled[e] = 1;
    }
}

/* Of a team's committee each expert's rows are scaled when they are there. */
static quorum_status scale_rows(committee *c)
{
    const parts *p = &c->parts;
    if (!p->held) {
        TRY(points_new(p->n, p->D, &c->Z));
        points_scale(&c->Z, p->n, p->X, NULL, c->theta.lengthscale);
        return QUORUM_OK;
    }
    if (!NEW_ZEROED(c->scaled, p->M))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", p->M);
    return points_new_sparse(p->n, p->D, &c->Z);
}

quorum_status committee_new(const parts *p, const hyper *theta, double budget, int threads,
                            const progress *report, committee *out)
{
    committee c = {.parts = *p, .theta = *theta};
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(c.start, p->M + 1) || !NEW_ZEROED(c.centre, p->M * p->D) ||
        !NEW_ZEROED(c.radius, p->M)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu experts", p->M);
        goto done;
    }
    if (team_size() > 1)
        TRY_OR_DONE(find_owners(&c));
    c.start[0] = 0;
    for (size_t e = 0; e < p->M; e++)
        c.start[e + 1] =
            c.start[e] + (committee_is_mine(&c, e) ? block_numbers(part_size(p, e)) : 0);
    TRY_OR_DONE(team_agree(scale_rows(&c)));
    TRY_OR_DONE(find_centres(&c));
    TRY_OR_DONE(committee_keep_factors(&c, budget, threads, report));
done:
    *out = c;
    if (status < 0)
        committee_free(out);
    return status;
}

void committee_free(committee *c)
{
    points_free(&c->Z);
    mem_free(c->scaled);
    mem_free(c->factors);
    mem_free(c->start);
    mem_free(c->owner);
    mem_free(c->centre);
    mem_free(c->radius);
    *c = (committee){0};
}

/* ---- Posteriors ---- */

typedef struct {
    const committee *c;
    const points *Q;
    const question **questions; /* of the group, largest experts first            */
    double **L, **alpha;        /* their factors                                  */
    size_t *tile;               /* count + 1: the first item of each question     */
    size_t count;
    points *gathered; /* a worker: room for QUERY_TILE queries          */
    double *scratch;  /* a worker: room numbers                         */
    size_t room;
} answer_job;

/* The question that item belongs to: the last one with tile[i] <= item. */
static size_t find_question(const answer_job *j, size_t item)
{
    size_t low = 0, high = j->count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (j->tile[middle] <= item)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Queries first .. first+width-1 of the question. */
static points take_queries(const answer_job *j, const question *a, size_t first, size_t width,
                           points *room)
{
    if (!a->query)
        return points_view(j->Q, first, width);
    points_gather(j->Q, a->query + first, width, room);
    return points_view(room, 0, width);
}

/* The posterior of question i at its queries Q, the first of which is number `first`. */
static void answer_some(answer_job *j, size_t i, size_t first, const points *Q, int worker)
{
    const question *a = j->questions[i];
    size_t m = part_size(&j->c->parts, a->expert);
    points X = points_view(&j->c->Z, j->c->parts.offset[a->expert], m);
    expert_output wanted = {
        .mean = a->mean ? a->mean + first : NULL,
        .explained = a->explained ? a->explained + first : NULL,
        .gamma = a->gamma ? a->gamma + first * m : NULL,
    };
    double *room = wanted.gamma ? wanted.gamma : j->scratch + (size_t)worker * j->room;
    posterior(&j->c->theta, &X, j->L[i], j->alpha[i], Q, room, &wanted);
}

static size_t queries_at_once(size_t m)
{
    size_t step = QUERY_TILE;
    while (step > LEAST_TILE && (double)m * (double)m * (double)step > LARGE_SOLVE)
        step /= 2;
    return step;
}

static quorum_status answer_tile(void *context, size_t item, int worker)
{
    answer_job *j = context;
    size_t i = find_question(j, item);
    const question *a = j->questions[i];
    size_t first = (item - j->tile[i]) * QUERY_TILE, m = part_size(&j->c->parts, a->expert);
    size_t width = a->b - first < QUERY_TILE ? a->b - first : QUERY_TILE;
    points Q = take_queries(j, a, first, width, &j->gathered[worker]);
    size_t step = queries_at_once(m);
    for (size_t at = 0; at < width; at += step) {
        points some = points_view(&Q, at, width - at < step ? width - at : step);
        TRY(progress_go_on());
        answer_some(j, i, first + at, &some, worker);
    }
    return QUORUM_OK;
}

/* How many questions from the front have factors that fit into `budget`, one at
 * least; *numbers is the room that the factors need. */
static size_t group_size(const committee *c, const question **questions, size_t count,
                         double budget, size_t *numbers)
{
    size_t taken = 0;
    *numbers = 0;
    while (taken < count) {
        size_t more = block_numbers(part_size(&c->parts, questions[taken]->expert));
        if (taken > 0 && 8.0 * (double)(*numbers + more) > budget)
            break;
        *numbers += more;
        taken++;
    }
    return taken;
}

/* Factors of the group's experts: the kept ones, or made into `store`. */
static quorum_status group_factors(answer_job *j, double *store, size_t *experts, int threads)
{
    const committee *c = j->c;
    for (size_t i = 0; i < j->count; i++) {
        size_t e = experts[i] = j->questions[i]->expert, m = part_size(&c->parts, e);
        j->L[i] = c->factors ? c->factors + c->start[e] : store;
        j->alpha[i] = j->L[i] + whole_lines(m * m);
        if (!c->factors)
            store += block_numbers(m);
    }
    if (c->factors)
        return QUORUM_OK;
    factor_job job = {.c = c, .experts = experts, .count = j->count, .L = j->L, .alpha = j->alpha};
    return factor_group(&job, threads);
}

static quorum_status answer_group(answer_job *j, double *store, size_t *experts, int threads)
{
    TRY(group_factors(j, store, experts, threads));
    j->tile[0] = 0;
    for (size_t i = 0; i < j->count; i++)
        j->tile[i + 1] = j->tile[i] + (j->questions[i]->b + QUERY_TILE - 1) / QUERY_TILE;
    return parallel_for(threads, j->tile[j->count], answer_tile, j);
}

static int larger_expert_first(const void *a, const void *b, void *context)
{
    const parts *p = context;
    const question *x = *(const question *const *)a, *y = *(const question *const *)b;
    size_t m = part_size(p, x->expert), n = part_size(p, y->expert);
    if (m != n)
        return m > n ? -1 : 1;
    return x->expert < y->expert ? -1 : x->expert > y->expert;
}

/* Workspaces of the workers, for the largest expert asked and the widest tile. */
static quorum_status answer_spaces(answer_job *j, const question *questions, size_t count,
                                   int workers)
{
    size_t width = 0, largest = 0;
    for (size_t i = 0; i < count; i++) {
        size_t m = part_size(&j->c->parts, questions[i].expert);
        largest = m > largest ? m : largest;
        width = questions[i].b > width ? questions[i].b : width;
    }
    width = width < QUERY_TILE ? width : QUERY_TILE;
    j->room = largest * width;
    if (!NEW_ARRAY(j->scratch, (size_t)workers * j->room) ||
        !NEW_ZEROED(j->gathered, (size_t)workers))
        return failure(QUORUM_E_MEMORY, "out of memory for the posteriors of %zu experts", count);
    for (int w = 0; w < workers; w++)
        TRY(points_new(width, j->c->parts.D, &j->gathered[w]));
    return QUORUM_OK;
}

static quorum_status answer_all(const committee *c, const question *questions, size_t count,
                                const points *Q, double budget, int threads)
{
    answer_job j = {.c = c, .Q = Q};
    const question **sorted = NULL;
    double *store = NULL;
    size_t *experts = NULL, stored = 0, numbers = 0;
    int workers = threads > 0 ? threads : 1;
    quorum_status status = QUORUM_OK;
    if (count == 0)
        return QUORUM_OK;
    if (!NEW_ARRAY(sorted, count) || !NEW_ARRAY(experts, count) || !NEW_ARRAY(j.L, count) ||
        !NEW_ARRAY(j.alpha, count) || !NEW_ARRAY(j.tile, count + 1)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for asking %zu experts", count);
        goto done;
    }
    TRY_OR_DONE(answer_spaces(&j, questions, count, workers));
    for (size_t i = 0; i < count; i++)
        sorted[i] = &questions[i];
    qsort_r(sorted, count, sizeof *sorted, larger_expert_first, (void *)&c->parts);
    for (size_t done = 0; done < count; done += j.count) {
        j.questions = sorted + done;
        j.count = count - done;
        if (!c->factors) {
            j.count = group_size(c, j.questions, count - done, budget, &numbers);
            if (numbers > stored) {
                mem_free(store);
                if (!NEW_ARRAY(store, numbers)) {
                    status = failure(QUORUM_E_MEMORY, "out of memory for %zu factors", j.count);
                    goto done;
                }
                stored = numbers;
            }
        }
        TRY_OR_DONE(answer_group(&j, store, experts, threads));
    }
done:
    for (int w = 0; j.gathered && w < workers; w++)
        points_free(&j.gathered[w]);
    mem_free(j.gathered);
    mem_free(j.scratch);
    mem_free(j.L);
    mem_free(j.alpha);
    mem_free(j.tile);
    mem_free(sorted);
    mem_free(experts);
    mem_free(store);
    return status;
}

/* ---- In a team: every expert is asked by its owner ---- */

/* The answers to one question, as they travel: up to three pieces. */
static size_t list_answers(const committee *c, const question *a, team_piece *pieces)
{
    int owner = committee_owner(c, a->expert);
    size_t bytes = a->b * sizeof(double), count = 0;
    if (a->mean)
        pieces[count++] = (team_piece){a->mean, bytes, owner};
    if (a->explained)
        pieces[count++] = (team_piece){a->explained, bytes, owner};
    if (a->gamma)
        pieces[count++] = (team_piece){a->gamma, bytes * part_size(&c->parts, a->expert), owner};
    return count;
}

quorum_status committee_answer(const committee *c, const question *questions, size_t count,
                               const points *Q, double budget, int threads)
{
    question *mine = NULL;
    team_piece *pieces = NULL;
    size_t mines = 0, listed = 0;
    quorum_status status = QUORUM_OK;
    if (team_size() == 1)
        return answer_all(c, questions, count, Q, budget, threads);
    NEW_ARRAY(mine, count);
    NEW_ARRAY(pieces, 3 * count);
    if (mine && pieces) {
        for (size_t i = 0; i < count; i++) {
            if (committee_is_mine(c, questions[i].expert))
                mine[mines++] = questions[i];
            listed += list_answers(c, &questions[i], pieces + listed);
        }
        status = answer_all(c, mine, mines, Q, budget, threads);
    } else {
        status = failure(QUORUM_E_MEMORY, "out of memory for asking %zu experts", count);
    }
    status = team_agree(status);
    if (status == QUORUM_OK)
        team_share(pieces, listed);
    mem_free(mine);
    mem_free(pieces);
    return status;
}
