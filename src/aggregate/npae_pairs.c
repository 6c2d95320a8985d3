/* The first step of NPAE: the covariances of the pairs of experts that meet at a query,
 *
 *   K_A[i][j] = Gamma_i' Cov(y_i, y_j) Gamma_j.
 *
 * Pairs are the unit of work: one product of (panel x m_j)(m_j x b) for each panel of expert i's
 * rows, b being the queries at which both sit.  Any process may do any pair, since all have all
 * rows and all gammas. */
#include "aggregate/npae.h"

#include "base/memory.h"
#include "base/progress.h"
#include "gp/covariance.h"
#include "linalg/blas.h"
#include "team/work.h"

#include <string.h>

enum {
    ROW_PANEL = 256, /* rows of k(X_i, X_j) that exist at a time   */
    FIRST_ROOM = 64  /* pairs for which there is room at the start */
};

/* Two experts and the queries at whose tables both sit. */
typedef struct {
    size_t i, j;         /* attending experts, i < j                   */
    size_t first, count; /* their meetings                             */
} expert_pair;

/* One such query: its columns in both experts' lists. */
typedef struct {
    size_t column_i, column_j;
} meeting;

typedef struct {
    const assembly *a;
    int threads;
    expert_pair *pair; /* by their meetings, which follow one another */
    size_t pairs, room;
    meeting *meetings;
    double *results;    /* a number a meeting                        */
    size_t *start;      /* pairs + 1: where a pair's results begin   */
    work_share share;   /* of the pairs, by their work               */
    const size_t *mine; /* this process's pairs, the dearest first   */
    size_t needed;      /* numbers of scratch a worker               */
    double *scratch;
} pair_job;

/* ---- One pair ---- */

static points expert_points(const committee *c, size_t e)
{
    return points_view(&c->Z, c->parts.offset[e], part_size(&c->parts, e));
}

static size_t column_of(const meeting *w, int of_j)
{
    return of_j ? w->column_j : w->column_i;
}

/* Whether the meetings' columns, padding included, stand side by side in the expert's list: so
 * they do where all queries have the same experts. */
static int side_by_side(const meeting *w, size_t count, int of_j, const attendance *t)
{
    size_t first = column_of(w, of_j);
    for (size_t k = 1; k < count; k++)
        if (column_of(&w[k], of_j) != first + k)
            return 0;
    return first + padded_queries(count) <= t->b;
}

/* The meetings' columns of the expert's gamma, m x padded count: as they stand, or gathered into
 * `room`, the padding repeating the last. */
static const double *take_columns(const meeting *w, size_t count, int of_j, const attendance *t,
                                  size_t m, double *room)
{
    if (side_by_side(w, count, of_j, t))
        return t->gamma + column_of(w, of_j) * m;
    for (size_t k = 0; k < padded_queries(count); k++) {
        size_t column = column_of(&w[k < count ? k : count - 1], of_j);
        memcpy(room + k * m, t->gamma + column * m, m * sizeof *room);
    }
    return room;
}

/* K (rows x m_f) += s^2 wherever expert f holds the same row as expert e, of whose rows
 * K has `rows` from `first` on. */
static void add_shared_noise(const committee *c, size_t e, size_t f, size_t first, size_t rows,
                             double *K)
{
    const parts *p = &c->parts;
    const size_t *r = p->row + p->offset[e] + first, *s = p->row + p->offset[f];
    size_t n = part_size(p, f);
    for (size_t a = 0, b = 0; a < rows && b < n;) {
        size_t x = r[a], y = s[b];
        if (x == y)
            K[b * rows + a] += noise_of(&c->theta, &p->rows, p->offset[e] + first + a);
        a += x <= y;
        b += y <= x;
    }
}

/* result[k] = sum_r Gamma_i[r,k] T[r,k],  T = Cov(y_i, y_j) Gamma_j, by panels of
 * rows of X_i: one product of (panel x m_j)(m_j x b) each. */
