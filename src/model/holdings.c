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
    rows_note(model_rows_held(m));
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
        TRY_OR_DONE(rows_deliver(QUORUM_OK, rows, m->row, m->offset + first, end - first,
                                 &(work_share){.owner = m->owner}, first,
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
    rows_note(model_rows_held(m));
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

/* ---- From the owners to rank 0, to be written ---- */

/* The rows of a model in their order, some experts at a time: first all inputs, then all
 * targets.  All ranks go through the same steps. */
struct rows_home {
    const quorum_model *m;
    size_t expert;                /* the next one                                */
    int targets;                  /* 0: inputs, 1: targets, 2: all have been sent */
    size_t *out_bytes, *in_bytes; /* ranks                                       */
    double *out, *in;             /* of some experts: what travels               */
    double *here;                 /* on rank 0: in the order of the rows         */
    size_t taken, there;          /* of `here`: bytes given away, bytes          */
};

/* Numbers of some experts at most. */
static size_t most_numbers(const quorum_model *m)
{
    size_t most = 0;
    for (size_t first = 0, end; first < m->M; first = end) {
        end = some_experts(m, first);
        size_t rows = m->offset[end] - m->offset[first];
        most = rows > most ? rows : most;
    }
    return most * m->D;
}

void rows_home_free(rows_home *h)
{
    if (!h)
        return;
    mem_free(h->out_bytes);
    mem_free(h->in_bytes);
    mem_free(h->out);
    mem_free(h->in);
    mem_free(h->here);
    mem_free(h);
}

quorum_status rows_home_new(const quorum_model *m, rows_home **out)
{
    rows_home *h;
    size_t ranks = (size_t)team_size(), room = most_numbers(m);
    int writes = team_rank() == 0;
    if (NEW_ZEROED(h, 1)) {
        h->m = m;
        NEW_ARRAY(h->out_bytes, ranks);
        NEW_ARRAY(h->in_bytes, ranks);
        NEW_ARRAY(h->out, room);
        NEW_ARRAY(h->in, writes ? room : 0);
        NEW_ARRAY(h->here, writes ? room : 0);
    }
    int made = h && h->out_bytes && h->in_bytes && h->out && h->in && h->here;
    quorum_status status = team_agree(
        made ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for writing %zu rows", m->n));
    if (status < 0) {
        rows_home_free(h);
        h = NULL;
    }
    *out = h;
    return status;
}

static const double *numbers_of(const rows_home *h, size_t e, size_t *count)
{
    const quorum_model *m = h->m;
    size_t at = m->offset[e], rows = m->offset[e + 1] - at;
    *count = h->targets ? rows : rows * m->D;
    return h->targets ? m->y + at : m->X + at * m->D;
}

/* What came, rank by rank and in each expert by expert, into the order of the rows. */
static void put_in_order(rows_home *h, size_t first, size_t end)
{
    size_t at = 0, count;
    for (int r = 0; r < team_size(); r++) {
        double *to = h->here;
        for (size_t e = first; e < end; e++, to += count) {
            numbers_of(h, e, &count);
            if (h->m->owner[e] != r)
                continue;
            memcpy(to, h->in + at, count * sizeof *to);
            at += count;
        }
    }
    h->taken = 0;
    h->there = at * sizeof *h->here;
}

/* One step: the numbers of some experts go to rank 0. */
static void send_some(rows_home *h)
{
    const quorum_model *m = h->m;
    size_t first = h->expert, end = some_experts(m, first), out = 0, count;
    for (int r = 0; r < team_size(); r++)
        h->out_bytes[r] = h->in_bytes[r] = 0;
    for (size_t e = first; e < end; e++) {
        const double *numbers = numbers_of(h, e, &count);
        if (team_rank() == 0)
            h->in_bytes[m->owner[e]] += count * sizeof *numbers;
        if (m->owner[e] == team_rank()) {
            memcpy(h->out + out, numbers, count * sizeof *numbers);
            out += count;
        }
    }
    h->out_bytes[0] = out * sizeof *h->out;
    team_exchange(h->out, h->out_bytes, h->in, h->in_bytes, 1);
    if (team_rank() == 0)
        put_in_order(h, first, end);
    h->targets += end == m->M;
    h->expert = end == m->M ? 0 : end;
}

quorum_status rows_home_next(void *context, void *to, size_t bytes)
{
    rows_home *h = context;
    char *at = to;
    while (bytes > 0) {
        size_t left = h->there - h->taken, some = bytes < left ? bytes : left;
        memcpy(at, (const char *)h->here + h->taken, some);
        at += some;
        bytes -= some;
        h->taken += some;
        if (bytes > 0 && h->targets == 2)
            return failure(QUORUM_E_FILE, "there are no more rows to write");
        if (bytes > 0)
            send_some(h);
    }
    return QUORUM_OK;
}

void rows_home_finish(rows_home *h)
{
    while (h->targets < 2)
        send_some(h);
}
