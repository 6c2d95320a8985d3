/* Training data and query streams from files, over data/reader.h.  Rank 0 of a team reads,
 * and sends the others what it read. */
#include "model/model.h"

#include "base/memory.h"
#include "team/team.h"

#include <string.h>

static reader_options how_to_read(const settings *s)
{
    return (reader_options){.header = (header_mode)s->header, .missing = (missing_mode)s->missing};
}

/* ---- Training data ---- */

/* Marks the columns named in a comma-separated list. */
static quorum_status mark_columns(const reader *r, const char *list, char *marked)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        char name[512];
        if (n >= sizeof name)
            return failure(QUORUM_E_ARGUMENT, "ignore: a column name is too long");
        memcpy(name, list, n);
        name[n] = '\0';
        size_t column;
        if (n > 0) {
            TRY(reader_find(r, name, &column));
            marked[column] = 1;
        }
        list += n + (list[n] == ',');
    }
    return QUORUM_OK;
}

/* Input columns in file order, then the target. */
static quorum_status choose_columns(const reader *r, const settings *s, size_t *columns,
                                    size_t *inputs, size_t *target_place)
{
    size_t count = reader_columns(r), target;
    char *ignored;
    if (!NEW_ZEROED(ignored, count))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu columns", count);
    quorum_status status = reader_find(r, s->target, &target);
    if (status < 0)
        status = failure_in(status, "target");
    if (status == QUORUM_OK)
        status = mark_columns(r, s->ignore, ignored);
    if (status == QUORUM_OK && ignored[target])
        status = failure(QUORUM_E_ARGUMENT, "column %s cannot be both the target and ignored",
                         reader_name(r, target));
    *inputs = 0;
    for (size_t c = 0; status == QUORUM_OK && c < count; c++) {
        if (c == target)
            *target_place = *inputs;
        else if (!ignored[c])
            columns[(*inputs)++] = c;
    }
    if (status == QUORUM_OK && *inputs == 0)
        status =
            failure(QUORUM_E_DATA,
                    "%s has no input column beside the target %s: is the delimiter or the target "
                    "right?",
                    reader_path(r), reader_name(r, target));
    if (status == QUORUM_OK)
        columns[*inputs] = target;
    mem_free(ignored);
    return status;
}

