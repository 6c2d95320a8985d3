/* K-means: k-means++ start on a sample, then Lloyd's iterations.
 *
 * Assignment is one product of centres and rows per chunk, |c|^2 - 2 c.x; new
 * centres are sums in row order per part: the same for any number of threads.
 *
 * Its cost is n x parts, which is n^2 for experts of a given size.  Many parts are
 * therefore made in two steps or more: about sqrt(parts) groups from a sample of the rows, every
 * row to its nearest group, then each group's parts on its own. */
#include "experts/partition.h"

#include "base/memory.h"
#include "base/random.h"
#include "linalg/blas.h"
#include "team/team.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    CHUNK = 512,          /* rows assigned at a time                               */
    SAMPLE_PER_PART = 50, /* rows a part in the sample that the start is drawn from */
    MAX_ITERATIONS = 60,
    FLAT_PARTS = 256,       /* more parts go by groups                               */
    SAMPLE_PER_GROUP = 500, /* rows a group in the sample that the groups come from */
    STREAM_CENTRES = 2,     /* random streams: see rng_seed                          */
    STREAM_GROUPS = 9
};
static const double SETTLED = 1e-3; /* share of rows that may still move when we stop */

typedef struct {
    const partition_problem *p;
    double *centre;   /* D x parts                                  */
    double *norm;     /* parts: |c|^2                               */
    double *distance; /* n: squared distance to the own centre      */
    size_t *label;    /* n                                          */
    size_t *start;    /* parts + 1: rows of a part in `sorted`      */
    size_t *sorted;   /* n                                          */
    size_t *moved;    /* chunks: rows that changed their part       */
    double *product;  /* threads x (parts x CHUNK)                  */
} kmeans_state;

static void kmeans_free(kmeans_state *s)
{
    mem_free(s->centre);
    mem_free(s->norm);
    mem_free(s->distance);
    mem_free(s->start);
    mem_free(s->sorted);
    mem_free(s->moved);
    mem_free(s->product);
}

static size_t chunks(const partition_problem *p)
{
    return (p->n + CHUNK - 1) / CHUNK;
}

