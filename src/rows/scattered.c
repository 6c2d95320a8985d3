/* Training rows in the slices of a team: fetched by number to every rank, gathered whole, or
 * delivered to the ranks that want them. */
#include "rows/scattered.h"

#include "base/memory.h"
#include "team/team.h"

#include <string.h>

enum { TOGETHER = 1 << 16 }; /* rows that are fetched at a time */

static quorum_status out_of_memory(size_t rows)
{
    return failure(QUORUM_E_MEMORY, "out of memory for sending %zu rows", rows);
}

static int is_alone(const scattered_rows *r)
{
    return r->whole || team_size() == 1;
}

scattered_rows rows_scattered(size_t n, const row_set *held)
{
    team_slice mine = my_slice(n, ROWS_STEP);
    scattered_rows r = {.n = n, .held = *held, .first = mine.first};
    r.held.n = mine.count;
    return r;
}

scattered_rows rows_whole(const row_set *all)
{
    return (scattered_rows){.n = all->n, .held = *all, .whole = 1};
}

size_t rows_share(size_t n)
{
    return my_slice(n, ROWS_STEP).count;
}

void rows_note(size_t held)
{
    team_note_rows(held);
}

/* ---- To every rank ---- */

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

static int owner_of(const scattered_rows *r, size_t row)
{
    return slice_owner(r->n, ROWS_STEP, row, team_size());
}

