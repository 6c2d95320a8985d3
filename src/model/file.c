/* Model files: a plain .npz of arrays and meta.json (docs/model-file.md). */
#include "model/model.h"

#include "base/memory.h"
#include "archive/npz.h"
#include "model/file_sizes.h"
#include "model/meta.h"
#include "rows/home.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Saving ---- */

static quorum_status to_int64(const size_t *from, size_t count, int64_t **out)
{
    if (!NEW_ARRAY(*out, count))
        return failure(QUORUM_E_MEMORY, "out of memory for saving the model");
    for (size_t i = 0; i < count; i++)
        (*out)[i] = (int64_t)from[i];
    return QUORUM_OK;
}

/* Writing a model.  home: where rows come from that are elsewhere; NULL: all are here. */
typedef struct {
    const quorum_model *m;
    const char *path;
    rows_home *home;
    npz_writer *w;
    model_sizes sizes;
    char *meta;
    int64_t *indices[MOST_ARRAYS]; /* as the file has them; they live until it is written */
} save_state;

static void save_state_free(save_state *s)
{
    npz_writer_free(s->w);
    mem_free(s->meta);
    for (int i = 0; i < ARRAYS; i++)
        mem_free(s->indices[i]);
}

static int is_in_model(const save_state *s, const array_member *a)
{
    switch (a->when) {
    case ALWAYS: break;
    case WITH_OVERLAP: return s->m->extra.offset != NULL;
    case WITH_ROTATION: return s->m->units.rotation != NULL;
    case WITH_TWO_SCALES: return s->m->theta.kernel->longer != NULL;
    case WITH_TREND: return s->m->units.line != NULL;
    case WHERE_LEARNED: return numbers_of(a, s->m) && s->sizes.length[a->side[0]] > 0;
    case WITH_CALIBRATION: return s->m->calibration.count > 0;
    case WITH_SIGNED_RATIOS: return s->m->calibration.z != NULL;
    }
    return 1;
}

static quorum_status add_array(save_state *s, int i)
{
    const array_member *a = &array_members[i];
    size_t shape[2];
    int ndim = array_shape(a, &s->sizes, shape);
    if (a->type == INDICES) {
        TRY(to_int64(indices_of(a, s->m), shape[0], &s->indices[i]));
        return npz_add_int64(s->w, a->name, ndim, shape, s->indices[i]);
    }
    if (a->of_rows && s->home)
        return npz_add_pulled(s->w, a->name, ndim, shape, rows_home_next, s->home);
    return npz_add_doubles(s->w, a->name, ndim, shape, numbers_of(a, s->m));
}

static quorum_status check_saved(npz_reader *npz, void *context);

static quorum_status save_members(save_state *s)
{
    if (!(s->w = npz_writer_new()))
        return failure(QUORUM_E_MEMORY, "out of memory for saving the model");
    TRY(meta_make(s->m, &s->meta));
    TRY(npz_add_text(s->w, "meta.json", s->meta));
    for (int i = 0; i < ARRAYS; i++)
        if (is_in_model(s, &array_members[i]))
            TRY(add_array(s, i));
    npz_writer_check(s->w, check_saved, (void *)s->m);
    return npz_writer_save(s->w, s->path);
}

static quorum_status save(void *state, rows_home *home)
{
    save_state *s = state;
    s->home = home;
    quorum_status status = save_members(s);
    save_state_free(s);
    return status;
}

quorum_status quorum_save(const quorum_model *m, const char *path)
{
    if (!m || !path)
        return failure(QUORUM_E_ARGUMENT, "quorum_save: model and path must not be NULL");
    const quorum_model now = model_now(m);
    save_state s = {.m = &now, .path = path, .sizes = sizes_of_model(&now)};
    return rows_bring_home(QUORUM_OK, &now.held, &now.rows, save, &s);
}

/* ---- Loading: nothing in the file is believed before it is checked ---- */

typedef struct {
    const char *path;
    const quorum_options *options;
    npz_reader *npz;
    model_meta meta;
    model_sizes sizes;
    int whole; /* 1: all rows are needed, in a team by every process */
    quorum_model *m;
} load_state;

