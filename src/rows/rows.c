/* Training rows in the slices of a team: fetched by number to every rank, gathered whole, or
 * delivered to the ranks that want them.  A row travels as its D inputs and its target. */
#include "rows/rows.h"

#include "base/memory.h"

#include <string.h>

enum { TOGETHER = 1 << 16 }; /* rows that are fetched at a time */

static quorum_status out_of_memory(size_t rows)
{
    return failure(QUORUM_E_MEMORY, "out of memory for sending %zu rows", rows);
}

static int is_alone(const sliced_rows *r)
{
    return r->whole || team_size() == 1;
}

/* ---- To every rank ---- */

/* Row i of this rank, as it travels: its inputs, then its target if that is wanted. */
static void pack_row(const sliced_rows *r, size_t i, int with_y, double *out)
{
    size_t at = i - held_rows(r).first;
    memcpy(out, r->X + at * r->D, r->D * sizeof *out);
    if (with_y)
        out[r->D] = r->y[at];
}

static void unpack_row(size_t D, const double *in, size_t to, double *X, double *y)
{
    memcpy(X + to * D, in, D * sizeof *in);
    if (y)
        y[to] = in[D];
}

static void copy_rows(const sliced_rows *r, const size_t *which, size_t count, double *X, double *y)
{
    for (size_t i = 0; i < count; i++) {
        memcpy(X + i * r->D, r->X + which[i] * r->D, r->D * sizeof *X);
        if (y)
            y[i] = r->y[which[i]];
    }
}

/* What is listed stands in `packed` by owner, in the list's order. */
typedef struct {
    team_piece *pieces; /* ranks                        */
    size_t *next;       /* ranks: each one's next place */
    double *packed;     /* count x width                */
    size_t width;
} parcel;

static void parcel_free(parcel *p)
{
    mem_free(p->pieces);
    mem_free(p->next);
    mem_free(p->packed);
}

static int owner_of(const sliced_rows *r, size_t row)
{
    return slice_owner(r->n, ROWS_STEP, row, team_size());
}

static quorum_status parcel_new(const sliced_rows *r, const size_t *which, size_t count, int with_y,
                                parcel *p)
{
    size_t ranks = (size_t)team_size(), at = 0;
    *p = (parcel){.width = r->D + (with_y != 0)};
    NEW_ARRAY(p->pieces, ranks);
    NEW_ZEROED(p->next, ranks);
    NEW_ARRAY(p->packed, count * p->width);
    if (!p->pieces || !p->next || !p->packed)
        return out_of_memory(count);
    for (size_t i = 0; i < count; i++)
        p->next[owner_of(r, which[i])]++;
    for (size_t k = 0; k < ranks; k++) {
        size_t rows = p->next[k];
        p->pieces[k] = (team_piece){.data = p->packed + at * p->width,
                                    .bytes = rows * p->width * sizeof *p->packed,
                                    .owner = (int)k};
        p->next[k] = at;
        at += rows;
    }
    return QUORUM_OK;
}

static void pack_mine(const sliced_rows *r, const size_t *which, size_t count, int with_y,
                      const parcel *p)
{
    size_t at = p->next[team_rank()];
    for (size_t i = 0; i < count; i++)
        if (owner_of(r, which[i]) == team_rank())
            pack_row(r, which[i], with_y, p->packed + at++ * p->width);
}

static quorum_status fetch_some(quorum_status ready, const sliced_rows *r, const size_t *which,
                                size_t count, double *X, double *y)
{
    parcel p = {0};
    if (ready >= 0)
        ready = parcel_new(r, which, count, y != NULL, &p);
    quorum_status status = team_agree(ready);
    if (status == QUORUM_OK) {
        pack_mine(r, which, count, y != NULL, &p);
        team_share(p.pieces, (size_t)team_size());
        for (size_t i = 0; i < count; i++)
            unpack_row(r->D, p.packed + p.next[owner_of(r, which[i])]++ * p.width, i, X, y);
    }
    parcel_free(&p);
    return status;
}

