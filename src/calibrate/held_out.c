/* Rows held out of a model, and a model without them (held_out.h). */
#include "calibrate/held_out.h"

#include "base/memory.h"
#include "base/random.h"

#include <string.h>

/* ---- Which rows ---- */

quorum_status row_choice_new(const quorum_model *m, unsigned char *round, row_choice *out)
{
    *out = (row_choice){.m = m, .round = round};
    if (NEW_ARRAY(out->rows, m->rows.n) && NEW_ARRAY(out->left, m->M))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for holding out some of %zu rows", m->rows.n);
}

void row_choice_free(row_choice *c)
{
    mem_free(c->rows);
    mem_free(c->left);
}

void row_choice_draw(row_choice *c, int stream)
{
    size_t n = c->m->rows.n;
    for (size_t i = 0; i < n; i++)
        c->rows[i] = i;
    rng r = rng_seed(c->m->seed, (uint64_t)stream);
    rng_shuffle(&r, c->rows, n);
    c->asked = n;
}

void row_choice_take_out(row_choice *c)
{
    const quorum_model *m = c->m;
    parts all = model_parts(m);
    for (size_t e = 0; e < m->M; e++)
        c->left[e] = m->offset[e + 1] - m->offset[e];
    for (size_t i = 0; i < c->asked && c->count < c->wanted; i++) {
        size_t e = part_of_row(&all, c->rows[i]);
        if (c->left[e] < 2)
            continue;
        c->left[e]--;
        c->round[c->rows[i]] = (unsigned char)(1 + c->count++ / c->together);
    }
}

/* ---- A model without the rows that are held out ---- */

/* What prediction looks at; the rest stays empty, and targets stay warped. */
static quorum_status copy_settings(const quorum_model *m, quorum_model *to)
{
    TRY(model_copy_input_units(m, to));
    TRY(model_copy_theta(m, to));
    if (!NEW_ZEROED(to->columns.names, m->rows.D + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    to->graph_how = m->graph_how;
    to->units.y_mean = m->units.y_mean;
    to->units.y_scale = m->units.y_scale;
    to->seed = m->seed;
    return line_copy(m->rows.D, &m->units, &to->units);
}

/* The ranking and the precision matrix, if there are any, are all that prediction wants of the
 * graph. */
static quorum_status copy_graph(const quorum_model *m, quorum_model *to)
{
    const expert_graph *from = &m->learned.graph;
    expert_graph *g = &to->learned.graph;
    if (!from->ranking)
        return QUORUM_OK;
    if (!NEW_ARRAY(g->ranking, m->M) || (from->precision && !NEW_ARRAY(g->precision, m->M * m->M)))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    memcpy(g->ranking, from->ranking, m->M * sizeof *g->ranking);
    if (from->precision)
        memcpy(g->precision, from->precision, m->M * m->M * sizeof *g->precision);
    return QUORUM_OK;
}

/* The rows that are not held out, still sorted by expert: nobody holds the others. */
static quorum_status copy_rows(const quorum_model *m, const char *held, quorum_model *to)
{
    size_t at = 0;
    TRY(rows_new(&m->rows, to->rows.n, &to->rows));
    if (!NEW_ARRAY(to->offset, m->M + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    to->offset[0] = 0;
    for (size_t e = 0; e < m->M; e++) {
        for (size_t i = m->offset[e]; i < m->offset[e + 1]; i++)
            if (!held[i])
                rows_copy(&m->rows, i, 1, &to->rows, at++);
        to->offset[e + 1] = at;
    }
    parts own = model_parts(m);
    return extra_rows_without(&own, &m->extra, held, &to->extra);
}

static quorum_status without_rows(const quorum_model *m, const char *held, size_t count,
                                  quorum_model **out)
{
    quorum_model *to = model_new();
    if (!to)
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    to->rows.D = m->rows.D;
    to->columns.is_reduced = 1;
    to->M = m->M;
    to->rows.n = m->rows.n - count;
    quorum_status status = copy_settings(m, to);
    if (status == QUORUM_OK)
        status = copy_graph(m, to);
    if (status == QUORUM_OK)
        status = copy_rows(m, held, to);
    if (status < 0)
        quorum_model_free(to);
    else
        *out = to;
    return status;
}

/* ---- What it predicts for them ---- */

void held_out_free(held_out *r)
{
    mem_free(r->held);
    quorum_model_free(r->reduced);
    mem_free(r->X);
    mem_free(r->y);
    mem_free(r->mean);
    mem_free(r->std);
    mem_free(r->error);
    mem_free(r->weight);
}

/* The held-out rows in their units. */
static quorum_status copy_held_out(held_out *r)
{
    const quorum_model *m = r->m;
    size_t D = m->rows.D, at = 0;
    if (!NEW_ARRAY(r->X, r->count * D) || !NEW_ARRAY(r->y, r->count) ||
        !NEW_ARRAY(r->mean, r->count) || !NEW_ARRAY(r->std, r->count) ||
        !NEW_ARRAY(r->weight, r->count) || (m->rows.error && !NEW_ARRAY(r->error, r->count)))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating on %zu rows", r->count);
    for (size_t i = 0; i < m->rows.n; i++) {
        if (!r->held[i])
            continue;
        model_in_units(m, m->rows.X + i * D, r->X + at * D);
        r->weight[at] = row_weight(&m->rows, i);
        if (m->rows.error && r->error)
            r->error[at] = m->rows.error[i] * m->units.y_scale;
        r->y[at++] = model_target_in_units(m, m->rows.X + i * D, m->rows.y[i]);
    }
    return QUORUM_OK;
}

quorum_status held_out_make(void *context)
{
    held_out *r = context;
    if (!NEW_ARRAY(r->held, r->m->rows.n))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating");
    for (size_t i = 0; i < r->m->rows.n; i++)
        r->count += (size_t)(r->held[i] = r->round[i] == r->which);
    if (r->count == 0)
        return QUORUM_OK;
    TRY(without_rows(r->m, r->held, r->count, &r->reduced));
    return copy_held_out(r);
}

quorum_status held_out_predict(const held_out *r, const quorum_options *options)
{
    quorum_prediction out = {.mean = r->mean, .std = r->std, .noise_std = r->error};
    return quorum_predict(r->reduced, r->X, r->count, options, &out, NULL);
}
