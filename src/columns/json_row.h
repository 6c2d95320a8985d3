/* A line of JSON as csv: an object of names and values, or a list of values. */
#ifndef QRM_API_JSON_ROW_H
#define QRM_API_JSON_ROW_H

#include "base/status.h"

#include <stddef.h>

/* header: the names of an object, "" of a list; row: the values.  Both end with a line end, are the
 * caller's to mem_free, and NULL on failure.
 *
 *     {"a": 1.5, "city": "Rome"}   becomes   "a","city"  and  1.5,"Rome"
 *
 * `order` (count names): the members that an object is to give, in this order; NULL: all, as they
 * stand there.  Values are numbers, texts, true and false, which are texts, and null, a missing cell. */
typedef struct {
    char *header, *row;
} json_row;
quorum_status json_row_read(const char *text, size_t bytes, const char *const *order, size_t count,
                            json_row *out);
void json_row_free(json_row *r);

#endif