/* Now and then in a long loop. */
static quorum_status go_on(size_t i)
{
    return i % (1 << 16) == 0 ? progress_go_on() : QUORUM_OK;
}

static quorum_status refuse_number(const array_member *a)
{
    char what[64];
    snprintf(what, sizeof what, "%s is %s", a->name, a->positive ? "not positive" : "out of range");
    return damaged(what);
}

static int is_refused(const array_member *a, double x)
{
    return (a->positive && !(x > 0.0)) || (a->most > 0.0 && !(x >= a->least && x <= a->most));
}

static quorum_status check_numbers(const array_member *a, const double *data, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TRY(go_on(i));
        if (!isfinite(data[i]))
            return damaged(a->name);
        if (is_refused(a, data[i]))
            return refuse_number(a);
    }
    return QUORUM_OK;
}

static quorum_status check_shape(const load_state *l, const array_member *a, const size_t *found)
{
    size_t wanted[2];
    int ndim = array_shape(a, &l->sizes, wanted);
    for (int k = 0; k < ndim; k++)
        if (found[k] != wanted[k])
            return wrong_size(a->name, found[k], wanted[k]);
    return QUORUM_OK;
}

/* The place of a pointer to an array. */
static void *pointer_at(const load_state *l, const array_member *a)
{
    return (char *)l->m + a->place;
}

static quorum_status load_numbers(load_state *l, const array_member *a)
{
    double *data;
    size_t found[2] = {1, 1};
    int ndim = array_shape(a, &l->sizes, (size_t[2]){0});
    TRY(npz_get_doubles(l->npz, a->name, ndim, found, &data));
    quorum_status status = check_shape(l, a, found);
    if (status >= 0)
        status = check_numbers(a, data, found[0] * found[1]);
    if (status >= 0 && ndim > 0 && !a->within) {
        *(double **)pointer_at(l, a) = data;
        return status;
    }
    if (status >= 0)
        memcpy(numbers_of(a, l->m), data, found[0] * sizeof *data);
    mem_free(data);
    return status;
}

static quorum_status to_sizes(const char *name, const int64_t *from, size_t count, size_t *to)
{
    for (size_t i = 0; i < count; i++) {
        TRY(go_on(i));
        if (from[i] < 0)
            return damaged(name);
        to[i] = (size_t)from[i];
    }
    return QUORUM_OK;
}

static quorum_status load_indices(load_state *l, const array_member *a)
{
    int64_t *data;
    size_t found, *kept = NULL;
    TRY(npz_get_int64(l->npz, a->name, 1, &found, &data));
    quorum_status status = check_shape(l, a, &found);
    if (status >= 0 && !NEW_ARRAY(kept, found))
        status = failure(QUORUM_E_MEMORY, "out of memory for %s", a->name);
    if (status >= 0)
        status = to_sizes(a->name, data, found, kept);
    *(size_t **)pointer_at(l, a) = kept;
    mem_free(data);
    return status;
}

/* In a team: the rows of this process's experts; where they came from nobody asks it. */
static quorum_status load_own_rows(load_state *l, const array_member *a)
{
    quorum_model *m = l->m;
    size_t found[2] = {1, 1};
    double **data = pointer_at(l, a);
    int ndim = array_shape(a, &l->sizes, (size_t[2]){0});
    npz_sections own = {.count = m->M, .first = m->offset, .wanted = m->held.has};
    if (a->type == INDICES)
        return QUORUM_OK;
    TRY(npz_get_some_doubles(l->npz, a->name, ndim, found, &own, data));
    TRY(check_shape(l, a, found));
    for (size_t e = 0; e < m->M; e++)
        if (m->held.has[e])
            TRY(check_numbers(a, *data + m->offset[e] * found[1],
                              (m->offset[e + 1] - m->offset[e]) * found[1]));
    return QUORUM_OK;
}

/* From this version on: where the file has one of its arrays. */
static int may_have(const load_state *l, int64_t version, const char *one, const char *other)
{
    return l->meta.version >= version && (npz_has(l->npz, one) || npz_has(l->npz, other));
}

