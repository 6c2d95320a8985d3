/* A query's rows as csv text, by libsqlite3 (query.h). */
#include "sqlite/query.h"

#include "base/memory.h"
#include "base/plain.h"
#include "base/status.h"

#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    LONGEST_CELL = 1 << 24, /* bytes: longer texts are refused          */
    STEPS = 10000,          /* of the engine between two questions      */
    WAIT = 5000,            /* milliseconds for who writes the database */
    TABLES = 400,
    FIRST_ROOM = 4096
};

struct query {
    sqlite3 *base;
    sqlite3_stmt *statement;
    char *label;
    progress asked;
    quorum_status stopped; /* by the callback */
    int columns;
    size_t row;               /* the last one, from 1                        */
    int at_end;               /* no row comes any more                       */
    char *text;               /* room: of the row that is being given ...    */
    size_t used, given, room; /* ... its bytes, and those gone already */
};

/* ---- Failures ---- */

static quorum_status fail_memory(const query *q)
{
    return failure(QUORUM_E_MEMORY, "%s: out of memory while reading", q->label);
}

/* What the engine says. */
static quorum_status fail_by(const query *q, int code, const char *doing)
{
    const char *said = q->base ? sqlite3_errmsg(q->base) : sqlite3_errstr(code);
    switch (code & 0xFF) {
    case SQLITE_INTERRUPT:
        if (q->stopped < 0)
            return q->stopped;
        break;
    case SQLITE_NOMEM: return fail_memory(q);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return failure(QUORUM_E_FORMAT,
                       "%s: is no SQLite database, or a damaged one (%.200s); copy it again, or "
                       "look at it with sqlite3 FILE 'pragma integrity_check'",
                       q->label, said);
    case SQLITE_AUTH:
        return failure(QUORUM_E_ARGUMENT,
                       "%s: the query does something else than reading tables of this database "
                       "(%.200s); give a SELECT",
                       q->label, said);
    case SQLITE_TOOBIG:
        return failure(QUORUM_E_DATA,
                       "%s: a cell has more than %d MB; leave its column out of the query",
                       q->label, LONGEST_CELL >> 20);
    case SQLITE_ERROR: return failure(QUORUM_E_ARGUMENT, "%s: %s: %.300s", q->label, doing, said);
    default: break;
    }
    return failure(QUORUM_E_FILE, "%s: %s: %.300s", q->label, doing, said);
}

/* ---- Opening ---- */

static int ask_whether_to_go_on(void *context)
{
    query *q = context;
    q->stopped = progress_report(&q->asked, "read", -1.0, "%s", q->label);
    return q->stopped < 0;
}

/* Tables are read, functions are called, and nothing else is done. */
static int allow_reading(void *unused, int action, const char *a, const char *b, const char *c,
                         const char *d)
{
    (void)unused, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
                   action == SQLITE_RECURSIVE
               ? SQLITE_OK
               : SQLITE_DENY;
}

/* `a, b, c`: the tables and views, as far as they fit. */
static void list_tables(const query *q, char out[TABLES])
{
    static const char sql[] = "select name from sqlite_schema where type in ('table', 'view') and "
                              "name not like 'sqlite\\_%' escape '\\' order by name";
    sqlite3_stmt *s = NULL;
    size_t used = 0;
    out[0] = '\0';
    if (sqlite3_prepare_v2(q->base, sql, -1, &s, NULL) != SQLITE_OK)
        return;
    while (sqlite3_step(s) == SQLITE_ROW && used < TABLES - 80) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        used += (size_t)snprintf(out + used, TABLES - used, "%s%.60s", used ? ", " : "",
                                 name ? name : "");
    }
    sqlite3_finalize(s);
}

static quorum_status fail_without_query(const query *q)
{
    char tables[TABLES];
    list_tables(q, tables);
    return failure(QUORUM_E_ARGUMENT,
                   "%s: is an SQLite database: say what to read with --query \"select ... from "
                   "...\"; its tables: %s",
                   q->label, tables[0] ? tables : "none");
}

static int is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n;")] == '\0';
}

static quorum_status prepare(query *q, const char *sql)
{
    const char *rest = "";
    int code = sqlite3_prepare_v2(q->base, sql, -1, &q->statement, &rest);
    if (code != SQLITE_OK)
        return fail_by(q, code, "the query cannot be understood");
    if (!is_blank(rest))
        return failure(QUORUM_E_ARGUMENT, "%s: the query has several statements; give one SELECT",
                       q->label);
    q->columns = q->statement ? sqlite3_column_count(q->statement) : 0;
    if (q->columns == 0 || !sqlite3_stmt_readonly(q->statement))
        return failure(QUORUM_E_ARGUMENT, "%s: the query gives no rows; give a SELECT", q->label);
    return QUORUM_OK;
}

