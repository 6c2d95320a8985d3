/* Loads, and loads again.  A new model has the columns of the old, so that what clients have been told
 * about theirs stays true. */
#include "serve/served_model.h"

#include "clock.h"
#include "talk.h"

#include <string.h>

static const double SECONDS_BETWEEN_LOOKS = 1.0;

/* Refuses options that do not go with the model. */
static quorum_status try_options(const chosen_targets *c, const arguments *given)
{
    quorum_prediction none = {0};
    quorum_status status = QUORUM_OK;
    for (size_t t = 0; t < c->count && status >= 0; t++)
        status = quorum_predict(c->model[t], NULL, 0, given->options, &none, NULL);
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
    int code = chosen_load(&s->targets, given);
    if (code != EXIT_DONE)
        return code;
    quorum_status status = try_options(&s->targets, given);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

void served_model_free(served_model *s)
{
    chosen_free(&s->targets);
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
static bool has_same_columns(const chosen_targets *one, const chosen_targets *other)
{
    bool same = one->several == other->several && one->count == other->count;
    for (size_t t = 0; same && t < one->count; t++) {
        const quorum_model *a = one->model[t], *b = other->model[t];
        same = has_same_inputs(a, b) &&
               (!one->several || strcmp(name_of_target(a), name_of_target(b)) == 0);
    }
    return same;
}

/* The model in the file, if it can take the place of the one that serves; a note says why not. */
static bool load_again(const served_model *s, const arguments *given, chosen_targets *fresh)
{
    quorum_model *model = NULL;
    quorum_status status = quorum_load_with(given->operands[0], given->options, &model);
    *fresh = (chosen_targets){0};
    bool same = status >= 0 && chosen_again(fresh, model, &s->targets, given) &&
                has_same_columns(&s->targets, fresh);
    if (same)
        status = try_options(fresh, given);
    if (status >= 0 && same)
        return true;
    if (status < 0)
        note(given, "the model is not replaced: %s", quorum_message());
    else
        note(given,
             "the model is not replaced: the columns of the new %s are others; start another "
             "server for it",
             given->operands[0]);
    quorum_model_free(model);
    return false;
}

bool served_model_refresh(served_model *s, bool asked, const arguments *given,
                          chosen_targets *fresh)
{
    struct stat file;
    if (!asked && seconds_now() < s->looked + SECONDS_BETWEEN_LOOKS)
        return false;
    look(s, given, &file);
    if (!asked && is_same_file(&file, &s->file))
        return false;
    s->file = file; /* one that cannot be loaded is not tried again until it changes */
    return load_again(s, given, fresh);
}

void served_model_replace(served_model *s, const chosen_targets *fresh, const arguments *given)
{
    chosen_free(&s->targets);
    s->targets = *fresh;
    note(given, "%s: loaded anew", given->operands[0]);
}
