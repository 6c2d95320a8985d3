/* Bytes of a plain or gzip file or of standard input ("-"). */
#ifndef QRM_DATA_SOURCE_H
#define QRM_DATA_SOURCE_H

#include "base/progress.h"

#include <stddef.h>

typedef enum { KIND_TEXT, KIND_NPY, KIND_ZIP, KIND_SQLITE, KIND_PARQUET, KIND_ARROW } file_kind;

/* What the first bytes of `path` say: zip, npy, SQLite, Parquet, Arrow, or anything else, which is
 * taken for text.  Pipes are text without being looked at.  Fails for what
 * cannot be read, such as a directory. */
quorum_status source_kind(const char *path, file_kind *kind);
file_kind source_kind_of_bytes(const void *bytes, size_t n);

/* How messages name a path: "standard input" for "-". */
const char *source_label(const char *path);

typedef struct source source;

/* `asked`, which may be NULL, is told how far reading is and can cancel it, also while nothing
 * comes through a pipe.  Much of a plain file is read by `threads` at once. */
quorum_status source_open(const char *path, int threads, const progress *asked, source **out);

/* Bytes that reading gives in all; 0: nobody knows. */
double source_size(const source *s);

/* Reads n bytes; fewer only at the end.  A gzip file may have several members, and zeros after
 * the last; damaged or cut data, and anything else behind them, are QUORUM_E_FORMAT. */
quorum_status source_read(source *s, char *buffer, size_t n, size_t *got);
void source_close(source *s); /* accepts NULL */

#endif
