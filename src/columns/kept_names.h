/* Which columns of a file are kept as text, by a list of their names. */
#ifndef QRM_API_KEPT_NAMES_H
#define QRM_API_KEPT_NAMES_H

#include "data/reader.h"

/* Tells the reader to keep the columns of `list`: names or numbers separated by commas, a name with a
 * comma in double quotes, where "" stands for "; all of them for "all". */
quorum_status keep_columns(reader *r, const char *list);

#endif
