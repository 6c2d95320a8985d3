/* Names of columns one behind another in one block of text, made up where the file has none, and
 * a sorted list of them to look them up in. */
#include "data/names.h"
#include "base/memory.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_SIZE = 24 }; /* "x" and 20 digits */

quorum_status names_reserve(column_names *n, size_t count, size_t bytes, int windows)
{
    *n = (column_names){.windows = windows};
    NEW_ARRAY(n->text, bytes * (windows ? MOST_UTF8 : 1) + count * NUMBER_SIZE);
    NEW_ARRAY(n->start, count);
    NEW_ARRAY(n->made_up, count);
    if (n->text && n->start && n->made_up)
        return QUORUM_OK;
    names_free(n);
    return failure(QUORUM_E_MEMORY, "out of memory for the names of %zu columns", count);
}

/* The next byte of a name; a spreadsheet's line ends inside a cell become one blank. */
static char *append_byte(const column_names *n, char *to, char byte)
{
    if (byte == '\n' || byte == '\r' || byte == '\t') {
        if (to > n->text + n->used && to[-1] != ' ')
            *to++ = ' ';
        return to;
    }
    if (n->windows) {
        char other[4];
        size_t size = windows_to_utf8(byte, other);
        memcpy(to, other, size);
        return to + size;
    }
    *to++ = byte;
    return to;
}

void names_append(column_names *n, const char *begin, const char *end, int quoted)
{
    char *to = n->text + n->used;
    const char *start = to;
    n->start[n->count++] = n->used;
    for (const char *p = begin; p < end; p++) {
        to = append_byte(n, to, *p);
        if (quoted && *p == '"' && p + 1 < end && p[1] == '"')
            p++;
    }
    while (to > start && to[-1] == ' ')
        to--;
    n->made_up[n->count - 1] = to == start;
    if (to == start)
        to += snprintf(to, NUMBER_SIZE, "x%zu", n->count);
    *to++ = '\0';
    n->used = (size_t)(to - n->text);
}

quorum_status names_number(column_names *n, size_t count, int last_is_y)
{
    TRY(names_reserve(n, count, 0, 0));
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

size_t names_count_of(const column_names *n, const char *name, size_t place[2])
{
    size_t found = 0;
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(names_at(n, i), name) == 0 && found++ < 2)
            place[found - 1] = i;
    return found;
}

void names_free(column_names *n)
{
    mem_free(n->text);
    mem_free(n->start);
    mem_free(n->made_up);
    *n = (column_names){0};
}

static int compare_names(const void *a, const void *b)
{
    const named_column *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order == 0)
        order = x->made_up - y->made_up;
    return order != 0 ? order : (x->column > y->column) - (x->column < y->column);
}

void names_sort(named_column *list, size_t count)
{
    qsort(list, count, sizeof *list, compare_names);
}

size_t names_find(const named_column *list, size_t count, const char *name)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(list[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && strcmp(list[low].name, name) == 0 ? low : count;
}

size_t names_find_twice(const named_column *list, size_t count)
{
    size_t best = count;
    for (size_t i = 0; i + 1 < count; i++)
        if (strcmp(list[i].name, list[i + 1].name) == 0 &&
            (best == count || list[i].column < list[best].column))
            best = i;
    return best;
}
