/* Which rank has which rows.  In a team the rows of an expert are with the rank that owns it;
 * what others need of them is sent when it is needed.  X and y have room for all rows, but rows
 * that are not there are never touched and take no memory.  A team of one has everything. */
#include "model/model.h"

#include "base/memory.h"
#include "team/team.h"

#include <string.h>

enum { ROWS_TOGETHER = 1 << 18 }; /* rows that travel at a time */

quorum_status model_find_owners(quorum_model *m)
{
    parts all = {.n = m->n, .M = m->M, .offset = m->offset};
    NEW_ZEROED(m->owner, m->M);
    NEW_ZEROED(m->held, m->M);
    NEW_ZEROED(m->shared, m->M);
    if (!m->owner || !m->held || !m->shared)
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", m->M);
    TRY(expert_owners(&all, m->owner));
    for (size_t e = 0; e < m->M; e++) {
        m->held[e] = m->owner[e] == team_rank();
        m->shared[e] = team_size() == 1;
    }
    return QUORUM_OK;
}

quorum_status model_own_rows(quorum_model *m)
{
    m->X = mem_alloc_sparse(m->n * m->D, sizeof *m->X);
    m->y = mem_alloc_sparse(m->n, sizeof *m->y);
    if (!m->X || !m->y)
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows of %zu inputs", m->n, m->D);
    return model_find_owners(m);
}

int model_is_whole(const quorum_model *m)
{
    for (size_t e = 0; m->shared && e < m->M; e++)
        if (!m->shared[e])
            return 0;
    return 1;
}

size_t model_rows_held(const quorum_model *m)
{
    size_t rows = 0;
    for (size_t e = 0; e < m->M; e++)
        rows += !m->held || m->held[e] ? m->offset[e + 1] - m->offset[e] : 0;
    return rows;
}

/* The experts first .. returned - 1 have about ROWS_TOGETHER rows. */
static size_t some_experts(const quorum_model *m, size_t first)
{
    size_t end = first + 1;
    while (end < m->M && m->offset[end + 1] - m->offset[first] <= ROWS_TOGETHER)
        end++;
    return end;
}

/* ---- From the slices of the fit to the owners ---- */

/* The rows of those of the experts first .. end - 1 that are this rank's, one expert after
 * another, into their places. */
static void put_in_place(quorum_model *m, size_t first, size_t end, const double *X,
                         const double *y)
{
    for (size_t e = first; e < end; e++) {
        size_t at = m->offset[e], rows = m->offset[e + 1] - at;
        if (m->owner[e] != team_rank())
            continue;
        memcpy(m->X + at * m->D, X, rows * m->D * sizeof *X);
        memcpy(m->y + at, y, rows * sizeof *y);
        X += rows * m->D;
        y += rows;
    }
}

quorum_status model_take_rows(quorum_model *m, const sliced_rows *rows)
{
    double *X = NULL, *y = NULL;
    quorum_status status = QUORUM_OK;
    for (size_t first = 0, end; first < m->M; first = end) {
        end = some_experts(m, first);
        size_t at = m->offset[first], mine = 0;
        for (size_t e = first; e < end; e++)
            mine += m->owner[e] == team_rank() ? m->offset[e + 1] - m->offset[e] : 0;
        int all_mine = mine == m->offset[end] - at;
        if (!all_mine && (!NEW_ARRAY(X, mine * m->D) || !NEW_ARRAY(y, mine)))
            status = failure(QUORUM_E_MEMORY, "out of memory for %zu rows", mine);
        TRY_OR_DONE(team_agree(status));
        TRY_OR_DONE(rows_deliver(rows, m->row, m->offset + first, end - first, m->owner + first,
                                 all_mine ? m->X + at * m->D : X, all_mine ? m->y + at : y));
        if (!all_mine)
            put_in_place(m, first, end, X, y);
        mem_free(X);
        mem_free(y);
        X = y = NULL;
    }
done:
    mem_free(X);
    mem_free(y);
    return status;
}

/* ---- From the owners to all ---- */

