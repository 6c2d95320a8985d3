/* Rows for a first fit, drawn at random (drawn_rows.h). */
#include "fit/drawn_rows.h"

#include "base/memory.h"
#include "base/random.h"

enum { PARTS = 3 /* one in so many is held out */ };

void drawn_rows_free(drawn_rows *h)
{
    mem_free(h->learned);
    mem_free(h->held);
    rows_free(&h->room);
    rows_free(&h->rest);
    *h = (drawn_rows){0};
}

typedef struct {
    const scattered_rows *given;
    size_t most;
    rng r;
    drawn_rows *out;
} drawing;

static void draw(drawing *d)
{
    size_t n = d->given->n, wanted = n < d->most ? n : d->most, taken = 0;
    drawn_rows *h = d->out;
    for (size_t i = 0; i < n && wanted > 0; i++) {
        if (rng_below(&d->r, n - i) >= wanted)
            continue;
        wanted--;
        if (++taken % PARTS == 0)
            h->held[h->held_count++] = i;
        else
            h->learned[h->learned_count++] = i;
    }
}

static quorum_status draw_here(void *context)
{
    drawing *d = context;
    drawn_rows *h = d->out;
    if (!NEW_ARRAY(h->learned, d->most) || !NEW_ARRAY(h->held, d->most))
        return failure(QUORUM_E_MEMORY, "out of memory for a choice of %zu rows", d->most);
    draw(d);
    TRY(rows_new(&d->given->held, h->learned_count, &h->room));
    return rows_new(&d->given->held, h->held_count, &h->rest);
}

quorum_status drawn_rows_draw(const scattered_rows *given, size_t most, uint64_t seed,
                              uint64_t stream, drawn_rows *out)
{
    drawing d = {.given = given, .most = most, .r = rng_seed(seed, stream), .out = out};
    *out = (drawn_rows){0};
    TRY(team_all(QUORUM_OK, draw_here, &d));
    TRY(rows_pick(QUORUM_OK, given, out->learned, out->learned_count, &out->room, &out->rows));
    return rows_fetch(QUORUM_OK, given, out->held, out->held_count, &out->rest);
}
