/* One model's members of a file: arrays and meta.json (docs/model-file.md). */
#include "model/file.h"

#include "base/memory.h"
#include "model/file_sizes.h"

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

void saved_members_free(saved_members *kept)
{
    mem_free(kept->meta);
    for (int i = 0; i < ARRAYS; i++)
        mem_free(kept->indices[i]);
    *kept = (saved_members){0};
}

/* Writing a model. */
typedef struct {
    const quorum_model *m;
    const model_saving *how;
    model_sizes sizes;
    saved_members *kept;
} save_state;

static int is_in_model(const save_state *s, const array_member *a)
{
    switch (a->when) {
    case ALWAYS: break;
    case WITH_OVERLAP: return s->m->extra.offset != NULL;
    case WITH_ROTATION: return s->m->units.rotation != NULL;
    case WITH_BENDS: return s->m->units.bend_width != NULL;
    case WITH_SCALES: return s->m->theta.kernel->component != NULL;
    case WITH_TREND: return s->m->units.line != NULL;
    case WHERE_LEARNED: return numbers_of(a, s->m) && s->sizes.length[a->side[0]] > 0;
    case WITH_CALIBRATION: return s->m->calibration.count > 0;
    case WITH_SIGNED_RATIOS: return s->m->calibration.z != NULL;
    case WITH_CELLS: return s->m->cells.count > 0;
    }
    return 1;
}

static quorum_status add_array(const save_state *s, int i)
{
    const array_member *a = &array_members[i];
    npz_writer *w = s->how->w;
    size_t shape[2];
    int ndim = array_shape(a, &s->sizes, shape);
    if (a->type == INDICES) {
        TRY(to_int64(indices_of(a, s->m), shape[0], &s->kept->indices[i]));
        return npz_add_int64(w, a->name, ndim, shape, s->kept->indices[i]);
    }
    if (a->of_rows && s->how->home)
        return npz_add_pulled(w, a->name, ndim, shape, rows_home_next, s->how->home);
    return npz_add_doubles(w, a->name, ndim, shape, numbers_of(a, s->m));
}

const char *const shared_members[] = {"X.npy", "row.npy", "offset.npy", NULL};

/* Whether it is one of those and the same, bit for bit, as of the model whose file has it already. */
static int is_there_already(const save_state *s, const array_member *a)
{
    const quorum_model *like = s->how->like;
    size_t shape[2], other[2], count = 1;
    int shared = 0;
    for (const char *const *name = shared_members; like && *name; name++)
        shared |= strncmp(*name, a->name, strlen(a->name)) == 0 &&
                  strcmp(*name + strlen(a->name), ".npy") == 0;
    if (!shared)
        return 0;
    model_sizes sizes = sizes_of_model(like);
    int ndim = array_shape(a, &s->sizes, shape);
    array_shape(a, &sizes, other);
    for (int k = 0; k < ndim; k++) {
        if (shape[k] != other[k])
            return 0;
        count *= shape[k];
    }
    return a->type == INDICES
               ? memcmp(indices_of(a, s->m), indices_of(a, like), count * sizeof(size_t)) == 0
               : memcmp(numbers_of(a, s->m), numbers_of(a, like), count * sizeof(double)) == 0;
}

quorum_status model_add_members(const quorum_model *m, const model_saving *how, saved_members *kept)
{
    save_state s = {.m = m, .how = how, .sizes = sizes_of_model(m), .kept = kept};
    TRY(meta_make(m, &kept->meta));
    TRY(npz_add_text(how->w, "meta.json", kept->meta));
    for (int i = 0; i < ARRAYS; i++)
        if (is_in_model(&s, &array_members[i]) && !is_there_already(&s, &array_members[i]))
            TRY(add_array(&s, i));
    return QUORUM_OK;
}

/* ---- Loading: nothing in the file is believed before it is checked ---- */

typedef struct {
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
    case WITH_BENDS: return may_have(l, FORMAT_VERSION_BENDS, "bend_at.npy", "bend_width.npy");
    case WITH_SCALES: return l->m->theta.kernel->component != NULL;
    case WITH_TREND: return may_have(l, FORMAT_VERSION_PARTS, "trend.npy", "trend_covariance.npy");
    case WHERE_LEARNED: return has_array(l->npz, a);
    case WITH_CALIBRATION: return has_array(l->npz, a) || l->m->calibration.how.rule;
    case WITH_SIGNED_RATIOS: return has_array(l->npz, a);
    case WITH_CELLS: return l->m->method.by_cells;
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
    m->cells.count = l->sizes.length[SIDE_CELLS];
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

static quorum_status check_version(const load_state *l)
{
    int has_errors = npz_has(l->npz, "error.npy");
    if (has_errors && l->m->units.warp != WARP_NONE && !l->m->holes.of)
        return damaged("a warp does not go with known errors");
    return version_check(l->meta.version, l->m, has_errors || npz_has(l->npz, "weight.npy"));
}

/* All but the rows: which of those are wanted, the offsets say. */
static quorum_status load_but_rows(load_state *l)
{
    TRY(prepare(l));
    TRY(meta_apply(&l->meta, l->m));
    TRY(load_arrays(l, 0));
    TRY(settle_graph(l->m));
    model_set_theta(l->m);
    return check_version(l);
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

quorum_status load_meta(npz_reader *npz, double memory, model_meta *meta)
{
    char *text;
    if (!npz_has(npz, "meta.json"))
        return failure(QUORUM_E_FORMAT, "it has no meta.json: it is not a quorum model");
    TRY(check_meta_bytes(npz, memory));
    TRY(npz_get_text(npz, "meta.json", &text));
    quorum_status status = meta_parse(text, meta);
    mem_free(text);
    return status;
}

/* Of one model: a file of several has them in its folders. */
static quorum_status load_own_meta(load_state *l, double memory)
{
    TRY(load_meta(l->npz, memory, &l->meta));
    return l->meta.version == FORMAT_VERSION_SEVERAL
               ? damaged("a target's own meta.json is that of several")
               : QUORUM_OK;
}

quorum_status model_check_members(npz_reader *npz, const quorum_model *saved)
{
    load_state l = {.npz = npz, .sizes = sizes_of_model(saved), .m = model_new()};
    quorum_status status = QUORUM_OK;
    if (!l.m)
        return failure(QUORUM_E_MEMORY, "out of memory for saving the model");
    TRY_OR_DONE(load_own_meta(&l, INFINITY));
    TRY_OR_DONE(load_but_rows(&l));
done:
    meta_free(&l.meta);
    quorum_model_free(l.m);
    return status;
}

static quorum_status load_members(load_state *l, double *memory)
{
    double needed = 0.0;
    TRY(load_own_meta(l, *memory));
    l->whole = team_is_alone() || has_overlap(l);
    TRY(check_model_sizes(l->npz, *memory, l->whole, &l->sizes, &needed));
    *memory -= needed;
    TRY(load_but_rows(l));
    TRY(load_rows(l));
    return model_complete(l->m);
}

quorum_status model_load_members(npz_reader *npz, double *memory, quorum_model *m)
{
    load_state l = {.npz = npz, .m = m};
    quorum_status status = load_members(&l, memory);
    meta_free(&l.meta);
    return status;
}
