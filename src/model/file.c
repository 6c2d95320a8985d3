/* Model files: a plain .npz of arrays and meta.json (docs/model-file.md). */
#include "model/model.h"

#include "base/memory.h"
#include "archive/npz.h"
#include "model/file_sizes.h"
#include "model/meta.h"
#include "team/team.h"

#include <limits.h>
#include <math.h>
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

/* Indices as the file has them; they live until it is written. */
typedef struct {
    int64_t *row, *offset, *extra, *extra_offset;
} stored_indices;

static void stored_indices_free(stored_indices *i)
{
    mem_free(i->row);
    mem_free(i->offset);
    mem_free(i->extra);
    mem_free(i->extra_offset);
}

static quorum_status add_indices(const quorum_model *m, npz_writer *w, stored_indices *i)
{
    const extra_rows *x = &m->extra;
    size_t M1 = m->M + 1;
    TRY(to_int64(m->row, m->n, &i->row));
    TRY(to_int64(m->offset, M1, &i->offset));
    TRY(npz_add_int64(w, "row", 1, &m->n, i->row));
    TRY(npz_add_int64(w, "offset", 1, &M1, i->offset));
    if (!x->offset)
        return QUORUM_OK;
    TRY(to_int64(x->row, x->offset[m->M], &i->extra));
    TRY(to_int64(x->offset, M1, &i->extra_offset));
    TRY(npz_add_int64(w, "extra", 1, &x->offset[m->M], i->extra));
    return npz_add_int64(w, "extra_offset", 1, &M1, i->extra_offset);
}

/* home: where rows come from that this rank has not; NULL: it has all. */
static quorum_status add_rows(const quorum_model *m, npz_writer *w, rows_home *home)
{
    size_t nD[] = {m->n, m->D};
    if (!home) {
        TRY(npz_add_doubles(w, "X", 2, nD, m->X));
        return npz_add_doubles(w, "y", 1, &m->n, m->y);
    }
    TRY(npz_add_pulled(w, "X", 2, nD, rows_home_next, home));
    return npz_add_pulled(w, "y", 1, &m->n, rows_home_next, home);
}

static quorum_status check_saved(npz_reader *npz, void *context);

static quorum_status save(const quorum_model *m, const char *path, rows_home *home)
{
    const double *theta = m->log_theta;
    stored_indices indices = {0};
    char *meta = NULL;
    npz_writer *w = npz_writer_new();
    quorum_status status = QUORUM_OK;
    size_t MM[] = {m->M, m->M}, rD[] = {m->references, m->D};
    if (!w) {
        status = failure(QUORUM_E_MEMORY, "out of memory for saving the model");
        goto done;
    }
    TRY_OR_DONE(meta_make(m, &meta));
    TRY_OR_DONE(npz_add_text(w, "meta.json", meta));
    TRY_OR_DONE(add_rows(m, w, home));
    TRY_OR_DONE(add_indices(m, w, &indices));
    TRY_OR_DONE(npz_add_doubles(w, "log_lengthscale", 1, &m->D, theta));
    TRY_OR_DONE(npz_add_doubles(w, "log_signal_variance", 0, NULL, theta + m->D));
    TRY_OR_DONE(npz_add_doubles(w, "log_noise_variance", 0, NULL, theta + m->D + 1));
    TRY_OR_DONE(npz_add_doubles(w, "x_mean", 1, &m->D, m->x_mean));
    TRY_OR_DONE(npz_add_doubles(w, "x_scale", 1, &m->D, m->x_scale));
    TRY_OR_DONE(npz_add_doubles(w, "y_mean", 0, NULL, &m->y_mean));
    TRY_OR_DONE(npz_add_doubles(w, "y_scale", 0, NULL, &m->y_scale));
    if (m->references > 0)
        TRY_OR_DONE(npz_add_doubles(w, "reference", 2, rD, m->reference));
    if (m->graph.precision)
        TRY_OR_DONE(npz_add_doubles(w, "precision", 2, MM, m->graph.precision));
    TRY_OR_DONE(npz_add_doubles(w, "importance", 1, &m->M, m->graph.importance));
    if (m->calibration.count > 0)
        TRY_OR_DONE(
            npz_add_doubles(w, "calibration", 1, &m->calibration.count, m->calibration.ratio));
    npz_writer_check(w, check_saved, (void *)m);
    TRY_OR_DONE(npz_writer_save(w, path));
done:
    npz_writer_free(w);
    mem_free(meta);
    stored_indices_free(&indices);
    return status;
}

