/* Loads, and loads again.  A new model has the columns of the old, so that what clients have been told
 * about theirs stays true. */
#include "serve/served_model.h"

#include "clock.h"
#include "talk.h"
#include "targets.h"

#include <string.h>

static const double SECONDS_BETWEEN_LOOKS = 1.0;

/* Loads the model, and refuses options that do not go with it. */
static quorum_status load(const arguments *given, quorum_model **model)
{
    quorum_prediction none = {0};
    quorum_status status = quorum_load_with(given->operands[0], given->options, model);
    size_t targets = status < 0 ? 0 : quorum_model_targets(*model);
    for (size_t t = 0; t < targets && status >= 0; t++)
        status =
            quorum_predict(quorum_model_target(*model, t), NULL, 0, given->options, &none, NULL);
    return status;
}

static void look(served_model *s, const arguments *given, struct stat *file)
{
    s->looked = seconds_now();
    if (stat(given->operands[0], file) != 0)
        *file = s->file; /* it is being replaced by hand, or gone: what is loaded stays */
}

int served_model_open(served_model *s, const arguments *given)
{
    look(s, given, &s->file);
    quorum_status status = load(given, &s->model);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

void served_model_free(served_model *s)
{
    quorum_model_free(s->model);
    s->model = NULL;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool has_same_inputs(const quorum_model *one, const quorum_model *other)
{
    quorum_info a, b;
    if (quorum_inspect(one, &a) < 0 || quorum_inspect(other, &b) < 0)
        return false;
    bool same = a.inputs == b.inputs && a.columns == b.columns && a.named == b.named &&
                is_same_text(a.offset_name, b.offset_name) &&
                is_same_text(a.noise_name, b.noise_name);
    for (size_t d = 0; same && d < a.inputs; d++)
        same = strcmp(a.names[d], b.names[d]) == 0;
    return same;
}

/* Of one target its name is no part of the answers. */
static bool has_same_columns(quorum_model *one, quorum_model *other)
{
    size_t count = quorum_model_targets(one);
    bool same = quorum_model_targets(other) == count;
    for (size_t t = 0; same && t < count; t++) {
        const quorum_model *a = quorum_model_target(one, t), *b = quorum_model_target(other, t);
        same = has_same_inputs(a, b) &&
               (count == 1 || strcmp(name_of_target(a), name_of_target(b)) == 0);
    }
    return same;
}

quorum_model *served_model_refresh(served_model *s, bool asked, const arguments *given)
{
    struct stat file;
    quorum_model *fresh = NULL;
    if (!asked && seconds_now() < s->looked + SECONDS_BETWEEN_LOOKS)
        return NULL;
    look(s, given, &file);
    if (!asked && is_same_file(&file, &s->file))
        return NULL;
    s->file = file; /* one that cannot be loaded is not tried again until it changes */
    quorum_status status = load(given, &fresh);
    if (status >= 0 && has_same_columns(s->model, fresh))
        return fresh;
    if (status < 0)
        note(given, "the model is not replaced: %s", quorum_message());
    else
        note(given,
             "the model is not replaced: the columns of the new %s are others; start another "
             "server for it",
             given->operands[0]);
    quorum_model_free(fresh);
    return NULL;
}

void served_model_replace(served_model *s, quorum_model *fresh, const arguments *given)
{
    quorum_model_free(s->model);
    s->model = fresh;
    note(given, "%s: loaded anew", given->operands[0]);
}
