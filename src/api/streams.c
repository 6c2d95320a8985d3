/* Query streams: rows of a file in chunks, with the columns that a model takes, found by name or by
 * place, and columns that are kept as text.  In a team the first process reads, and every chunk goes
 * to all, but for what is kept: that is for who writes, which is the first process. */
#include "api/kept_names.h"
#include "api/reading.h"

#include "base/memory.h"
#include "data/names.h"
#include "model/model.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Of the memory, what a chunk may take: who reads all rows by doubling holds four times that. */
static const double CHUNK_SHARE = 0.25;

struct quorum_stream {
    reader *reader; /* of the process that reads; NULL on the others */
    const quorum_model *m;
    size_t inputs;         /* of the model ...                                              */
    size_t columns, width; /* ... made of selected columns: these, then the target and the offset as
                              wanted                                                        */
    int with_target, with_offset, with_column;
    size_t column;  /* where one more column stands among the selected: it may be one of them */
    double *rows;   /* room x width                          */
    double *offset; /* room: of the last rows, where wanted  */
    double *values; /* room: of the one more column, likewise */
    size_t room;
    char **kept_names; /* kept: of the columns that are kept as text */
    size_t kept;
    size_t last;          /* rows that were given last */
    double memory;        /* the option's bytes */
    level_table *tables;  /* inputs: of the model's categories, of the process that reads ... */
    level_table **levels; /* ... width: those of the selected columns, NULL of numbers; or NULL */
    date_form *dates;     /* width: of columns of dates, likewise; NULL: there are none     */
};

/* The column of this name in the sorted list of all columns. */
static quorum_status find_by_name(const reader *r, const char *name, const char *role,
                                  const named_column *list, size_t *column)
{
    size_t count = reader_columns(r), found = names_find(list, count, name);
    char comment[100];
    reader_advise_comment(r, comment);
    if (found == count)
        return failure(QUORUM_E_DATA,
                       "%s has no column \"%s\", which the model needs as %s; it has %zu columns, "
                       "the first is \"%s\"%s",
                       reader_path(r), name, role, count, reader_name(r, 0), comment);
    const named_column *here = &list[found];
    if (found + 1 < count && !here[1].made_up && strcmp(here[0].name, here[1].name) == 0)
        return failure(QUORUM_E_DATA,
                       "%s: columns %zu and %zu are both named \"%s\", which the model needs as "
                       "%s: rename or remove the one that is not meant",
                       reader_path(r), here[0].column + 1, here[1].column + 1, name, role);
    *column = here->column;
    return QUORUM_OK;
}

/* The columns that the stream wants: inputs, target, offset. */
static quorum_status find_all(const quorum_stream *s, const quorum_model *m,
                              const named_column *list, size_t *columns)
{
    for (size_t i = 0; i < s->columns; i++)
        TRY(find_by_name(s->reader, m->columns.names[i], "an input", list, columns++));
    if (s->with_target)
        TRY(find_by_name(s->reader, m->columns.names[s->inputs], "the target", list, columns++));
    if (s->with_offset)
        TRY(find_by_name(s->reader, m->columns.offset, "the offset", list, columns));
    return QUORUM_OK;
}

static quorum_status match_by_name(const quorum_stream *s, const quorum_model *m, size_t *columns)
{
    const reader *r = s->reader;
    named_column *list;
    size_t count = reader_columns(r);
    if (!NEW_ARRAY(list, count))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    for (size_t c = 0; c < count; c++)
        list[c] = (named_column){reader_name(r, c), c, reader_name_is_made_up(r, c)};
    names_sort(list, count);
    quorum_status status = find_all(s, m, list, columns);
    mem_free(list);
    return status;
}

/* The training file's layout, or that without its target.  In the whole of it the offset stands at
 * offset_place, and the target, were the offset not there, at `target`. */
