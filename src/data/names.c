#include "data/names.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER_SIZE = 24 }; /* "x" and 20 digits */

quorum_status names_reserve(column_names *n, size_t count, size_t bytes)
{
    *n = (column_names){0};
    NEW_ARRAY(n->text, bytes + count * NUMBER_SIZE);
    NEW_ARRAY(n->start, count);
    if (n->text && n->start)
        return QUORUM_OK;
    names_free(n);
    return failure(QUORUM_E_MEMORY, "out of memory for the names of %zu columns", count);
}

void names_append(column_names *n, const char *begin, const char *end, int quoted)
{
    char *to = n->text + n->used;
    n->start[n->count++] = n->used;
    for (const char *p = begin; p < end; p++) {
        *to++ = *p;
        if (quoted && *p == '"' && p + 1 < end && p[1] == '"')
            p++;
    }
    if (begin == end)
        to += snprintf(to, NUMBER_SIZE, "x%zu", n->count);
    *to++ = '\0';
    n->used = (size_t)(to - n->text);
}

quorum_status names_number(column_names *n, size_t count, int last_is_y)
{
    TRY(names_reserve(n, count, 0));
    for (size_t i = 0; i < count; i++) {
        const char *name = last_is_y && i + 1 == count ? "y" : "";
        names_append(n, name, name + strlen(name), 0);
    }
    return QUORUM_OK;
}

const char *names_at(const column_names *n, size_t column)
{
    return n->text + n->start[column];
}

size_t names_count_of(const column_names *n, const char *name, size_t *first)
{
    size_t found = 0;
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(names_at(n, i), name) == 0 && found++ == 0)
            *first = i;
    return found;
}

void names_free(column_names *n)
{
    mem_free(n->text);
    mem_free(n->start);
    *n = (column_names){0};
}
