/* A committee: rows divided by the length-scales, the experts' factors and their posteriors.
 *
 *   C_i = k(X_i, X_i) + s^2 I = L L',   alpha = C_i^-1 y_i            (factors)
 *   mean = k*' alpha,   explained = |L^-1 k*|^2,   Gamma = C_i^-1 k*  (answers, b columns)
 *   mean = y_r - alpha_r / (C^-1)_rr,   explained = s_f^2 + s_r^2 - 1 / (C^-1)_rr,
 *                                       (C^-1)_rr = |L^-1 e_r|^2      (at row r, left out)
 *
 * Large experts are worked on one after another by all threads, small ones side by side.
 * Questions whose factors do not fit into memory together are answered group by group. */
#include "experts/committee.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "gp/slopes.h"
#include "linalg/blas.h"
#include "team/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUERY_TILE = 256,   /* queries that one worker takes at a time ...                 */
    LEAST_TILE = 64,    /* ... and of a large expert without asking whether to go on   */
    ROWS_AT_ONCE = 64,  /* that are scaled only to find where they lie                */
    SCALED_TILE = 16384 /* rows that one worker scales at a time                      */
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

int committee_is_mine(const committee *c, size_t e)
{
    return work_is_mine(&c->share, e);
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
    row_set rows = part_rows(&c->parts, e);
    points X = points_view(&c->Z, c->parts.offset[e], rows.n);
    quorum_status status = factorise(&c->theta, &X, &rows, threads, j->L[i], j->alpha[i]);
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

/* ---- Factors that are kept ---- */

typedef struct {
    committee *c;
    double budget;
    int threads;
    const progress *report;
} keep_job;

/* `experts` come largest first. */
static quorum_status make_factors(const keep_job *k, const size_t *experts, size_t count)
{
    committee *c = k->c;
    factor_job job = {.c = c, .experts = experts, .count = count};
    quorum_status status = QUORUM_OK;
    NEW_ARRAY(job.L, count);
    NEW_ARRAY(job.alpha, count);
    NEW_ARRAY(c->factors, c->start[c->parts.M]);
    if (!job.L || !job.alpha || !c->factors)
        status =
            failure(QUORUM_E_MEMORY, "out of memory for the factors of %zu experts", c->parts.M);
    for (size_t i = 0; status >= 0 && i < count; i++) {
        size_t m = part_size(&c->parts, experts[i]);
        job.L[i] = c->factors + c->start[experts[i]];
        job.alpha[i] = job.L[i] + whole_lines(m * m);
    }
    if (status >= 0)
        status = progress_report(k->report, "factorise", -1.0, "%zu experts", c->parts.M);
    if (status >= 0)
        status = factor_group(&job, k->threads);
    mem_free(job.L);
    mem_free(job.alpha);
    return status;
}

static quorum_status keep_mine(void *context, const size_t *experts, size_t count)
{
    const keep_job *k = context;
    committee *c = k->c;
    if (c->factors || committee_factor_bytes(c) > k->budget)
        return QUORUM_OK;
    quorum_status status = make_factors(k, experts, count);
    if (status < 0) {
        mem_free(c->factors);
        c->factors = NULL;
    }
    return status;
}

quorum_status committee_keep_factors(committee *c, double budget, int threads,
                                     const progress *report)
{
    keep_job k = {.c = c, .budget = budget, .threads = threads, .report = report};
    return team_map_share(QUORUM_OK, &c->share, keep_mine, &k, NULL, 0);
}

/* ---- Scaled rows, and where they lie ---- */

void committee_scale_held(committee *c)
{
    const parts *p = &c->parts;
    for (size_t e = 0; c->scaled && e < p->M; e++) {
        if (c->scaled[e] || (p->held && !p->held[e]))
            continue;
        points Z = points_view(&c->Z, p->offset[e], part_size(p, e));
        points_scale(&Z, Z.n, p->rows.X + p->offset[e] * p->rows.D, NULL, c->theta.lengthscale);
        c->scaled[e] = 1;
    }
}

static points tile_of_rows(const committee *c, size_t item)
{
    size_t first = item * SCALED_TILE, left = c->Z.n - first;
    return points_view(&c->Z, first, left < SCALED_TILE ? left : SCALED_TILE);
}

/* Z and norm; T is left. */
static quorum_status scale_tile(void *context, size_t item, int worker)
{
    const committee *c = context;
    points Z = tile_of_rows(c, item);
    (void)worker;
    Z.T = NULL;
    points_scale(&Z, Z.n, c->parts.rows.X + item * SCALED_TILE * Z.D, NULL, c->theta.lengthscale);
    return QUORUM_OK;
}

static quorum_status turn_tile(void *context, size_t item, int worker)
{
    points Z = tile_of_rows(context, item);
    (void)worker;
    points_turn(&Z);
    return QUORUM_OK;
}

static size_t count_tiles(const committee *c)
{
    return (c->Z.n + SCALED_TILE - 1) / SCALED_TILE;
}

typedef struct {
    committee *c;
    int threads;
} turning;

static quorum_status turn_rows(void *context)
{
    const turning *t = context;
    return parallel_for(t->threads, count_tiles(t->c), turn_tile, t->c);
}

quorum_status committee_turn(committee *c, int threads)
{
    turning t = {.c = c, .threads = threads};
    if (c->turned)
        return QUORUM_OK;
    TRY(team_all(QUORUM_OK, turn_rows, &t));
    c->turned = 1;
    return QUORUM_OK;
}

/* Of a team's committee each expert's rows are scaled when they are there. */
static quorum_status scale_rows(committee *c, int threads)
{
    const parts *p = &c->parts;
    c->turned = p->held != NULL;
    if (!p->held) {
        TRY(points_new(p->rows.n, p->rows.D, &c->Z));
        return parallel_for(threads, count_tiles(c), scale_tile, c);
    }
    if (!NEW_ZEROED(c->scaled, p->M))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", p->M);
    return points_new_sparse(p->rows.n, p->rows.D, &c->Z);
}

/* The rows at the columns first .. first + count - 1 of expert e, ROWS_AT_ONCE at most: as they
 * stand in Z, or scaled into `room`. */
static const double *scaled_rows(const committee *c, size_t e, size_t first, size_t count,
                                 points *room)
{
    size_t D = c->parts.rows.D;
    if (!c->scaled || c->scaled[e])
        return c->Z.Z + first * D;
    points_scale(room, count, c->parts.rows.X + first * D, NULL, c->theta.lengthscale);
    return room->Z;
}

static size_t some_rows(const parts *p, size_t e, size_t first)
{
    size_t left = p->offset[e + 1] - first;
    return left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
}

/* centre = sum_r z_r / m */
static void find_centre(committee *c, size_t e, points *room)
{
    const parts *p = &c->parts;
    double *centre = c->centre + e * p->rows.D, m = (double)part_size(p, e);
    for (size_t r = p->offset[e], count; r < p->offset[e + 1]; r += count) {
        count = some_rows(p, e, r);
        const double *z = scaled_rows(c, e, r, count, room);
        for (size_t i = 0; i < count; i++)
            for (size_t d = 0; d < p->rows.D; d++)
                centre[d] += z[i * p->rows.D + d] / m;
    }
}

/* radius = max_r |z_r - centre| */
static void find_radius(committee *c, size_t e, points *room)
{
    const parts *p = &c->parts;
    const double *centre = c->centre + e * p->rows.D;
    for (size_t r = p->offset[e], count; r < p->offset[e + 1]; r += count) {
        count = some_rows(p, e, r);
        const double *z = scaled_rows(c, e, r, count, room);
        for (size_t i = 0; i < count; i++) {
            double s = 0.0;
            for (size_t d = 0; d < p->rows.D; d++) {
                double from = z[i * p->rows.D + d] - centre[d];
                s += from * from;
            }
            c->radius[e] = fmax(c->radius[e], sqrt(s));
        }
    }
}

/* worth = sum_r s^2 / noise_r */
static void find_worth(committee *c, size_t e)
{
    const parts *p = &c->parts;
    c->worth[e] = 0.0;
    for (size_t r = p->offset[e]; r < p->offset[e + 1]; r++)
        c->worth[e] += c->theta.noise / noise_of(&c->theta, &p->rows, r);
}

static quorum_status place_mine(void *context, const size_t *experts, size_t count)
{
    committee *c = context;
    points room = {0};
    if (c->scaled)
        TRY(points_new(ROWS_AT_ONCE, c->parts.rows.D, &room));
    for (size_t i = 0; i < count; i++) {
        find_centre(c, experts[i], &room);
        find_radius(c, experts[i], &room);
        find_worth(c, experts[i]);
    }
    points_free(&room);
    return QUORUM_OK;
}

/* Each expert's centre, radius and worth, from whoever has its rows. */
static quorum_status place_experts(quorum_status ready, committee *c)
{
    const team_result results[] = {
        {.data = c->centre, .width = c->parts.rows.D * sizeof *c->centre},
        {.data = c->radius, .width = sizeof *c->radius},
        {.data = c->worth, .width = sizeof *c->worth}};
    return team_map_share(ready, &c->share, place_mine, c, results, 3);
}

/* ---- Making a committee ---- */

/* Of its factors a process has room for those of its own experts. */
static void lay_out_factors(committee *c)
{
    c->start[0] = 0;
    for (size_t e = 0; e < c->parts.M; e++)
        c->start[e + 1] =
            c->start[e] + (committee_is_mine(c, e) ? block_numbers(part_size(&c->parts, e)) : 0);
}

/* All that one process alone may have no memory for. */
static quorum_status committee_room(committee *c, int threads)
{
    size_t M = c->parts.M;
    if (!NEW_ARRAY(c->start, M + 1) || !NEW_ZEROED(c->centre, M * c->parts.rows.D) ||
        !NEW_ZEROED(c->radius, M) || !NEW_ZEROED(c->worth, M))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", M);
    TRY(share_by_size(&c->parts, &c->share));
    lay_out_factors(c);
    return scale_rows(c, threads);
}

quorum_status committee_gather(const parts *p, const hyper *theta, int threads, committee *out)
{
    *out = (committee){.parts = *p, .theta = *theta};
    quorum_status status = place_experts(committee_room(out, threads), out);
    if (status < 0)
        committee_free(out);
    return status;
}

quorum_status committee_new(const parts *p, const hyper *theta, double budget, int threads,
                            const progress *report, committee *out)
{
    TRY(committee_gather(p, theta, threads, out));
    quorum_status status = committee_turn(out, threads);
    if (status >= 0)
        status = committee_keep_factors(out, budget, threads, report);
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
    work_share_free(&c->share);
    mem_free(c->centre);
    mem_free(c->radius);
    mem_free(c->worth);
    *c = (committee){0};
}

/* ---- Posteriors ---- */

typedef struct {
    const committee *c;
    const points *Q;
    const question *all; /* asked: of all experts */
    size_t asked;
    double budget;
    int threads;
    const question **mine; /* to this process's experts, the largest first */
    size_t mines;

    /* A group of them whose factors are there together. */
    const question **questions;
    size_t count;
    size_t *experts;     /* whom they are for                           */
    double **L, **alpha; /* their factors ...                           */
    double *store;       /* ... where they are made, if not kept        */
    size_t stored;       /* numbers that it has room for                */
    size_t *tile;        /* count + 1: the first item of each question  */

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

/* The posterior of question i at b of its expert's own rows, each from all the others; V: m x b. */
static void leave_out(const answer_job *j, size_t i, size_t first, size_t b, double *V)
{
    const question *a = j->questions[i];
    const hyper *theta = &j->c->theta;
    const size_t *own = a->own + first;
    row_set rows = part_rows(&j->c->parts, a->expert);
    memset(V, 0, rows.n * b * sizeof *V);
    for (size_t q = 0; q < b; q++)
        V[q * rows.n + own[q]] = 1.0;
    blas_solve_lower(rows.n, b, j->L[i], rows.n, V, rows.n);
    for (size_t q = 0; q < b; q++) {
        double inverse = vec_dot(rows.n, V + q * rows.n, V + q * rows.n);
        double latent = 1.0 / inverse - noise_of(theta, &rows, own[q]);
        a->mean[first + q] = rows.y[own[q]] - j->alpha[i][own[q]] / inverse;
        a->explained[first + q] = fmax(theta->signal - latent, 0.0);
    }
}

/* The posterior of question i at its queries Q, the first of which is number `first`. */
static void answer_some(answer_job *j, size_t i, size_t first, const points *Q, int worker)
{
    const question *a = j->questions[i];
    size_t m = part_size(&j->c->parts, a->expert);
    points X = points_view(&j->c->Z, j->c->parts.offset[a->expert], m);
    if (a->solve) {
        blas_solve_lower(m, Q->n, j->L[i], m, a->solve + first * m, m);
        blas_solve_lower_transposed(m, Q->n, j->L[i], m, a->solve + first * m, m);
        return;
    }
    if (a->own) {
        leave_out(j, i, first, Q->n, j->scratch + (size_t)worker * j->room);
        return;
    }
    expert_output wanted = {
        .mean = a->mean ? a->mean + first : NULL,
        .explained = a->explained ? a->explained + first : NULL,
        .gamma = a->gamma ? a->gamma + first * m : NULL,
    };
    double *scratch = j->scratch + (size_t)worker * j->room;
    double *room = wanted.gamma ? wanted.gamma : scratch;
    if (a->explained_slope)
        wanted.gamma = room;
    posterior(&j->c->theta, &X, j->L[i], j->alpha[i], Q, room, &wanted);
    if (a->mean_slope)
        posterior_slopes(&j->c->theta, &X, Q, j->alpha[i], wanted.gamma, scratch + j->room - 2 * m,
                         a->mean_slope + first * X.D, a->explained_slope + first * X.D);
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

/* How many questions from the front have factors that fit into the budget, one at
 * least; *numbers is the room that the factors need. */
static size_t group_size(const answer_job *j, size_t left, size_t *numbers)
{
    size_t taken = 0;
    *numbers = 0;
    while (taken < left) {
        size_t more = block_numbers(part_size(&j->c->parts, j->questions[taken]->expert));
        if (taken > 0 && 8.0 * (double)(*numbers + more) > j->budget)
            break;
        *numbers += more;
        taken++;
    }
    return taken;
}

/* The next group: all that are left where factors are kept, or those for which there is room. */
static quorum_status take_group(answer_job *j, size_t done)
{
    size_t numbers = 0;
    j->questions = j->mine + done;
    j->count = j->mines - done;
    if (j->c->factors)
        return QUORUM_OK;
    j->count = group_size(j, j->count, &numbers);
    if (numbers <= j->stored)
        return QUORUM_OK;
    mem_free(j->store);
    if (!NEW_ARRAY(j->store, numbers))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu factors", j->count);
    j->stored = numbers;
    return QUORUM_OK;
}

/* Factors of the group's experts: the kept ones, or made into `store`. */
static quorum_status group_factors(answer_job *j)
{
    const committee *c = j->c;
    double *store = j->store;
    for (size_t i = 0; i < j->count; i++) {
        size_t e = j->experts[i] = j->questions[i]->expert, m = part_size(&c->parts, e);
        j->L[i] = c->factors ? c->factors + c->start[e] : store;
        j->alpha[i] = j->L[i] + whole_lines(m * m);
        if (!c->factors)
            store += block_numbers(m);
    }
    if (c->factors)
        return QUORUM_OK;
    factor_job job = {
        .c = c, .experts = j->experts, .count = j->count, .L = j->L, .alpha = j->alpha};
    return factor_group(&job, j->threads);
}

static quorum_status answer_group(answer_job *j)
{
    TRY(group_factors(j));
    j->tile[0] = 0;
    for (size_t i = 0; i < j->count; i++)
        j->tile[i + 1] = j->tile[i] + (j->questions[i]->b + QUERY_TILE - 1) / QUERY_TILE;
    progress_expect((double)(j->questions - j->mine + j->count) / (double)j->mines);
    return parallel_for(j->threads, j->tile[j->count], answer_tile, j);
}

/* ---- Questions to this process's experts ---- */

static int larger_expert_first(const void *a, const void *b, void *context)
{
    const parts *p = context;
    const question *x = *(const question *const *)a, *y = *(const question *const *)b;
    size_t m = part_size(p, x->expert), n = part_size(p, y->expert);
    if (m != n)
        return m > n ? -1 : 1;
    return x->expert < y->expert ? -1 : x->expert > y->expert;
}

static void list_mine(answer_job *j)
{
    for (size_t i = 0; i < j->asked; i++)
        if (committee_is_mine(j->c, j->all[i].expert))
            j->mine[j->mines++] = &j->all[i];
    qsort_r(j->mine, j->mines, sizeof *j->mine, larger_expert_first, (void *)&j->c->parts);
}

/* Workspaces of the workers, for the largest expert asked and the widest tile. */
static quorum_status answer_spaces(answer_job *j)
{
    size_t width = 0, largest = j->mines > 0 ? part_size(&j->c->parts, j->mine[0]->expert) : 0;
    for (size_t i = 0; i < j->mines; i++)
        width = j->mine[i]->b > width ? j->mine[i]->b : width;
    width = width < QUERY_TILE ? width : QUERY_TILE;
    j->room = largest * (width + 2);
    if (!NEW_ARRAY(j->scratch, (size_t)j->threads * j->room) ||
        !NEW_ZEROED(j->gathered, (size_t)j->threads))
        return failure(QUORUM_E_MEMORY, "out of memory for the posteriors of %zu experts",
                       j->mines);
    for (int w = 0; w < j->threads; w++)
        TRY(points_new(width, j->c->parts.rows.D, &j->gathered[w]));
    return QUORUM_OK;
}

static quorum_status answer_room(answer_job *j)
{
    if (!NEW_ARRAY(j->mine, j->asked) || !NEW_ARRAY(j->experts, j->asked) ||
        !NEW_ARRAY(j->L, j->asked) || !NEW_ARRAY(j->alpha, j->asked) ||
        !NEW_ARRAY(j->tile, j->asked + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for asking %zu experts", j->asked);
    list_mine(j);
    return answer_spaces(j);
}

static void answer_free(answer_job *j)
{
    for (int w = 0; j->gathered && w < j->threads; w++)
        points_free(&j->gathered[w]);
    mem_free(j->gathered);
    mem_free(j->scratch);
    mem_free(j->mine);
    mem_free(j->experts);
    mem_free(j->L);
    mem_free(j->alpha);
    mem_free(j->tile);
    mem_free(j->store);
}

static quorum_status answer_mine(void *context, const size_t *experts, size_t count)
{
    answer_job *j = context;
    (void)experts; /* questions are few where experts are many */
    (void)count;
    quorum_status status = answer_room(j);
    for (size_t done = 0; status >= 0 && done < j->mines; done += j->count) {
        status = take_group(j, done);
        if (status >= 0)
            status = answer_group(j);
    }
    answer_free(j);
    return status;
}

/* ---- Answers of all experts ---- */

enum { MEAN, EXPLAINED, GAMMA, MEAN_SLOPE, EXPLAINED_SLOPE, ANSWERS };

/* Where the answers of expert e go: unit k M + e for each kind k of them. */
typedef struct {
    void **place; /* NULL: not asked for */
    size_t *bytes;
    team_result results[ANSWERS];
} answer_places;

static void list_places(const committee *c, const question *a, answer_places *p)
{
    double *to[] = {[MEAN] = a->mean,
                    [EXPLAINED] = a->explained,
                    [GAMMA] = a->gamma,
                    [MEAN_SLOPE] = a->mean_slope,
                    [EXPLAINED_SLOPE] = a->explained_slope};
    size_t m = part_size(&c->parts, a->expert), D = c->parts.rows.D, rows[] = {1, 1, m, D, D};
    for (int k = 0; k < ANSWERS; k++) {
        size_t at = (size_t)k * c->parts.M + a->expert;
        p->place[at] = to[k];
        p->bytes[at] = rows[k] * a->b * sizeof *to[k];
    }
}

static quorum_status places_new(const committee *c, const question *questions, size_t count,
                                answer_places *p)
{
    size_t M = c->parts.M;
    if (!NEW_ZEROED(p->place, ANSWERS * M) || !NEW_ZEROED(p->bytes, ANSWERS * M))
        return failure(QUORUM_E_MEMORY, "out of memory for asking %zu experts", count);
    for (size_t i = 0; i < count; i++)
        list_places(c, &questions[i], p);
    for (size_t k = 0; k < ANSWERS; k++)
        p->results[k] = (team_result){.place = p->place + k * M, .bytes = p->bytes + k * M};
    return QUORUM_OK;
}

quorum_status committee_answer(quorum_status ready, const committee *c, const question *questions,
                               size_t count, const points *Q, double budget, int threads)
{
    answer_job j = {.c = c, .Q = Q, .all = questions, .asked = count, .budget = budget};
    answer_places p = {0};
    size_t shared = team_is_alone() ? 0 : ANSWERS; /* one alone has all answers already */
    j.threads = threads > 0 ? threads : 1;
    if (ready >= 0 && shared > 0)
        ready = places_new(c, questions, count, &p);
    quorum_status status = team_map_share(ready, &c->share, answer_mine, &j, p.results, shared);
    mem_free(p.place);
    mem_free(p.bytes);
    return status;
}