static quorum_status match_by_place(const quorum_stream *s, const quorum_model *m, size_t *columns)
{
    const model_columns *k = &m->columns;
    size_t D = s->columns, count = reader_columns(s->reader), next = 0;
    size_t all = D + 1 + (size_t)s->with_offset, none = SIZE_MAX;
    if (count != all && (s->with_target || count != all - 1))
        return failure(
            QUORUM_E_DATA,
            "%s has %zu columns; the model takes %zu inputs%s%s.  Give the file the training "
            "file's header, or its layout",
            reader_path(s->reader), count, D, s->with_target ? " and the target" : "",
            s->with_offset ? " and the offset" : "");
    size_t target = s->with_offset && k->target >= k->offset_place ? k->target + 1 : k->target;
    size_t offset = s->with_offset ? k->offset_place : none;
    if (count < all) {
        offset -= s->with_offset && target < offset;
        target = none;
    }
    for (size_t c = 0; c < count; c++)
        if (c != target && c != offset)
            columns[next++] = c;
    if (s->with_target)
        columns[next++] = target;
    if (s->with_offset)
        columns[next] = offset;
    return QUORUM_OK;
}

/* One more column: a selected one once more, or the last. */
static quorum_status add_column(quorum_stream *s, const char *name, size_t *columns)
{
    size_t wanted;
    TRY(reader_find(s->reader, name, &wanted));
    for (s->column = 0; s->column < s->width && columns[s->column] != wanted;)
        s->column++;
    columns[s->column] = wanted;
    s->width += s->column == s->width;
    return QUORUM_OK;
}

/* The model's levels, by their numbers. */
static quorum_status fill_table(const category *c, level_table *t)
{
    size_t number;
    for (size_t l = 0; l < c->levels; l++)
        TRY(levels_add(t, c->name[l], strlen(c->name[l]), &number));
    return QUORUM_OK;
}

/* Texts of categories become numbers of levels. */
static quorum_status match_levels(quorum_stream *s, const quorum_model *m, const settings *how)
{
    if (!m->encoding.of)
        return QUORUM_OK;
    if (!NEW_ZEROED(s->tables, s->inputs) || !NEW_ZEROED(s->levels, s->width))
        return failure(QUORUM_E_MEMORY, "out of memory for the levels of categories");
    for (size_t d = 0; d < s->inputs; d++) {
        TRY(fill_table(&m->encoding.of[d], &s->tables[d]));
        if (m->encoding.of[d].levels > 0)
            s->levels[d] = &s->tables[d];
    }
    reader_take_levels(s->reader, s->levels,
                       how->unseen == UNSEEN_ERROR ? LEVELS_REFUSE : LEVELS_PASS);
    return QUORUM_OK;
}

/* Dates as the training data had them. */
static quorum_status match_dates(quorum_stream *s, const quorum_model *m)
{
    if (!m->columns.date)
        return QUORUM_OK;
    if (!NEW_ZEROED(s->dates, s->width))
        return failure(QUORUM_E_MEMORY, "out of memory for columns of dates");
    for (size_t d = 0; d < s->columns; d++)
        if (m->columns.date[d])
            s->dates[d] = date_form_parse(m->columns.date[d]);
    reader_take_dates(s->reader, s->dates);
    return QUORUM_OK;
}

typedef struct {
    const char *path;
    const quorum_stream_request *wanted;
    const quorum_model *m;
    const quorum_options *options;
    quorum_stream *s;
} opening;

static quorum_status open_reader(void *context)
{
    const opening *o = context;
    const quorum_model *m = o->m;
    quorum_stream *s = o->s;
    reader_options how = how_to_read(o->options, READ_QUERIES);
    size_t *columns;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(columns, m->rows.D + 3))
        return failure(QUORUM_E_MEMORY, "out of memory for reading %s", o->path);
    TRY_OR_DONE(reader_open(o->path, &how, &s->reader));
    if (m->columns.has_names && reader_has_names(s->reader))
        TRY_OR_DONE(match_by_name(s, m, columns));
    else
        TRY_OR_DONE(match_by_place(s, m, columns));
    if (o->wanted->column)
        TRY_OR_DONE(add_column(s, o->wanted->column, columns));
    TRY_OR_DONE(reader_select(s->reader, columns, s->width));
    if (o->wanted->keep)
        TRY_OR_DONE(keep_columns(s->reader, o->wanted->keep));
    TRY_OR_DONE(match_levels(s, m, options_values(o->options)));
    TRY_OR_DONE(match_dates(s, m));
done:
    mem_free(columns);
    return status;
}

static quorum_stream *stream_new(const quorum_model *m, int with_target,
                                 const quorum_options *options)
{
    quorum_stream *s;
    if (!NEW_ZEROED(s, 1))
        return NULL;
    s->m = m;
    s->inputs = m->rows.D;
    s->columns = model_table_columns(m);
    s->with_target = with_target != 0;
    s->with_offset = m->columns.offset != NULL;
    s->width = s->columns + (size_t)(s->with_target + s->with_offset);
    s->memory = options_memory(options_values(options));
    return s;
}

