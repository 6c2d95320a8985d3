/* NPAE in two steps: the covariances of the pairs of experts that meet at a query (npae_pairs),
 *
 *   K_A[i][j] = Gamma_i' Cov(y_i, y_j) Gamma_j,
 *
 * and then each query's system of its p experts (npae_solve),
 *
 *   K_A w = k_A,   mean = w' mu,   var = s_f^2 - w' k_A.
 *
 * Pairs are the unit of work of the first: one product of (panel x m_j)(m_j x b) for each panel
 * of expert i's rows.  Systems are scaled to a unit diagonal, since experts far from the query
 * explain next to nothing, and jitter is added where they are singular. */
#include "aggregate/npae.h"

#include "aggregate/rule.h"
#include "base/memory.h"
#include "base/progress.h"
#include "gp/covariance.h"
#include "linalg/blas.h"
#include "team/team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_PANEL = 256 }; /* rows of k(X_i, X_j) that exist at a time */

/* ---- Pairs of experts ---- */

/* Two experts and the queries at whose tables both sit. */
typedef struct {
    size_t i, j;         /* attending experts, i < j                              */
    size_t first, count; /* their meetings                                        */
    double work;
    int owner;     /* the rank that works on it                             */
    size_t result; /* where its results begin, one a meeting                */
} expert_pair;

/* One such query: its columns in both experts' lists. */
typedef struct {
    size_t column_i, column_j;
} meeting;

typedef struct {
    const assembly *a;
    expert_pair *pair;
    size_t pairs;
    meeting *meetings;
    size_t *mine; /* this rank's pairs                         */
    size_t mines;
    double *results; /* a number a meeting, a rank's together     */
    double *out;
    size_t room; /* numbers of scratch a worker               */
    double *scratch;
} pair_job;

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
            K[b * rows + a] += c->theta.noise;
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
    double *K = job->scratch + (size_t)worker * job->room, *T = K + ROW_PANEL * Y.n;
    double *result = T + ROW_PANEL * b, *room = result + b;
    const double *gamma_i = take_columns(w, count, 0, first, X.n, room);
    const double *gamma_j = take_columns(w, count, 1, second, Y.n, room + X.n * b);
    memset(result, 0, b * sizeof *result);
    for (size_t r = 0; r < X.n; r += ROW_PANEL) {
        size_t rows = X.n - r < ROW_PANEL ? X.n - r : ROW_PANEL;
        points panel = points_view(&X, r, rows);
        TRY(progress_go_on());
        covariance_cross(c->theta.kernel, c->theta.signal, &panel, &Y, K, rows);
        if (c->parts.row)
            add_shared_noise(c, first->expert, second->expert, r, rows, K);
        blas_gemm('N', 'N', rows, b, Y.n, 1.0, K, rows, gamma_j, Y.n, 0.0, T, rows);
        for (size_t k = 0; k < count; k++)
            result[k] += vec_dot(rows, gamma_i + k * X.n + r, T + k * rows);
    }
    memcpy(job->results + pair->result, result, count * sizeof *result);
    return QUORUM_OK;
}

