/* Several targets: models that are joined, and asked for one by one. */
#include "targets/several.h"

#include "base/memory.h"
#include "model/members.h"

#include <string.h>

size_t quorum_model_targets(const quorum_model *m)
{
    return m ? m->further.count + 1 : 0;
}

quorum_model *quorum_model_target(quorum_model *m, size_t i)
{
    if (!m || i > m->further.count)
        return NULL;
    return i == 0 ? m : m->further.model[i - 1];
}

/* ---- Joined ---- */

/* Of the model of target t: where the others stand in the table. */
static quorum_status note_others(quorum_model *m, size_t t, size_t count, const size_t *place)
{
    model_columns *c = &m->columns;
    if (!NEW_ARRAY(c->others, count - 1))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu targets", count);
    c->other_targets = 0;
    for (size_t u = 0; u < count; u++)
        if (u != t)
            c->others[c->other_targets++] = place[u];
    return QUORUM_OK;
}

quorum_status several_join(quorum_model **m, size_t count, const size_t *place, int shared)
{
    further_models joined = {.count = count - 1, .shared = shared};
    if (count < 2)
        return QUORUM_OK;
    for (size_t t = 0; t < count; t++)
        TRY(note_others(m[t], t, count, place));
    if (!NEW_ARRAY(joined.model, joined.count))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu targets", count);
    memcpy(joined.model, m + 1, joined.count * sizeof *m);
    m[0]->further = joined;
    return QUORUM_OK;
}

/* ---- The same columns ---- */

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static int same_levels(const quorum_model *a, const quorum_model *b, size_t d)
{
    const category none = {0};
    const category *x = a->encoding.of ? &a->encoding.of[d] : &none,
                   *y = b->encoding.of ? &b->encoding.of[d] : &none;
    int same = x->levels == y->levels;
    for (size_t l = 0; same && l < x->levels; l++)
        same = strcmp(x->name[l], y->name[l]) == 0;
    return same;
}

static int same_columns(const quorum_model *a, const quorum_model *b)
{
    const model_columns *c = &a->columns, *k = &b->columns;
    size_t columns = model_table_columns(a);
    int same = columns == model_table_columns(b) && c->has_names == k->has_names &&
               same_text(c->weights, k->weights) && same_text(c->noise_std, k->noise_std) &&
               !c->offset && !k->offset;
    for (size_t d = 0; same && d < columns; d++)
        same = strcmp(c->names[d], k->names[d]) == 0 && same_levels(a, b, d) &&
               same_text(c->date ? c->date[d] : NULL, k->date ? k->date[d] : NULL);
    return same;
}

quorum_status several_check(quorum_model *const *m, size_t count)
{
    for (size_t t = 1; t < count; t++) {
        if (!same_columns(m[0], m[t]))
            return damaged("its targets do not have the same columns");
        for (size_t u = 0; u < t; u++)
            if (strcmp(m[u]->columns.names[m[u]->rows.D], m[t]->columns.names[m[t]->rows.D]) == 0)
                return damaged("two of its targets have the same name");
    }
    return QUORUM_OK;
}

/* ---- The same rows and theta ---- */

static int same_bytes(const void *a, const void *b, size_t bytes)
{
    return a == b || (a && b && memcmp(a, b, bytes) == 0);
}

static int same_inputs(const quorum_model *a, const quorum_model *b)
{
    size_t D = a->rows.D;
    int same = D == b->rows.D && a->made.count == b->made.count &&
               same_bytes(a->units.bend_at, b->units.bend_at, D * sizeof(double)) &&
               same_bytes(a->units.bend_width, b->units.bend_width, D * sizeof(double)) &&
               same_bytes(a->units.x_mean, b->units.x_mean, D * sizeof(double)) &&
               same_bytes(a->units.x_scale, b->units.x_scale, D * sizeof(double)) &&
               same_bytes(a->units.constant, b->units.constant, D) &&
               same_bytes(a->units.rotation, b->units.rotation, D * D * sizeof(double));
    for (size_t i = 0; same && i < a->made.count; i++)
        same = a->made.of[i].column == b->made.of[i].column &&
               a->made.of[i].kind == b->made.of[i].kind &&
               a->made.of[i].period == b->made.of[i].period &&
               a->made.of[i].other == b->made.of[i].other &&
               a->made.of[i].degrees == b->made.of[i].degrees;
    for (size_t d = 0; same && a->encoding.of && d < D; d++)
        same = a->encoding.of[d].levels == b->encoding.of[d].levels &&
               same_bytes(a->encoding.of[d].position, b->encoding.of[d].position,
                          a->encoding.of[d].levels * sizeof(double));
    return same;
}

static int same_rows(const quorum_model *a, const quorum_model *b)
{
    size_t n = a->rows.n, D = a->rows.D;
    int same = n == b->rows.n && a->M == b->M && !a->rows.error && !b->rows.error &&
               same_bytes(a->offset, b->offset, (a->M + 1) * sizeof *a->offset);
    if (!same || !model_is_whole(a) || !model_is_whole(b))
        return same;
    return same_bytes(a->rows.X, b->rows.X, n * D * sizeof(double)) &&
           same_bytes(a->row, b->row, n * sizeof *a->row) &&
           same_bytes(a->rows.weight, b->rows.weight, n * sizeof(double));
}

quorum_status several_check_shared(quorum_model *const *m, size_t count)
{
    for (size_t t = 1; t < count; t++) {
        const quorum_model *a = m[0], *b = m[t];
        size_t P = theta_length(a->theta.kernel, a->rows.D);
        if (!same_inputs(a, b) || !same_rows(a, b) || a->theta.kernel != b->theta.kernel ||
            !same_bytes(a->log_theta, b->log_theta, P * sizeof *a->log_theta) || a->units.line ||
            b->units.line || a->units.warp != WARP_NONE || b->units.warp != WARP_NONE ||
            !a->extra.offset != !b->extra.offset || a->neighbours != b->neighbours)
            return damaged("its targets do not share what they are said to");
    }
    return QUORUM_OK;
}
