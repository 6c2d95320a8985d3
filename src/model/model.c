/* A model made, completed (what the stored fields imply), asked and freed. */
#include "model/model.h"

#include "base/memory.h"
#include "train/train.h"
#include "linalg/blas.h"
#include "model/members.h"

#include <math.h>
#include <string.h>

quorum_model *model_new(void)
{
    quorum_model *m;
    if (!NEW_ZEROED(m, 1))
        return NULL;
    m->spread = INFINITY;
    m->cache = model_cache_new(m);
    if (!m->cache) {
        mem_free(m);
        return NULL;
    }
    return m;
}

void model_free_rows(quorum_model *m)
{
    model_shown *s = &m->shown;
    void *const lists[] = {m->row,         m->offset,        m->learned.reference,
                           s->sizes,       s->at_bound,      s->is_constant,
                           s->slope,       s->slope_std,     s->input_lengthscale,
                           s->levels,      (void *)s->level, (void *)s->position,
                           s->first_level, m->cells.centre,  m->cells.of_row};
    model_cache_free(m->cache);
    expert_graph_free(&m->learned.graph);
    calibration_free(&m->calibration);
    rows_free(&m->rows);
    holdings_free(&m->held);
    extra_rows_free(&m->extra);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        mem_free(lists[i]);
    model_forget_rows(m);
}

void model_forget_rows(quorum_model *m)
{
    m->rows = (row_set){.D = m->rows.D};
    m->row = m->offset = NULL;
    m->M = 0;
    m->extra = (extra_rows){0};
    m->held = (holdings){0};
    m->learned = (learned_graph){0};
    m->calibration = (calibration){0};
    m->shown = (model_shown){0};
    m->cells = (known_cells){0};
    m->cache = NULL;
}

void quorum_model_free(quorum_model *m)
{
    if (!m)
        return;
    for (size_t t = 0; t < m->further.count; t++)
        quorum_model_free(m->further.model[t]);
    mem_free(m->further.model);
    mem_free(m->columns.others);
    for (size_t i = 0; m->columns.names && i <= m->rows.D; i++)
        mem_free(m->columns.names[i]);
    model_free_rows(m);
    mem_free(m->columns.names);
    mem_free(m->columns.offset);
    mem_free(m->columns.weights);
    mem_free(m->columns.noise_std);
    mem_free(m->units.bend_at);
    mem_free(m->units.bend_width);
    mem_free(m->units.x_mean);
    mem_free(m->units.x_scale);
    mem_free(m->units.constant);
    mem_free(m->units.rotation);
    line_free(&m->units);
    mem_free(m->log_theta);
    mem_free(m->same);
    mem_free(m->theta.lengthscale);
    mem_free(m->history.options);
    encoding_free(&m->encoding);
    made_free(&m->made);
    holes_free(&m->holes);
    for (size_t d = 0; m->columns.date && d < m->rows.D; d++)
        mem_free(m->columns.date[d]);
    mem_free(m->columns.date);
    mem_free(m);
}

parts model_parts(const quorum_model *m)
{
    return (parts){.rows = m->rows,
                   .M = m->M,
                   .offset = m->offset,
                   .held = model_is_whole(m) ? NULL : m->held.has};
}

quorum_status model_own_rows(quorum_model *m, const row_set *like)
{
    parts all = model_parts(m);
    TRY(rows_new_sparse(like, m->rows.n, &m->rows));
    return holdings_new(&all, &m->held);
}

quorum_status model_hold(quorum_status ready, const quorum_model *m, const size_t *experts,
                         size_t count)
{
    return holdings_share(ready, &m->held, experts, count, &m->rows);
}

quorum_status model_hold_all(const quorum_model *m)
{
    return holdings_share_all(QUORUM_OK, &m->held, &m->rows);
}

int model_is_whole(const quorum_model *m)
{
    return holdings_is_whole(&m->held);
}

static quorum_status copy_numbers(double **to, const double *from, size_t count)
{
    if (!from)
        return QUORUM_OK;
    if (!NEW_ARRAY(*to, count))
        return failure(QUORUM_E_MEMORY, "out of memory for what the fit has learned");
    memcpy(*to, from, count * sizeof *from);
    return QUORUM_OK;
}

