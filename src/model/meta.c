/* meta.json: its values written and read, one line of the table (members.c) after another. */
#include "model/meta.h"

#include "base/memory.h"
#include "base/text_buffer.h"

#include <string.h>

quorum_status damaged(const char *what)
{
    return failure(QUORUM_E_FORMAT, "the model file is damaged or was altered: %s", what);
}

/* ---- Writing ---- */

static void put_value(json_writer *w, const meta_member *v, const quorum_model *m)
{
    const void *place = (const char *)m + v->place;
    json_key(w, v->key);
    switch (v->type) {
    case NUMBER: json_put_number(w, *(const double *)place); break;
    case INTEGER: json_put_integer(w, *(const int *)place); break;
    case COUNT: json_put_integer(w, (int64_t) * (const size_t *)place); break;
    case FLAG: json_put_flag(w, *(const int *)place); break;
    case TEXT: json_put_text(w, *(char *const *)place); break;
    case OWN: v->put(w, m); break;
    }
}

static int are_together(const char *object, const char *other)
{
    return object == other || (object && other && strcmp(object, other) == 0);
}

/* Values of one object stand together in the table. */
static void put_model(json_writer *w, const quorum_model *m)
{
    const char *object = NULL;
    json_begin_object(w);
    for (int i = 0; i < META_MEMBERS; i++) {
        const meta_member *v = &meta_members[i];
        if (v->is_there && !v->is_there(m))
            continue;
        int begins = !are_together(v->object, object);
        if (begins && object)
            json_end(w);
        if (begins && v->object) {
            json_key(w, v->object);
            json_begin_object(w);
        }
        object = v->object;
        put_value(w, v, m);
    }
    if (object)
        json_end(w);
    json_end(w);
}

quorum_status meta_make(const quorum_model *m, char **text)
{
    text_buffer buffer = {0};
    json_writer w = json_writer_to(text_buffer_put, &buffer, 1);
    *text = NULL;
    put_model(&w, m);
    quorum_status status = json_status(json_finish(&w), "the model's meta.json");
    if (status >= 0)
        *text = text_buffer_take(&buffer);
    text_buffer_free(&buffer);
    return status;
}

/* ---- Reading: nothing is believed before it is checked ---- */

static quorum_status check_version(int64_t version)
{
    if ((version >= FORMAT_VERSION && version <= FORMAT_VERSION_LEVELS) ||
        version == FORMAT_VERSION_TABLE)
        return QUORUM_OK;
    return failure(
        QUORUM_E_FORMAT,
        "the model file has format version %lld and this quorum reads versions %d to %d: %s",
        (long long)version, FORMAT_VERSION, FORMAT_VERSION_LAST,
        version > FORMAT_VERSION ? "use a newer quorum" : "fit the model again");
}

quorum_status meta_parse(const char *text, model_meta *meta)
{
    *meta = (model_meta){0};
    if (strlen(text) > MOST_META)
        return damaged("meta.json is too long");
    quorum_status status = json_parse(text, strlen(text), &meta->tree);
    if (status == QUORUM_E_FORMAT)
        return failure_in(status, "the model file is damaged or was altered: meta.json");
    TRY(status);
    if (!json_is_object(meta->tree.root))
        return damaged("meta.json is not a JSON object");
    meta->version = json_as_integer(json_member(meta->tree.root, "format_version"), 0);
    return check_version(meta->version);
}

void meta_free(model_meta *meta)
{
    json_free(&meta->tree);
}

static quorum_status read_text(const json_node *value, char **place)
{
    const char *text = json_as_text(value);
    if (text && !(*place = mem_copy_text(text)))
        return failure(QUORUM_E_MEMORY, "out of memory for the model's meta.json");
    return QUORUM_OK;
}

/* What is missing stays as it is in a new model; what is of another kind counts as 0. */
static quorum_status read_value(const meta_member *v, const json_node *value, quorum_model *m)
{
    void *place = (char *)m + v->place;
    if (v->type == OWN)
        return v->read ? v->read(value, m) : QUORUM_OK;
    if (!value)
        return QUORUM_OK;
    switch (v->type) {
    case NUMBER: *(double *)place = json_as_number(value, 0.0); break;
    case INTEGER: *(int *)place = (int)json_as_integer(value, 0); break;
    case COUNT: *(size_t *)place = (size_t)json_as_integer(value, 0); break;
    case FLAG: *(int *)place = json_is_true(value); break;
    case TEXT: return read_text(value, place);
    case OWN: break;
    }
    return QUORUM_OK;
}

quorum_status meta_apply(const model_meta *meta, quorum_model *m)
{
    for (int i = 0; i < META_MEMBERS; i++) {
        const meta_member *v = &meta_members[i];
        const json_node *in = meta->tree.root;
        in = v->object ? json_member(in, v->object) : in;
        TRY(read_value(v, json_member(in, v->key), m));
        if (v->check)
            TRY(v->check(m));
    }
    return QUORUM_OK;
}

quorum_status meta_check(const char *text, size_t D, size_t M)
{
    model_meta meta = {0};
    quorum_status status = QUORUM_OK;
    quorum_model *m = model_new();
    if (!m)
        return failure(QUORUM_E_MEMORY, "out of memory for checking the model");
    m->rows.D = D;
    m->M = M;
    TRY_OR_DONE(meta_parse(text, &meta));
    TRY_OR_DONE(meta_apply(&meta, m));
done:
    meta_free(&meta);
    quorum_model_free(m);
    return status;
}