quorum_status quorum_save(const quorum_model *m, const char *path)
{
    if (!m || !path)
        return failure(QUORUM_E_ARGUMENT, "quorum_save: model and path must not be NULL");
    rows_home *home = NULL;
    if (!model_is_whole(m))
        TRY(rows_home_new(m, &home));
    quorum_status status = team_rank() == 0 ? save(m, path, home) : QUORUM_OK;
    if (home)
        rows_home_finish(home);
    rows_home_free(home);
    return team_agree(status);
}

/* ---- Loading: nothing in the file is believed before it is checked ---- */

typedef struct {
    npz_reader *npz;
    model_meta meta;
    quorum_model *m;
} load_state;

/* Now and then in a long loop. */
static quorum_status go_on(size_t i)
{
    return i % (1 << 16) == 0 ? progress_go_on() : QUORUM_OK;
}

static quorum_status read_scalar(npz_reader *npz, const char *name, double *out)
{
    double *data;
    TRY(npz_get_doubles(npz, name, 0, NULL, &data));
    *out = *data;
    mem_free(data);
    return isfinite(*out) ? QUORUM_OK : damaged(name);
}

/* An array of doubles, all finite, of exactly the given shape; a shape of 0 is
 * filled in from the file. */
static quorum_status read_array(npz_reader *npz, const char *name, int ndim, size_t *shape,
                                double **out)
{
    size_t found[2] = {1, 1}, count = 1;
    TRY(npz_get_doubles(npz, name, ndim, found, out));
    for (int k = 0; k < ndim; k++) {
        if (shape[k] != 0 && shape[k] != found[k])
            return failure(QUORUM_E_FORMAT,
                           "the model file is damaged or was altered: %s has size %zu where %zu is "
                           "expected",
                           name, found[k], shape[k]);
        shape[k] = found[k];
        count *= found[k];
    }
    for (size_t i = 0; i < count; i++) {
        TRY(go_on(i));
        if (!isfinite((*out)[i]))
            return damaged(name);
    }
    return QUORUM_OK;
}

/* Integers of size `count`, each in 0 .. limit. */
static quorum_status read_sizes(npz_reader *npz, const char *name, size_t *count, size_t limit,
                                size_t **out)
{
    int64_t *data;
    size_t found;
    TRY(npz_get_int64(npz, name, 1, &found, &data));
    quorum_status status = QUORUM_OK;
    if ((*count != 0 && *count != found) || found == 0) {
        status = damaged(name);
    } else if (!NEW_ARRAY(*out, found)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for %s", name);
    }
    for (size_t i = 0; status == QUORUM_OK && i < found; i++) {
        if (data[i] < 0 || (uint64_t)data[i] > limit)
            status = damaged(name);
        else
            (*out)[i] = (size_t)data[i];
        status = status < 0 ? status : go_on(i);
    }
    mem_free(data);
    *count = found;
    return status;
}

static quorum_status load_offsets(load_state *l)
{
    quorum_model *m = l->m;
    size_t M1 = 0;
    TRY(read_sizes(l->npz, "offset", &M1, m->n, &m->offset));
    if (M1 < 2 || m->offset[0] != 0 || m->offset[M1 - 1] != m->n)
        return damaged("offset does not span the rows");
    for (size_t e = 0; e + 1 < M1; e++)
        if (m->offset[e] >= m->offset[e + 1])
            return damaged("offset is not ascending");
    m->M = M1 - 1;
    return QUORUM_OK;
}

static quorum_status load_all_rows(load_state *l, size_t D)
{
    quorum_model *m = l->m;
    size_t shape[] = {m->n, D};
    TRY(read_array(l->npz, "X", 2, shape, &m->X));
    TRY(read_array(l->npz, "y", 1, &m->n, &m->y));
    rows_note(m->n);
    return read_sizes(l->npz, "row", &m->n, SIZE_MAX / 2, &m->row);
}