static quorum_status kmeans_new(const partition_problem *p, size_t *label, kmeans_state *s)
{
    *s = (kmeans_state){.p = p, .label = label};
    size_t workers = (size_t)parallel_workers(p->threads, chunks(p));
    if (NEW_ARRAY(s->centre, p->D * p->parts) && NEW_ARRAY(s->norm, p->parts) &&
        NEW_ARRAY(s->distance, p->n) && NEW_ARRAY(s->start, p->parts + 2) &&
        NEW_ARRAY(s->sorted, p->n) && NEW_ARRAY(s->moved, chunks(p)) &&
        NEW_ARRAY(s->product, workers * p->parts * CHUNK))
        return QUORUM_OK;
    kmeans_free(s);
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

/* k-means++ on the first `count` rows of `sample`: each next centre is drawn in
 * proportion to its squared distance from the nearest centre so far. */
static void plus_plus(kmeans_state *s, rng *r, const size_t *sample, size_t count, double *weight)
{
    const partition_problem *p = s->p;
    size_t D = p->D, chosen = rng_below(r, count);
    for (size_t i = 0; i < count; i++)
        weight[i] = DBL_MAX;
    for (size_t k = 0; k < p->parts; k++) {
        const double *c = p->X + sample[chosen] * D;
        memcpy(s->centre + k * D, c, D * sizeof *c);
        double total = 0.0;
        for (size_t i = 0; i < count; i++) {
            double distance = squared_distance(p->X + sample[i] * D, c, D);
            if (distance < weight[i])
                weight[i] = distance;
            total += weight[i];
        }
        chosen = total > 0.0 ? draw(r, count, weight, total) : rng_below(r, count);
    }
}

static quorum_status start_centres(kmeans_state *s)
{
    const partition_problem *p = s->p;
    size_t count = p->n, *sample = s->sorted; /* free until the first update */
    rng r = rng_seed(p->seed, STREAM_CENTRES);
    for (size_t i = 0; i < p->n; i++)
        sample[i] = i;
    if (p->parts < p->n / SAMPLE_PER_PART) {
        rng_shuffle(&r, sample, p->n);
        count = p->parts * SAMPLE_PER_PART;
    }
    plus_plus(s, &r, sample, count, s->distance);
    return QUORUM_OK;
}

/* label[i] = argmin_k |c_k|^2 - 2 c_k.x_i over one chunk of rows. */
static quorum_status assign_chunk(void *context, size_t item, int worker)
{
    kmeans_state *s = context;
    const partition_problem *p = s->p;
    size_t first = item * CHUNK, rows = p->n - first < CHUNK ? p->n - first : CHUNK;
    double *G = s->product + (size_t)worker * p->parts * CHUNK;
    blas_gemm('T', 'N', p->parts, rows, p->D, -2.0, s->centre, p->D, p->X + first * p->D, p->D, 0.0,
              G, p->parts);
    size_t moved = 0;
    for (size_t i = 0; i < rows; i++) {
        const double *g = G + i * p->parts;
        size_t best = 0;
        for (size_t k = 1; k < p->parts; k++)
            if (g[k] + s->norm[k] < g[best] + s->norm[best])
                best = k;
        moved += best != s->label[first + i];
        s->label[first + i] = best;
        s->distance[first + i] =
            squared_distance(p->X + (first + i) * p->D, s->centre + best * p->D, p->D);
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
        team_share_slices(s->distance, sizeof *s->distance, p->n, CHUNK);
        team_share_slices(s->moved, sizeof *s->moved, chunks(p), 1);
    }
    *moved = 0;
    for (size_t c = 0; c < chunks(p); c++)
        *moved += s->moved[c];
    return QUORUM_OK;
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

/* A part that has lost all rows starts anew at the row worst served. */
static void reseed(kmeans_state *s, size_t k)
{
    const partition_problem *p = s->p;
    size_t worst = 0;
    for (size_t i = 1; i < p->n; i++)
        if (s->distance[i] > s->distance[worst])
            worst = i;
    memcpy(s->centre + k * p->D, p->X + worst * p->D, p->D * sizeof *s->centre);
    s->distance[worst] = 0.0;
}

static void update_centres(kmeans_state *s)
{
    const partition_problem *p = s->p;
    sort_by_label(p->n, p->parts, s->label, s->start, s->sorted);
    for (size_t k = 0; k < p->parts; k++) {
        size_t first = s->start[k], last = s->start[k + 1];
        double *c = s->centre + k * p->D;
        if (first == last) {
            reseed(s, k);
            continue;
        }
        memset(c, 0, p->D * sizeof *c);
        for (size_t i = first; i < last; i++)
            for (size_t d = 0; d < p->D; d++)
                c[d] += p->X[s->sorted[i] * p->D + d];
        for (size_t d = 0; d < p->D; d++)
            c[d] /= (double)(last - first);
    }
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
        update_centres(s);
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
    TRY(kmeans_new(p, label, &s));
    quorum_status status = QUORUM_OK;
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
    double *X;      /* room for the rows of one group        */
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
        NEW_ARRAY(g->sorted, p->n) && NEW_ARRAY(g->parts, g->groups) &&
        NEW_ARRAY(g->X, p->n * p->D) && NEW_ARRAY(g->label, p->n) &&
        NEW_ARRAY(g->centre, g->groups * p->D))
        return QUORUM_OK;
    grouping_free(g);
    return failure(QUORUM_E_MEMORY, "out of memory for k-means with %zu parts", p->parts);
}

static void gather_rows(const partition_problem *p, const size_t *rows, size_t count, double *X)
{
    for (size_t i = 0; i < count; i++)
        memcpy(X + i * p->D, p->X + rows[i] * p->D, p->D * sizeof *X);
}

/* Groups from a sample; every row joins the nearest. */
static quorum_status find_groups(const partition_problem *p, grouping *g)
{
    partition_problem sample = *p, all = *p;
    rng r = rng_seed(p->seed, STREAM_GROUPS);
    for (size_t i = 0; i < p->n; i++)
        g->sorted[i] = i;
    rng_shuffle(&r, g->sorted, p->n);
    sample.n = g->groups * SAMPLE_PER_GROUP < p->n ? g->groups * SAMPLE_PER_GROUP : p->n;
    sample.parts = all.parts = g->groups;
    gather_rows(p, g->sorted, sample.n, g->X);
    sample.X = g->X;
    TRY(split_flat(&sample, NULL, g->label, g->centre));
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

/* Group k's parts, its labels from g->label + g->start[k] on. */
static quorum_status split_group(const partition_problem *p, grouping *g, size_t k)
{
    partition_problem own = *p;
    if (group_size(g, k) == 0)
        return QUORUM_OK;
    TRY(progress_report(p->progress, "partition", (double)k / (double)g->groups,
                        "k-means, group %zu of %zu", k + 1, g->groups));
    gather_rows(p, g->sorted + g->start[k], group_size(g, k), g->X);
    own.n = group_size(g, k);
    own.parts = g->parts[k];
    own.X = g->X;
    own.alone = 1;
    own.progress = &(progress){0};
    return split(&own, g->label + g->start[k]);
}

/* Groups are spread over the ranks by rows x parts. */
static void spread_groups(const partition_problem *p, const grouping *g, int *owner)
{
    double cost[FLAT_PARTS];
    for (size_t k = 0; k < g->groups; k++)
        cost[k] = (double)group_size(g, k) * (double)g->parts[k];
    spread_by_cost(cost, g->groups, p->alone ? 1 : team_size(), owner);
    for (size_t k = 0; k < g->groups && p->alone; k++)
        owner[k] = team_rank();
}

static quorum_status split_own_groups(const partition_problem *p, grouping *g, const int *owner)
{
    for (size_t k = 0; k < g->groups; k++)
        if (owner[k] == team_rank())
            TRY(split_group(p, g, k));
    return QUORUM_OK;
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
    spread_groups(p, g, owner);
    quorum_status status = split_own_groups(p, g, owner);
    TRY(p->alone ? status : team_agree(status));
    if (!p->alone)
        share_groups(g, owner);
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
    TRY(grouping_new(p, &g));
    quorum_status status = split_groups(p, &g, label);
    grouping_free(&g);
    return status;
}

const partition partition_kmeans = {"kmeans", "k-means: compact parts of unequal size", split};
