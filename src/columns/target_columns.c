/* Several targets of a training file (target_columns.h). */
#include "columns/target_columns.h"

#include "base/memory.h"
#include "rows/scattered.h"
#include "team/work.h"

#include <string.h>

size_t targets_of(const quorum_data *d)
{
    return d->targets > 1 ? d->targets : 1;
}

quorum_status targets_allowed(size_t targets, int with_offset)
{
    if (targets > MOST_TARGETS)
        return failure(QUORUM_E_ARGUMENT, "target: %zu columns, and %d are the most", targets,
                       MOST_TARGETS);
    if (targets > 1 && with_offset)
        return failure(QUORUM_E_ARGUMENT,
                       "offset: it is what is known of one target, and there are "
                       "%zu: fit each by itself",
                       targets);
    return QUORUM_OK;
}

quorum_status targets_room(quorum_data *d, size_t targets)
{
    if (targets < 2)
        return QUORUM_OK;
    d->targets = targets;
    NEW_ZEROED(d->target_y, targets);
    NEW_ZEROED(d->target_name, targets);
    NEW_ZEROED(d->target_place, targets);
    if (d->target_y && d->target_name && d->target_place)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for %zu targets", targets);
}

void targets_free(quorum_data *d)
{
    for (size_t t = 1; t < d->targets; t++) {
        if (d->target_y)
            mem_free(d->target_y[t]);
        if (d->target_name)
            mem_free(d->target_name[t]);
    }
    mem_free(d->target_y);
    mem_free(d->target_name);
    mem_free(d->target_place);
}

void targets_attach(const quorum_data *d, reader *r)
{
    if (d->targets > 1)
        reader_let_miss(r, d->inputs, d->targets);
}

typedef struct {
    quorum_data *d;
    size_t targets;
} room_wanted;

static quorum_status make_room(void *context)
{
    const room_wanted *w = context;
    return w->d->targets > 1 ? QUORUM_OK : targets_room(w->d, w->targets);
}

quorum_status targets_send(quorum_data *d)
{
    room_wanted w = {d, d->targets};
    team_send(&w.targets, sizeof w.targets);
    if (w.targets < 2)
        return QUORUM_OK;
    TRY(team_all(QUORUM_OK, make_room, &w));
    team_send(d->target_place, d->targets * sizeof *d->target_place);
    for (size_t t = 1; d->names && t < d->targets; t++)
        TRY(team_send_text(QUORUM_OK, &d->target_name[t]));
    return QUORUM_OK;
}

/* X (held x (inputs + targets - 1)) becomes held x inputs; y is the last target until now. */
static void split(quorum_data *d, size_t held)
{
    size_t D = d->inputs, more = d->targets - 1;
    for (size_t i = 0; i < held; i++) {
        const double *x = d->X + i * (D + more);
        d->target_y[more][i] = d->y[i];
        d->y[i] = x[D];
        for (size_t t = 1; t < more; t++)
            d->target_y[t][i] = x[D + t];
        memmove(d->X + i * D, x, D * sizeof *x);
    }
    d->target_y[0] = d->y;
}

quorum_status targets_split(void *data)
{
    quorum_data *d = data;
    size_t held = rows_share(d->rows);
    for (size_t t = 1; t < d->targets; t++)
        if (!NEW_ARRAY(d->target_y[t], held))
            return failure(QUORUM_E_MEMORY, "out of memory for %zu targets", d->targets);
    if (d->targets > 1)
        split(d, held);
    if (!d->names)
        mem_free(d->target_name);
    d->target_name = d->names ? d->target_name : NULL;
    return QUORUM_OK;
}

static int is_other(const quorum_data *d, size_t place)
{
    for (size_t t = 0; t < d->targets; t++)
        if (d->target_place[t] == place)
            return 1;
    return (d->weight && d->weight_place == place) || (d->noise_std && d->noise_place == place);
}

void targets_forget_input(quorum_data *d, size_t i)
{
    size_t place = 0;
    for (size_t inputs = 0; inputs < i || is_other(d, place); place++)
        inputs += (size_t)!is_other(d, place);
    for (size_t t = 0; t < d->targets; t++)
        d->target_place[t] -= d->target_place[t] > place;
    d->weight_place -= d->weight && d->weight_place > place;
    d->noise_place -= d->noise_std && d->noise_place > place;
}
