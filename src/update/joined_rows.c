/* Old rows that stay and new ones, sorted by expert, in place of the model's rows:
 *
 *   expert e has its old rows in their order, then the new rows that join it in theirs
 *
 * so that within an expert rows are in the order of their numbers, as a fit has them.  An expert that has lost all
 * its rows is no more.  Where experts overlap, the rows that they hold beyond their own are chosen anew. */
#include "update/update.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "cells/kept_cells.h"
#include "update/fit_words.h"

#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct {
    change *c;
    size_t *expert; /* new rows: which they join                              */
    size_t *order;  /* new rows that come, expert by expert, each in its order */
    size_t *start;  /* M + 1: where an expert's are in that order             */
    size_t *place;  /* M + 1: where an expert's rows begin among all          */
} joining;

/* ---- Which come to whom ---- */

/* Counts, and then places: a stable sort by expert. */
static void sort_by_expert(joining *j)
{
    const change *c = j->c;
    size_t M = c->m->M;
    memset(j->start, 0, (M + 1) * sizeof *j->start);
    for (size_t i = c->late; i < c->own.n; i++)
        j->start[j->expert[i] + 1]++;
    for (size_t e = 0; e < M; e++)
        j->start[e + 1] += j->start[e];
    for (size_t i = c->late; i < c->own.n; i++)
        j->order[j->start[j->expert[i]]++] = i;
    for (size_t e = M; e > 0; e--)
        j->start[e] = j->start[e - 1];
    j->start[0] = 0;
}

static quorum_status find_experts(joining *j)
{
    size_t n = j->c->own.n;
    if (!NEW_ARRAY(j->expert, n + 1) || !NEW_ARRAY(j->order, n + 1) ||
        !NEW_ARRAY(j->start, j->c->m->M + 1) || !NEW_ARRAY(j->place, j->c->m->M + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu new rows", n);
    if (n > 0)
        TRY(change_find_experts(j->c, j->expert));
    sort_by_expert(j);
    return QUORUM_OK;
}

/* ---- The rows ---- */

static quorum_status room_for_rows(change *c, size_t n)
{
    quorum_model *next = &c->next;
    row_set like = c->m->rows;
    if (n > INT_MAX)
        return failure(QUORUM_E_ARGUMENT, "%zu rows are more than this build can take", n);
    like.weight = like.weight ? like.weight : c->own.weight;
    like.error = like.error ? like.error : c->own.error;
    TRY(rows_new(&like, n, &next->rows));
    NEW_ARRAY(next->row, n);
    NEW_ARRAY(next->offset, c->m->M + 1);
    if (!next->row || !next->offset)
        return failure(QUORUM_E_MEMORY, "out of memory for a model of %zu rows", n);
    return QUORUM_OK;
}

/* Rows that lie together, old or new ones, to place `at`; other fields get what says nothing. */
static void copy_rows(const row_set *from, size_t first, size_t count, quorum_model *next,
                      size_t at)
{
    row_set to = rows_only(&next->rows, from);
    for (size_t i = at; i < at + count; i++) {
        if (next->rows.weight)
            next->rows.weight[i] = 1.0;
        if (next->rows.error)
            next->rows.error[i] = 0.0;
    }
    if (count > 0)
        rows_copy(from, first, count, &to, at);
}

/* The old rows of expert e that stay; returns where they end. */
static size_t keep_rows(change *c, size_t e, size_t at)
{
    const quorum_model *m = c->m;
    size_t last = m->offset[e + 1];
    for (size_t i = m->offset[e], end; i < last; i = end) {
        end = i + 1;
        if (c->gone && c->gone[i])
            continue;
        while (end < last && !(c->gone && c->gone[end]))
            end++;
        copy_rows(&m->rows, i, end - i, &c->next, at);
        for (; i < end; i++)
            c->next.row[at++] = c->number ? c->number[i] : m->row[i];
    }
    return at;
}

static void add_rows(const joining *j, size_t e, size_t first_number, size_t at)
{
    change *c = j->c;
    for (size_t k = j->start[e]; k < j->start[e + 1]; k++, at++) {
        copy_rows(&c->own, j->order[k], 1, &c->next, at);
        c->next.row[at] = first_number + j->order[k] - c->late;
    }
}

/* How many old rows of expert e stay. */
static size_t count_kept(const change *c, size_t e)
{
    size_t first = c->m->offset[e], last = c->m->offset[e + 1], kept = last - first;
    for (size_t i = first; c->gone && i < last; i++)
        kept -= c->gone[i] != 0;
    return kept;
}

static void find_places(const joining *j)
{
    quorum_model *next = &j->c->next;
    next->M = 0;
    next->offset[0] = j->place[0] = 0;
    for (size_t e = 0; e < j->c->m->M; e++) {
        size_t count = count_kept(j->c, e) + j->start[e + 1] - j->start[e];
        j->place[e + 1] = j->place[e] + count;
        if (count > 0)
            next->offset[++next->M] = j->place[e + 1];
    }
}

static quorum_status join_expert(void *context, size_t e, int worker)
{
    joining *j = context;
    size_t first_new = j->c->m->rows.n - j->c->report.removed;
    (void)worker;
    add_rows(j, e, first_new, keep_rows(j->c, e, j->place[e]));
    return QUORUM_OK;
}

static quorum_status join(joining *j)
{
    find_places(j);
    return parallel_for(options_threads(j->c->s), j->c->m->M, join_expert, j);
}

/* Weights that are all 1, and errors that are all 0, say nothing: a fit forgets them too. */
static void forget_field(double **field, size_t n, double nothing)
{
    for (size_t i = 0; *field && i < n; i++)
        if ((*field)[i] != nothing)
            return;
    mem_free(*field);
    *field = NULL;
}

/* ---- What goes with them ---- */

static quorum_status overlap(change *c)
{
    quorum_model *next = &c->next;
    fit_words words;
    if (!c->m->extra.offset)
        return QUORUM_OK;
    TRY(fit_words_read(c->m, &words));
    parts own = model_parts(next);
    double needed = held_parts_bytes(&own, words.overlap), memory = options_memory(c->s);
    if (needed > memory)
        return failure(QUORUM_E_MEMORY,
                       "the rows of experts that overlap by %g need %.2f GB, more than memory "
                       "(%.2f GB) allows",
                       words.overlap, needed / 1e9, memory / 1e9);
    return extra_rows_choose(&own, next->theta.lengthscale, words.overlap, options_threads(c->s),
                             &next->extra);
}

static quorum_status make_next(joining *j)
{
    change *c = j->c;
    size_t n = c->m->rows.n - c->report.removed + c->own.n - c->late;
    TRY(find_experts(j));
    TRY(room_for_rows(c, n));
    TRY(join(j));
    forget_field(&c->next.rows.weight, n, 1.0);
    forget_field(&c->next.rows.error, n, 0.0);
    c->report.added = c->own.n - c->late;
    TRY(overlap(c));
    if (!(c->next.cache = model_cache_new(c->m)))
        return failure(QUORUM_E_MEMORY, "out of memory for a model");
    TRY(model_complete(&c->next));
    return keep_cells(&c->next, c->s);
}

quorum_status change_join_rows(change *c)
{
    joining j = {.c = c};
    c->next = *c->m;
    model_forget_rows(&c->next);
    c->has_next = 1;
    quorum_status status = make_next(&j);
    mem_free(j.expert);
    mem_free(j.order);
    mem_free(j.start);
    mem_free(j.place);
    return status;
}

void change_free_next(change *c)
{
    if (c->has_next)
        model_free_rows(&c->next);
    c->has_next = 0;
}