quorum_status rows_fetch(quorum_status ready, const sliced_rows *r, const size_t *which,
                         size_t count, double *X, double *y)
{
    if (is_alone(r)) {
        if (ready >= 0)
            copy_rows(r, which, count, X, y);
        return ready;
    }
    if (count == 0)
        return team_agree(ready);
    for (size_t at = 0; at < count; at += TOGETHER) {
        size_t some = count - at < TOGETHER ? count - at : TOGETHER;
        TRY(fetch_some(ready, r, which + at, some, X + at * r->D, y ? y + at : NULL));
    }
    return QUORUM_OK;
}

quorum_status rows_pick(quorum_status ready, const sliced_rows *r, const size_t *which,
                        size_t count, double *X, sliced_rows *out)
{
    TRY(rows_fetch(ready, r, which, count, X, NULL));
    *out = (sliced_rows){.n = count, .D = r->D, .whole = r->whole};
    out->X = X + held_rows(out).first * r->D;
    return QUORUM_OK;
}

/* The slices of an array to every rank, who have room for all of it. */
static void share_slices(const sliced_rows *r, const double *mine, size_t width, double *all)
{
    team_slice held = held_rows(r);
    memcpy(all + held.first * width, mine, held.count * width * sizeof *all);
    team_share_slices(all, width * sizeof *all, r->n, ROWS_STEP);
}

quorum_status rows_gather(quorum_status ready, const sliced_rows *r, double **X, double **y,
                          sliced_rows *whole)
{
    NEW_ARRAY(*X, r->n * r->D);
    NEW_ARRAY(*y, r->n);
    if (ready >= 0 && (!*X || !*y))
        ready = out_of_memory(r->n);
    TRY(team_agree(ready));
    share_slices(r, r->X, r->D, *X);
    share_slices(r, r->y, 1, *y);
    rows_note(r->n);
    *whole = (sliced_rows){.n = r->n, .D = r->D, .X = *X, .y = *y, .whole = 1};
    return QUORUM_OK;
}

quorum_status rows_fill(quorum_status ready, const sliced_rows *r, size_t *numbers, size_t count)
{
    if (is_alone(r))
        return ready;
    TRY(team_agree(ready));
    team_add(numbers, count);
    return QUORUM_OK;
}

/* ---- To their owners ---- */

typedef struct {
    const sliced_rows *r;
    const size_t *list, *start;
    size_t lists, width;
    const int *owner;
    size_t *out_rows, *in_rows; /* ranks */
    double *out, *in;
} delivery;

/* How many of the ascending rows come before this one. */
static size_t rows_before(const size_t *rows, size_t count, size_t row)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The places in list k of the rows that rank `from` holds. */
static team_slice held_part(const delivery *d, size_t k, int from)
{
    team_slice held = slice_of(d->r->n, ROWS_STEP, from, team_size());
    const size_t *rows = d->list + d->start[k];
    size_t count = d->start[k + 1] - d->start[k];
    size_t first = rows_before(rows, count, held.first);
    return (team_slice){.first = first,
                        .count = rows_before(rows, count, held.first + held.count) - first};
}

static quorum_status delivery_new(delivery *d)
{
    size_t ranks = (size_t)team_size(), out = 0, in = 0;
    NEW_ZEROED(d->out_rows, ranks);
    NEW_ZEROED(d->in_rows, ranks);
    if (!d->out_rows || !d->in_rows)
        return out_of_memory(d->start[d->lists]);
    for (size_t k = 0; k < d->lists; k++) {
        size_t gives = held_part(d, k, team_rank()).count;
        d->out_rows[d->owner[k]] += gives;
        out += gives;
        for (int from = 0; d->owner[k] == team_rank() && from < team_size(); from++) {
            size_t takes = held_part(d, k, from).count;
            d->in_rows[from] += takes;
            in += takes;
        }
    }
    NEW_ARRAY(d->out, out * d->width);
    NEW_ARRAY(d->in, in * d->width);
    return d->out && d->in ? QUORUM_OK : out_of_memory(out + in);
}

static void delivery_free(delivery *d)
{
    mem_free(d->out_rows);
    mem_free(d->in_rows);
    mem_free(d->out);
    mem_free(d->in);
}

