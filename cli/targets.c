/* Choosing targets, and naming their columns. */
#include "targets.h"

#include "cells.h"
#include "hyperparameters.h"
#include "progress.h"
#include "talk.h"

#include <stdlib.h>
#include <string.h>

const char *name_of_target(const quorum_model *model)
{
    quorum_info info;
    return quorum_inspect(model, &info) < 0 ? "" : target_name(&info);
}

/* ---- Which ---- */

/* NULL: there is none. */
static quorum_model *find_named(quorum_model *all, const char *name)
{
    for (size_t t = 0; t < quorum_model_targets(all); t++)
        if (strcmp(name_of_target(quorum_model_target(all, t)), name) == 0)
            return quorum_model_target(all, t);
    return NULL;
}

/* By its name, or its number; NULL: there is none. */
static quorum_model *find(quorum_model *all, const char *name)
{
    quorum_model *named = find_named(all, name);
    if (named)
        return named;
    size_t count = quorum_model_targets(all);
    char *end;
    long number = strtol(name, &end, 10);
    bool is_number = end != name && *end == '\0' && number >= 1 && (size_t)number <= count;
    return is_number ? quorum_model_target(all, (size_t)number - 1) : NULL;
}

/* "a, b, c", as far as there is room. */
static void list_names(quorum_model *all, char *out, size_t size)
{
    size_t used = 0;
    for (size_t t = 0; t < quorum_model_targets(all) && used + 80 < size; t++)
        used += (size_t)snprintf(out + used, size - used, "%s%.60s", t ? ", " : "",
                                 shown(name_of_target(quorum_model_target(all, t))).text);
    if (used + 80 >= size)
        snprintf(out + used, size - used, ", ...");
}

static int add(chosen_targets *c, const char *name, const arguments *given)
{
    char names[600];
    quorum_model *found = find(c->all, name);
    list_names(c->all, names, sizeof names);
    if (!found)
        return usage_error(given->command, "--target: the model has no target '%s'; it has %s",
                           shown(name).text, names);
    for (size_t t = 0; t < c->count; t++)
        if (c->model[t] == found)
            return usage_error(given->command, "--target: '%s' is in the list twice",
                               shown(name).text);
    c->model[c->count++] = found;
    return EXIT_DONE;
}

static int choose_named(chosen_targets *c, const char *list, const arguments *given)
{
    if (find(c->all, list)) /* a name that may have a comma */
        return add(c, list, given);
    char *name = malloc(strlen(list) + 1);
    if (!name)
        return failure(given, "out of memory for the names of targets");
    int code = EXIT_DONE;
    for (const char *rest = list; rest && code == EXIT_DONE;) {
        rest = cell_take(rest, name);
        code = add(c, name, given);
    }
    free(name);
    return code;
}

static void choose_all(chosen_targets *c)
{
    for (size_t t = 0; t < quorum_model_targets(c->all) && t < MOST_TARGETS; t++)
        c->model[c->count++] = quorum_model_target(c->all, t);
}

int chosen_load(chosen_targets *c, const arguments *given)
{
    const char *list = argument_value(given, "target");
    memset(c, 0, sizeof *c);
    quorum_status status = quorum_load_with(given->operands[0], given->options, &c->all);
    if (status < 0)
        return library_failure(given, status);
    c->several = quorum_model_targets(c->all) > 1;
    if (list)
        return choose_named(c, list, given);
    choose_all(c);
    return EXIT_DONE;
}

bool chosen_again(chosen_targets *c, quorum_model *model, const chosen_targets *before,
                  const arguments *given)
{
    *c = (chosen_targets){.all = model, .several = quorum_model_targets(model) > 1};
    if (!argument_value(given, "target") || !c->several) {
        choose_all(c);
        return c->count == before->count;
    }
    for (size_t t = 0; t < before->count; t++) {
        c->model[t] = find_named(model, name_of_target(before->model[t]));
        if (!c->model[t])
            return false;
    }
    c->count = before->count;
    return true;
}

int chosen_load_one(chosen_targets *c, const arguments *given)
{
    char names[600];
    int code = chosen_load(c, given);
    if (code != EXIT_DONE || c->count == 1)
        return code;
    list_names(c->all, names, sizeof names);
    return usage_error(given->command,
                       "the model has %zu targets, and this is of one: say which with --target, "
                       "one of %s",
                       quorum_model_targets(c->all), names);
}

void chosen_free(chosen_targets *c)
{
    quorum_model_free(c->all);
    memset(c, 0, sizeof *c);
}

/* ---- Inputs ---- */

/* The columns of a table are the first inputs. */
static void copy_columns(const quorum_info *from, size_t count, const double *X, double *table)
{
    for (size_t i = 0; i < count; i++)
        memcpy(table + i * from->columns, X + i * from->inputs, from->columns * sizeof *X);
}

/* Places are no columns of X: they are taken over. */
static void copy_places(const quorum_info *from, const double *X, const quorum_info *to,
                        size_t count, double *out)
{
    for (size_t i = 0; from->place > 0 && to->place > 0 && i < count; i++)
        memcpy(out + i * to->inputs + to->place, X + i * from->inputs + from->place, 3 * sizeof *X);
}

int chosen_inputs(const quorum_model *first, const quorum_model *model, const double *X,
                  size_t count, double **room, const arguments *given, const double **out)
{
    quorum_info from, to;
    quorum_status status = quorum_inspect(first, &from);
    if (status >= 0)
        status = quorum_inspect(model, &to);
    *out = X;
    if (status < 0)
        return library_failure(given, status);
    if (first == model || (from.inputs == from.columns && to.inputs == to.columns))
        return EXIT_DONE;
    double *grown = realloc(*room, (count + 1) * (to.inputs + from.columns) * sizeof *grown);
    if (!grown)
        return failure(given, "out of memory for the inputs of %zu rows", count);
    *room = grown;
    double *columns = grown + count * to.inputs;
    copy_columns(&from, count, X, columns);
    *out = grown;
    status = quorum_make_inputs(model, columns, count, grown);
    copy_places(&from, X, &to, count, grown);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

static bool same_inputs(const quorum_model *a, const quorum_model *b)
{
    quorum_info x, y;
    if (quorum_inspect(a, &x) < 0 || quorum_inspect(b, &y) < 0 || x.inputs != y.inputs)
        return false;
    for (size_t d = 0; d < x.inputs; d++)
        if (strcmp(x.names[d], y.names[d]) != 0)
            return false;
    return true;
}

bool chosen_together(const chosen_targets *c)
{
    bool all = c->several && c->count == quorum_model_targets(c->all);
    for (size_t t = 0; all && t < c->count; t++)
        all = c->model[t] == quorum_model_target(c->all, t) && same_inputs(c->all, c->model[t]);
    return all;
}

/* ---- Names of columns ---- */

/* Both together as one cell. */
static void write_joined(const char *target, const char *name, FILE *file)
{
    size_t size = strlen(target) + strlen(name) + 2;
    char *joined = malloc(size);
    if (!joined) /* the file has an error then, which is said later */
        return;
    snprintf(joined, size, "%s_%s", target, name);
    cell_write("", joined, file);
    free(joined);
}

void chosen_write_names(const char *target, const char *names, FILE *file)
{
    char *name = malloc(strlen(names) + 1);
    for (bool first = true; name && names; first = false) {
        names = cell_take(names, name);
        if (!first)
            fputc(',', file);
        write_joined(target, name, file);
    }
    free(name);
}
