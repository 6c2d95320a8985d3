/* Lists of rows, as in 1-1000,1205. */
#include "forget.h"

#include "talk.h"

#include <stdlib.h>
#include <string.h>

void forget_free(forget_list *f)
{
    free(f->row);
    memset(f, 0, sizeof *f);
}

/* A whole number from 1 on, and what follows it; 0: there is none. */
static size_t take_number(const char **text)
{
    char *end;
    if (**text < '0' || **text > '9')
        return 0;
    unsigned long long number = strtoull(*text, &end, 10);
    *text = end;
    return number > (1ull << 53) ? 0 : (size_t)number;
}

/* The next of a list: FIRST or FIRST-LAST; false: it is none. */
static bool take_range(const char **text, size_t *first, size_t *last)
{
    *first = *last = take_number(text);
    if (*first > 0 && **text == '-') {
        ++*text;
        *last = take_number(text);
    }
    return *first > 0 && *last >= *first && (**text == ',' || **text == '\0');
}

static int refuse(const arguments *given, const char *list)
{
    return usage_error(given->command,
                       "--forget: '%s' is not a list of rows such as 1-1000,1205, from 1 on",
                       shown(list).text);
}

static int add_range(forget_list *f, size_t first, size_t last, const arguments *given)
{
    size_t count = last - first + 1;
    size_t *grown = realloc(f->row, (f->count + count) * sizeof *grown);
    if (!grown)
        return failure(given, "out of memory for the rows to forget");
    f->row = grown;
    for (size_t i = 0; i < count; i++)
        f->row[f->count++] = first - 1 + i;
    return EXIT_DONE;
}

static int parse_rows(forget_list *f, const char *list, size_t rows, const arguments *given)
{
    const char *rest = list;
    int code = EXIT_DONE;
    while (code == EXIT_DONE) {
        size_t first, last;
        if (!take_range(&rest, &first, &last))
            return refuse(given, list);
        if (last > rows)
            return usage_error(given->command, "--forget: there is no row %zu, the model has %zu",
                               last, rows);
        code = add_range(f, first, last, given);
        if (*rest++ == '\0')
            break;
    }
    return code;
}

int forget_parse(forget_list *f, const quorum_model *model, const arguments *given)
{
    const char *list = argument_value(given, "forget"), *window = argument_value(given, "window");
    const char *rest = window;
    quorum_info info;
    quorum_status status = quorum_inspect(model, &info);
    if (status < 0)
        return library_failure(given, status);
    f->window = window ? take_number(&rest) : 0;
    if (window && (f->window == 0 || *rest))
        return usage_error(given->command, "--window: '%s' is not a whole number from 1 on",
                           shown(window).text);
    return list ? parse_rows(f, list, info.rows, given) : EXIT_DONE;
}