static quorum_status parcel_new(const scattered_rows *r, const size_t *which, size_t count,
                                size_t width, parcel *p)
{
    size_t ranks = (size_t)team_size(), at = 0;
    *p = (parcel){.width = width};
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

static void pack_mine(const scattered_rows *r, const size_t *which, size_t count,
                      const row_set *like, const parcel *p)
{
    row_set wanted = rows_only(&r->held, like);
    size_t at = p->next[team_rank()];
    for (size_t i = 0; i < count; i++)
        if (owner_of(r, which[i]) == team_rank())
            row_pack(&wanted, which[i] - r->first, p->packed + at++ * p->width);
}

static quorum_status fetch_some(quorum_status ready, const scattered_rows *r, const size_t *which,
                                row_set *to)
{
    parcel p = {0};
    if (ready >= 0)
        ready = parcel_new(r, which, to->n, row_width(to), &p);
    quorum_status status = team_agree(ready);
    if (status == QUORUM_OK) {
        pack_mine(r, which, to->n, to, &p);
        team_share(p.pieces, (size_t)team_size());
        for (size_t i = 0; i < to->n; i++)
            row_unpack(p.packed + p.next[owner_of(r, which[i])]++ * p.width, to, i);
    }
    parcel_free(&p);
    return status;
}

quorum_status rows_fetch(quorum_status ready, const scattered_rows *r, const size_t *which,
                         size_t count, row_set *to)
{
    if (is_alone(r)) {
        if (ready >= 0)
            rows_take(&r->held, which, count, to);
        return ready;
    }
    if (count == 0)
        return team_agree(ready);
    for (size_t at = 0; at < count; at += TOGETHER) {
        size_t some = count - at < TOGETHER ? count - at : TOGETHER;
        row_set part = ready >= 0 ? rows_view(to, at, some) : (row_set){.n = some};
        TRY(fetch_some(ready, r, which + at, &part));
    }
    return QUORUM_OK;
}

quorum_status rows_pick(quorum_status ready, const scattered_rows *r, const size_t *which,
                        size_t count, row_set *room, scattered_rows *out)
{
    TRY(rows_fetch(ready, r, which, count, room));
    row_set all = rows_view(room, 0, count);
    *out = r->whole ? rows_whole(&all) : rows_scattered(count, &all);
    out->held = rows_view(&all, out->first, out->held.n);
    return QUORUM_OK;
}

enum {
    MOST_SAMPLED = 20000,   /* rows ...                                  */
    LEAST_SAMPLED = 1000,   /* ... or fewer of many inputs, but no fewer */
    MOST_NUMBERS = 16777216 /* that the sample may have in all           */
};

static size_t sample_size(const scattered_rows *r)
{
    size_t most = MOST_NUMBERS / r->held.D;
    if (most > MOST_SAMPLED)
        most = MOST_SAMPLED;
    if (most < LEAST_SAMPLED)
        most = LEAST_SAMPLED;
    return r->n < most ? r->n : most;
}

quorum_status rows_sample(quorum_status ready, const scattered_rows *r, row_set *out)
{
    size_t n = sample_size(r), *which = NULL;
    *out = (row_set){0};
    if (ready >= 0)
        ready = rows_new(&r->held, n, out);
    if (ready >= 0 && !NEW_ARRAY(which, n))
        ready = failure(QUORUM_E_MEMORY, "out of memory for a sample of %zu rows", n);
    for (size_t i = 0; ready >= 0 && i < n; i++)
        which[i] = (size_t)((double)i * ((double)r->n / (double)n));
    quorum_status status = rows_fetch(ready, r, which, n, out);
    mem_free(which);
    return status;
}

quorum_status rows_gather(quorum_status ready, const scattered_rows *r, row_set *all)
{
    row_column column[ROW_COLUMNS_MOST];
    quorum_status room = rows_new(&r->held, r->n, all);
    TRY(team_agree(ready < 0 ? ready : room));
    rows_copy(&r->held, 0, r->held.n, all, r->first);
    size_t columns = row_columns(all, column);
    for (size_t c = 0; c < columns; c++)
        team_share_slices(column[c].data, column[c].width * sizeof(double), r->n, ROWS_STEP);
    rows_note(r->n);
    return QUORUM_OK;
}

quorum_status rows_fill(quorum_status ready, const scattered_rows *r, size_t *numbers, size_t count)
{
    if (is_alone(r))
        return ready;
    TRY(team_agree(ready));
    team_add(numbers, count);
    return QUORUM_OK;
}

/* ---- To their owners ---- */

typedef struct {
    const scattered_rows *r;
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

static void pack_deliveries(delivery *d, const row_set *like)
{
    row_set wanted = rows_only(&d->r->held, like);
    double *at = d->out;
    for (int to = 0; to < team_size(); to++)
        for (size_t k = 0; k < d->lists; k++) {
            if (d->owner[k] != to)
                continue;
            team_slice mine = held_part(d, k, team_rank());
            for (size_t i = 0; i < mine.count; i++, at += d->width)
                row_pack(&wanted, d->list[d->start[k] + mine.first + i] - d->r->first, at);
        }
}

static void unpack_deliveries(const delivery *d, row_set *to)
{
    const double *at = d->in;
    for (int from = 0; from < team_size(); from++) {
        size_t before = 0;
        for (size_t k = 0; k < d->lists; k++) {
            if (d->owner[k] != team_rank())
                continue;
            team_slice part = held_part(d, k, from);
            for (size_t i = 0; i < part.count; i++, at += d->width)
                row_unpack(at, to, before + part.first + i);
            before += d->start[k + 1] - d->start[k];
        }
    }
}

quorum_status rows_deliver(quorum_status ready, const scattered_rows *r, const size_t *list,
                           const size_t *start, size_t lists, const work_share *who, size_t first,
                           row_set *to)
{
    delivery d = {.r = r, .list = list, .start = start, .lists = lists};
    if (is_alone(r)) {
        if (ready >= 0)
            rows_take(&r->held, list + start[0], start[lists] - start[0], to);
        return ready;
    }
    if (ready >= 0) {
        d.width = row_width(to);
        d.owner = who->owner + first;
        ready = delivery_new(&d);
    }
    quorum_status status = team_agree(ready);
    if (status == QUORUM_OK) {
        pack_deliveries(&d, to);
        team_exchange(d.out, d.out_rows, d.in, d.in_rows, d.width * sizeof *d.out);
        unpack_deliveries(&d, to);
    }
    delivery_free(&d);
    return status;
}

/* ---- All rows, where they are ---- */

/* The rows from .. from + count - 1 of those that this rank holds. */
static row_range range_of(const scattered_rows *r, size_t from, size_t count)
{
    return (row_range){.first = r->first + from, .rows = rows_view(&r->held, from, count)};
}

typedef struct {
    const scattered_rows *r;
    void (*body)(void *context, const row_range *range);
    void *context;
} folding;

static void fold_held(void *context)
{
    const folding *f = context;
    row_range all = range_of(f->r, 0, f->r->held.n);
    f->body(f->context, &all);
}

quorum_status rows_fold(quorum_status ready, const scattered_rows *r, void *state, size_t bytes,
                        void (*body)(void *context, const row_range *range), void *context)
{
    folding f = {.r = r, .body = body, .context = context};
    if (is_alone(r)) {
        if (ready >= 0)
            fold_held(&f);
        return ready;
    }
    TRY(team_agree(ready));
    team_in_turn(state, bytes, fold_held, &f);
    return QUORUM_OK;
}

typedef struct {
    const scattered_rows *r;
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

quorum_status rows_map(quorum_status ready, const scattered_rows *r, int threads, rows_body body,
                       void *context, const team_result *results, size_t count)
{
    mapping m = {.r = r, .body = body, .context = context, .held = r->held.n};
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