/* What the process that reads has found goes to all. */
static void send_columns(quorum_stream *s)
{
    size_t found[] = {s->width, s->column};
    team_send(found, sizeof found);
    s->width = found[0];
    s->column = found[1];
}

quorum_status quorum_stream_open(const char *path, const quorum_model *m, int with_target,
                                 const quorum_options *options, quorum_stream **stream)
{
    quorum_stream_request wanted = {.with_target = with_target};
    return quorum_stream_open_with(path, m, &wanted, options, stream);
}

/* Room for the names of the kept columns, and on the process that reads the names. */
static quorum_status copy_kept_names(void *context)
{
    quorum_stream *s = context;
    const size_t *columns = NULL;
    if (s->reader)
        reader_kept_columns(s->reader, &columns);
    int fits = NEW_ZEROED(s->kept_names, s->kept) != NULL;
    for (size_t k = 0; fits && s->reader && k < s->kept; k++)
        fits = (s->kept_names[k] = mem_copy_text(reader_name(s->reader, columns[k]))) != NULL;
    return fits ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for column names");
}

static quorum_status send_kept_names(quorum_stream *s)
{
    const size_t *columns;
    s->kept = s->reader ? reader_kept_columns(s->reader, &columns) : 0;
    team_send(&s->kept, sizeof s->kept);
    TRY(team_all(QUORUM_OK, copy_kept_names, s));
    for (size_t k = 0; k < s->kept; k++)
        TRY(team_send_text(QUORUM_OK, &s->kept_names[k]));
    return QUORUM_OK;
}

/* Scores need all numbers of a row. */
static quorum_status check_missing(const quorum_stream_request *wanted,
                                   const quorum_options *options)
{
    if (!wanted->with_target || options_values(options)->missing != MISSING_NAN)
        return QUORUM_OK;
    return failure(
        QUORUM_E_ARGUMENT,
        "option missing: nan keeps rows without a prediction in their place, and there is "
        "none to score; give drop or error");
}

quorum_status quorum_stream_open_with(const char *path, const quorum_model *m,
                                      const quorum_stream_request *wanted,
                                      const quorum_options *options, quorum_stream **stream)
{
    if (!path || !m || !wanted || !stream)
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_stream_open: path, model, request and stream must not be NULL");
    *stream = NULL;
    TRY(check_missing(wanted, options));
    quorum_stream *s = stream_new(m, wanted->with_target, options);
    opening o = {.path = path, .wanted = wanted, .m = m, .options = options, .s = s};
    quorum_status ready =
        s ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for reading %s", path);
    quorum_status status = team_first(ready, open_reader, &o);
    if (status >= 0 && wanted->column)
        send_columns(s);
    if (status >= 0 && wanted->keep)
        status = send_kept_names(s);
    if (status < 0) {
        quorum_stream_close(s);
        return status;
    }
    s->with_column = wanted->column != NULL;
    *stream = s;
    return status;
}

/* Up to `most` rows of the selected columns. */
typedef struct {
    reader *reader;
    size_t most, rows;
    double *table;
} chunk;

static quorum_status read_chunk(void *context)
{
    chunk *c = context;
    return reader_next(c->reader, c->most, c->table, &c->rows);
}

static quorum_status next_rows(quorum_status ready, quorum_stream *s, size_t most, double *table,
                               size_t *rows)
{
    chunk c = {.reader = s->reader, .most = most, .table = table};
    *rows = s->last = 0;
    quorum_status status = team_first(ready, read_chunk, &c);
    TRY(status);
    team_send(&c.rows, sizeof c.rows);
    team_send(table, c.rows * s->width * sizeof *table);
    *rows = s->last = c.rows;
    return status;
}

static quorum_status make_room(quorum_stream *s, size_t rows)
{
    if (rows <= s->room)
        return QUORUM_OK;
    mem_free(s->rows);
    mem_free(s->offset);
    mem_free(s->values);
    s->values = NULL;
    s->room = 0;
    NEW_ARRAY(s->rows, rows * s->width);
    NEW_ARRAY(s->offset, rows);
    if (s->with_column)
        NEW_ARRAY(s->values, rows);
    if (!s->rows || !s->offset || (s->with_column && !s->values))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows", rows);
    s->room = rows;
    return QUORUM_OK;
}

