/* Model files: a plain .npz of a model's members (model/file.h), or of several targets' (docs/model-file.md):
 *
 *   meta.json                        {"format_version": 9, "share", "targets": [{"name", "place"}, ...]}
 *   target1/meta.json, target1/X.npy, ..., target2/meta.json, ...
 *
 * Of a further target the rows and their division are not there where they are those of the first. */
#include "targets/several.h"

#include "base/memory.h"
#include "base/text_buffer.h"
#include "model/file.h"

#include <stdio.h>
#include <string.h>

enum { FOLDER = 32 };

static void name_folder(size_t t, char out[FOLDER])
{
    snprintf(out, FOLDER, "target%zu/", t + 1);
}

/* ---- Saving ---- */

typedef struct {
    const quorum_model *m; /* count: as they are now */
    size_t count;
    const char *path;
    npz_writer *w;
    saved_members *kept; /* count */
    char *targets;       /* the text of meta.json, of several */
} save_state;

static void save_state_free(save_state *s)
{
    npz_writer_free(s->w);
    mem_free(s->targets);
    for (size_t t = 0; s->kept && t < s->count; t++)
        saved_members_free(&s->kept[t]);
    mem_free(s->kept);
}

/* Of target t > 0 the first one's other is t - 1; of the first it is in the others' lists. */
static size_t place_of(const quorum_model *m, size_t t)
{
    return t > 0 ? m[0].columns.others[t - 1] : m[1].columns.others[0];
}

static quorum_status list_targets(const save_state *s, char **text)
{
    text_buffer buffer = {0};
    json_writer w = json_writer_to(text_buffer_put, &buffer, 1);
    json_begin_object(&w);
    json_key(&w, "format_version");
    json_put_integer(&w, FORMAT_VERSION_SEVERAL);
    json_key(&w, "library");
    json_put_text(&w, "quorum");
    json_key(&w, "library_version");
    json_put_text(&w, quorum_version());
    json_key(&w, "share");
    json_put_text(&w, s->m[0].further.shared ? "theta" : "none");
    json_key(&w, "targets");
    json_begin_list(&w);
    for (size_t t = 0; t < s->count; t++) {
        json_begin_object(&w);
        json_key(&w, "name");
        json_put_text(&w, s->m[t].columns.names[s->m[t].rows.D]);
        json_key(&w, "place");
        json_put_count(&w, place_of(s->m, t));
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
    quorum_status status = json_status(json_finish(&w), "the model's meta.json");
    if (status >= 0)
        *text = text_buffer_take(&buffer);
    text_buffer_free(&buffer);
    return status;
}

/* What was written must load. */
static quorum_status check_saved(npz_reader *npz, void *context)
{
    const save_state *s = context;
    char folder[FOLDER], first[FOLDER];
    name_folder(0, first);
    for (size_t t = 0; t < s->count; t++) {
        name_folder(t, folder);
        if (s->count > 1)
            npz_within(npz, folder, first, shared_members);
        TRY(model_check_members(npz, &s->m[t]));
    }
    return QUORUM_OK;
}

static quorum_status add_target(const save_state *s, size_t t, rows_home *home)
{
    char folder[FOLDER];
    model_saving how = {.w = s->w, .home = home, .like = t > 0 ? &s->m[0] : NULL};
    name_folder(t, folder);
    npz_writer_within(s->w, s->count > 1 ? folder : "");
    return model_add_members(&s->m[t], &how, &s->kept[t]);
}

static quorum_status save_members(save_state *s, rows_home *home)
{
    if (!(s->w = npz_writer_new()) || !NEW_ZEROED(s->kept, s->count))
        return failure(QUORUM_E_MEMORY, "out of memory for saving the model");
    if (s->count > 1) {
        TRY(list_targets(s, &s->targets));
        TRY(npz_add_text(s->w, "meta.json", s->targets));
    }
    for (size_t t = 0; t < s->count; t++)
        TRY(add_target(s, t, home));
    npz_writer_check(s->w, check_saved, s);
    return npz_writer_save(s->w, s->path);
}

static quorum_status save(void *state, rows_home *home)
{
    quorum_status status = save_members(state, home);
    save_state_free(state);
    return status;
}

static quorum_status save_one(const quorum_model *m, const char *path)
{
    const quorum_model now = model_now(m);
    save_state s = {.m = &now, .count = 1, .path = path};
    return rows_bring_home(QUORUM_OK, &now.held, &now.rows, save, &s);
}

/* Several have all their rows in every process before they are written. */
static quorum_status save_several(const quorum_model *m, const char *path)
{
    size_t count = m->further.count + 1;
    quorum_model *now;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(now, count))
        status = failure(QUORUM_E_MEMORY, "out of memory for saving the model");
    for (size_t t = 0; t < count; t++) {
        const quorum_model *one = t == 0 ? m : m->further.model[t - 1];
        if (!model_is_whole(one))
            TRY_OR_DONE(model_hold_all(one));
        if (now)
            now[t] = model_now(one);
    }
    save_state s = {.m = now, .count = count, .path = path};
    status = rows_bring_home(status, &m->held, &m->rows, save, &s);
done:
    mem_free(now);
    return status;
}

