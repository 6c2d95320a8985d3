/* A list of columns, `id,"lon, degrees",-1` or `all`, as the columns that a reader keeps. */
#include "columns/kept_names.h"

#include "base/memory.h"
#include "text/list.h"

#include <string.h>

static quorum_status find_listed(const reader *r, const char *list, char *name, size_t *columns,
                                 size_t *count)
{
    for (*count = 0; *list;) {
        int named = *list != ',';
        const char *rest = list_take(list, name);
        if (!rest)
            return failure(QUORUM_E_ARGUMENT,
                           "keep: a name in quotes ends with a quote, before a comma or the end");
        quorum_status status = named ? reader_find(r, name, &columns[*count]) : QUORUM_OK;
        if (status < 0)
            return failure_in(status, "keep");
        *count += (size_t)named;
        list = rest;
    }
    return QUORUM_OK;
}

static quorum_status list_all(const reader *r, size_t *columns, size_t *count)
{
    *count = reader_columns(r);
    for (size_t i = 0; i < *count; i++)
        columns[i] = i;
    return QUORUM_OK;
}

quorum_status keep_columns(reader *r, const char *list)
{
    size_t count, length = strlen(list);
    size_t most = length + 1 > reader_columns(r) ? length + 1 : reader_columns(r);
    size_t *columns;
    char *name;
    NEW_ARRAY(columns, most);
    NEW_ARRAY(name, length + 1);
    quorum_status status = !columns || !name
                               ? failure(QUORUM_E_MEMORY, "out of memory for column names")
                           : strcmp(list, "all") == 0 ? list_all(r, columns, &count)
                                                      : find_listed(r, list, name, columns, &count);
    if (status >= 0)
        status = reader_keep(r, columns, count);
    mem_free(columns);
    mem_free(name);
    return status;
}