/* The inputs of a row, all NaN where a column is and is not filled. */
static void make_row(const quorum_stream *s, const double *columns, double *x)
{
    int usable = 1;
    for (size_t d = 0; d < s->columns; d++)
        usable &= !isnan(columns[d]) || (s->m->shown.fills && s->m->shown.fills[d]);
    if (usable && s->m->made.count > 0)
        made_apply(&s->m->made, 1, columns, x);
    else if (usable)
        memcpy(x, columns, s->columns * sizeof *x);
    for (size_t d = 0; !usable && d < s->inputs; d++)
        x[d] = NAN;
}

/* The inputs, the targets, the offsets and one more column apart. */
static quorum_status next_apart(quorum_stream *s, size_t most, double *X, double *y, size_t *rows)
{
    quorum_status ready = make_room(s, most);
    TRY(next_rows(ready, s, most, s->rows, rows));
    for (size_t i = 0; i < *rows; i++) {
        const double *row = s->rows + i * s->width;
        make_row(s, row, X + i * s->inputs);
        if (s->with_target)
            y[i] = row[s->columns];
        if (s->with_offset)
            s->offset[i] = row[s->columns + (size_t)s->with_target];
        if (s->with_column)
            s->values[i] = row[s->column];
    }
    return QUORUM_OK;
}

quorum_status quorum_stream_next(quorum_stream *s, size_t max_rows, double *X, double *y,
                                 size_t *rows)
{
    if (!s || !X || !rows || (s->with_target && !y))
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_stream_next: stream, X, y and rows must not be NULL");
    if ((double)max_rows * (double)s->width * sizeof *X > CHUNK_SHARE * s->memory)
        return failure(
            QUORUM_E_MEMORY,
            "%zu rows of %zu columns at once take more than memory, which is %.0f MB, has "
            "for them; give more with --memory",
            max_rows, s->width, s->memory / (1 << 20));
    if (s->width > s->columns || s->inputs > s->columns || s->with_column)
        return next_apart(s, max_rows, X, y, rows);
    return next_rows(QUORUM_OK, s, max_rows, X, rows);
}

const double *quorum_stream_offset(const quorum_stream *s)
{
    return s && s->with_offset ? s->offset : NULL;
}

const double *quorum_stream_column(const quorum_stream *s)
{
    return s && s->with_column ? s->values : NULL;
}

size_t quorum_stream_dropped(const quorum_stream *s)
{
    return s && s->reader ? reader_dropped(s->reader) : 0;
}

size_t quorum_stream_dropped_row(const quorum_stream *s, size_t i)
{
    return s && s->reader ? reader_dropped_row(s->reader, i) : 0;
}

size_t quorum_stream_kept_columns(const quorum_stream *s)
{
    return s ? s->kept : 0;
}

const char *quorum_stream_kept_name(const quorum_stream *s, size_t column)
{
    return s && column < s->kept ? s->kept_names[column] : "";
}

const char *quorum_stream_kept(const quorum_stream *s, size_t row, size_t column)
{
    int known = s && s->reader && row < s->last && column < s->kept;
    return known ? reader_kept(s->reader, row, column) : "";
}

size_t quorum_stream_row(const quorum_stream *s, size_t row)
{
    int known = s && s->reader && s->kept_names && row < s->last;
    return known ? reader_row_number(s->reader, row) : 0;
}

int quorum_stream_converted(const quorum_stream *s)
{
    if (!s || !s->reader)
        return 0;
    return reader_is_converted(s->reader) ? 1 : 2 * reader_kept_converted(s->reader);
}

int quorum_stream_decimal_comma(const quorum_stream *s)
{
    return s && s->reader ? reader_decimal_comma(s->reader) : 0;
}

void quorum_stream_close(quorum_stream *s)
{
    if (!s)
        return;
    reader_close(s->reader);
    mem_free(s->rows);
    mem_free(s->offset);
    mem_free(s->values);
    for (size_t k = 0; s->kept_names && k < s->kept; k++)
        mem_free(s->kept_names[k]);
    mem_free(s->kept_names);
    mem_free(s->dates);
    for (size_t d = 0; s->tables && d < s->inputs; d++)
        levels_free(&s->tables[d]);
    mem_free(s->tables);
    mem_free(s->levels);
    mem_free(s);
}