/* The rows of this rank's experts; where they came from nobody asks a team. */
static quorum_status load_own_rows(load_state *l, size_t D)
{
    quorum_model *m = l->m;
    size_t shape[2];
    TRY(model_find_owners(m));
    npz_sections own = {.count = m->M, .first = m->offset, .wanted = m->held};
    TRY(npz_get_some_doubles(l->npz, "X", 2, shape, &own, &m->X));
    if (shape[1] != D)
        return damaged("X");
    TRY(npz_get_some_doubles(l->npz, "y", 1, shape, &own, &m->y));
    for (size_t e = 0; e < m->M; e++)
        for (size_t i = m->offset[e]; m->held[e] && i < m->offset[e + 1]; i++) {
            for (size_t d = 0; d < D; d++)
                if (!isfinite(m->X[i * D + d]))
                    return damaged("X");
            if (!isfinite(m->y[i]))
                return damaged("y");
        }
    return QUORUM_OK;
}

/* Whether every rank needs all rows. */
static int is_whole(const load_state *l)
{
    return team_size() == 1 || l->meta.version >= FORMAT_VERSION_OVERLAP;
}

static quorum_status load_rows(load_state *l, const model_sizes *sizes)
{
    quorum_model *m = l->m;
    size_t D = sizes->D;
    m->n = sizes->n;
    TRY(load_offsets(l));
    TRY(is_whole(l) ? load_all_rows(l, D) : load_own_rows(l, D));
    TRY(read_array(l->npz, "x_mean", 1, &D, &m->x_mean));
    TRY(read_array(l->npz, "x_scale", 1, &D, &m->x_scale));
    for (size_t d = 0; d < D; d++)
        if (!(m->x_scale[d] > 0.0))
            return damaged("x_scale is not positive");
    TRY(read_scalar(l->npz, "y_mean", &m->y_mean));
    TRY(read_scalar(l->npz, "y_scale", &m->y_scale));
    m->D = D; /* last: names are freed by it */
    return m->y_scale > 0.0 ? QUORUM_OK : damaged("y_scale is not positive");
}

/* Extra rows: ascending within an expert, and owned by others. */
static quorum_status load_extra(load_state *l)
{
    quorum_model *m = l->m;
    extra_rows *x = &m->extra;
    size_t count = 0, M1 = m->M + 1;
    if (l->meta.version < FORMAT_VERSION_OVERLAP)
        return QUORUM_OK;
    TRY(read_sizes(l->npz, "extra", &count, m->n - 1, &x->row));
    TRY(read_sizes(l->npz, "extra_offset", &M1, count, &x->offset));
    if (x->offset[0] != 0 || x->offset[m->M] != count)
        return damaged("extra_offset does not span the extra rows");
    for (size_t e = 0; e < m->M; e++) {
        if (x->offset[e] > x->offset[e + 1])
            return damaged("extra_offset is not ascending");
        for (size_t k = x->offset[e]; k < x->offset[e + 1]; k++) {
            if (k > x->offset[e] && x->row[k] <= x->row[k - 1])
                return damaged("extra is not ascending within an expert");
            if (x->row[k] >= m->offset[e] && x->row[k] < m->offset[e + 1])
                return damaged("extra names a row of the expert's own");
        }
    }
    return QUORUM_OK;
}

static quorum_status load_theta(load_state *l)
{
    quorum_model *m = l->m;
    double *logs;
    size_t D = m->D;
    m->theta.D = D;
    if (!NEW_ARRAY(m->log_theta, D + 2) || !NEW_ARRAY(m->theta.lengthscale, D))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu length-scales", D);
    TRY(npz_get_doubles(l->npz, "log_lengthscale", 1, &D, &logs));
    if (D == m->D)
        memcpy(m->log_theta, logs, D * sizeof *logs);
    mem_free(logs);
    if (D != m->D)
        return damaged("log_lengthscale has not one entry an input");
    TRY(read_scalar(l->npz, "log_signal_variance", &m->log_theta[D]));
    TRY(read_scalar(l->npz, "log_noise_variance", &m->log_theta[D + 1]));
    for (size_t i = 0; i < D + 2; i++)
        if (!(fabs(m->log_theta[i]) <= 100.0))
            return damaged("a hyperparameter is out of range");
    model_set_theta(m);
    return QUORUM_OK;
}

