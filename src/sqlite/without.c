/* Queries where the library was built without SQLite: none. */
#include "sqlite/query.h"

#include "base/status.h"

quorum_status query_open(const char *path, const char *sql, const progress *asked, query **out)
{
    (void)sql;
    (void)asked;
    *out = NULL;
    return failure(
        QUORUM_E_ARGUMENT,
        "%s: is an SQLite database, and this quorum was built without SQLite: export the "
        "table as csv, or build it with libsqlite3-dev",
        path);
}

quorum_status query_read(query *q, char *buffer, size_t n, size_t *got)
{
    (void)q;
    (void)buffer;
    (void)n;
    *got = 0;
    return QUORUM_OK;
}

void query_close(query *q)
{
    (void)q;
}
