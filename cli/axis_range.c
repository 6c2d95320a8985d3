/* What stands before the last equals sign is a name where all of it is none. */
#include "axis_range.h"

#include "date_values.h"
#include "talk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

size_t column_named(const quorum_info *info, const char *name)
{
    size_t d = 0;
    while (d < info->columns && strcmp(info->names[d], name) != 0)
        d++;
    return d;
}

static bool is_rising(const axis_range *a)
{
    return isfinite(a->from) && isfinite(a->to) && a->from < a->to;
}

static bool read_numbers(const char *text, axis_range *a)
{
    char rest;
    return sscanf(text, "%lf:%lf%c", &a->from, &a->to, &rest) == 2 && is_rising(a);
}

static int wrong_range(const char *option, const arguments *given)
{
    return usage_error(given->command, "--%s: NAME or NAME=FROM:TO is wanted, not '%s'", option,
                       argument_value(given, option));
}

static int read_dates(const quorum_model *model, const quorum_info *info, const char *text,
                      const char *option, const arguments *given, axis_range *a)
{
    const char *end = text + strlen(text), *colon = date_range_colon(text, end);
    if (!colon)
        return wrong_range(option, given);
    int code =
        date_read(model, info, a->column, text, (size_t)(colon - text), option, given, &a->from);
    if (code == EXIT_DONE)
        code = date_read(model, info, a->column, colon + 1, (size_t)(end - colon - 1), option,
                         given, &a->to);
    return code != EXIT_DONE || is_rising(a) ? code : wrong_range(option, given);
}

int axis_read(const quorum_model *model, const quorum_info *info, const char *option,
              const arguments *given, axis_range *out)
{
    const char *text = argument_value(given, option), *equals = strrchr(text, '=');
    char name[512];
    *out = (axis_range){.column = column_named(info, text)};
    if (out->column < info->columns)
        return EXIT_DONE;
    snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - text) : 511, text);
    out->column = column_named(info, name);
    if (!equals || out->column == info->columns)
        return failure(given, "--%s: \"%s\" is no input of the model; 'quorum inspect' lists them",
                       option, name);
    out->ranged = true;
    if (info->levels && info->levels[out->column] > 0)
        return usage_error(given->command, "--%s: \"%s\" is a category and has no range", option,
                           name);
    if (read_numbers(equals + 1, out))
        return EXIT_DONE;
    if (info->date && info->date[out->column])
        return read_dates(model, info, equals + 1, option, given, out);
    return wrong_range(option, given);
}