static quorum_status copy_column_names(const reader *r, const size_t *columns, quorum_data *d)
{
    if (!reader_has_names(r))
        return QUORUM_OK;
    if (!NEW_ZEROED(d->names, d->inputs + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    for (size_t i = 0; i <= d->inputs; i++)
        if (!(d->names[i] = mem_copy_text(reader_name(r, columns[i]))))
            return failure(QUORUM_E_MEMORY, "out of memory for column names");
    return QUORUM_OK;
}

/* All rows into *table (rows x width), growing by doubling. */
static quorum_status read_rows(reader *r, size_t width, double **table, size_t *rows)
{
    size_t room = 4096, got = 0;
    *rows = 0;
    if (!NEW_ARRAY(*table, room * width))
        return failure(QUORUM_E_MEMORY, "out of memory for reading %s", reader_path(r));
    do {
        if (*rows == room) {
            double *more = mem_grow(*table, room * width, 2 * room * width, sizeof **table);
            if (!more)
                return failure(QUORUM_E_MEMORY, "out of memory for more than %zu rows of %s", room,
                               reader_path(r));
            *table = more;
            room *= 2;
        }
        TRY(reader_next(r, room - *rows, *table + *rows * width, &got));
        *rows += got;
    } while (got > 0);
    if (*rows == 0)
        return failure(QUORUM_E_DATA, "%s has no usable data rows", reader_path(r));
    return QUORUM_OK;
}

static quorum_status split_table(const double *table, quorum_data *d)
{
    size_t D = d->inputs;
    if (!NEW_ARRAY(d->X, d->rows * D) || !NEW_ARRAY(d->y, d->rows))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows", d->rows);
    for (size_t i = 0; i < d->rows; i++) {
        memcpy(d->X + i * D, table + i * (D + 1), D * sizeof *table);
        d->y[i] = table[i * (D + 1) + D];
    }
    return QUORUM_OK;
}

static quorum_status read_data(const char *path, const settings *s, quorum_data **data)
{
    reader_options how = how_to_read(s);
    reader *r = NULL;
    quorum_data *d = NULL;
    size_t *columns = NULL;
    double *table = NULL;
    quorum_status status = reader_open(path, &how, &r);
    if (status < 0)
        return status;
    if (!NEW_ZEROED(d, 1) || !NEW_ARRAY(columns, reader_columns(r) + 1)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for reading %s", path);
        goto done;
    }
    TRY_OR_DONE(choose_columns(r, s, columns, &d->inputs, &d->target));
    TRY_OR_DONE(copy_column_names(r, columns, d));
    TRY_OR_DONE(reader_select(r, columns, d->inputs + 1));
    TRY_OR_DONE(read_rows(r, d->inputs + 1, &table, &d->rows));
    d->dropped = reader_dropped(r);
    TRY_OR_DONE(split_table(table, d));
done:
    reader_close(r);
    mem_free(columns);
    mem_free(table);
    if (status < 0)
        quorum_data_free(d);
    else
        *data = d;
    return status;
}

/* The text of rank 0 on all ranks. */
static quorum_status send_text(char **text)
{
    size_t size = *text ? strlen(*text) + 1 : 0;
    team_send(&size, sizeof size);
    if (size > 0 && !*text)
        NEW_ZEROED(*text, size);
    TRY(team_agree(size == 0 || *text
                       ? QUORUM_OK
                       : failure(QUORUM_E_MEMORY, "out of memory for column names")));
    team_send(*text, size);
    return QUORUM_OK;
}

static quorum_status send_names(quorum_data *d, int named)
{
    if (!named)
        return QUORUM_OK;
    if (!d->names)
        NEW_ZEROED(d->names, d->inputs + 1);
    TRY(team_agree(d->names ? QUORUM_OK
                            : failure(QUORUM_E_MEMORY, "out of memory for column names")));
    for (size_t i = 0; i <= d->inputs; i++)
        TRY(send_text(&d->names[i]));
    return QUORUM_OK;
}

/* Rank 0's data to all, who come with an empty *d. */
static quorum_status send_data(quorum_data *d)
{
    size_t about[] = {d->rows, d->inputs, d->target, d->dropped, d->names != NULL};
    team_send(about, sizeof about);
    d->rows = about[0];
    d->inputs = about[1];
    d->target = about[2];
    d->dropped = about[3];
    if (!d->X) {
        NEW_ARRAY(d->X, d->rows * d->inputs);
        NEW_ARRAY(d->y, d->rows);
    }
    TRY(team_agree(d->X && d->y ? QUORUM_OK
                                : failure(QUORUM_E_MEMORY, "out of memory for %zu rows", d->rows)));
    team_send(d->X, d->rows * d->inputs * sizeof *d->X);
    team_send(d->y, d->rows * sizeof *d->y);
    return send_names(d, (int)about[4]);
}

quorum_status quorum_data_read(const char *path, const quorum_options *options, quorum_data **data)
{
    if (!path || !data)
        return failure(QUORUM_E_ARGUMENT, "quorum_data_read: path and data must not be NULL");
    quorum_data *d = NULL;
    quorum_status status = QUORUM_OK;
    *data = NULL;
    if (team_rank() == 0)
        status = read_data(path, options_values(options), &d);
    else if (!NEW_ZEROED(d, 1))
        status = failure(QUORUM_E_MEMORY, "out of memory for reading %s", path);
    status = team_agree(status);
    if (status >= 0 && d && team_size() > 1)
        status = send_data(d);
    if (status < 0)
        quorum_data_free(d);
    else
        *data = d;
    return status;
}

void quorum_data_free(quorum_data *d)
{
    if (!d)
        return;
    for (size_t i = 0; d->names && i <= d->inputs; i++)
        mem_free(d->names[i]);
    mem_free(d->names);
    mem_free(d->X);
    mem_free(d->y);
    mem_free(d);
}

/* ---- Query streams ---- */

struct quorum_stream {
    reader *reader;       /* of rank 0; NULL on the others */
    size_t inputs, width; /* selected columns: inputs, or inputs + 1 */
    double *rows;         /* room x width */
    size_t room;
};

static quorum_status match_by_name(const reader *r, const quorum_model *m, size_t wanted,
                                   size_t *columns)
{
    for (size_t i = 0; i < wanted; i++) {
        size_t found = SIZE_MAX;
        for (size_t c = 0; c < reader_columns(r); c++)
            if (strcmp(reader_name(r, c), m->names[i]) == 0)
                found = c;
        if (found == SIZE_MAX)
            return failure(
                QUORUM_E_DATA,
                "%s has no column \"%s\", which the model needs as %s; it has %zu columns, "
                "the first is \"%s\"",
                reader_path(r), m->names[i], i < m->D ? "an input" : "the target",
                reader_columns(r), reader_name(r, 0));
        columns[i] = found;
    }
    return QUORUM_OK;
}

static quorum_status match_by_place(const reader *r, const quorum_model *m, int with_target,
                                    size_t *columns)
{
    size_t count = reader_columns(r), next = 0;
    if (count != m->D + 1 && (with_target || count != m->D))
        return failure(
            QUORUM_E_DATA,
            "%s has %zu columns; the model takes %zu inputs%s.  Give the file the training "
            "file's header, or its layout",
            reader_path(r), count, m->D, with_target ? " and the target" : "");
    for (size_t c = 0; c < count; c++)
        if (count == m->D || c != m->target)
            columns[next++] = c;
    if (with_target)
        columns[m->D] = m->target;
    return QUORUM_OK;
}

static quorum_status open_reader(const char *path, const quorum_model *m, const settings *how,
                                 quorum_stream *s)
{
    reader_options o = how_to_read(how);
    size_t *columns;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(columns, m->D + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for reading %s", path);
    TRY_OR_DONE(reader_open(path, &o, &s->reader));
    if (m->has_names && reader_has_names(s->reader))
        TRY_OR_DONE(match_by_name(s->reader, m, s->width, columns));
    else
        TRY_OR_DONE(match_by_place(s->reader, m, s->width > m->D, columns));
    TRY_OR_DONE(reader_select(s->reader, columns, s->width));
done:
    mem_free(columns);
    return status;
}

quorum_status quorum_stream_open(const char *path, const quorum_model *m, int with_target,
                                 const quorum_options *options, quorum_stream **stream)
{
    if (!path || !m || !stream)
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_stream_open: path, model and stream must not be NULL");
    quorum_stream *s;
    quorum_status status = QUORUM_OK;
    *stream = NULL;
    if (NEW_ZEROED(s, 1)) {
        s->inputs = m->D;
        s->width = m->D + (with_target != 0);
        if (team_rank() == 0)
            status = open_reader(path, m, options_values(options), s);
    } else {
        status = failure(QUORUM_E_MEMORY, "out of memory for reading %s", path);
    }
    status = team_agree(status);
    if (status < 0)
        quorum_stream_close(s);
    else
        *stream = s;
    return status;
}

/* Up to max_rows rows of the selected columns. */
static quorum_status next_rows(quorum_stream *s, size_t max_rows, double *table, size_t *rows)
{
    quorum_status status = QUORUM_OK;
    *rows = 0;
    if (team_rank() == 0)
        status = reader_next(s->reader, max_rows, table, rows);
    TRY(team_agree(status));
    team_send(rows, sizeof *rows);
    team_send(table, *rows * s->width * sizeof *table);
    return status;
}

quorum_status quorum_stream_next(quorum_stream *s, size_t max_rows, double *X, double *y,
                                 size_t *rows)
{
    if (!s || !X || !rows || (s->width > s->inputs && !y))
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_stream_next: stream, X, y and rows must not be NULL");
    if (s->width == s->inputs)
        return next_rows(s, max_rows, X, rows);
    if (max_rows > s->room) {
        mem_free(s->rows);
        s->room = 0;
        if (!NEW_ARRAY(s->rows, max_rows * s->width))
            return failure(QUORUM_E_MEMORY, "out of memory for %zu rows", max_rows);
        s->room = max_rows;
    }
    TRY(next_rows(s, max_rows, s->rows, rows));
    for (size_t i = 0; i < *rows; i++) {
        memcpy(X + i * s->inputs, s->rows + i * s->width, s->inputs * sizeof *X);
        y[i] = s->rows[i * s->width + s->inputs];
    }
    return QUORUM_OK;
}

size_t quorum_stream_dropped(const quorum_stream *s)
{
    return s && s->reader ? reader_dropped(s->reader) : 0;
}

void quorum_stream_close(quorum_stream *s)
{
    if (!s)
        return;
    reader_close(s->reader);
    mem_free(s->rows);
    mem_free(s);
}
