/* K-means: k-means++ start on a sample, then Lloyd's iterations.
 *
 * Assignment is one product of centres and rows per chunk, |c|^2 - 2 c.x; new
 * centres are sums in row order per part: the same for any number of threads.
 *
 * Its cost is n x parts, which is n^2 for experts of a given size.  Many parts are
 * therefore made in two steps or more: about sqrt(parts) groups from a sample of the rows, every
 * row to its nearest group, then each group's parts on its own. */
#include "partition/partition.h"

#include "base/memory.h"
#include "base/random.h"
#include "rows/rows.h"
#include "linalg/blas.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    CHUNK = ROWS_STEP,    /* rows assigned at a time                               */
    SAMPLE_PER_PART = 50, /* rows a part in the sample that the start is drawn from */
    MAX_ITERATIONS = 60,
    FLAT_PARTS = 256,      /* more parts go by groups                               */
    SAMPLE_PER_GROUP = 500 /* rows a group in the sample that the groups come from */
};
static const double SETTLED = 1e-3; /* share of rows that may still move when we stop */

typedef struct {
    const partition_problem *p;
    sliced_rows rows;
    team_slice held;  /* rows of this rank                          */
    double *centre;   /* D x parts                                  */
    double *norm;     /* parts: |c|^2                               */
    double *distance; /* held: squared distance to the own centre   */
    size_t *label;    /* n                                          */
    size_t *size;     /* parts: rows                                */
    size_t *moved;    /* chunks: rows that changed their part       */
    double *product;  /* threads x (parts x CHUNK)                  */
} kmeans_state;

static sliced_rows problem_rows(const partition_problem *p)
{
    return (sliced_rows){.n = p->n, .D = p->D, .X = p->X, .whole = p->alone};
}

static void kmeans_free(kmeans_state *s)
{
    mem_free(s->centre);
    mem_free(s->norm);
    mem_free(s->distance);
    mem_free(s->size);
    mem_free(s->moved);
    mem_free(s->product);
}

static size_t chunks(const partition_problem *p)
{
    return (p->n + CHUNK - 1) / CHUNK;
}

static quorum_status kmeans_new(const partition_problem *p, size_t *label, kmeans_state *s)
{
    *s = (kmeans_state){.p = p, .rows = problem_rows(p), .label = label};
    s->held = held_rows(&s->rows);
    size_t workers = (size_t)parallel_workers(p->threads, chunks(p));
    if (NEW_ARRAY(s->centre, p->D * p->parts) && NEW_ARRAY(s->norm, p->parts) &&
        NEW_ARRAY(s->distance, s->held.count) && NEW_ARRAY(s->size, p->parts) &&
        NEW_ARRAY(s->moved, chunks(p)) && NEW_ARRAY(s->product, workers * p->parts * CHUNK))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for k-means with %zu parts", p->parts);
}

static double squared_distance(const double *a, const double *b, size_t D)
{
    double total = 0.0;
    for (size_t d = 0; d < D; d++)
        total += (a[d] - b[d]) * (a[d] - b[d]);
    return total;
}

/* Draws from weights with the given total; the last positive one if rounding runs over. */
static size_t draw(rng *r, size_t n, const double *weight, double total)
{
    double left = rng_uniform(r) * total;
    size_t last = 0;
    for (size_t i = 0; i < n; i++) {
        if (weight[i] <= 0.0)
            continue;
        last = i;
        left -= weight[i];
        if (left < 0.0)
            break;
    }
    return last;
}

/* k-means++ on a sample (D x count): each next centre is drawn in proportion to its squared
 * distance from the nearest centre so far. */
static void plus_plus(kmeans_state *s, rng *r, const double *sample, size_t count, double *weight)
{
    const partition_problem *p = s->p;
    size_t D = p->D, chosen = rng_below(r, count);
    for (size_t i = 0; i < count; i++)
        weight[i] = DBL_MAX;
    for (size_t k = 0; k < p->parts; k++) {
        const double *c = sample + chosen * D;
        memcpy(s->centre + k * D, c, D * sizeof *c);
        double total = 0.0;
        for (size_t i = 0; i < count; i++) {
            double distance = squared_distance(sample + i * D, c, D);
            if (distance < weight[i])
                weight[i] = distance;
            total += weight[i];
        }
        chosen = total > 0.0 ? draw(r, count, weight, total) : rng_below(r, count);
    }
}

