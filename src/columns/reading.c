/* The options of reading, as the reader takes them, and lists of columns. */
#include "columns/reading.h"

#include "base/memory.h"
#include "text/list.h"

#include <string.h>

/* The values of the option decimal: both marks by name and by themselves. */
static const decimal_mode decimals[] = {DECIMAL_AUTO, DECIMAL_POINT, DECIMAL_COMMA, DECIMAL_POINT,
                                        DECIMAL_COMMA};

reader_options how_to_read(const quorum_options *options, reading_purpose purpose)
{
    const settings *s = options_values(options);
    reader_options how = {.header = (header_mode)s->header,
                          .missing = (missing_mode)s->missing,
                          .purpose = purpose,
                          .decimal = decimals[s->decimal],
                          .thousands = options_thousands(s),
                          .comment = options_comment(s),
                          .memory = options_memory(s),
                          .threads = options_threads(s),
                          .query = s->query,
                          .no_categories = strcmp(s->categorical, "none") == 0};
    if (options)
        how.asked = *options_progress(options);
    return how;
}

/* The next name of a list; NULL: it is not such a list. */
static const char *take_name(const char *what, const char *list, char *name, quorum_status *status)
{
    const char *rest = list_take(list, name);
    if (!rest)
        *status =
            failure(QUORUM_E_ARGUMENT,
                    "%s: a name in quotes ends with a quote, before a comma or the end", what);
    return rest;
}

quorum_status mark_columns(const reader *r, const char *what, const char *list, char *marked)
{
    char *name;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(name, strlen(list) + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    while (*list && status >= 0 && (list = take_name(what, list, name, &status))) {
        size_t column;
        status = name[0] ? reader_find(r, name, &column) : QUORUM_OK;
        if (name[0] && status >= 0)
            marked[column] = 1;
    }
    mem_free(name);
    return status;
}

/* Behind those that are there. */
static quorum_status add_column(const reader *r, const char *what, const char *name,
                                size_t *columns, size_t *count)
{
    size_t column;
    quorum_status status = name[0] ? reader_find(r, name, &column) : QUORUM_OK;
    if (status < 0)
        return failure_in(status, "%s", what);
    if (name[0] == '\0')
        return QUORUM_OK;
    for (size_t i = 0; i < *count; i++)
        if (columns[i] == column)
            return failure(QUORUM_E_ARGUMENT, "%s: column %.200s is in the list twice", what,
                           reader_name(r, column));
    columns[(*count)++] = column;
    return QUORUM_OK;
}

quorum_status find_columns(const reader *r, const char *what, const char *list, size_t **columns,
                           size_t *count)
{
    char *name = NULL;
    quorum_status status = QUORUM_OK;
    *count = 0;
    *columns = NULL;
    if (!NEW_ARRAY(name, strlen(list) + 1) || !NEW_ARRAY(*columns, strlen(list) + 1))
        status = failure(QUORUM_E_MEMORY, "out of memory for column names");
    else if (!strpbrk(list, ",\"") || reader_find(r, list, &(*columns)[0]) >= 0)
        status = add_column(r, what, list, *columns, count);
    else
        while (*list && status >= 0 && (list = take_name(what, list, name, &status)))
            status = add_column(r, what, name, *columns, count);
    if (status >= 0 && *count == 0)
        status = failure(QUORUM_E_ARGUMENT, "%s: the list names no column", what);
    mem_free(name);
    return status;
}
