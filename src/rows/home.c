/* The rows of all parts in their order, some parts at a time: first all inputs, then each field.
 * The first process takes a step when its writer asks for more than it has; the others go through
 * the same steps, and at the end all of them are taken, whatever the writer did. */
#include "rows/home.h"

#include "base/memory.h"
#include "team/team.h"

#include <string.h>

struct rows_home {
    const holdings *h;
    row_column column[ROW_COLUMNS_MOST];
    size_t columns;
    size_t part;                  /* the next one                                 */
    size_t sent;                  /* columns that have been sent                  */
    size_t *out_bytes, *in_bytes; /* ranks                                        */
    double *out, *in;             /* of some parts: what travels                  */
    double *here;                 /* on rank 0: in the order of the rows          */
    size_t taken, there;          /* of `here`: bytes given away, bytes           */
};

/* Numbers of some parts at most. */
static size_t most_numbers(const holdings *h, size_t D)
{
    size_t most = 0;
    for (size_t first = 0, end; first < h->M; first = end) {
        end = holdings_some(h, first);
        size_t rows = h->offset[end] - h->offset[first];
        most = rows > most ? rows : most;
    }
    return most * D;
}

static void home_free(rows_home *home)
{
    mem_free(home->out_bytes);
    mem_free(home->in_bytes);
    mem_free(home->out);
    mem_free(home->in);
    mem_free(home->here);
}

static quorum_status home_new(const holdings *h, const row_set *rows, rows_home *home)
{
    size_t ranks = (size_t)team_size(), room = most_numbers(h, rows->D),
           here = team_rank() == 0 ? room : 0;
    *home = (rows_home){.h = h};
    home->columns = row_columns(rows, home->column);
    NEW_ARRAY(home->out_bytes, ranks);
    NEW_ARRAY(home->in_bytes, ranks);
    NEW_ARRAY(home->out, room);
    NEW_ARRAY(home->in, here);
    NEW_ARRAY(home->here, here);
    if (home->out_bytes && home->in_bytes && home->out && home->in && home->here)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for writing %zu rows", h->offset[h->M]);
}

static const double *numbers_of(const rows_home *home, size_t e, size_t *count)
{
    const holdings *h = home->h;
    size_t at = h->offset[e], rows = h->offset[e + 1] - at;
    const row_column *c = &home->column[home->sent];
    *count = rows * c->width;
    return c->data + at * c->width;
}

/* What came, rank by rank and in each part by part, into the order of the rows. */
static void put_in_order(rows_home *home, size_t first, size_t end)
{
    size_t at = 0, count;
    for (int r = 0; r < team_size(); r++) {
        double *to = home->here;
        for (size_t e = first; e < end; e++, to += count) {
            numbers_of(home, e, &count);
            if (home->h->share.owner[e] != r)
                continue;
            memcpy(to, home->in + at, count * sizeof *to);
            at += count;
        }
    }
    home->taken = 0;
    home->there = at * sizeof *home->here;
}

/* The numbers of the parts first .. end - 1 that this rank has go out, all come to rank 0. */
static void pack_some(rows_home *home, size_t first, size_t end)
{
    size_t out = 0, count;
    for (int r = 0; r < team_size(); r++)
        home->out_bytes[r] = home->in_bytes[r] = 0;
    for (size_t e = first; e < end; e++) {
        const double *numbers = numbers_of(home, e, &count);
        if (team_rank() == 0)
            home->in_bytes[home->h->share.owner[e]] += count * sizeof *numbers;
        if (holdings_is_mine(home->h, e)) {
            memcpy(home->out + out, numbers, count * sizeof *numbers);
            out += count;
        }
    }
    home->out_bytes[0] = out * sizeof *home->out;
}

/* One step: the numbers of some parts go to rank 0. */
static void send_some(rows_home *home)
{
    size_t first = home->part, end = holdings_some(home->h, first);
    pack_some(home, first, end);
    team_exchange(home->out, home->out_bytes, home->in, home->in_bytes, 1);
    if (team_rank() == 0)
        put_in_order(home, first, end);
    home->sent += end == home->h->M;
    home->part = end == home->h->M ? 0 : end;
}

quorum_status rows_home_next(void *context, void *to, size_t bytes)
{
    rows_home *home = context;
    char *at = to;
    while (bytes > 0) {
        size_t left = home->there - home->taken, some = bytes < left ? bytes : left;
        memcpy(at, (const char *)home->here + home->taken, some);
        at += some;
        bytes -= some;
        home->taken += some;
        if (bytes > 0 && home->sent == home->columns)
            return failure(QUORUM_E_FILE, "there are no more rows to write");
        if (bytes > 0)
            send_some(home);
    }
    return QUORUM_OK;
}

static quorum_status bring(const holdings *h, const row_set *rows, home_body body, void *context)
{
    rows_home home;
    quorum_status status = team_agree(home_new(h, rows, &home));
    if (status >= 0) {
        if (team_rank() == 0)
            status = body(context, &home);
        while (home.sent < home.columns)
            send_some(&home);
        status = team_agree(status);
    }
    home_free(&home);
    return status;
}

quorum_status rows_bring_home(quorum_status ready, const holdings *h, const row_set *rows,
                              home_body body, void *context)
{
    TRY(team_agree(ready));
    if (!holdings_is_whole(h))
        return bring(h, rows, body, context);
    return team_agree(team_rank() == 0 ? body(context, NULL) : QUORUM_OK);
}