static quorum_status one_pair(void *context, size_t item, int worker)
{
    pair_job *job = context;
    const assembly *a = job->a;
    const committee *c = a->c;
    const expert_pair *pair = &job->pair[job->mine[item]];
    const attendance *first = &a->by_expert[pair->i], *second = &a->by_expert[pair->j];
    const meeting *w = job->meetings + pair->first;
    points X = expert_points(c, first->expert), Y = expert_points(c, second->expert);
    size_t count = pair->count, b = padded_queries(count);
    double *K = job->scratch + (size_t)worker * job->needed, *T = K + ROW_PANEL * Y.n;
    double *result = T + ROW_PANEL * b, *room = result + b;
    const double *gamma_i = take_columns(w, count, 0, first, X.n, room);
    const double *gamma_j = take_columns(w, count, 1, second, Y.n, room + X.n * b);
    memset(result, 0, b * sizeof *result);
    for (size_t r = 0; r < X.n; r += ROW_PANEL) {
        size_t rows = X.n - r < ROW_PANEL ? X.n - r : ROW_PANEL;
        points panel = points_view(&X, r, rows);
        TRY(progress_go_on());
        covariance_cross(&c->theta, &panel, &Y, K, rows);
        if (c->parts.row)
            add_shared_noise(c, first->expert, second->expert, r, rows, K);
        blas_gemm('N', 'N', rows, b, Y.n, 1.0, K, rows, gamma_j, Y.n, 0.0, T, rows);
        for (size_t k = 0; k < count; k++)
            result[k] += vec_dot(rows, gamma_i + k * X.n + r, T + k * rows);
    }
    memcpy(job->results + pair->first, result, count * sizeof *result);
    return QUORUM_OK;
}

/* ---- Which pairs meet where ---- */

typedef struct {
    size_t *column, *place; /* as assembly_map_seats fills them */
} seat_map;

/* The meetings of expert i with later experts: counts them per partner, or, with
 * `next` set to where each partner's list goes on, writes them down. */
static size_t meet(const assembly *a, const seat_map *m, size_t i, size_t *next, meeting *out)
{
    const attendance *t = &a->by_expert[i];
    size_t total = 0;
    for (size_t k = 0; k < t->real; k++)
        for (size_t s = 0; s < a->seats; s++) {
            size_t seat = s * a->b + t->query[k];
            if (a->member[seat] == NOBODY || m->place[seat] <= i)
                continue;
            size_t j = m->place[seat];
            if (out)
                out[next[j]] = (meeting){.column_i = k, .column_j = m->column[seat]};
            next[j]++;
            total++;
        }
    return total;
}

static size_t count_meetings(const assembly *a)
{
    size_t total = 0;
    for (size_t q = 0; q < a->b; q++) {
        size_t seated = 0;
        for (size_t s = 0; s < a->seats; s++)
            seated += a->member[s * a->b + q] != NOBODY;
        total += seated * (seated - (seated > 0)) / 2;
    }
    return total;
}

static quorum_status out_of_memory(void)
{
    return failure(QUORUM_E_MEMORY, "out of memory for pairs of experts");
}

/* Rows of the attending expert number i. */
static size_t rows_of(const pair_job *job, size_t i)
{
    return part_size(&job->a->c->parts, job->a->by_expert[i].expert);
}

static quorum_status add_pair(pair_job *job, expert_pair pair)
{
    if (job->pairs == job->room) {
        expert_pair *more = mem_grow(job->pair, job->room, 2 * job->room, sizeof *more);
        if (!more)
            return out_of_memory();
        job->pair = more;
        job->room *= 2;
    }
    job->pair[job->pairs++] = pair;
    return QUORUM_OK;
}

/* Adds the pairs of expert i with later experts; their meetings stand from *at on. */
static quorum_status add_pairs(pair_job *job, const seat_map *m, size_t i, size_t *next, size_t *at)
{
    const assembly *a = job->a;
    size_t start = *at;
    memset(next, 0, a->attending * sizeof *next);
    meet(a, m, i, next, NULL);
    for (size_t j = i + 1; j < a->attending; j++) {
        if (next[j] == 0)
            continue;
        TRY(add_pair(job, (expert_pair){.i = i, .j = j, .first = *at, .count = next[j]}));
        size_t count = next[j];
        next[j] = *at;
        *at += count;
    }
    if (*at > start)
        meet(a, m, i, next, job->meetings);
    return QUORUM_OK;
}

