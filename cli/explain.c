/* Reading MODEL and all of DATA, to be looked at by the library. */
#include "explain.h"

#include "talk.h"

#include <stdlib.h>
#include <string.h>

int count_flag(const arguments *given, const char *name, size_t least, size_t largest,
               size_t otherwise, size_t *out)
{
    const char *text = argument_value(given, name);
    char *end = NULL;
    double number = text ? strtod(text, &end) : (double)otherwise;
    if (text && (end == text || *end || !(number >= (double)least && number <= (double)largest) ||
                 number != (double)(size_t)number))
        return usage_error(given->command, "--%s: '%s' is not a whole number from %zu to %zu", name,
                           shown(text).text, least, largest);
    *out = (size_t)number;
    return EXIT_DONE;
}

static int set_seed(const arguments *given)
{
    const char *seed = argument_value(given, "seed");
    quorum_status status = seed ? quorum_options_set(given->options, "seed", seed) : QUORUM_OK;
    return status < 0 ? option_failure(given, "seed", status) : EXIT_DONE;
}

static int read_rows(explained *e, const arguments *given, bool with_target)
{
    int code = rows_next(&e->rows, ALL_ROWS, given);
    size_t dropped = quorum_stream_dropped(e->rows.stream);
    if (code != EXIT_DONE)
        return code;
    if (dropped)
        note(given, "%zu row%s with missing cells left out", dropped, plural(dropped));
    if (e->rows.count == 0)
        return failure(given, "%s: has no rows", given->operands[1]);
    e->given = (quorum_new_rows){.rows = e->rows.count,
                                 .X = e->rows.X,
                                 .y = with_target ? e->rows.y : NULL,
                                 .offset = e->rows.with_offset ? e->rows.offset : NULL,
                                 .weight = e->rows.weights,
                                 .noise_std = e->rows.noise};
    return EXIT_DONE;
}

int explained_read(explained *e, const arguments *given, bool with_target, size_t most)
{
    quorum_prediction none = {0};
    int code = count_flag(given, "rows", 20, 1000000, most, &e->most);
    if (code == EXIT_DONE)
        code = set_seed(given);
    if (code == EXIT_DONE)
        code = chosen_load_one(&e->targets, given);
    if (code != EXIT_DONE)
        return code;
    e->model = e->targets.model[0];
    quorum_status status = quorum_inspect(e->model, &e->info);
    if (status >= 0)
        status = quorum_predict(e->model, NULL, 0, given->options, &none, NULL);
    if (status >= 0)
        status = rows_open(&e->rows, given->operands[1], e->model, with_target, 0, given);
    if (status < 0)
        return library_failure(given, status);
    return read_rows(e, given, with_target);
}

void explained_free(explained *e)
{
    rows_close(&e->rows);
    chosen_free(&e->targets);
}