static quorum_status open_base(query *q, const char *path)
{
    int code = sqlite3_open_v2(path, &q->base, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        return fail_by(q, code, "cannot be opened");
    sqlite3_busy_timeout(q->base, WAIT);
    sqlite3_limit(q->base, SQLITE_LIMIT_LENGTH, LONGEST_CELL);
    sqlite3_progress_handler(q->base, STEPS, ask_whether_to_go_on, q);
    sqlite3_set_authorizer(q->base, allow_reading, NULL);
    return QUORUM_OK;
}

/* ---- A row as text ---- */

static quorum_status make_room(query *q, size_t more)
{
    size_t room = q->room ? q->room : FIRST_ROOM;
    while (room < q->used + more)
        room *= 2;
    if (room == q->room)
        return QUORUM_OK;
    char *text = mem_grow(q->text, q->used, room, 1);
    if (!text)
        return fail_memory(q);
    q->text = text;
    q->room = room;
    return QUORUM_OK;
}

/* In quotes, each quote doubled; a row stays a line. */
static quorum_status put_text(query *q, const char *text, size_t n)
{
    TRY(make_room(q, 2 * n + 4));
    q->text[q->used++] = '"';
    for (size_t i = 0; i < n; i++) {
        int breaks = text[i] == '\n' || text[i] == '\r' || text[i] == '\0';
        if (text[i] == '"')
            q->text[q->used++] = '"';
        q->text[q->used++] = breaks ? ' ' : text[i];
    }
    q->text[q->used++] = '"';
    return QUORUM_OK;
}

__attribute__((format(printf, 2, 3))) static quorum_status put_plain(query *q, const char *format,
                                                                     ...)
{
    va_list args;
    TRY(make_room(q, 64));
    va_start(args, format);
    plain_print(q->text + q->used, 60, format, args);
    va_end(args);
    q->used += strlen(q->text + q->used);
    return QUORUM_OK;
}

/* The shorter of the texts that say it exactly. */
static quorum_status put_real(query *q, double value)
{
    size_t before = q->used;
    TRY(put_plain(q, "%.15g", value));
    if (!isfinite(value) || plain_real(q->text + before, NULL) == value)
        return QUORUM_OK;
    q->used = before;
    return put_plain(q, "%.17g", value);
}

static quorum_status put_cell(query *q, int column)
{
    sqlite3_stmt *s = q->statement;
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_INTEGER: return put_plain(q, "%lld", (long long)sqlite3_column_int64(s, column));
    case SQLITE_FLOAT: return put_real(q, sqlite3_column_double(s, column));
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(s, column);
        return text ? put_text(q, text, (size_t)sqlite3_column_bytes(s, column)) : fail_memory(q);
    }
    case SQLITE_NULL: return q->columns == 1 ? put_text(q, "", 0) : QUORUM_OK;
    default:
        return failure(QUORUM_E_DATA,
                       "%s: row %zu, column %d (\"%.100s\") is a blob: leave it out of the query",
                       q->label, q->row, column + 1, sqlite3_column_name(s, column));
    }
}

static quorum_status put_name(query *q, int column)
{
    const char *name = sqlite3_column_name(q->statement, column);
    return name ? put_text(q, name, strlen(name)) : fail_memory(q);
}

static quorum_status put_line(query *q, quorum_status (*put)(query *q, int column))
{
    q->used = q->given = 0;
    for (int c = 0; c < q->columns; c++) {
        TRY(make_room(q, 2));
        if (c > 0)
            q->text[q->used++] = ',';
        TRY(put(q, c));
    }
    TRY(make_room(q, 2));
    q->text[q->used++] = '\n';
    return QUORUM_OK;
}

quorum_status query_open(const char *path, const char *sql, const progress *asked, query **out)
{
    quorum_status status = QUORUM_OK;
    query *q = NULL;
    *out = NULL;
    if (!NEW_ZEROED(q, 1))
        return failure(QUORUM_E_MEMORY, "%s: out of memory while opening", path);
    q->asked = asked ? *asked : (progress){0};
    if (!(q->label = mem_copy_text(path))) {
        status = failure(QUORUM_E_MEMORY, "%s: out of memory while opening", path);
        goto done;
    }
    TRY_OR_DONE(open_base(q, path));
    TRY_OR_DONE(is_blank(sql) ? fail_without_query(q) : prepare(q, sql));
    TRY_OR_DONE(put_line(q, put_name));
    *out = q;
    q = NULL;
done:
    query_close(q);
    return status;
}

static quorum_status next_row(query *q)
{
    int code = sqlite3_step(q->statement);
    q->at_end = code == SQLITE_DONE;
    if (q->at_end)
        return QUORUM_OK;
    if (code != SQLITE_ROW)
        return fail_by(q, code, "the query failed");
    q->row++;
    return put_line(q, put_cell);
}

quorum_status query_read(query *q, char *buffer, size_t n, size_t *got)
{
    for (*got = 0; *got < n && !q->at_end;) {
        size_t left = q->used - q->given, some = n - *got < left ? n - *got : left;
        memcpy(buffer + *got, q->text + q->given, some);
        *got += some;
        q->given += some;
        if (q->given == q->used)
            TRY(next_row(q));
    }
    return QUORUM_OK;
}

void query_close(query *q)
{
    if (!q)
        return;
    sqlite3_finalize(q->statement);
    sqlite3_close(q->base);
    mem_free(q->label);
    mem_free(q->text);
    mem_free(q);
}