static quorum_status find_pairs(pair_job *job)
{
    const assembly *a = job->a;
    size_t places = a->seats * a->b, at = 0, *next = NULL;
    seat_map m = {0};
    quorum_status status = QUORUM_OK;
    job->room = FIRST_ROOM;
    if (!NEW_ARRAY(m.column, places) || !NEW_ARRAY(m.place, places) ||
        !NEW_ARRAY(next, a->attending) || !NEW_ARRAY(job->pair, job->room) ||
        !NEW_ARRAY(job->meetings, count_meetings(a))) {
        status = out_of_memory();
        goto done;
    }
    assembly_map_seats(a, m.column, m.place);
    for (size_t i = 0; i < a->attending; i++) {
        TRY_OR_DONE(progress_go_on());
        TRY_OR_DONE(add_pairs(job, &m, i, next, &at));
    }
done:
    mem_free(m.column);
    mem_free(m.place);
    mem_free(next);
    return status;
}

/* ---- Who works on which pair ---- */

/* Scratch of a worker: K and T of a panel, the result, both experts' columns. */
static size_t scratch_numbers(const pair_job *job)
{
    size_t most = 0;
    for (size_t k = 0; k < job->pairs; k++) {
        size_t b = padded_queries(job->pair[k].count);
        size_t m = rows_of(job, job->pair[k].i), n = rows_of(job, job->pair[k].j);
        size_t needed = ROW_PANEL * (n + b) + b + (m + n) * b;
        most = needed > most ? needed : most;
    }
    return (most + 7) / 8 * 8;
}

static double work_of(const pair_job *job, const expert_pair *p)
{
    return (double)rows_of(job, p->i) * (double)rows_of(job, p->j) * (16.0 + (double)p->count);
}

/* Pairs go, the dearest first, to whoever has least to do so far. */
static quorum_status share_pairs(pair_job *job)
{
    double *work;
    if (!NEW_ARRAY(work, job->pairs))
        return out_of_memory();
    for (size_t k = 0; k < job->pairs; k++)
        work[k] = work_of(job, &job->pair[k]);
    quorum_status status = work_share_new(work, job->pairs, &job->share);
    mem_free(work);
    return status;
}

static quorum_status job_new(pair_job *job)
{
    TRY(find_pairs(job));
    TRY(share_pairs(job));
    job->needed = scratch_numbers(job);
    NEW_ARRAY(job->start, job->pairs + 1);
    NEW_ARRAY(job->results, count_meetings(job->a));
    NEW_ARRAY(job->scratch, (size_t)parallel_workers(job->threads, job->pairs) * job->needed);
    if (!job->start || !job->results || !job->scratch)
        return failure(QUORUM_E_MEMORY, "out of memory for the covariances of %zu experts",
                       job->a->attending);
    job->start[0] = 0;
    for (size_t k = 0; k < job->pairs; k++)
        job->start[k + 1] = job->start[k] + job->pair[k].count;
    return QUORUM_OK;
}

static void job_free(pair_job *job)
{
    mem_free(job->pair);
    mem_free(job->meetings);
    mem_free(job->results);
    mem_free(job->start);
    mem_free(job->scratch);
    work_share_free(&job->share);
}

/* ---- All pairs ---- */

static quorum_status my_pairs(void *context, const size_t *pairs, size_t count)
{
    pair_job *job = context;
    job->mine = pairs;
    progress_expect(1.0);
    return parallel_for(job->threads, count, one_pair, job);
}

/* A pair's results to where its two experts sit at each query. */
static void place_results(const pair_job *job, const expert_pair *pair, double *out)
{
    const assembly *a = job->a;
    const attendance *first = &a->by_expert[pair->i], *second = &a->by_expert[pair->j];
    const meeting *w = job->meetings + pair->first;
    for (size_t k = 0; k < pair->count; k++) {
        size_t s = first->seat[w[k].column_i], t = second->seat[w[k].column_j];
        size_t place = s < t ? pair_index(s, t) : pair_index(t, s);
        out[place * a->b + first->query[w[k].column_i]] = job->results[pair->first + k];
    }
}

quorum_status npae_pairs(const assembly *a, int threads, double *pairs)
{
    pair_job job = {.a = a, .threads = threads};
    quorum_status status = job_new(&job);
    const team_result results = {
        .data = job.results, .width = sizeof *job.results, .start = job.start};
    status = team_map_share(status, &job.share, my_pairs, &job, &results, 1);
    for (size_t k = 0; status >= 0 && k < job.pairs; k++) {
        place_results(&job, &job.pair[k], pairs);
        status = progress_go_on();
    }
    job_free(&job);
    return status;
}