quorum_status model_hold(const quorum_model *m, const size_t *experts, size_t count)
{
    team_piece *pieces;
    size_t listed = 0;
    if (model_is_whole(m))
        return QUORUM_OK;
    NEW_ARRAY(pieces, 2 * count);
    TRY(team_agree(pieces ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for a message")));
    for (size_t i = 0; i < count; i++) {
        size_t e = experts[i], at = m->offset[e], rows = m->offset[e + 1] - at;
        if (m->shared[e])
            continue;
        pieces[listed++] = (team_piece){m->X + at * m->D, rows * m->D * sizeof *m->X, m->owner[e]};
        pieces[listed++] = (team_piece){m->y + at, rows * sizeof *m->y, m->owner[e]};
        m->held[e] = m->shared[e] = 1;
    }
    team_share(pieces, listed);
    mem_free(pieces);
    return QUORUM_OK;
}

quorum_status model_hold_all(const quorum_model *m)
{
    size_t *every;
    if (model_is_whole(m))
        return QUORUM_OK;
    NEW_ARRAY(every, m->M);
    TRY(team_agree(every ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for a message")));
    for (size_t e = 0; e < m->M; e++)
        every[e] = e;
    quorum_status status = model_hold(m, every, m->M);
    mem_free(every);
    return status;
}

/* ---- From the owners to rank 0 ---- */

typedef struct {
    size_t *out_bytes, *in_bytes; /* ranks                                   */
    double *out, *in;             /* rows of some experts: inputs and target */
} homecoming;

static void homecoming_free(homecoming *h)
{
    mem_free(h->out_bytes);
    mem_free(h->in_bytes);
    mem_free(h->out);
    mem_free(h->in);
}

/* Room for the experts first .. end - 1. */
static quorum_status homecoming_new(const quorum_model *m, size_t first, size_t end, homecoming *h)
{
    size_t ranks = (size_t)team_size(), out = 0, in = 0, width = (m->D + 1) * sizeof *m->X;
    *h = (homecoming){0};
    NEW_ZEROED(h->out_bytes, ranks);
    NEW_ZEROED(h->in_bytes, ranks);
    for (size_t e = first; h->out_bytes && h->in_bytes && e < end; e++) {
        size_t rows = m->offset[e + 1] - m->offset[e];
        if (m->owner[e] == team_rank() && team_rank() > 0)
            h->out_bytes[0] = (out += rows) * width;
        if (m->owner[e] > 0 && team_rank() == 0) {
            h->in_bytes[m->owner[e]] += rows * width;
            in += rows;
        }
    }
    NEW_ARRAY(h->out, out * (m->D + 1));
    NEW_ARRAY(h->in, in * (m->D + 1));
    if (h->out_bytes && h->in_bytes && h->out && h->in)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for %zu rows", in + out);
}

/* Between the places of those of the experts that rank r owns and a row of numbers. */
static double *copy_experts(const quorum_model *m, size_t first, size_t end, int r, double *list,
                            int inward)
{
    for (size_t e = first; e < end; e++) {
        size_t at = m->offset[e], rows = m->offset[e + 1] - at;
        if (m->owner[e] != r)
            continue;
        double *X = m->X + at * m->D, *y = m->y + at, *list_y = list + rows * m->D;
        memcpy(inward ? X : list, inward ? list : X, rows * m->D * sizeof *X);
        memcpy(inward ? y : list_y, inward ? list_y : y, rows * sizeof *y);
        list = list_y + rows;
    }
    return list;
}

quorum_status model_send_home(const quorum_model *m)
{
    for (size_t first = 0, end; !model_is_whole(m) && first < m->M; first = end) {
        homecoming h;
        end = some_experts(m, first);
        quorum_status status = team_agree(homecoming_new(m, first, end, &h));
        if (status == QUORUM_OK) {
            if (team_rank() > 0)
                copy_experts(m, first, end, team_rank(), h.out, 0);
            team_exchange(h.out, h.out_bytes, h.in, h.in_bytes);
            double *in = h.in;
            for (int r = 1; team_rank() == 0 && r < team_size(); r++)
                in = copy_experts(m, first, end, r, in, 1);
        }
        homecoming_free(&h);
        TRY(status);
    }
    return QUORUM_OK;
}
