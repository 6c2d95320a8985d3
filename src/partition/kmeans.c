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
#include "linalg/blas.h"
#include "team/work.h"

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
    double *centre;   /* D x parts                                           */
    double *norm;     /* parts: |c|^2                                        */
    double *distance; /* n: squared, to the own centre; of rows that are here */
    size_t *label;    /* n                                                   */
    size_t *size;     /* parts: rows                                         */
    size_t *moved;    /* chunks: rows that changed their part; likewise      */
    double *product;  /* threads x (parts x CHUNK)                           */
} kmeans_state;

static void kmeans_free(kmeans_state *s)
{
    mem_free(s->centre);
    mem_free(s->norm);
    mem_free(s->distance);
    mem_free(s->size);
    mem_free(s->moved);
    mem_free(s->product);
}

static quorum_status kmeans_new(quorum_status ready, const partition_problem *p, size_t *label,
                                kmeans_state *s)
{
    size_t n = p->rows->n, D = p->rows->held.D, chunks = (n + CHUNK - 1) / CHUNK;
    size_t workers = (size_t)parallel_workers(p->threads, chunks);
    *s = (kmeans_state){.p = p, .label = label};
    if (ready < 0)
        return ready;
    memset(label, 0, n * sizeof *label);
    if (NEW_ARRAY(s->centre, D * p->parts) && NEW_ARRAY(s->norm, p->parts) &&
        NEW_ARRAY(s->distance, n) && NEW_ARRAY(s->size, p->parts) && NEW_ARRAY(s->moved, chunks) &&
        NEW_ARRAY(s->product, workers * p->parts * CHUNK))
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
    size_t D = p->rows->held.D, chosen = rng_below(r, count);
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
static size_t count_sample(const partition_problem *p)
{
    size_t n = p->rows->n;
    return p->parts >= n / SAMPLE_PER_PART ? n : p->parts * SAMPLE_PER_PART;
}

static void draw_sample(const partition_problem *p, rng *r, size_t *row)
{
    size_t n = p->rows->n;
    for (size_t i = 0; i < n; i++)
        row[i] = i;
    if (count_sample(p) < n)
        rng_shuffle(r, row, n);
}

static quorum_status start_centres(quorum_status ready, kmeans_state *s)
{
    const partition_problem *p = s->p;
    rng r = rng_seed(p->seed, STREAM_CENTRES);
    size_t *row, count = count_sample(p);
    row_set sample = {0}, inputs = {.D = p->rows->held.D};
    double *weight;
    NEW_ARRAY(row, p->rows->n);
    NEW_ARRAY(weight, count);
    if (ready >= 0)
        ready = rows_new(&inputs, count, &sample);
    if (ready >= 0 && (!row || !weight))
        ready = failure(QUORUM_E_MEMORY, "out of memory for k-means with %zu parts", p->parts);
    if (ready >= 0)
        draw_sample(p, &r, row);
    ready = rows_fetch(ready, p->rows, row, count, &sample);
    if (ready >= 0)
        plus_plus(s, &r, sample.X, count, weight);
    mem_free(row);
    rows_free(&sample);
    mem_free(weight);
    return ready;
}

/* label[i] = argmin_k |c_k|^2 - 2 c_k.x_i over one chunk of rows. */
static quorum_status assign_chunk(void *context, const row_range *range, int worker)
{
    const kmeans_state *s = context;
    size_t D = s->p->rows->held.D, parts = s->p->parts, moved = 0;
    size_t *label = s->label + range->first;
    double *G = s->product + (size_t)worker * parts * CHUNK;
    blas_gemm('T', 'N', parts, range->rows.n, D, -2.0, s->centre, D, range->rows.X, D, 0.0, G,
              parts);
    for (size_t i = 0; i < range->rows.n; i++) {
        const double *g = G + i * parts;
        size_t best = 0;
        for (size_t k = 1; k < parts; k++)
            if (g[k] + s->norm[k] < g[best] + s->norm[best])
                best = k;
        moved += best != label[i];
        label[i] = best;
        s->distance[range->first + i] =
            squared_distance(range->rows.X + i * D, s->centre + best * D, D);
    }
    s->moved[range->first / CHUNK] = moved;
    return QUORUM_OK;
}

static quorum_status assign(quorum_status ready, const kmeans_state *s)
{
    const partition_problem *p = s->p;
    size_t D = p->rows->held.D;
    team_result labels = {.data = s->label, .width = sizeof *s->label};
    for (size_t k = 0; ready >= 0 && k < p->parts; k++)
        s->norm[k] = vec_dot(D, s->centre + k * D, s->centre + k * D);
    return rows_map(ready, p->rows, p->threads, assign_chunk, (void *)s, &labels, 1);
}

typedef struct {
    const kmeans_state *s;
    size_t count;
} moved_rows;

static void add_moved(void *context, const row_range *range)
{
    moved_rows *m = context;
    for (size_t at = 0; at < range->rows.n; at += CHUNK)
        m->count += m->s->moved[(range->first + at) / CHUNK];
}

/* Rows that the last assignment moved. */
static quorum_status count_moved(const kmeans_state *s, size_t *moved)
{
    moved_rows m = {.s = s};
    TRY(rows_fold(QUORUM_OK, s->p->rows, &m.count, sizeof m.count, add_moved, &m));
    *moved = m.count;
    return QUORUM_OK;
}

/* The row that is farthest from its centre, so far. */
typedef struct {
    const kmeans_state *s;
    struct {
        double distance;
        size_t row;
    } found;
} worst_row;

static void look_for_worse(void *context, const row_range *range)
{
    worst_row *w = context;
    for (size_t i = range->first; i < range->first + range->rows.n; i++)
        if (w->s->distance[i] > w->found.distance) {
            w->found.distance = w->s->distance[i];
            w->found.row = i;
        }
}

/* A part that has lost all rows starts anew at the row worst served, the first of them. */
static quorum_status reseed(kmeans_state *s, size_t k)
{
    const scattered_rows *rows = s->p->rows;
    worst_row worst = {.s = s, .found = {.distance = -1.0}};
    TRY(rows_fold(QUORUM_OK, rows, &worst.found, sizeof worst.found, look_for_worse, &worst));
    s->distance[worst.found.row] = 0.0;
    row_set centre = rows_view_of(1, rows->held.D, s->centre + k * rows->held.D, NULL);
    return rows_fetch(QUORUM_OK, rows, &worst.found.row, 1, &centre);
}

static void add_rows(void *context, const row_range *range)
{
    const kmeans_state *s = context;
    size_t D = s->p->rows->held.D;
    for (size_t i = 0; i < range->rows.n; i++) {
        double *c = s->centre + s->label[range->first + i] * D;
        for (size_t d = 0; d < D; d++)
            c[d] += range->rows.X[i * D + d];
    }
}

/* Means of the parts, by sums in the order of the rows. */
static quorum_status update_centres(kmeans_state *s)
{
    const partition_problem *p = s->p;
    size_t D = p->rows->held.D;
    memset(s->centre, 0, p->parts * D * sizeof *s->centre);
    memset(s->size, 0, p->parts * sizeof *s->size);
    for (size_t i = 0; i < p->rows->n; i++)
        s->size[s->label[i]]++;
    TRY(rows_fold(QUORUM_OK, p->rows, s->centre, p->parts * D * sizeof *s->centre, add_rows, s));
    for (size_t k = 0; k < p->parts; k++) {
        if (s->size[k] == 0)
            TRY(reseed(s, k));
        for (size_t d = 0; s->size[k] > 0 && d < D; d++)
            s->centre[k * D + d] /= (double)s->size[k];
    }
    return QUORUM_OK;
}

/* One process may be asked to stop: the others hear it at the next assignment. */
static quorum_status lloyd(kmeans_state *s)
{
    const partition_problem *p = s->p;
    quorum_status ready = QUORUM_OK;
    for (int iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
        TRY(assign(ready, s));
        size_t moved;
        TRY(count_moved(s, &moved));
        ready = progress_report(p->progress, "partition", (double)(iteration + 1) / MAX_ITERATIONS,
                                "k-means, %zu rows moved", moved);
        if (iteration > 0 && (double)moved <= SETTLED * (double)p->rows->n)
            break;
        TRY(update_centres(s));
    }
    return ready;
}

/* label (n) of every row, and the parts' centres (D x parts) where these are wanted. */
static quorum_status find_parts(quorum_status ready, const partition_problem *p, size_t *label,
                                double *centre)
{
    kmeans_state s;
    ready = kmeans_new(ready, p, label, &s);
    ready = start_centres(ready, &s);
    if (ready >= 0)
        ready = lloyd(&s);
    if (ready >= 0 && centre)
        memcpy(centre, s.centre, p->rows->held.D * p->parts * sizeof *centre);
    kmeans_free(&s);
    return ready;
}

/* label (n): the part with the nearest centre (D x parts). */
static quorum_status join_parts(quorum_status ready, const partition_problem *p,
                                const double *centre, size_t *label)
{
    kmeans_state s;
    ready = kmeans_new(ready, p, label, &s);
    if (ready >= 0)
        memcpy(s.centre, centre, p->rows->held.D * p->parts * sizeof *centre);
    ready = assign(ready, &s);
    kmeans_free(&s);
    return ready;
}

/* ---- Many parts: by groups ---- */

typedef struct {
    size_t groups;
    size_t *group;  /* n: of each row                        */
    size_t *start;  /* groups + 1: its rows in `sorted`      */
    size_t *sorted; /* n: rows by group                      */
    size_t *parts;  /* groups: of each                       */
    row_set rows;   /* the rows of one group, or of all of this process */
    size_t *label;  /* n: within the group                   */
    double *centre; /* D x groups                            */
} grouping;

static void grouping_free(grouping *g)
{
    mem_free(g->group);
    mem_free(g->start);
    mem_free(g->sorted);
    mem_free(g->parts);
    rows_free(&g->rows);
    mem_free(g->label);
    mem_free(g->centre);
}

static quorum_status grouping_new(quorum_status ready, const partition_problem *p, grouping *g)
{
    size_t groups = (size_t)ceil(sqrt((double)p->parts)), n = p->rows->n;
    *g = (grouping){.groups = groups < FLAT_PARTS ? groups : FLAT_PARTS};
    if (ready < 0)
        return ready;
    if (NEW_ARRAY(g->group, n) && NEW_ARRAY(g->start, g->groups + 2) && NEW_ARRAY(g->sorted, n) &&
        NEW_ARRAY(g->parts, g->groups) && NEW_ARRAY(g->label, n) &&
        NEW_ARRAY(g->centre, g->groups * p->rows->held.D))
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

/* The groups' centres, from the rows that come first in g->sorted. */
static quorum_status sample_groups(quorum_status ready, const partition_problem *p,
                                   const grouping *g)
{
    size_t n = p->rows->n, count = g->groups * SAMPLE_PER_GROUP;
    scattered_rows rows;
    partition_problem sample = *p;
    row_set room = {0}, inputs = {.D = p->rows->held.D};
    count = count < n ? count : n;
    if (ready >= 0)
        ready = rows_new(&inputs, count, &room);
    ready = rows_pick(ready, p->rows, g->sorted, count, &room, &rows);
    sample.rows = &rows;
    sample.parts = g->groups;
    if (ready >= 0)
        ready = find_parts(ready, &sample, g->label, g->centre);
    rows_free(&room);
    return ready;
}

/* Groups from a sample; every row joins the nearest. */
static quorum_status find_groups(quorum_status ready, const partition_problem *p, grouping *g)
{
    size_t n = p->rows->n;
    partition_problem all = *p;
    rng r = rng_seed(p->seed, STREAM_GROUPS);
    for (size_t i = 0; ready >= 0 && i < n; i++)
        g->sorted[i] = i;
    if (ready >= 0)
        rng_shuffle(&r, g->sorted, n);
    all.parts = g->groups;
    ready = sample_groups(ready, p, g);
    TRY(join_parts(ready, &all, g->centre, g->group));
    sort_by_label(n, g->groups, g->group, g->start, g->sorted);
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

static quorum_status split(quorum_status ready, const partition_problem *p, size_t *label);

static size_t group_size(const grouping *g, size_t k)
{
    return g->start[k + 1] - g->start[k];
}

/* Group k's parts from its rows, its labels from g->label + g->start[k] on. */
static quorum_status split_group(const partition_problem *p, const grouping *g, size_t k,
                                 const row_set *group)
{
    partition_problem own = *p;
    scattered_rows rows = rows_whole(group);
    if (rows.n == 0)
        return QUORUM_OK;
    TRY(progress_report(p->progress, "partition", (double)k / (double)g->groups,
                        "k-means, group %zu of %zu", k + 1, g->groups));
    own.rows = &rows;
    own.parts = g->parts[k];
    own.progress = &(progress){0};
    return split(QUORUM_OK, &own, g->label + g->start[k]);
}

/* Rows are at hand: one group after another. */
static quorum_status split_all_groups(const partition_problem *p, grouping *g)
{
    const scattered_rows *rows = p->rows;
    size_t largest = 0;
    for (size_t k = 0; k < g->groups; k++)
        largest = group_size(g, k) > largest ? group_size(g, k) : largest;
    row_set inputs = {.D = rows->held.D};
    TRY(rows_new(&inputs, largest, &g->rows));
    for (size_t k = 0; k < g->groups; k++) {
        row_set group = rows_view(&g->rows, 0, group_size(g, k));
        TRY(rows_fetch(QUORUM_OK, rows, g->sorted + g->start[k], group.n, &group));
        TRY(split_group(p, g, k, &group));
    }
    return QUORUM_OK;
}

/* Groups that a team shares: each one's rows come to one process, which splits it. */
typedef struct {
    const partition_problem *p;
    grouping *g;
    work_share share;
} group_work;

/* Groups are shared by rows x parts; g->rows gets room for those of this process. */
static quorum_status group_work_new(group_work *w)
{
    grouping *g = w->g;
    double cost[FLAT_PARTS];
    size_t rows = 0;
    for (size_t k = 0; k < g->groups; k++)
        cost[k] = (double)group_size(g, k) * (double)g->parts[k];
    TRY(work_share_new(cost, g->groups, &w->share));
    for (size_t i = 0; i < w->share.mine; i++)
        rows += group_size(g, w->share.items[i]);
    row_set inputs = {.D = w->p->rows->held.D};
    return rows_new(&inputs, rows, &g->rows);
}

/* Rows lie in the order of the groups, which is not that of the items. */
static quorum_status split_own_groups(void *context, const size_t *items, size_t count)
{
    const group_work *w = context;
    size_t at = 0;
    (void)items, (void)count;
    for (size_t k = 0; k < w->g->groups; k++)
        if (work_is_mine(&w->share, k)) {
            row_set group = rows_view(&w->g->rows, at, group_size(w->g, k));
            TRY(split_group(w->p, w->g, k, &group));
            at += group.n;
        }
    return QUORUM_OK;
}

static quorum_status share_groups(const partition_problem *p, grouping *g)
{
    group_work w = {.p = p, .g = g};
    team_result labels = {.data = g->label, .width = sizeof *g->label, .start = g->start};
    quorum_status status = group_work_new(&w);
    status = rows_deliver(status, p->rows, g->sorted, g->start, g->groups, &w.share, 0, &g->rows);
    if (status >= 0)
        status = team_map_share(status, &w.share, split_own_groups, &w, &labels, 1);
    work_share_free(&w.share);
    return status;
}

static quorum_status split_groups(quorum_status ready, const partition_problem *p, grouping *g,
                                  size_t *label)
{
    size_t before = 0;
    TRY(find_groups(ready, p, g));
    TRY(ready); /* has been seen: said so that analysers know it */
    share_parts(p->parts, g);
    TRY(p->rows->whole || team_is_alone() ? split_all_groups(p, g) : share_groups(p, g));
    for (size_t k = 0; k < g->groups; before += g->parts[k++])
        for (size_t i = g->start[k]; i < g->start[k + 1]; i++)
            label[g->sorted[i]] = before + g->label[i];
    return QUORUM_OK;
}

static quorum_status split(quorum_status ready, const partition_problem *p, size_t *label)
{
    if (p->parts == 1) {
        if (ready >= 0)
            memset(label, 0, p->rows->n * sizeof *label);
        return ready;
    }
    if (p->parts <= FLAT_PARTS)
        return find_parts(ready, p, label, NULL);
    grouping g;
    ready = grouping_new(ready, p, &g);
    ready = split_groups(ready, p, &g, label);
    grouping_free(&g);
    return ready;
}

const partition partition_kmeans = {"kmeans", "k-means: compact parts of unequal size", split};
