/* Options as texts, and the settings that are read from them by the table (option_table.h). */
#include "options/options.h"

#include "base/memory.h"
#include "base/plain.h"
#include "options/option_table.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
            return 0;
    return *a == *b;
}

static int find_option(const char *name)
{
    for (int i = 0; i < quorum_option_count(); i++)
        if (same_name(option_at(i)->name, name))
            return i;
    return -1;
}

static double byte_unit(const char *suffix)
{
    static const char units[] = "kmgtKMGT";
    if (*suffix == '\0' || plain_compare(suffix, "b") == 0)
        return 1.0;
    const char *unit = strchr(units, *suffix);
    const char *rest = suffix + 1;
    if (!unit || (*rest && plain_compare(rest, "b") != 0 && plain_compare(rest, "ib") != 0))
        return 0.0;
    return pow(1024.0, (double)((unit - units) % 4 + 1));
}

static quorum_status read_number(const option *o, const char *value, double *out)
{
    if (strcmp(value, "auto") == 0 && strcmp(o->default_value, "auto") == 0) {
        *out = 0.0;
        return QUORUM_OK;
    }
    char *end;
    errno = 0;
    double x = plain_real(value, &end), unit = 1.0;
    if (o->type == BYTES && end != value)
        unit = byte_unit(end);
    else if (*end != '\0')
        unit = 0.0;
    if (end == value || unit == 0.0 || !isfinite(x))
        return failure(QUORUM_E_ARGUMENT, "option %s: \"%s\" is not a %s", o->name, value,
                       o->type == BYTES   ? "size such as 800M or 4G"
                       : o->type == COUNT ? "whole number"
                                          : "number");
    x *= unit;
    if (o->type == COUNT && x != floor(x))
        return failure(QUORUM_E_ARGUMENT, "option %s: \"%s\" is not a whole number", o->name,
                       value);
    if (o->max < 1.0 && x > 1.0 && x / 100.0 >= o->min && x / 100.0 <= o->max)
        return failure(QUORUM_E_ARGUMENT,
                       "option %s: %s is outside its range, %.6g to %.6g; did you mean %.6g?",
                       o->name, value, o->min, o->max, x / 100.0);
    if (x < o->min || x > o->max)
        return failure(QUORUM_E_ARGUMENT, "option %s: %s is outside its range, %.6g to %.6g",
                       o->name, value, o->min, o->max);
    *out = x;
    return QUORUM_OK;
}

static quorum_status read_choice(const option *o, const char *value, int *out)
{
    const char *p = o->choices;
    for (int i = 0;; i++) {
        size_t n = strcspn(p, "|");
        if (strlen(value) == n && strncmp(p, value, n) == 0) {
            *out = i;
            return QUORUM_OK;
        }
        if (p[n] == '\0')
            break;
        p += n + 1;
    }
    return failure(QUORUM_E_ARGUMENT, "option %s: \"%s\" is not one of %s", o->name, value,
                   o->choices);
}

static quorum_status read_flag(const option *o, const char *value, int *out)
{
    static const char *const yes[] = {"true", "yes", "on", "1"}, *const no[] = {"false", "no",
                                                                                "off", "0"};
    for (int i = 0; i < 4; i++) {
        if (plain_compare(value, yes[i]) == 0 || plain_compare(value, no[i]) == 0) {
            *out = plain_compare(value, yes[i]) == 0;
            return QUORUM_OK;
        }
    }
    if (o->choices)
        return read_choice(o, value, out);
    return failure(QUORUM_E_ARGUMENT, "option %s: \"%s\" is not true or false", o->name, value);
}

static quorum_status store(settings *s, const option *o, const char *value)
{
    char *field = (char *)s + o->field;
    switch (o->type) {
    case COUNT:
    case REAL:
    case BYTES: return read_number(o, value, (double *)(void *)field);
    case CHOICE: return read_choice(o, value, (int *)(void *)field);
    case FLAG: return read_flag(o, value, (int *)(void *)field);
    case TEXT:
        if (o->check)
            TRY(o->check(value));
        *(const char **)(void *)field = value;
        return QUORUM_OK;
    }
    return failure(QUORUM_E_INTERNAL, "option %s has no type", o->name);
}

quorum_status quorum_options_set(quorum_options *options, const char *name, const char *value)
{
    if (!options || !name || !value)
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_options_set: options, name and value must not be NULL");
    int i = find_option(name);
    if (i < 0)
        return failure(QUORUM_E_ARGUMENT, "there is no option called \"%s\"", name);
    char *copy = mem_copy_text(value);
    if (!copy)
        return failure(QUORUM_E_MEMORY, "out of memory for option %s", name);
    quorum_status status = store(&options->values, option_at(i), copy);
    if (status < 0) {
        mem_free(copy);
        return status;
    }
    mem_free(options->text[i]);
    options->text[i] = copy;
    return QUORUM_OK;
}

quorum_options *quorum_options_new(void)
{
    quorum_options *o;
    if (!NEW_ZEROED(o, 1))
        return NULL;
    if (!NEW_ZEROED(o->text, quorum_option_count())) {
        mem_free(o);
        return NULL;
    }
    for (int i = 0; i < quorum_option_count(); i++)
        if (quorum_options_set(o, option_at(i)->name, option_at(i)->default_value) < 0) {
            quorum_options_free(o);
            return NULL;
        }
    return o;
}

void quorum_options_free(quorum_options *options)
{
    if (!options)
        return;
    for (int i = 0; options->text && i < quorum_option_count(); i++)
        mem_free(options->text[i]);
    mem_free(options->text);
    mem_free(options);
}

const char *quorum_options_get(const quorum_options *options, const char *name)
{
    int i = name ? find_option(name) : -1;
    if (i < 0)
        return NULL;
    return options ? options->text[i] : option_at(i)->default_value;
}

void quorum_options_set_progress(quorum_options *options, quorum_progress_fn callback, void *user)
{
    if (options)
        options->progress = (progress){.callback = callback, .user = user};
}
static settings defaults;
static pthread_once_t defaults_once = PTHREAD_ONCE_INIT;

static void build_defaults(void)
{
    for (int i = 0; i < quorum_option_count(); i++)
        store(&defaults, option_at(i), option_at(i)->default_value);
}

const settings *options_values(const quorum_options *options)
{
    if (options)
        return &options->values;
    pthread_once(&defaults_once, build_defaults);
    return &defaults;
}
