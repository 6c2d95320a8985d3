/* Chooses for each part the rows of other parts that are nearest to any row of it, out of those
 * nearest to its centre (extra_rows_choose), and lays out what experts then hold
 * (held_parts_new). Distances are in the learned metric, ties go to the lower row number. */
#include "experts/overlap.h"

#include "base/memory.h"
#include "near/neighbours.h"
#include "near/ranked.h"
#include "team/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POOL = 4 }; /* candidates by centre, in rows wanted */

static quorum_status out_of_memory(void)
{
    return failure(QUORUM_E_MEMORY, "out of memory for overlapping experts");
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rows that part e takes from outside. */
static size_t rows_wanted(const parts *own, size_t e, double share)
{
    double wanted = round(share * (double)part_size(own, e));
    double outside = (double)(own->rows.n - part_size(own, e));
    return (size_t)fmin(wanted, outside);
}

static size_t all_rows_wanted(const parts *own, double share)
{
    size_t rows = 0;
    for (size_t e = 0; e < own->M; e++)
        rows += rows_wanted(own, e, share);
    return rows;
}

double held_parts_bytes(const parts *own, double share)
{
    double rows = (double)(own->rows.n + all_rows_wanted(own, share));
    return 8.0 * rows * (3.0 * (double)own->rows.D + 3.0);
}

/* ---- Choosing ---- */

typedef struct {
    const parts *own;
    points Z;      /* n: all rows, scaled      */
    points centre; /* M: the parts' means      */
    neighbour_index *all;
    extra_rows *out;
} choose_job;

/* What one part looks at: `count` rows outside, out of the `near` nearest to its centre. */
typedef struct {
    size_t near, count;
    size_t *row;      /* near            */
    size_t *nearest;  /* count           */
    double *distance; /* count: from the part, squared */
    ranked *order;    /* count           */
    points X;         /* count           */
} candidates;

static void candidates_free(candidates *c)
{
    mem_free(c->row);
    mem_free(c->nearest);
    mem_free(c->distance);
    mem_free(c->order);
    points_free(&c->X);
}

static quorum_status candidates_new(const parts *own, size_t e, size_t wanted, candidates *c)
{
    size_t m = part_size(own, e), count = smaller(POOL * wanted, own->rows.n - m);
    *c = (candidates){.near = m + count, .count = count};
    if (NEW_ARRAY(c->row, c->near) && NEW_ARRAY(c->nearest, count) &&
        NEW_ARRAY(c->distance, count) && NEW_ARRAY(c->order, count))
        return points_new(count, own->rows.D, &c->X);
    return out_of_memory();
}

/* The rows outside part e that are nearest to its centre: of the `near` nearest, m at
 * most are its own. */
static quorum_status find_candidates(const choose_job *j, size_t e, candidates *c)
{
    const parts *own = j->own;
    points centre = points_view(&j->centre, e, 1);
    size_t kept = 0;
    TRY(neighbour_search(j->all, &centre, c->near, 1, c->row, NULL));
    for (size_t i = 0; i < c->near && kept < c->count; i++)
        if (c->row[i] < own->offset[e] || c->row[i] >= own->offset[e + 1])
            c->row[kept++] = c->row[i];
    return QUORUM_OK;
}

/* Distances of the candidates from the nearest row of part e. */
static quorum_status measure_candidates(const choose_job *j, size_t e, candidates *c)
{
    points part = points_view(&j->Z, j->own->offset[e], part_size(j->own, e));
    neighbour_index *index;
    points_gather(&j->Z, c->row, c->count, &c->X);
    TRY(neighbour_index_new(&part, 1, &index));
    quorum_status status = neighbour_search(index, &c->X, 1, 1, c->nearest, c->distance);
    neighbour_index_free(index);
    return status;
}

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

static void take_nearest(candidates *c, size_t wanted, size_t *row)
{
    for (size_t i = 0; i < c->count; i++)
        c->order[i] = (ranked){c->distance[i], c->row[i]};
    ranked_select(c->order, c->count, wanted - 1);
    for (size_t i = 0; i < wanted; i++)
        row[i] = c->order[i].row;
    qsort(row, wanted, sizeof *row, ascending);
}

static quorum_status choose_for_part(void *context, size_t e, int worker)
{
    (void)worker;
    const choose_job *j = context;
    size_t *offset = j->out->offset, wanted = offset[e + 1] - offset[e];
    candidates c;
    if (wanted == 0)
        return QUORUM_OK;
    quorum_status status = candidates_new(j->own, e, wanted, &c);
    if (status == QUORUM_OK)
        status = find_candidates(j, e, &c);
    if (status == QUORUM_OK)
        status = measure_candidates(j, e, &c);
    if (status == QUORUM_OK)
        take_nearest(&c, wanted, j->out->row + offset[e]);
    candidates_free(&c);
    return status;
}

/* The rows and the parts' means, scaled. */
static quorum_status scale_rows(choose_job *j, const double *lengthscale)
{
    const parts *own = j->own;
    double *mean;
    TRY(points_new(own->rows.n, own->rows.D, &j->Z));
    TRY(points_new(own->M, own->rows.D, &j->centre));
    if (!NEW_ZEROED(mean, own->M * own->rows.D))
        return out_of_memory();
    for (size_t e = 0; e < own->M; e++)
        for (size_t r = own->offset[e]; r < own->offset[e + 1]; r++)
            for (size_t d = 0; d < own->rows.D; d++)
                mean[e * own->rows.D + d] +=
                    own->rows.X[r * own->rows.D + d] / (double)part_size(own, e);
    points_scale(&j->Z, own->rows.n, own->rows.X, NULL, lengthscale);
    points_scale(&j->centre, own->M, mean, NULL, lengthscale);
    mem_free(mean);
    return QUORUM_OK;
}

static quorum_status extra_rows_new(size_t M, size_t rows, extra_rows *x)
{
    NEW_ARRAY(x->offset, M + 1);
    NEW_ARRAY(x->row, rows);
    if (!x->offset || !x->row)
        return out_of_memory();
    x->offset[0] = 0;
    return QUORUM_OK;
}

static quorum_status choose_room(choose_job *j, const double *lengthscale, double share,
                                 int threads)
{
    const parts *own = j->own;
    TRY(extra_rows_new(own->M, all_rows_wanted(own, share), j->out));
    for (size_t e = 0; e < own->M; e++)
        j->out->offset[e + 1] = j->out->offset[e] + rows_wanted(own, e, share);
    TRY(scale_rows(j, lengthscale));
    return neighbour_index_new(&j->Z, threads, &j->all);
}

quorum_status extra_rows_choose(const parts *own, const double *lengthscale, double share,
                                int threads, extra_rows *out)
{
    choose_job j = {.own = own, .out = out};
    *out = (extra_rows){0};
    if (all_rows_wanted(own, share) == 0)
        return QUORUM_OK;
    quorum_status ready = choose_room(&j, lengthscale, share, threads);
    const team_result rows = {.data = out->row, .width = sizeof *out->row, .start = out->offset};
    quorum_status status = team_map(ready, threads, own->M, choose_for_part, &j, &rows, 1);
    neighbour_index_free(j.all);
    points_free(&j.Z);
    points_free(&j.centre);
    if (status < 0)
        extra_rows_free(out);
    return status;
}

void extra_rows_free(extra_rows *x)
{
    mem_free(x->offset);
    mem_free(x->row);
    *x = (extra_rows){0};
}

quorum_status extra_rows_without(const parts *own, const extra_rows *x, const char *gone,
                                 extra_rows *out)
{
    size_t *number, left = 0, at = 0; /* number[row]: among those left */
    *out = (extra_rows){0};
    if (!x->offset)
        return QUORUM_OK;
    quorum_status status = extra_rows_new(own->M, x->offset[own->M], out);
    if (!NEW_ARRAY(number, own->rows.n))
        status = out_of_memory();
    if (status < 0)
        goto done;
    for (size_t r = 0; r < own->rows.n; r++) {
        number[r] = left;
        left += !gone[r];
    }
    for (size_t e = 0; e < own->M; e++) {
        for (size_t k = x->offset[e]; k < x->offset[e + 1]; k++)
            if (!gone[x->row[k]])
                out->row[at++] = number[x->row[k]];
        out->offset[e + 1] = at;
    }
done:
    mem_free(number);
    if (status < 0)
        extra_rows_free(out);
    return status;
}

/* ---- Holding ---- */

/* Expert e's rows in ascending order from column `at` on; returns where they end. */
static size_t number_rows(const parts *own, const extra_rows *x, size_t e, size_t at, parts *h)
{
    size_t k = x->offset[e], last = x->offset[e + 1];
    for (; k < last && x->row[k] < own->offset[e]; k++)
        h->row[at++] = x->row[k];
    for (size_t r = own->offset[e]; r < own->offset[e + 1]; r++) {
        h->home[r] = at;
        h->row[at++] = r;
    }
    for (; k < last; k++)
        h->row[at++] = x->row[k];
    return at;
}

quorum_status held_parts_new(const parts *own, const extra_rows *x, parts *out)
{
    parts h = {.M = own->M};
    size_t n = own->rows.n + x->offset[own->M];
    quorum_status status = rows_new(&own->rows, n, &h.rows);
    NEW_ARRAY(h.row, n);
    NEW_ARRAY(h.home, own->rows.n);
    NEW_ARRAY(h.offset, own->M + 1);
    *out = h;
    if (status < 0 || !h.row || !h.home || !h.offset) {
        parts_free(out);
        return out_of_memory();
    }
    h.offset[0] = 0;
    for (size_t e = 0; e < own->M; e++)
        h.offset[e + 1] = number_rows(own, x, e, h.offset[e], &h);
    rows_take(&own->rows, h.row, n, &h.rows);
    return QUORUM_OK;
}
