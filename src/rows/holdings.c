/* Rows of parts on their way: from slices to the processes that work on the parts, and from those
 * to all. */
#include "rows/holdings.h"

#include "base/memory.h"
#include "team/team.h"

#include <string.h>

enum { ROWS_TOGETHER = 1 << 18 }; /* rows that travel at a time */

static size_t rows_of(const holdings *h, size_t e)
{
    return h->offset[e + 1] - h->offset[e];
}

/* ---- Who has what ---- */

quorum_status holdings_new(const parts *p, holdings *out)
{
    holdings h = {.M = p->M, .offset = p->offset};
    quorum_status status = share_by_size(p, &h.share);
    NEW_ARRAY(h.has, h.M);
    NEW_ARRAY(h.shared, h.M);
    if (status >= 0 && (!h.has || !h.shared))
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu experts", p->M);
    *out = h;
    if (status < 0) {
        holdings_free(out);
        return status;
    }
    for (size_t e = 0; e < h.M; e++) {
        h.has[e] = (char)work_is_mine(&h.share, e);
        h.shared[e] = (char)team_is_alone();
    }
    rows_note(holdings_rows(&h));
    return QUORUM_OK;
}

void holdings_free(holdings *h)
{
    work_share_free(&h->share);
    mem_free(h->has);
    mem_free(h->shared);
    *h = (holdings){0};
}

int holdings_is_mine(const holdings *h, size_t e)
{
    return !h->has || work_is_mine(&h->share, e);
}

int holdings_is_whole(const holdings *h)
{
    for (size_t e = 0; e < h->M; e++)
        if (!h->shared[e])
            return 0;
    return 1;
}

size_t holdings_rows(const holdings *h)
{
    size_t rows = 0;
    for (size_t e = 0; e < h->M; e++)
        rows += h->has[e] ? rows_of(h, e) : 0;
    return rows;
}

double holdings_bytes(double all)
{
    return all / team_size();
}

size_t holdings_some(const holdings *h, size_t first)
{
    size_t end = first + 1;
    while (end < h->M && h->offset[end + 1] - h->offset[first] <= ROWS_TOGETHER)
        end++;
    return end;
}

/* ---- From slices ---- */

/* Rows of some parts to the process that works on them: those of its parts come together, and
 * then go to their places. */
typedef struct {
    const holdings *h;
    size_t first, end; /* parts                        */
    size_t mine;       /* rows of this process's parts */
    row_set came;      /* mine: they come here ...     */
    row_set *to;       /* n: ... and go here           */
    int in_place;      /* 1: they come to their places */
} taking;

static quorum_status taking_new(const holdings *h, size_t first, row_set *to, taking *t)
{
    *t = (taking){.h = h, .first = first, .end = holdings_some(h, first), .to = to};
    size_t at = h->offset[first];
    for (size_t e = first; e < t->end; e++)
        t->mine += holdings_is_mine(h, e) ? rows_of(h, e) : 0;
    t->in_place = t->mine == h->offset[t->end] - at;
    if (!t->in_place)
        return rows_new(to, t->mine, &t->came);
    t->came = rows_view(to, at, t->mine);
    return QUORUM_OK;
}

static void put_in_place(const taking *t)
{
    const holdings *h = t->h;
    size_t from = 0;
    for (size_t e = t->first; e < t->end && !t->in_place; e++) {
        if (!holdings_is_mine(h, e))
            continue;
        rows_copy(&t->came, from, rows_of(h, e), t->to, h->offset[e]);
        from += rows_of(h, e);
    }
}

static void taking_free(taking *t)
{
    if (!t->in_place)
        rows_free(&t->came);
}

quorum_status holdings_take(quorum_status ready, const holdings *h, const scattered_rows *from,
                            const size_t *row, row_set *to)
{
    TRY(team_agree(ready)); /* who is not ready may have no holdings */
    for (size_t first = 0, end; first < h->M; first = end) {
        taking t;
        quorum_status status = taking_new(h, first, to, &t);
        end = t.end;
        status = rows_deliver(status, from, row, h->offset + first, end - first, &h->share, first,
                              &t.came);
        if (status >= 0)
            put_in_place(&t);
        taking_free(&t);
        TRY(status);
    }
    return QUORUM_OK;
}

/* ---- To all ---- */

static quorum_status pieces_new(quorum_status ready, size_t count, team_piece **pieces)
{
    *pieces = NULL;
    if (ready >= 0 && !NEW_ARRAY(*pieces, count))
        ready = failure(QUORUM_E_MEMORY, "out of memory for a message");
    quorum_status status = team_agree(ready);
    if (status < 0) {
        mem_free(*pieces);
        *pieces = NULL;
    }
    return status;
}

static size_t list_part(const holdings *h, size_t e, const row_set *rows, team_piece *pieces)
{
    row_column column[ROW_COLUMNS_MOST];
    row_set part = rows_view(rows, h->offset[e], rows_of(h, e));
    if (h->shared[e])
        return 0;
    size_t count = row_columns(&part, column);
    for (size_t c = 0; c < count; c++)
        pieces[c] = (team_piece){column[c].data, part.n * column[c].width * sizeof(double),
                                 h->share.owner[e]};
    h->has[e] = h->shared[e] = 1;
    return count;
}

/* list NULL: the first `count` parts. */
static quorum_status share_list(quorum_status ready, const holdings *h, const size_t *list,
                                size_t count, const row_set *rows)
{
    team_piece *pieces;
    size_t listed = 0;
    if (holdings_is_whole(h))
        return team_agree(ready);
    TRY(pieces_new(ready, ROW_COLUMNS_MOST * count, &pieces));
    for (size_t i = 0; i < count; i++)
        listed += list_part(h, list ? list[i] : i, rows, pieces + listed);
    team_share(pieces, listed);
    mem_free(pieces);
    rows_note(holdings_rows(h));
    return QUORUM_OK;
}

quorum_status holdings_share(quorum_status ready, const holdings *h, const size_t *list,
                             size_t count, const row_set *rows)
{
    return share_list(ready, h, list, count, rows);
}

quorum_status holdings_share_all(quorum_status ready, const holdings *h, const row_set *rows)
{
    return share_list(ready, h, NULL, h->M, rows);
}

quorum_status holdings_fetch(quorum_status ready, const holdings *h, const parts *p,
                             const size_t *list, size_t count, double *out)
{
    int whole = holdings_is_whole(h);
    size_t D = p->rows.D;
    team_piece *pieces;
    TRY(pieces_new(ready, whole ? 0 : count, &pieces));
    for (size_t i = 0; i < count; i++) {
        size_t e = part_of_row(p, list[i]);
        if (whole || h->has[e])
            memcpy(out + i * D, p->rows.X + list[i] * D, D * sizeof *out);
        if (!whole)
            pieces[i] = (team_piece){out + i * D, D * sizeof *out, h->share.owner[e]};
    }
    if (!whole)
        team_share(pieces, count);
    mem_free(pieces);
    return QUORUM_OK;
}