static quorum_status load_graph(load_state *l)
{
    quorum_model *m = l->m;
    size_t MM[] = {m->M, m->M}, rD[] = {0, m->D};
    if (npz_has(l->npz, "reference.npy"))
        TRY(read_array(l->npz, "reference", 2, rD, &m->reference));
    m->references = rD[0];
    if (npz_has(l->npz, "precision.npy"))
        TRY(read_array(l->npz, "precision", 2, MM, &m->graph.precision));
    return read_array(l->npz, "importance", 1, &m->M, &m->graph.importance);
}

static quorum_status load_calibration(load_state *l)
{
    calibration *c = &l->m->calibration;
    size_t count = 0;
    if (!npz_has(l->npz, "calibration.npy") && !c->how.rule)
        return QUORUM_OK;
    TRY(read_array(l->npz, "calibration", 1, &count, &c->ratio));
    if (!c->how.rule)
        return damaged("its calibration does not say what it holds for");
    if (count == 0 || c->ratio[0] < 0.0)
        return damaged("calibration is out of range");
    for (size_t i = 1; i < count; i++)
        if (c->ratio[i] < c->ratio[i - 1])
            return damaged("calibration is not ascending");
    c->count = count;
    return QUORUM_OK;
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
    load_state l = {.npz = npz, .m = model_new()};
    quorum_status status = QUORUM_OK;
    if (!l.m)
        return failure(QUORUM_E_MEMORY, "out of memory for saving the model");
    TRY_OR_DONE(load_meta(&l));
    TRY_OR_DONE(meta_apply_first(&l.meta, l.m));
    l.m->n = saved->n;
    l.m->M = saved->M;
    l.m->D = saved->D;
    TRY_OR_DONE(load_theta(&l));
    TRY_OR_DONE(meta_apply(&l.meta, l.m));
    TRY_OR_DONE(load_graph(&l));
    TRY_OR_DONE(load_calibration(&l));
done:
    meta_free(&l.meta);
    quorum_model_free(l.m);
    return status;
}

/* Ranks that each work with another model would mix them up, or wait for each other for ever. */
static quorum_status agree_on_file(const npz_reader *npz)
{
    uint64_t mine = npz_digest(npz), first = mine;
    team_send(&first, sizeof first);
    return team_agree(mine == first
                          ? QUORUM_OK
                          : failure(QUORUM_E_FORMAT,
                                    "the model file differs between processes: process %d has "
                                    "another one than process 0; give all of them the same file",
                                    team_rank()));
}

static quorum_status open_model(const char *path, const quorum_options *options, npz_reader **npz)
{
    TRY(progress_report(options_progress(options), "load", -1.0, "%s", path));
    return npz_open(path, npz);
}

static quorum_status load(load_state *l, const char *path, const quorum_options *options)
{
    double memory = options_memory(options_values(options));
    model_sizes sizes;
    TRY(team_agree(open_model(path, options, &l->npz)));
    TRY(agree_on_file(l->npz));
    if (!npz_has(l->npz, "meta.json"))
        return failure(QUORUM_E_FORMAT, "it has no meta.json: it is not a quorum model");
    TRY(check_meta_bytes(l->npz, memory));
    TRY(load_meta(l));
    TRY(meta_apply_first(&l->meta, l->m));
    TRY(check_model_sizes(l->npz, memory, is_whole(l) ? 1 : team_size(), &sizes));
    TRY(load_rows(l, &sizes));
    TRY(load_extra(l));
    TRY(load_theta(l));
    TRY(meta_apply(&l->meta, l->m));
    TRY(load_graph(l));
    TRY(load_calibration(l));
    return model_complete(l->m);
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
    load_state l = {.m = model_new()};
    progress_watch watch;
    *model = NULL;
    if (!l.m)
        return failure(QUORUM_E_MEMORY, "out of memory for a model");
    options_watch(options, "load", &watch);
    quorum_status status = team_agree(load(&l, path, options));
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
