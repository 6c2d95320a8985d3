/* Names in lists, separated by commas; those with commas stand in double quotes. */
#include "text/list.h"

#include <string.h>

const char *list_take_quoted(const char *list, char *name)
{
    const char *p = list + 1;
    for (; *p && (*p != '"' || p[1] == '"'); p++) {
        p += *p == '"';
        *name++ = *p;
    }
    *name = '\0';
    return *p == '"' ? p + 1 : NULL;
}

const char *list_take(const char *list, char *name)
{
    if (*list == '"') {
        list = list_take_quoted(list, name);
    } else {
        size_t n = strcspn(list, ",");
        memcpy(name, list, n);
        name[n] = '\0';
        list += n;
    }
    if (!list || (*list != ',' && *list != '\0'))
        return NULL;
    return list + (*list == ',');
}