quorum_status quorum_save(const quorum_model *m, const char *path)
{
    if (!m || !path)
        return failure(QUORUM_E_ARGUMENT, "quorum_save: model and path must not be NULL");
    return m->further.count == 0 ? save_one(m, path) : save_several(m, path);
}

/* ---- Loading: nothing in the file is believed before it is checked ---- */

typedef struct {
    const char *path;
    const quorum_options *options;
    npz_reader *npz;
    model_meta meta;
    double memory; /* that is left */
    quorum_model *m[MOST_TARGETS];
    size_t count, place[MOST_TARGETS];
} load_state;

static quorum_status open_model(void *state)
{
    load_state *l = state;
    TRY(progress_report(options_progress(l->options), "load", -1.0, "%s", l->path));
    return npz_open(l->path, &l->npz);
}

static quorum_status read_targets(load_state *l)
{
    const json_node *list = json_member(l->meta.tree.root, "targets");
    size_t count = json_list_size(list);
    if (count < 2 || count > MOST_TARGETS)
        return damaged("its list of targets is empty or too long");
    for (const json_node *t = json_first(list); t; t = json_next(t)) {
        int64_t place = json_as_integer(json_member(t, "place"), -1);
        if (place < 0 || place > INT32_MAX)
            return damaged("the place of a target is out of range");
        for (size_t u = 0; u < l->count; u++)
            if (l->place[u] == (size_t)place)
                return damaged("two targets have the same place");
        l->place[l->count++] = (size_t)place;
    }
    return QUORUM_OK;
}

static quorum_status load_target(load_state *l, size_t t)
{
    char folder[FOLDER], first[FOLDER];
    name_folder(t, folder);
    name_folder(0, first);
    npz_within(l->npz, folder, first, shared_members);
    if (!l->m[t] && !(l->m[t] = model_new()))
        return failure(QUORUM_E_MEMORY, "out of memory for a model");
    quorum_status status = model_load_members(l->npz, &l->memory, l->m[t]);
    return status < 0 ? failure_in(status, "target %zu", t + 1) : status;
}

static quorum_status load_several(load_state *l)
{
    TRY(read_targets(l));
    for (size_t t = 0; t < l->count; t++)
        TRY(load_target(l, t));
    const char *share = json_as_text(json_member(l->meta.tree.root, "share"));
    int shared = share && strcmp(share, "theta") == 0;
    if (!share || (!shared && strcmp(share, "none") != 0))
        return damaged("what its targets share is not known");
    TRY(several_check(l->m, l->count));
    if (shared)
        TRY(several_check_shared(l->m, l->count));
    TRY(several_join(l->m, l->count, l->place, shared));
    l->count = 1; /* the others are the first one's now */
    return QUORUM_OK;
}

static quorum_status load_opened(void *state)
{
    load_state *l = state;
    l->memory = options_memory(options_values(l->options));
    TRY(load_meta(l->npz, l->memory, &l->meta));
    if (l->meta.version == FORMAT_VERSION_SEVERAL)
        return load_several(l);
    l->count = 1;
    return model_load_members(l->npz, &l->memory, l->m[0]);
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
    load_state l = {.path = path, .options = options, .m = {model_new()}};
    progress_watch watch;
    quorum_status ready =
        l.m[0] ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for a model");
    *model = NULL;
    options_watch(options, "load", &watch);
    quorum_status status = load(ready, &l);
    progress_watch_end(&watch);
    npz_close(l.npz);
    meta_free(&l.meta);
    if (status < 0) {
        quorum_model_free(l.m[0]);
        for (size_t t = 1; t < l.count; t++)
            quorum_model_free(l.m[t]);
        return strstr(quorum_message(), path) ? status : failure_in(status, "%s", path);
    }
    *model = l.m[0];
    return status;
}