static int has_overlap(const load_state *l)
{
    return l->meta.version == FORMAT_VERSION_OVERLAP ||
           may_have(l, FORMAT_VERSION_METRIC, "extra.npy", "extra_offset.npy");
}

static int has_rotation(const load_state *l, const array_member *rotation)
{
    return l->meta.version == FORMAT_VERSION_METRIC ||
           (l->meta.version > FORMAT_VERSION_METRIC && has_array(l->npz, rotation));
}

static int is_in_file(const load_state *l, const array_member *a)
{
    switch (a->when) {
    case ALWAYS: break;
    case WITH_OVERLAP: return has_overlap(l);
    case WITH_ROTATION: return has_rotation(l, a);
    case WITH_TWO_SCALES: return l->m->theta.kernel->longer != NULL;
    case WITH_TREND: return may_have(l, FORMAT_VERSION_PARTS, "trend.npy", "trend_covariance.npy");
    case WHERE_LEARNED: return has_array(l->npz, a);
    case WITH_CALIBRATION: return has_array(l->npz, a) || l->m->calibration.how.rule;
    case WITH_SIGNED_RATIOS: return has_array(l->npz, a);
    }
    return 1;
}

static quorum_status load_array(load_state *l, const array_member *a)
{
    if (a->of_rows && !l->whole)
        return load_own_rows(l, a);
    TRY(a->type == INDICES ? load_indices(l, a) : load_numbers(l, a));
    return a->check ? a->check(l->m, &l->sizes) : QUORUM_OK;
}

static quorum_status load_arrays(load_state *l, int of_rows)
{
    for (int i = 0; i < ARRAYS; i++)
        if (array_members[i].of_rows == of_rows && is_in_file(l, &array_members[i]))
            TRY(load_array(l, &array_members[i]));
    return QUORUM_OK;
}

/* What the sizes say already, and room for what is a part of an array. */
static quorum_status prepare(load_state *l)
{
    quorum_model *m = l->m;
    m->rows.n = l->sizes.length[SIDE_ROWS];
    m->rows.D = m->theta.D = l->sizes.length[SIDE_INPUTS];
    m->M = l->sizes.length[SIDE_EXPERTS];
    m->learned.references = l->sizes.length[SIDE_REFERENCES];
    m->calibration.count = l->sizes.length[SIDE_HELD_OUT];
    if (!NEW_ARRAY(m->log_theta, m->rows.D + 2 + MOST_SHAPES) ||
        !NEW_ARRAY(m->theta.lengthscale, m->rows.D))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu length-scales", m->rows.D);
    return QUORUM_OK;
}

/* A graph has a ranking and importances; older files have zeros where none was learned. */
static quorum_status settle_graph(quorum_model *m)
{
    if (m->learned.graph.ranking && !m->learned.graph.importance)
        return damaged("there is a ranking of the experts, but no importance");
    if (m->learned.graph.ranking && (m->learned.graph.precision || m->learned.graph.trouble))
        return QUORUM_OK;
    expert_graph_free(&m->learned.graph);
    mem_free(m->learned.reference);
    m->learned.reference = NULL;
    m->learned.references = 0;
    return QUORUM_OK;
}

/* Readers of earlier versions would overlook these; and a file has this version for one of them. */
static quorum_status check_version_parts(const load_state *l)
{
    const quorum_model *m = l->m;
    int has_any = m->theta.kernel->longer || m->units.line || m->columns.offset;
    int has_warp = m->units.warp != WARP_NONE;
    int is_for_warp = l->meta.version == FORMAT_VERSION_WARP;
    int is_for_levels = l->meta.version == FORMAT_VERSION_LEVELS;
    int has_own = npz_has(l->npz, "weight.npy") || npz_has(l->npz, "error.npy");
    int is_for_table = l->meta.version == FORMAT_VERSION_TABLE;
    if (npz_has(l->npz, "error.npy") && has_warp)
        return damaged("a warp does not go with known errors");
    if ((m->columns.date || m->made.count > 0) != is_for_table)
        return damaged("dates or made inputs do not go with its format version");
    if (is_for_table)
        return QUORUM_OK;
    if (has_own != (l->meta.version == FORMAT_VERSION_WEIGHTS))
        return damaged("weights or known errors of rows do not go with its format version");
    if (has_own)
        return QUORUM_OK;
    if ((m->encoding.of != NULL) != is_for_levels)
        return damaged("categories do not go with its format version");
    if (is_for_levels)
        return QUORUM_OK;
    if (has_warp != is_for_warp)
        return damaged("a warp does not go with its format version");
    return is_for_warp || has_any == (l->meta.version == FORMAT_VERSION_PARTS)
               ? QUORUM_OK
               : damaged("a kernel of two scales, a trend or an offset does not go with its "
                         "format version");
}