quorum_status model_copy_input_units(const quorum_model *from, quorum_model *to)
{
    size_t D = from->rows.D;
    const unit_change *u = &from->units;
    TRY(copy_numbers(&to->units.bend_at, u->bend_at, D));
    TRY(copy_numbers(&to->units.bend_width, u->bend_width, D));
    TRY(copy_numbers(&to->units.x_mean, u->x_mean, D));
    TRY(copy_numbers(&to->units.x_scale, u->x_scale, D));
    TRY(copy_numbers(&to->units.rotation, u->rotation, D * D));
    if (!NEW_ARRAY(to->units.constant, D))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu inputs", D);
    memcpy(to->units.constant, u->constant, D);
    return QUORUM_OK;
}

quorum_status model_copy_theta(const quorum_model *from, quorum_model *to)
{
    size_t D = from->rows.D;
    to->theta = from->theta;
    to->theta.lengthscale = NULL;
    to->spread = from->spread;
    to->untested = from->untested;
    to->nested_spread = from->nested_spread;
    to->local_noise = from->local_noise;
    to->neighbours = from->neighbours;
    to->method = from->method;
    TRY(copy_numbers(&to->theta.lengthscale, from->theta.lengthscale, D));
    return copy_numbers(&to->log_theta, from->log_theta, D + 2 + MOST_SHAPES);
}

void model_set_theta(quorum_model *m)
{
    theta_from_logs(m->log_theta, &m->theta);
}

/* Along input d alone: 1 / l^2 = sum_k E_dk^2 / l_k^2 over the directions k. */
static double lengthscale_along(const quorum_model *m, size_t d)
{
    size_t D = m->rows.D;
    double sum = 0.0;
    if (!m->units.rotation || m->units.constant[d])
        return m->theta.lengthscale[d];
    for (size_t k = 0; k < D; k++) {
        double part = m->units.rotation[k * D + d] / m->theta.lengthscale[k];
        sum += part * part;
    }
    return 1.0 / sqrt(sum);
}

quorum_status model_complete(quorum_model *m)
{
    if (!NEW_ARRAY(m->shown.sizes, m->M) ||
        !NEW_ARRAY(m->shown.at_bound, m->rows.D + 2 + MOST_SHAPES) ||
        !NEW_ARRAY(m->shown.is_constant, m->rows.D) ||
        !NEW_ARRAY(m->shown.input_lengthscale, m->rows.D))
        return failure(QUORUM_E_MEMORY, "out of memory for a model of %zu experts", m->M);
    for (size_t e = 0; e < m->M; e++) {
        m->shown.sizes[e] = m->offset[e + 1] - m->offset[e];
        if (m->extra.offset)
            m->shown.sizes[e] += m->extra.offset[e + 1] - m->extra.offset[e];
    }
    theta_at_bound(&m->theta, m->shown.at_bound);
    for (size_t d = 0; d < m->rows.D; d++) {
        m->shown.is_constant[d] = m->units.constant[d] != 0;
        m->shown.input_lengthscale[d] = lengthscale_along(m, d);
        if (m->units.constant[d])
            m->shown.at_bound[d] = 0;
    }
    TRY(model_show_levels(m));
    return model_show_line(m);
}

static quorum_status show_apart(quorum_model *m)
{
    size_t *first = NULL;
    int some = 0;
    for (size_t d = 0; d < m->rows.D; d++)
        some |= m->encoding.of[d].apart > 0;
    if (!some)
        return QUORUM_OK;
    if (!NEW_ARRAY(first, m->rows.D))
        return failure(QUORUM_E_MEMORY, "out of memory for the categories of a model");
    for (size_t d = 0; d < m->rows.D; d++)
        first[d] = m->encoding.of[d].apart;
    m->shown.first_level = first;
    return QUORUM_OK;
}

