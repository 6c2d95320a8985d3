/* Names in lists: `id,"lon, degrees",-1`. */
#ifndef QRM_TEXT_LIST_H
#define QRM_TEXT_LIST_H

/* The name in quotes at the front of `list`, "" standing for ", into `name`, which has room for all of
 * the list.  Returns what follows the closing quote; NULL: there is none. */
const char *list_take_quoted(const char *list, char *name);

/* The name at the front, in quotes or not.  Returns what follows it and its comma; NULL: a quote is left
 * open, or does not end at a comma. */
const char *list_take(const char *list, char *name);

#endif