/* The sample: few rows at random, or all where there are not many. */
static size_t draw_sample(const partition_problem *p, rng *r, size_t *row)
{
    for (size_t i = 0; i < p->n; i++)
        row[i] = i;
    if (p->parts >= p->n / SAMPLE_PER_PART)
        return p->n;
    rng_shuffle(r, row, p->n);
    return p->parts * SAMPLE_PER_PART;
}

/* Among all ranks, unless this one works alone. */
static quorum_status agree(const partition_problem *p, quorum_status status)
{
    return p->alone ? status : team_agree(status);
}

static quorum_status start_centres(kmeans_state *s)
{
    const partition_problem *p = s->p;
    rng r = rng_seed(p->seed, STREAM_CENTRES);
    size_t *row = NULL, count = 0;
    double *X = NULL, *weight = NULL;
    quorum_status status = QUORUM_OK;
    if (NEW_ARRAY(row, p->n)) {
        count = draw_sample(p, &r, row);
        NEW_ARRAY(X, count * p->D);
        NEW_ARRAY(weight, count);
    }
    if (!X || !weight)
        status = failure(QUORUM_E_MEMORY, "out of memory for k-means with %zu parts", p->parts);
    TRY_OR_DONE(agree(p, status));
    TRY_OR_DONE(rows_fetch(QUORUM_OK, &s->rows, row, count, X, NULL));
    plus_plus(s, &r, X, count, weight);
done:
    mem_free(row);
    mem_free(X);
    mem_free(weight);
    return status;
}

/* label[i] = argmin_k |c_k|^2 - 2 c_k.x_i over one chunk of rows. */
static quorum_status assign_chunk(void *context, size_t item, int worker)
{
    kmeans_state *s = context;
    const partition_problem *p = s->p;
    size_t first = item * CHUNK, rows = p->n - first < CHUNK ? p->n - first : CHUNK;
    double *G = s->product + (size_t)worker * p->parts * CHUNK;
    const double *X = p->X + (first - s->held.first) * p->D;
    blas_gemm('T', 'N', p->parts, rows, p->D, -2.0, s->centre, p->D, X, p->D, 0.0, G, p->parts);
    size_t moved = 0;
    for (size_t i = 0; i < rows; i++) {
        const double *g = G + i * p->parts;
        size_t best = 0;
        for (size_t k = 1; k < p->parts; k++)
            if (g[k] + s->norm[k] < g[best] + s->norm[best])
                best = k;
        moved += best != s->label[first + i];
        s->label[first + i] = best;
        s->distance[first - s->held.first + i] =
            squared_distance(X + i * p->D, s->centre + best * p->D, p->D);
    }
    s->moved[item] = moved;
    return QUORUM_OK;
}

static quorum_status assign(kmeans_state *s, size_t *moved)
{
    const partition_problem *p = s->p;
    for (size_t k = 0; k < p->parts; k++)
        s->norm[k] = vec_dot(p->D, s->centre + k * p->D, s->centre + k * p->D);
    if (p->alone) {
        TRY(parallel_for(p->threads, chunks(p), assign_chunk, s));
    } else {
        TRY(team_for(p->threads, chunks(p), assign_chunk, s));
        team_share_slices(s->label, sizeof *s->label, p->n, CHUNK);
        team_share_slices(s->moved, sizeof *s->moved, chunks(p), 1);
    }
    *moved = 0;
    for (size_t c = 0; c < chunks(p); c++)
        *moved += s->moved[c];
    return QUORUM_OK;
}

typedef struct {
    double distance;
    size_t row;
} worst_row;