/* A pair's results to where its two experts sit at each query. */
static void place_results(const pair_job *job, const expert_pair *pair)
{
    const assembly *a = job->a;
    const attendance *first = &a->by_expert[pair->i], *second = &a->by_expert[pair->j];
    const meeting *w = job->meetings + pair->first;
    for (size_t k = 0; k < pair->count; k++) {
        size_t s = first->seat[w[k].column_i], t = second->seat[w[k].column_j];
        size_t place = s < t ? pair_index(s, t) : pair_index(t, s);
        job->out[place * a->b + first->query[w[k].column_i]] = job->results[pair->result + k];
    }
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

static quorum_status add_pairs(pair_job *job, const seat_map *m, size_t i, size_t *next,
                               size_t *room, size_t *at)
{
    const assembly *a = job->a;
    memset(next, 0, a->attending * sizeof *next);
    meet(a, m, i, next, NULL);
    size_t start = *at;
    for (size_t j = i + 1; j < a->attending; j++) {
        if (next[j] == 0)
            continue;
        if (job->pairs == *room) {
            expert_pair *more = mem_grow(job->pair, *room, 2 * *room, sizeof *more);
            if (!more)
                return failure(QUORUM_E_MEMORY, "out of memory for pairs of experts");
            job->pair = more;
            *room *= 2;
        }
        double sizes = (double)part_size(&a->c->parts, a->by_expert[i].expert) *
                       (double)part_size(&a->c->parts, a->by_expert[j].expert);
        job->pair[job->pairs++] = (expert_pair){.i = i,
                                                .j = j,
                                                .first = *at,
                                                .count = next[j],
                                                .work = sizes * (16.0 + (double)next[j])};
        size_t count = next[j];
        next[j] = *at;
        *at += count;
    }
    if (*at > start)
        meet(a, m, i, next, job->meetings);
    return QUORUM_OK;
}

static int more_work_first(const void *a, const void *b)
{
    const expert_pair *x = a, *y = b;
    if (x->work != y->work)
        return x->work > y->work ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static quorum_status find_pairs(pair_job *job)
{
    const assembly *a = job->a;
    size_t places = a->seats * a->b, room = 64, at = 0, *next = NULL;
    seat_map m = {0};
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(m.column, places) || !NEW_ARRAY(m.place, places) ||
        !NEW_ARRAY(next, a->attending) || !NEW_ARRAY(job->pair, room) ||
        !NEW_ARRAY(job->meetings, count_meetings(a))) {
        status = failure(QUORUM_E_MEMORY, "out of memory for pairs of experts");
        goto done;
    }
    assembly_map_seats(a, m.column, m.place);
    for (size_t i = 0; i < a->attending; i++) {
        TRY_OR_DONE(progress_go_on());
        TRY_OR_DONE(add_pairs(job, &m, i, next, &room, &at));
    }
    qsort(job->pair, job->pairs, sizeof *job->pair, more_work_first);
done:
    mem_free(m.column);
    mem_free(m.place);
    mem_free(next);
    return status;
}

/* Scratch of a worker: K and T of a panel, the result, both experts' columns. */
static size_t scratch_numbers(const pair_job *job)
{
    size_t most = 0;
    for (size_t k = 0; k < job->pairs; k++) {
        const assembly *a = job->a;
        size_t b = padded_queries(job->pair[k].count);
        size_t m = part_size(&a->c->parts, a->by_expert[job->pair[k].i].expert);
        size_t n = part_size(&a->c->parts, a->by_expert[job->pair[k].j].expert);
        size_t needed = ROW_PANEL * (n + b) + b + (m + n) * b;
        most = needed > most ? needed : most;
    }
    return (most + 7) / 8 * 8;
}

/* ---- Who works on which pair ---- */

/* The ranks that own an expert of this block, in their order. */
static int list_owners(const assembly *a, int *ranks)
{
    int count = 0;
    for (int r = 0; r < team_size() && r < MOST_RANKS; r++)
        for (size_t k = 0; k < a->attending; k++)
            if (committee_owner(a->c, a->by_expert[k].expert) == r) {
                ranks[count++] = r;
                break;
            }
    return count;
}

/* Pairs go, the largest first, to the owner of one of the block's experts that has least to
 * do so far. */
static quorum_status spread_pairs(pair_job *job)
{
    int ranks[MOST_RANKS], *owner = NULL, owners = list_owners(job->a, ranks);
    double *work = NULL;
    NEW_ARRAY(owner, job->pairs);
    NEW_ARRAY(work, job->pairs);
    quorum_status status = QUORUM_OK;
    if (owner && work) {
        for (size_t k = 0; k < job->pairs; k++)
            work[k] = job->pair[k].work;
        spread_by_cost(work, job->pairs, owners, owner);
        for (size_t k = 0; k < job->pairs; k++)
            job->pair[k].owner = ranks[owner[k]];
    } else {
        status = failure(QUORUM_E_MEMORY, "out of memory for pairs of experts");
    }
    mem_free(owner);
    mem_free(work);
    return status;
}

/* A rank's results stand together; pieces: one for each rank. */
static void lay_out_results(pair_job *job, team_piece *pieces)
{
    size_t at = 0;
    for (int r = 0; r < team_size(); r++) {
        size_t first = at;
        for (size_t k = 0; k < job->pairs; k++) {
            if (job->pair[k].owner != r)
                continue;
            if (r == team_rank())
                job->mine[job->mines++] = k;
            job->pair[k].result = at;
            at += job->pair[k].count;
        }
        pieces[r] = (team_piece){
            .data = job->results + first, .bytes = (at - first) * sizeof *job->results, .owner = r};
    }
}

static quorum_status divide_pairs(pair_job *job, int threads, team_piece **pieces)
{
    NEW_ARRAY(*pieces, (size_t)team_size());
    NEW_ARRAY(job->mine, job->pairs);
    NEW_ARRAY(job->results, count_meetings(job->a));
    job->room = scratch_numbers(job);
    NEW_ARRAY(job->scratch, (size_t)parallel_workers(threads, job->pairs) * job->room);
    if (!*pieces || !job->mine || !job->results || !job->scratch)
        return failure(QUORUM_E_MEMORY, "out of memory for the covariances of %zu experts",
                       job->a->attending);
    TRY(spread_pairs(job));
    lay_out_results(job, *pieces);
    return QUORUM_OK;
}

quorum_status npae_pairs(const assembly *a, int threads, double *pairs)
{
    pair_job job = {.a = a, .out = pairs};
    team_piece *pieces = NULL;
    quorum_status status = find_pairs(&job);
    if (status == QUORUM_OK)
        status = divide_pairs(&job, threads, &pieces);
    if (status == QUORUM_OK)
        status = parallel_for(threads, job.mines, one_pair, &job);
    status = team_agree(status);
    if (status == QUORUM_OK) {
        team_share(pieces, (size_t)team_size());
        for (size_t k = 0; k < job.pairs && status == QUORUM_OK; k++) {
            place_results(&job, &job.pair[k]);
            status = progress_go_on();
        }
    }
    mem_free(pieces);
    mem_free(job.pair);
    mem_free(job.meetings);
    mem_free(job.mine);
    mem_free(job.results);
    mem_free(job.scratch);
    return status;
}

/* ---- One query's system ---- */

static const double NEGLIGIBLE = 1e-13;    /* of s_f^2: such an expert is left out        */
static const double SMALLEST_PIVOT = 1e-9; /* of the unit diagonal: below, add jitter    */
static const double FIRST_JITTER = 1e-9, LAST_JITTER = 1e-5;

typedef struct {
    size_t p;       /* experts in the system                                */
    size_t *member; /* their seats                                          */
    double *scale;  /* k_A^-1/2                                             */
    double *R;      /* p x p: K_A scaled to unit diagonal                   */
    double *factor; /* p x p                                                */
    double *rhs;    /* scaled k_A, then scaled weights                      */
    double *values; /* eigenvalues                                          */
} query_system;

typedef struct {
    const assembly *a;
    const double *pairs;
    npae_result *out;
    query_system *system; /* one a worker */
    char *event;          /* per query: bits below */
} solve_job;

enum { CLAMPED = 1, JITTERED = 2, PSEUDO = 4 };

/* R = D K_A D, rhs = D k_A with D = diag(k_A)^-1/2, over the experts that explain
 * anything at query q. */
static void gather_system(const solve_job *job, size_t q, query_system *s)
{
    const assembly *k = job->a;
    double least = NEGLIGIBLE * k->c->theta.signal;
    s->p = 0;
    for (size_t i = 0; i < k->seats; i++) {
        double k_A = k->explained[i * k->b + q];
        if (k_A <= least)
            continue;
        s->member[s->p] = i;
        s->scale[s->p] = 1.0 / sqrt(k_A);
        s->rhs[s->p] = sqrt(k_A);
        s->p++;
    }
    for (size_t c = 0; c < s->p; c++) {
        s->R[c * s->p + c] = 1.0;
        for (size_t r = c + 1; r < s->p; r++) {
            double cov = job->pairs[pair_index(s->member[c], s->member[r]) * k->b + q];
            s->R[c * s->p + r] = cov * s->scale[c] * s->scale[r];
        }
    }
}

/* Solves (R + jitter I) w = rhs; 0 when a pivot is too small to trust. */
static int solve_with_jitter(query_system *s, double jitter, double *w)
{
    size_t p = s->p;
    memcpy(s->factor, s->R, p * p * sizeof *s->R);
    for (size_t i = 0; i < p; i++)
        s->factor[i * p + i] += jitter;
    if (blas_cholesky(p, s->factor, p) != 0)
        return 0;
    for (size_t i = 0; i < p; i++)
        if (s->factor[i * p + i] * s->factor[i * p + i] < SMALLEST_PIVOT)
            return 0;
    memcpy(w, s->rhs, p * sizeof *w);
    blas_solve_lower(p, 1, s->factor, p, w, p);
    blas_solve_lower_transposed(p, 1, s->factor, p, w, p);
    return 1;
}

/* w = R^+ rhs, eigenvalues below LAST_JITTER of the largest left out. */
static quorum_status solve_by_eigenvalues(query_system *s, double *w)
{
    size_t p = s->p;
    memcpy(s->factor, s->R, p * p * sizeof *s->R);
    TRY(blas_eigen(p, s->factor, p, s->values));
    memset(w, 0, p * sizeof *w);
    for (size_t k = 0; k < p; k++) {
        const double *u = s->factor + k * p;
        if (s->values[k] <= LAST_JITTER * s->values[p - 1])
            continue;
        double along = vec_dot(p, u, s->rhs) / s->values[k];
        for (size_t i = 0; i < p; i++)
            w[i] += along * u[i];
    }
    return QUORUM_OK;
}

static quorum_status solve_system(query_system *s, double *w, char *event)
{
    if (solve_with_jitter(s, 0.0, w))
        return QUORUM_OK;
    *event |= JITTERED;
    for (double jitter = FIRST_JITTER; jitter <= LAST_JITTER * 1.001; jitter *= 10.0)
        if (solve_with_jitter(s, jitter, w))
            return QUORUM_OK;
    *event |= PSEUDO;
    return solve_by_eigenvalues(s, w);
}

/* var is brought back into [0, smallest single variance]: more experts cannot be
 * worse than the best of them. */
static double clamp_variance(double var, double signal, const query_system *s, char *event)
{
    double most = 0.0;
    for (size_t i = 0; i < s->p; i++)
        most = fmax(most, 1.0 / (s->scale[i] * s->scale[i]));
    double best = fmax(0.0, signal - most);
    /* rounding alone is not an event worth counting */
    if (var > best * (1.0 + 1e-12) + 1e-14 * signal || var < -1e-14 * signal)
        *event |= CLAMPED;
    return fmin(fmax(var, 0.0), best);
}

static quorum_status one_query(void *context, size_t q, int worker)
{
    solve_job *job = context;
    const assembly *k = job->a;
    npae_result *out = job->out;
    query_system *s = &job->system[worker];
    double *w = s->values + k->seats, mean = 0.0, gained = 0.0;
    gather_system(job, q, s);
    for (size_t i = 0; out->weights && i < k->seats; i++)
        out->weights[i * k->b + q] = 0.0;
    if (s->p > 0)
        TRY(solve_system(s, w, &job->event[q]));
    for (size_t c = 0; c < s->p; c++) {
        size_t i = s->member[c];
        mean += w[c] * s->scale[c] * k->mean[i * k->b + q];
        gained += w[c] * s->rhs[c];
        if (out->weights)
            out->weights[i * k->b + q] = w[c] * s->scale[c];
    }
    out->mean[q] = mean;
    out->var[q] =
        clamp_variance(k->c->theta.signal - gained, k->c->theta.signal, s, &job->event[q]);
    return QUORUM_OK;
}

static void system_free(query_system *s)
{
    mem_free(s->member);
    mem_free(s->scale);
    mem_free(s->R);
    mem_free(s->factor);
    mem_free(s->rhs);
    mem_free(s->values);
}

static quorum_status system_new(size_t p, query_system *s)
{
    NEW_ARRAY(s->member, p);
    NEW_ARRAY(s->scale, p);
    NEW_ARRAY(s->R, p * p);
    NEW_ARRAY(s->factor, p * p);
    NEW_ARRAY(s->rhs, p);
    NEW_ARRAY(s->values, 2 * p);
    if (s->member && s->scale && s->R && s->factor && s->rhs && s->values)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for the joint system of %zu experts", p);
}

static void count_events(const char *event, size_t b, npae_result *out)
{
    for (size_t q = 0; q < b; q++) {
        out->clamped += (event[q] & CLAMPED) != 0;
        out->jittered += (event[q] & JITTERED) != 0;
        out->pseudo_inverses += (event[q] & PSEUDO) != 0;
    }
}

/* Each rank has solved its slice of the queries; the padding repeats the last. */
static quorum_status share_results(const solve_job *job)
{
    const assembly *a = job->a;
    npae_result *out = job->out;
    size_t last = out->real - 1, weighed = out->weights ? a->seats : 0;
    team_share_slices(job->event, sizeof *job->event, out->real, 1);
    team_share_slices(out->mean, sizeof *out->mean, out->real, 1);
    team_share_slices(out->var, sizeof *out->var, out->real, 1);
    TRY(team_share_columns(out->weights, sizeof *out->weights, weighed, a->b, out->real));
    for (size_t q = out->real; q < a->b; q++) {
        out->mean[q] = out->mean[last];
        out->var[q] = out->var[last];
        for (size_t s = 0; s < weighed; s++)
            out->weights[s * a->b + q] = out->weights[s * a->b + last];
    }
    return QUORUM_OK;
}

quorum_status npae_solve(const assembly *a, const double *pairs, int threads, npae_result *out)
{
    int workers = parallel_workers(threads, out->real);
    solve_job job = {.a = a, .pairs = pairs, .out = out};
    quorum_status status = QUORUM_OK;
    if (!NEW_ZEROED(job.event, a->b) || !NEW_ZEROED(job.system, (size_t)workers)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for the systems of %zu queries", a->b);
        goto done;
    }
    for (int w = 0; w < workers; w++)
        TRY_OR_DONE(system_new(a->seats, &job.system[w]));
    TRY_OR_DONE(team_for(workers, out->real, one_query, &job));
    TRY_OR_DONE(share_results(&job));
    count_events(job.event, out->real, out);
done:
    for (int w = 0; job.system && w < workers; w++)
        system_free(&job.system[w]);
    mem_free(job.system);
    mem_free(job.event);
    return status;
}

const rule rule_npae = {
    "npae", "nested pointwise aggregation: dependence of the experts taken into account",
    TAKES_COVARIANCE, 1, NULL};
