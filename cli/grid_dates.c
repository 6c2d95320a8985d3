/* Ranges of dates.  With times of day there are colons in FROM and TO. */
#include "grid_dates.h"

#include "date_values.h"
#include "talk.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *from, *to; /* in the axis's text ... */
    size_t from_bytes, to_bytes;
    size_t count;
} date_range;

/* "FROM:TO:COUNT"; false: the text is something else. */
static bool split_range(const char *text, date_range *r)
{
    const char *last = strrchr(text, ':'), *middle = last ? date_range_colon(text, last) : NULL;
    char *end;
    if (!middle)
        return false;
    double count = strtod(last + 1, &end);
    *r = (date_range){.from = text, .from_bytes = (size_t)(middle - text), .to = middle + 1};
    r->to_bytes = (size_t)(last - r->to);
    r->count = count >= 1.0 && count <= GRID_MOST_VALUES ? (size_t)count : 0;
    return end != last + 1 && *end == '\0' && count == floor(count) && r->count > 0;
}

static int take_dates(grid *g, size_t i, size_t d, const char *option, const quorum_model *model,
                      const quorum_info *info, const arguments *given)
{
    quorum_axis *a = &g->axis[i];
    date_range r;
    double from, to;
    if (!a->text || !split_range(a->text, &r))
        return EXIT_DONE;
    int code = date_read(model, info, d, r.from, r.from_bytes, option, given, &from);
    if (code == EXIT_DONE)
        code = date_read(model, info, d, r.to, r.to_bytes, option, given, &to);
    if (code != EXIT_DONE)
        return code;
    if (g->rows > SIZE_MAX / 64 / r.count)
        return usage_error(given->command, "--%s: too many rows", option);
    free((char *)a->text);
    a->text = NULL;
    a->units = "seconds since 1970-01-01 00:00:00";
    g->form[i] = info->date[d];
    g->rows *= r.count;
    return grid_fill_axis(a, from, to, r.count) ? EXIT_DONE
                                                : failure(given, "out of memory for a grid");
}

int grid_take_dates(grid *g, const char *option, const quorum_model *model, const arguments *given)
{
    quorum_info info;
    quorum_status status = quorum_inspect(model, &info);
    int code = status < 0 ? library_failure(given, status) : EXIT_DONE;
    for (size_t i = 0; i < g->axes && code == EXIT_DONE; i++)
        for (size_t d = 0; info.date && d < info.columns && code == EXIT_DONE; d++)
            if (info.date[d] && strcmp(info.names[d], g->axis[i].name) == 0)
                code = take_dates(g, i, d, option, model, &info, given);
    return code;
}