static void pack_deliveries(delivery *d, int with_y)
{
    double *at = d->out;
    for (int to = 0; to < team_size(); to++)
        for (size_t k = 0; k < d->lists; k++) {
            if (d->owner[k] != to)
                continue;
            team_slice mine = held_part(d, k, team_rank());
            for (size_t i = 0; i < mine.count; i++, at += d->width)
                pack_row(d->r, d->list[d->start[k] + mine.first + i], with_y, at);
        }
}

static void unpack_deliveries(const delivery *d, double *X, double *y)
{
    const double *at = d->in;
    for (int from = 0; from < team_size(); from++) {
        size_t before = 0;
        for (size_t k = 0; k < d->lists; k++) {
            if (d->owner[k] != team_rank())
                continue;
            team_slice part = held_part(d, k, from);
            for (size_t i = 0; i < part.count; i++, at += d->width)
                unpack_row(d->r->D, at, before + part.first + i, X, y);
            before += d->start[k + 1] - d->start[k];
        }
    }
}

quorum_status rows_deliver(quorum_status ready, const sliced_rows *r, const size_t *list,
                           const size_t *start, size_t lists, const work_share *who, size_t first,
                           double *X, double *y)
{
    delivery d = {.r = r,
                  .list = list,
                  .start = start,
                  .lists = lists,
                  .width = r->D + (y != NULL),
                  .owner = who->owner + first};
    if (is_alone(r)) {
        if (ready >= 0)
            copy_rows(r, list + start[0], start[lists] - start[0], X, y);
        return ready;
    }
    if (ready >= 0)
        ready = delivery_new(&d);
    quorum_status status = team_agree(ready);
    if (status == QUORUM_OK) {
        pack_deliveries(&d, y != NULL);
        team_exchange(d.out, d.out_rows, d.in, d.in_rows, d.width * sizeof *d.out);
        unpack_deliveries(&d, X, y);
    }
    delivery_free(&d);
    return status;
}

/* ---- All rows, where they are ---- */

/* The rows from .. from + count - 1 of those that this rank holds. */
static row_range range_of(const sliced_rows *r, size_t from, size_t count)
{
    return (row_range){.first = held_rows(r).first + from,
                       .count = count,
                       .X = r->X + from * r->D,
                       .y = r->y ? r->y + from : NULL};
}

typedef struct {
    const sliced_rows *r;
    void (*body)(void *context, const row_range *range);
    void *context;
} folding;

static void fold_held(void *context)
{
    const folding *f = context;
    row_range all = range_of(f->r, 0, held_rows(f->r).count);
    f->body(f->context, &all);
}

void rows_fold(const sliced_rows *r, void *state, size_t bytes,
               void (*body)(void *context, const row_range *range), void *context)
{
    folding f = {.r = r, .body = body, .context = context};
    if (is_alone(r))
        fold_held(&f);
    else
        team_in_turn(state, bytes, fold_held, &f);
}

typedef struct {
    const sliced_rows *r;
    rows_body body;
    void *context;
    size_t held;
} mapping;

static quorum_status map_step(void *context, size_t step, int worker)
{
    const mapping *m = context;
    size_t from = step * ROWS_STEP, left = m->held - from;
    row_range range = range_of(m->r, from, left < ROWS_STEP ? left : ROWS_STEP);
    return m->body(m->context, &range, worker);
}

quorum_status rows_map(quorum_status ready, const sliced_rows *r, int threads, rows_body body,
                       void *context, const team_result *results, size_t count)
{
    mapping m = {.r = r, .body = body, .context = context, .held = held_rows(r).count};
    size_t steps = (m.held + ROWS_STEP - 1) / ROWS_STEP;
    if (ready >= 0)
        ready = parallel_for(threads, steps, map_step, &m);
    if (is_alone(r))
        return ready;
    TRY(team_agree(ready));
    for (size_t k = 0; k < count; k++)
        team_share_slices(results[k].data, results[k].width, r->n, ROWS_STEP);
    return QUORUM_OK;
}