quorum_status model_show_levels(quorum_model *m)
{
    model_shown *s = &m->shown;
    size_t D = m->rows.D;
    if (!m->encoding.of)
        return QUORUM_OK;
    if (!NEW_ARRAY(s->levels, D) || !NEW_ARRAY(s->level, D) || !NEW_ARRAY(s->position, D))
        return failure(QUORUM_E_MEMORY, "out of memory for the categories of a model");
    for (size_t d = 0; d < D; d++) {
        s->levels[d] = m->encoding.of[d].levels;
        s->level[d] = (const char *const *)m->encoding.of[d].name;
        s->position[d] = m->encoding.of[d].position;
    }
    return show_apart(m);
}

static void show_place(const quorum_model *m, quorum_info *info)
{
    if (m->place == 0)
        return;
    info->longitude = m->made.of[m->place - m->made.columns].column;
    info->latitude = m->made.of[m->place - m->made.columns].other;
}

/* The target's own mean and deviation, whatever y is about. */
static void show_target(const unit_change *u, quorum_info *info)
{
    int apart = u->target_scale > 0.0;
    info->target_mean = apart ? u->target_mean : u->y_mean;
    info->target_scale = apart ? u->target_scale : u->y_scale;
}

static const char *trend_name(const quorum_model *m)
{
    return options_trend_name(m->units.line                    ? TREND_LINEAR
                              : m->history.trend == TREND_NONE ? TREND_NONE
                                                               : TREND_CONSTANT);
}

/* What is derived or irregular; the rest is in the tables of members. */
quorum_status quorum_inspect(const quorum_model *m, quorum_info *info)
{
    if (!m || !info)
        return failure(QUORUM_E_ARGUMENT, "quorum_inspect: model and info must not be NULL");
    const quorum_model now = model_now(m);
    *info = (quorum_info){
        .rows = m->rows.n,
        .inputs = m->rows.D,
        .experts = m->M,
        .sizes = m->shown.sizes,
        .names = (const char *const *)m->columns.names,
        .kernel = m->theta.kernel->name,
        .partition = m->partition->name,
        .lengthscale = m->theta.lengthscale,
        .signal_variance = m->theta.signal,
        .noise_variance = m->theta.noise,
        .at_bound = m->shown.at_bound,
        .seed = m->seed,
        .ranking = now.learned.graph.ranking,
        .calibration_rows = m->calibration.count,
        .calibration_scale = m->calibration.count > 0 ? m->calibration.scale : 1.0,
        .train = options_train_name(m->history.train),
        .kernels = (size_t)m->history.kernel_choice.count,
        .kernel_names = m->history.kernel_choice.name,
        .kernel_scores = m->history.kernel_choice.score,
        .options = m->history.options,
        .constant = m->shown.is_constant,
        .input_lengthscale = m->shown.input_lengthscale,
        .long_share = m->theta.share,
        .long_reach = m->theta.reach,
        .calibration_for = m->calibration.count > 0 ? m->calibration.purpose : NULL,
        .trend = trend_name(m),
        .slope = m->shown.slope,
        .slope_std = m->shown.slope_std,
        .warp = options_warp_name(m->units.warp),
        .warp_shift = m->units.shift,
        .levels = m->shown.levels,
        .level = m->shown.level,
        .position = m->shown.position,
        .columns = model_table_columns(m),
        .date = (const char *const *)m->columns.date,
        .local_noise = m->local_noise,
        .target_values = m->history.atoms.values,
        .common_target = m->history.atoms.common,
        .common_rows = m->history.atoms.common_rows,
        .first_level = m->shown.first_level,
        .place = m->place,
        .chosen_method = !m->method.compared  ? NULL
                         : m->method.by_cells ? rule_cells.name
                                              : rule_nearest.name,
        .cells_error = m->method.compared ? m->method.error : 1.0,
        .cells_gain = m->method.gain,
    };
    show_place(m, info);
    members_show(&now, info);
    show_target(&m->units, info);
    return QUORUM_OK;
}

const char *quorum_version(void)
{
    return QUORUM_VERSION_TEXT;
}

const char *quorum_blas_kernel(void)
{
    return blas_kernel_name();
}