/* The row worst served: the first of them. */
static quorum_status find_worst(const kmeans_state *s, size_t *row)
{
    worst_row mine = {.distance = -1.0}, *all = NULL;
    for (size_t i = 0; i < s->held.count; i++)
        if (s->distance[i] > mine.distance)
            mine = (worst_row){s->distance[i], s->held.first + i};
    *row = mine.row;
    if (s->p->alone || team_size() == 1)
        return QUORUM_OK;
    NEW_ARRAY(all, (size_t)team_size());
    TRY(team_agree(all ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for k-means")));
    all[team_rank()] = mine;
    team_share_slices(all, sizeof *all, (size_t)team_size(), 1);
    for (int r = 0; r < team_size(); r++)
        if (r == 0 || all[r].distance > mine.distance)
            mine = all[r];
    *row = mine.row;
    mem_free(all);
    return QUORUM_OK;
}

/* A part that has lost all rows starts anew at the row worst served. */
static quorum_status reseed(kmeans_state *s, size_t k)
{
    size_t worst;
    TRY(find_worst(s, &worst));
    TRY(rows_fetch(QUORUM_OK, &s->rows, &worst, 1, s->centre + k * s->p->D, NULL));
    if (worst >= s->held.first && worst < s->held.first + s->held.count)
        s->distance[worst - s->held.first] = 0.0;
    return QUORUM_OK;
}

/* This rank's rows to the sums. */
static void add_rows(void *context)
{
    const kmeans_state *s = context;
    size_t D = s->p->D;
    for (size_t i = 0; i < s->held.count; i++) {
        double *c = s->centre + s->label[s->held.first + i] * D;
        for (size_t d = 0; d < D; d++)
            c[d] += s->p->X[i * D + d];
    }
}

/* Sums of each part in the order of the rows, whoever holds them. */
static quorum_status update_centres(kmeans_state *s)
{
    const partition_problem *p = s->p;
    memset(s->centre, 0, p->parts * p->D * sizeof *s->centre);
    memset(s->size, 0, p->parts * sizeof *s->size);
    for (size_t i = 0; i < p->n; i++)
        s->size[s->label[i]]++;
    if (p->alone)
        add_rows(s);
    else
        team_in_turn(s->centre, p->parts * p->D * sizeof *s->centre, add_rows, s);
    for (size_t k = 0; k < p->parts; k++) {
        if (s->size[k] == 0)
            TRY(reseed(s, k));
        for (size_t d = 0; s->size[k] > 0 && d < p->D; d++)
            s->centre[k * p->D + d] /= (double)s->size[k];
    }
    return QUORUM_OK;
}

static quorum_status lloyd(kmeans_state *s)
{
    const partition_problem *p = s->p;
    size_t moved = 0;
    for (int iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
        TRY(assign(s, &moved));
        TRY(progress_report(p->progress, "partition", (double)(iteration + 1) / MAX_ITERATIONS,
                            "k-means, %zu rows moved", moved));
        if (iteration > 0 && (double)moved <= SETTLED * (double)p->n)
            break;
        TRY(update_centres(s));
    }
    return QUORUM_OK;
}

/* centres (D x parts) to begin with, or NULL: then they are found, else only assigned to. */
static quorum_status split_flat(const partition_problem *p, const double *centre, size_t *label,
                                double *found)
{
    kmeans_state s;
    size_t moved;
    memset(label, 0, p->n * sizeof *label);
    quorum_status status = agree(p, kmeans_new(p, label, &s));
    if (status < 0) {
        kmeans_free(&s);
        return status;
    }
    if (centre) {
        memcpy(s.centre, centre, p->D * p->parts * sizeof *centre);
        status = assign(&s, &moved);
    } else {
        status = start_centres(&s);
        if (status == QUORUM_OK)
            status = lloyd(&s);
    }
    if (found)
        memcpy(found, s.centre, p->D * p->parts * sizeof *found);
    kmeans_free(&s);
    return status;
}

/* ---- Many parts: by groups ---- */

typedef struct {
    size_t groups;
    size_t *group;  /* n: of each row                        */
    size_t *start;  /* groups + 1: its rows in `sorted`      */
    size_t *sorted; /* n: rows by group                      */
    size_t *parts;  /* groups: of each                       */
    double *X;      /* the rows of one group, or of all that are this rank's */
    size_t *label;  /* n: within the group                   */
    double *centre; /* D x groups                            */
} grouping;

static void grouping_free(grouping *g)
{
    mem_free(g->group);
    mem_free(g->start);
    mem_free(g->sorted);
    mem_free(g->parts);
    mem_free(g->X);
    mem_free(g->label);
    mem_free(g->centre);
}

static quorum_status grouping_new(const partition_problem *p, grouping *g)
{
    size_t groups = (size_t)ceil(sqrt((double)p->parts));
    *g = (grouping){.groups = groups < FLAT_PARTS ? groups : FLAT_PARTS};
    if (NEW_ARRAY(g->group, p->n) && NEW_ARRAY(g->start, g->groups + 2) &&
        NEW_ARRAY(g->sorted, p->n) && NEW_ARRAY(g->parts, g->groups) && NEW_ARRAY(g->label, p->n) &&
        NEW_ARRAY(g->centre, g->groups * p->D))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for k-means with %zu parts", p->parts);
}

/* Rows by label into `sorted`; those of label k begin at start[k] (parts + 2 entries). */
static void sort_by_label(size_t n, size_t parts, const size_t *label, size_t *start,
                          size_t *sorted)
{
    memset(start, 0, (parts + 2) * sizeof *start);
    for (size_t i = 0; i < n; i++)
        start[label[i] + 2]++;
    for (size_t k = 2; k < parts + 2; k++)
        start[k] += start[k - 1];
    for (size_t i = 0; i < n; i++)
        sorted[start[label[i] + 1]++] = i;
}

/* The groups' centres, from a sample that the ranks share like the rows. */
static quorum_status sample_groups(const partition_problem *p, grouping *g)
{
    partition_problem sample = *p;
    sliced_rows rows = problem_rows(p);
    double *X;
    sample.n = g->groups * SAMPLE_PER_GROUP < p->n ? g->groups * SAMPLE_PER_GROUP : p->n;
    sample.parts = g->groups;
    NEW_ARRAY(X, sample.n * p->D);
    quorum_status status =
        agree(p, X ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for k-means by groups"));
    if (status == QUORUM_OK)
        status = rows_fetch(QUORUM_OK, &rows, g->sorted, sample.n, X, NULL);
    if (status == QUORUM_OK) {
        sample.X = X;
        sliced_rows part = problem_rows(&sample);
        sample.X = X + held_rows(&part).first * p->D;
        status = split_flat(&sample, NULL, g->label, g->centre);
    }
    mem_free(X);
    return status;
}

/* Groups from a sample; every row joins the nearest. */
static quorum_status find_groups(const partition_problem *p, grouping *g)
{
    partition_problem all = *p;
    rng r = rng_seed(p->seed, STREAM_GROUPS);
    for (size_t i = 0; i < p->n; i++)
        g->sorted[i] = i;
    rng_shuffle(&r, g->sorted, p->n);
    all.parts = g->groups;
    TRY(sample_groups(p, g));
    TRY(split_flat(&all, g->centre, g->group, NULL));
    sort_by_label(p->n, g->groups, g->group, g->start, g->sorted);
    return QUORUM_OK;
}

/* Every group's parts in proportion to its rows: the next part goes to the group with the
 * most rows a part.  A group without rows has none. */
static void share_parts(size_t parts, grouping *g)
{
    size_t given = 0;
    for (size_t k = 0; k < g->groups; k++)
        given += g->parts[k] = g->start[k + 1] > g->start[k];
    for (; given < parts; given++) {
        size_t most = 0;
        double rows = 0.0;
        for (size_t k = 0; k < g->groups; k++) {
            double each = (double)(g->start[k + 1] - g->start[k]) / (double)(g->parts[k] + 1);
            if (g->parts[k] > 0 && each > rows) {
                rows = each;
                most = k;
            }
        }
        g->parts[most]++;
    }
}

static quorum_status split(const partition_problem *p, size_t *label);

static size_t group_size(const grouping *g, size_t k)
{
    return g->start[k + 1] - g->start[k];
}

/* Group k's parts from its rows X, its labels from g->label + g->start[k] on. */
static quorum_status split_group(const partition_problem *p, grouping *g, size_t k, const double *X)
{
    partition_problem own = *p;
    if (group_size(g, k) == 0)
        return QUORUM_OK;
    TRY(progress_report(p->progress, "partition", (double)k / (double)g->groups,
                        "k-means, group %zu of %zu", k + 1, g->groups));
    own.n = group_size(g, k);
    own.parts = g->parts[k];
    own.X = X;
    own.alone = 1;
    own.progress = &(progress){0};
    return split(&own, g->label + g->start[k]);
}

/* Groups are spread over the ranks by rows x parts. */
static void spread_groups(const grouping *g, int *owner)
{
    double cost[FLAT_PARTS];
    for (size_t k = 0; k < g->groups; k++)
        cost[k] = (double)group_size(g, k) * (double)g->parts[k];
    spread_by_cost(cost, g->groups, team_size(), owner);
}

/* Rows are at hand: one group after another. */
static quorum_status split_all_groups(const partition_problem *p, grouping *g)
{
    size_t largest = 0;
    sliced_rows rows = problem_rows(p);
    for (size_t k = 0; k < g->groups; k++)
        largest = group_size(g, k) > largest ? group_size(g, k) : largest;
    if (!NEW_ARRAY(g->X, largest * p->D))
        return failure(QUORUM_E_MEMORY, "out of memory for k-means with %zu parts", p->parts);
    for (size_t k = 0; k < g->groups; k++) {
        TRY(rows_fetch(QUORUM_OK, &rows, g->sorted + g->start[k], group_size(g, k), g->X, NULL));
        TRY(split_group(p, g, k, g->X));
    }
    return QUORUM_OK;
}

/* Rows go to the owners of their groups. */
static quorum_status split_own_groups(const partition_problem *p, grouping *g, const int *owner)
{
    size_t count = 0, at = 0;
    sliced_rows rows = problem_rows(p);
    quorum_status status = QUORUM_OK;
    for (size_t k = 0; k < g->groups; k++)
        count += owner[k] == team_rank() ? group_size(g, k) : 0;
    NEW_ARRAY(g->X, count * p->D);
    TRY(team_agree(g->X ? QUORUM_OK
                        : failure(QUORUM_E_MEMORY, "out of memory for k-means by groups")));
    TRY(rows_deliver(QUORUM_OK, &rows, g->sorted, g->start, g->groups,
                     &(work_share){.owner = (int *)owner}, 0, g->X, NULL));
    for (size_t k = 0; status == QUORUM_OK && k < g->groups; k++)
        if (owner[k] == team_rank()) {
            status = split_group(p, g, k, g->X + at * p->D);
            at += group_size(g, k);
        }
    return team_agree(status);
}

static void share_groups(const grouping *g, const int *owner)
{
    team_piece pieces[FLAT_PARTS];
    for (size_t k = 0; k < g->groups; k++)
        pieces[k] = (team_piece){.data = g->label + g->start[k],
                                 .bytes = group_size(g, k) * sizeof *g->label,
                                 .owner = owner[k]};
    team_share(pieces, g->groups);
}

static quorum_status split_groups(const partition_problem *p, grouping *g, size_t *label)
{
    size_t before = 0;
    int owner[FLAT_PARTS];
    TRY(find_groups(p, g));
    share_parts(p->parts, g);
    if (p->alone || team_size() == 1) {
        TRY(split_all_groups(p, g));
    } else {
        spread_groups(g, owner);
        TRY(split_own_groups(p, g, owner));
        share_groups(g, owner);
    }
    for (size_t k = 0; k < g->groups; before += g->parts[k++])
        for (size_t i = g->start[k]; i < g->start[k + 1]; i++)
            label[g->sorted[i]] = before + g->label[i];
    return QUORUM_OK;
}

static quorum_status split(const partition_problem *p, size_t *label)
{
    if (p->parts == 1) {
        memset(label, 0, p->n * sizeof *label);
        return QUORUM_OK;
    }
    if (p->parts <= FLAT_PARTS)
        return split_flat(p, NULL, label, NULL);
    grouping g;
    quorum_status status = agree(p, grouping_new(p, &g));
    if (status == QUORUM_OK)
        status = split_groups(p, &g, label);
    grouping_free(&g);
    return status;
}

const partition partition_kmeans = {"kmeans", "k-means: compact parts of unequal size", split};