/* All but the rows: which of those are wanted, the offsets say. */
static quorum_status load_but_rows(load_state *l)
{
    TRY(prepare(l));
    TRY(meta_apply(&l->meta, l->m));
    TRY(load_arrays(l, 0));
    TRY(settle_graph(l->m));
    model_set_theta(l->m);
    TRY(check_version_parts(l));
    return QUORUM_OK;
}

static quorum_status load_rows(load_state *l)
{
    parts all = model_parts(l->m);
    if (l->whole)
        rows_note(l->m->rows.n);
    else
        TRY(holdings_new(&all, &l->m->held));
    return load_arrays(l, 1);
}

static quorum_status load_meta(load_state *l)
{
    char *text;
    TRY(npz_get_text(l->npz, "meta.json", &text));
    quorum_status status = meta_parse(text, &l->meta);
    mem_free(text);
    return status;
}

/* Of what was just written, all but the rows, which the CRC answers for: it must load. */
static quorum_status check_saved(npz_reader *npz, void *context)
{
    const quorum_model *saved = context;
    load_state l = {.npz = npz, .sizes = sizes_of_model(saved), .m = model_new()};
    quorum_status status = QUORUM_OK;
    if (!l.m)
        return failure(QUORUM_E_MEMORY, "out of memory for saving the model");
    TRY_OR_DONE(load_meta(&l));
    TRY_OR_DONE(load_but_rows(&l));
done:
    meta_free(&l.meta);
    quorum_model_free(l.m);
    return status;
}

static quorum_status open_model(void *state)
{
    load_state *l = state;
    TRY(progress_report(options_progress(l->options), "load", -1.0, "%s", l->path));
    return npz_open(l->path, &l->npz);
}

static quorum_status load_opened(void *state)
{
    load_state *l = state;
    double memory = options_memory(options_values(l->options));
    if (!npz_has(l->npz, "meta.json"))
        return failure(QUORUM_E_FORMAT, "it has no meta.json: it is not a quorum model");
    TRY(check_meta_bytes(l->npz, memory));
    TRY(load_meta(l));
    l->whole = team_is_alone() || has_overlap(l);
    TRY(check_model_sizes(l->npz, memory, l->whole, &l->sizes));
    TRY(load_but_rows(l));
    TRY(load_rows(l));
    return model_complete(l->m);
}

/* Every process reads the file. */
static quorum_status load(quorum_status ready, load_state *l)
{
    TRY(team_all(ready, open_model, l));
    TRY(team_same_file(QUORUM_OK, "the model file", npz_digest(l->npz)));
    return team_all(QUORUM_OK, load_opened, l);
}

quorum_status quorum_load(const char *path, quorum_model **model)
{
    return quorum_load_with(path, NULL, model);
}

quorum_status quorum_load_with(const char *path, const quorum_options *options,
                               quorum_model **model)
{
    if (!path || !model)
        return failure(QUORUM_E_ARGUMENT, "quorum_load: path and model must not be NULL");
    load_state l = {.path = path, .options = options, .m = model_new()};
    progress_watch watch;
    quorum_status ready = l.m ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for a model");
    *model = NULL;
    options_watch(options, "load", &watch);
    quorum_status status = load(ready, &l);
    progress_watch_end(&watch);
    npz_close(l.npz);
    meta_free(&l.meta);
    if (status < 0) {
        quorum_model_free(l.m);
        return strstr(quorum_message(), path) ? status : failure_in(status, "%s", path);
    }
    *model = l.m;
    return status;
}
