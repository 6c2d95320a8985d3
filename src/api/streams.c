/* Query streams: rows of a file in chunks, with the columns that a model takes, found by name or by
 * place, and columns that are kept as text.  In a team the first process reads, and every chunk goes
 * to all, but for what is kept: that is for who writes, which is the first process. */
#include "columns/json_row.h"
#include "columns/kept_names.h"
#include "columns/reading.h"

#include "base/memory.h"
#include "data/names.h"
#include "model/model.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Of the memory, what a chunk may take: who reads all rows by doubling holds four times that. */
static const double CHUNK_SHARE = 0.25;

/* A column beside inputs, target and offset. */
typedef struct {
    int wanted;
    size_t at;      /* its place among the selected columns: it may be one of the others */
    double *values; /* room: of the last rows                                      */
} extra_column;

/* What a stream of lines was opened with; the caller keeps what is pointed to. */
typedef struct {
    int json;
    const quorum_options *options;
    quorum_stream_request wanted;
    int begun;    /* on every process: a first line was understood */
    char *header; /* JSON: that of the rows that are read now, "" of lists; NULL: none yet */
} line_input;

struct quorum_stream {
    reader *reader; /* of the process that reads; NULL on the others, and before the first line */
    line_input *lines; /* NULL: a file */
    const quorum_model *m;
    size_t inputs;         /* of the model ...                                              */
    size_t columns, width; /* ... made of selected columns: these, then the target and the offset as
                              wanted                                                        */
    int with_target, with_offset;
    extra_column column;         /* one more column that was asked for                */
    extra_column noise, weights; /* of known noise and of weights                     */
    double *rows;                /* room x width                          */
    double *offset;              /* room: of the last rows, where wanted  */
    size_t room, before;         /* before: rows that were given before the last */
    char **kept_names;           /* kept: of the columns that are kept as text */
    size_t kept;
    size_t last;          /* rows that were given last */
    double memory;        /* the option's bytes */
    level_table *tables;  /* inputs: of the model's categories, of the process that reads ... */
    level_table **levels; /* ... width: those of the selected columns, NULL of numbers; or NULL */
    char *holes;          /* width: 1 where a missing cell is no fault; NULL: nowhere; likewise */
    int fill;             /* option missing: impute                                         */
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

/* The layout of a file without names: its columns but for those of weights and known noise, and of
 * targets that have models of their own. */
typedef struct {
    size_t *column; /* count */
    size_t count;
    size_t weights, noise; /* where the model's own are; SIZE_MAX: not there */
} file_layout;

/* How many columns the training file has, weights and noise included, other targets not. */
static size_t training_columns(const quorum_stream *s, const quorum_model *m)
{
    const model_columns *k = &m->columns;
    return s->columns + 1 + (size_t)s->with_offset + (size_t)(k->weights != NULL) +
           (size_t)(k->noise_std != NULL);
}

static int is_other_target(const model_columns *k, size_t column)
{
    for (size_t t = 0; t < k->other_targets; t++)
        if (k->others[t] == column)
            return 1;
    return 0;
}

/* All columns; of a file with all targets without those of the other ones. */
static void leave_targets_out(const quorum_stream *s, const quorum_model *m, file_layout *f)
{
    const model_columns *k = &m->columns;
    size_t count = reader_columns(s->reader);
    int all = k->other_targets > 0 && count == training_columns(s, m) + k->other_targets;
    f->count = 0;
    for (size_t c = 0; c < count; c++)
        if (!all || !is_other_target(k, c))
            f->column[f->count++] = c;
}

/* Whether the file has all columns of the training file, those of weights and noise too. */
static int is_training_layout(const quorum_stream *s, const quorum_model *m, const file_layout *f)
{
    return (m->columns.weights || m->columns.noise_std) && f->count == training_columns(s, m);
}

/* A column that an option names; SIZE_MAX: none does. */
static quorum_status find_named(const reader *r, const char *option, const char *name,
                                size_t *column)
{
    *column = SIZE_MAX;
    quorum_status status = name[0] == '\0' ? QUORUM_OK : reader_find(r, name, column);
    return status < 0 ? failure_in(status, "%s", option) : status;
}

static size_t column_at(const file_layout *f, size_t place)
{
    return place < f->count ? f->column[place] : SIZE_MAX;
}

/* Without the columns that the training file, or an option, has for weights and noise; `named` (2)
 * are those of options. */
static void lay_out(const quorum_stream *s, const quorum_model *m, const size_t *named,
                    file_layout *f)
{
    const model_columns *k = &m->columns;
    leave_targets_out(s, m, f);
    int whole = is_training_layout(s, m, f);
    size_t count = f->count;
    f->weights = whole && k->weights ? column_at(f, k->weights_place) : SIZE_MAX;
    f->noise = whole && k->noise_std ? column_at(f, k->noise_place) : SIZE_MAX;
    f->count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t c = f->column[i];
        if (whole ? c != f->weights && c != f->noise : c != named[0] && c != named[1])
            f->column[f->count++] = c;
    }
}

/* The training file's layout, or that without its target.  In the whole of it the offset stands at
 * offset_place, and the target, were the offset not there, at `target`. */
static quorum_status match_by_layout(const quorum_stream *s, const quorum_model *m,
                                     const file_layout *f, size_t *columns)
{
    const model_columns *k = &m->columns;
    size_t D = s->columns, count = f->count, next = 0;
    size_t all = D + 1 + (size_t)s->with_offset, none = SIZE_MAX;
    if (count != all && (s->with_target || count != all - 1))
        return failure(
            QUORUM_E_DATA,
            "%s has %zu columns; the model takes %zu inputs%s%s.  Give the file the training "
            "file's header, or its layout",
            reader_path(s->reader), reader_columns(s->reader), D,
            s->with_target ? " and the target" : "", s->with_offset ? " and the offset" : "");
    size_t target = s->with_offset && k->target >= k->offset_place ? k->target + 1 : k->target;
    size_t offset = s->with_offset ? k->offset_place : none;
    if (count < all) {
        offset -= s->with_offset && target < offset;
        target = none;
    }
    for (size_t c = 0; c < count; c++)
        if (c != target && c != offset)
            columns[next++] = f->column[c];
    if (s->with_target)
        columns[next++] = f->column[target];
    if (s->with_offset)
        columns[next] = f->column[offset];
    return QUORUM_OK;
}

static quorum_status match_by_place(const quorum_stream *s, const quorum_model *m,
                                    const size_t *named, file_layout *f, size_t *columns)
{
    if (!NEW_ARRAY(f->column, reader_columns(s->reader)))
        return failure(QUORUM_E_MEMORY, "out of memory for columns");
    lay_out(s, m, named, f);
    quorum_status status = match_by_layout(s, m, f, columns);
    mem_free(f->column);
    return status;
}

/* One more column: a selected one once more, or the last. */
static void add_column(quorum_stream *s, size_t wanted, size_t *columns, extra_column *x)
{
    for (x->at = 0; x->at < s->width && columns[x->at] != wanted;)
        x->at++;
    columns[x->at] = wanted;
    s->width += x->at == s->width;
    x->wanted = 1;
}

/* The only column of this name; SIZE_MAX: there is none. */
static quorum_status find_own(const reader *r, const char *name, const char *role, size_t *column)
{
    size_t count = reader_columns(r), found = SIZE_MAX;
    for (size_t c = 0; c < count; c++) {
        if (reader_name_is_made_up(r, c) || strcmp(reader_name(r, c), name) != 0)
            continue;
        if (found != SIZE_MAX)
            return failure(QUORUM_E_DATA,
                           "%s: columns %zu and %zu are both named \"%s\", which is the model's "
                           "column of %s: rename or remove the one that is not meant",
                           reader_path(r), found + 1, c + 1, name, role);
        found = c;
    }
    *column = found;
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

/* Missing cells of columns that are nothing but inputs, which a prediction fills, or could when it is asked to. */
static quorum_status match_holes(quorum_stream *s)
{
    const extra_column *const extra[] = {&s->noise, &s->weights};
    if (!s->m->holes.of)
        return QUORUM_OK;
    if (!NEW_ZEROED(s->holes, s->width))
        return failure(QUORUM_E_MEMORY, "out of memory for the columns of a model");
    memset(s->holes, 1, s->columns);
    for (size_t k = 0; k < sizeof extra / sizeof *extra; k++)
        if (extra[k]->wanted)
            s->holes[extra[k]->at] = 0;
    reader_leave_holes(s->reader, s->holes);
    return QUORUM_OK;
}

/* A column that nobody predicts or scores by may be empty. */
static void match_column(quorum_stream *s)
{
    const extra_column *x = &s->column;
    size_t first = s->columns + (size_t)(s->with_target + s->with_offset);
    int is_other =
        (s->noise.wanted && x->at == s->noise.at) || (s->weights.wanted && x->at == s->weights.at);
    if (x->wanted && x->at >= first && !is_other)
        reader_let_be_empty(s->reader, x->at);
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
    const char *text; /* bytes of it, instead of a file; NULL: a file */
    size_t bytes;
} opening;

/* The columns of weights, of a file with its target, and of known noise: as options name them (2), or
 * else the model's own, where the file has them. */
static quorum_status find_weights(const opening *o, size_t *found)
{
    const settings *how = options_values(o->options);
    const reader *r = o->s->reader;
    found[0] = SIZE_MAX;
    if (o->s->with_target)
        TRY(find_named(r, "weights", how->weights, &found[0]));
    return find_named(r, "noise-std", how->noise_std, &found[1]);
}

static quorum_status match_columns(const opening *o, size_t *columns, size_t *found)
{
    const model_columns *k = &o->m->columns;
    const reader *r = o->s->reader;
    size_t own[2] = {SIZE_MAX, SIZE_MAX};
    if (k->has_names && reader_has_names(r)) {
        TRY(match_by_name(o->s, o->m, columns));
        if (k->weights && o->s->with_target)
            TRY(find_own(r, k->weights, "weights", &own[0]));
        if (k->noise_std)
            TRY(find_own(r, k->noise_std, "known noise", &own[1]));
    } else {
        file_layout f;
        TRY(match_by_place(o->s, o->m, found, &f, columns));
        own[0] = o->s->with_target ? f.weights : SIZE_MAX;
        own[1] = f.noise;
    }
    for (int i = 0; i < 2; i++)
        found[i] = found[i] == SIZE_MAX ? own[i] : found[i];
    return QUORUM_OK;
}

/* All columns that are read, in their order. */
static quorum_status choose_columns(const opening *o, size_t *columns)
{
    quorum_stream *s = o->s;
    size_t found[2], more;
    TRY(find_weights(o, found));
    TRY(match_columns(o, columns, found));
    if (found[0] != SIZE_MAX)
        add_column(s, found[0], columns, &s->weights);
    if (found[1] != SIZE_MAX)
        add_column(s, found[1], columns, &s->noise);
    if (o->wanted->column) {
        TRY(reader_find(s->reader, o->wanted->column, &more));
        add_column(s, more, columns, &s->column);
    }
    return QUORUM_OK;
}

/* Of lines: JSON has a notation of its own, and its header is known. */
static reader_options how_to_open(const opening *o)
{
    const line_input *lines = o->s->lines;
    reader_options how = how_to_read(o->options, READ_QUERIES);
    if (!lines)
        return how;
    how.text = o->text;
    how.text_bytes = o->bytes;
    how.query = NULL;
    if (lines->json) {
        how.header = lines->header[0] ? HEADER_YES : HEADER_NO;
        how.decimal = DECIMAL_POINT;
        how.thousands = how.comment = '\0';
    }
    return how;
}

static quorum_status open_reader(void *context)
{
    const opening *o = context;
    const quorum_model *m = o->m;
    quorum_stream *s = o->s;
    reader_options how = how_to_open(o);
    size_t *columns;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(columns, m->rows.D + 5))
        return failure(QUORUM_E_MEMORY, "out of memory for reading %s", o->path);
    TRY_OR_DONE(reader_open(o->path, &how, &s->reader));
    TRY_OR_DONE(choose_columns(o, columns));
    TRY_OR_DONE(reader_select(s->reader, columns, s->width));
    if (o->wanted->keep)
        TRY_OR_DONE(keep_columns(s->reader, o->wanted->keep));
    TRY_OR_DONE(match_levels(s, m, options_values(o->options)));
    TRY_OR_DONE(match_dates(s, m));
    TRY_OR_DONE(match_holes(s));
    match_column(s);
done:
    mem_free(columns);
    return status;
}

static void stream_start(quorum_stream *s, const quorum_model *m, int with_target,
                         const quorum_options *options)
{
    s->m = m;
    s->inputs = m->rows.D;
    s->columns = model_table_columns(m);
    s->with_target = with_target != 0;
    s->with_offset = m->columns.offset != NULL;
    s->width = s->columns + (size_t)(s->with_target + s->with_offset);
    s->memory = options_memory(options_values(options));
    s->fill = options_values(options)->missing == MISSING_IMPUTE;
}

static quorum_stream *stream_new(const quorum_model *m, int with_target,
                                 const quorum_options *options)
{
    quorum_stream *s;
    if (NEW_ZEROED(s, 1))
        stream_start(s, m, with_target, options);
    return s;
}

/* Gives all back but what a stream of lines was opened with. */
static void stream_clear(quorum_stream *s)
{
    line_input *lines = s->lines;
    reader_close(s->reader);
    mem_free(s->rows);
    mem_free(s->offset);
    mem_free(s->column.values);
    mem_free(s->noise.values);
    mem_free(s->weights.values);
    for (size_t k = 0; s->kept_names && k < s->kept; k++)
        mem_free(s->kept_names[k]);
    mem_free(s->kept_names);
    mem_free(s->dates);
    mem_free(s->holes);
    for (size_t d = 0; s->tables && d < s->inputs; d++)
        levels_free(&s->tables[d]);
    mem_free(s->tables);
    mem_free(s->levels);
    memset(s, 0, sizeof *s);
    s->lines = lines;
}

/* What the process that reads has found goes to all. */
static void send_columns(quorum_stream *s)
{
    extra_column *const extra[] = {&s->column, &s->noise, &s->weights};
    team_send(&s->width, sizeof s->width);
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++)
        team_send(extra[i], sizeof *extra[i]); /* no values yet */
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

/* Scores need all numbers of a row, and filling needs to know what it costs. */
static quorum_status check_missing(const quorum_model *m, const quorum_stream_request *wanted,
                                   const quorum_options *options)
{
    int missing = options_values(options)->missing;
    if (missing == MISSING_IMPUTE && !m->holes.of)
        return failure(QUORUM_E_ARGUMENT,
                       "option missing: impute needs a model that was fitted with it, and so knows "
                       "what missing cells cost; give drop or nan, or fit with --missing impute");
    if (!wanted->with_target || missing != MISSING_NAN)
        return QUORUM_OK;
    return failure(
        QUORUM_E_ARGUMENT,
        "option missing: nan keeps rows without a prediction in their place, and there is "
        "none to score; give drop, impute or error");
}

quorum_status quorum_stream_open_with(const char *path, const quorum_model *m,
                                      const quorum_stream_request *wanted,
                                      const quorum_options *options, quorum_stream **stream)
{
    if (!path || !m || !wanted || !stream)
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_stream_open: path, model, request and stream must not be NULL");
    *stream = NULL;
    TRY(check_missing(m, wanted, options));
    quorum_stream *s = stream_new(m, wanted->with_target, options);
    opening o = {.path = path, .wanted = wanted, .m = m, .options = options, .s = s};
    quorum_status ready =
        s ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for reading %s", path);
    quorum_status status = team_first(ready, open_reader, &o);
    if (status >= 0)
        send_columns(s);
    if (status >= 0 && wanted->keep)
        status = send_kept_names(s);
    if (status < 0) {
        quorum_stream_close(s);
        return status;
    }
    *stream = s;
    return status;
}

/* ---- Lines ---- */

quorum_status quorum_stream_open_lines(const quorum_model *m, int json,
                                       const quorum_stream_request *wanted,
                                       const quorum_options *options, quorum_stream **stream)
{
    if (!m || !wanted || !stream)
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_stream_open_lines: model, request and stream must not be NULL");
    *stream = NULL;
    if (json && !team_is_alone())
        return failure(QUORUM_E_ARGUMENT, "lines of JSON are read by one process, not by %d",
                       quorum_team_size());
    TRY(check_missing(m, wanted, options));
    quorum_stream *s = stream_new(m, wanted->with_target, options);
    if (!s || !NEW_ZEROED(s->lines, 1)) {
        quorum_stream_close(s);
        return failure(QUORUM_E_MEMORY, "out of memory for reading lines");
    }
    *s->lines = (line_input){.json = json != 0, .options = options, .wanted = *wanted};
    *stream = s;
    return QUORUM_OK;
}

/* Begins anew with these lines, the first of which may be a header. */
static quorum_status open_text(quorum_stream *s, const char *text, size_t bytes)
{
    const quorum_model *m = s->m;
    const line_input *in = s->lines;
    opening o = {.path = in->wanted.label ? in->wanted.label : "request",
                 .wanted = &in->wanted,
                 .m = m,
                 .options = in->options,
                 .s = s,
                 .text = text,
                 .bytes = bytes};
    stream_clear(s);
    stream_start(s, m, in->wanted.with_target, in->options);
    quorum_status status = team_first(QUORUM_OK, open_reader, &o);
    if (status >= 0)
        send_columns(s);
    if (status >= 0 && in->wanted.keep)
        status = send_kept_names(s);
    s->lines->begun = status >= 0;
    if (status < 0) { /* the next line may be a header again */
        stream_clear(s);
        stream_start(s, m, in->wanted.with_target, in->options);
    }
    return status;
}

typedef struct {
    reader *reader;
    const char *text;
    size_t bytes;
} feeding;

static quorum_status feed_reader(void *context)
{
    const feeding *f = context;
    return reader_feed(f->reader, f->text, f->bytes);
}

static quorum_status feed_csv(quorum_stream *s, const char *text, size_t bytes)
{
    feeding f = {s->reader, text, bytes};
    return s->lines->begun ? team_first(QUORUM_OK, feed_reader, &f) : open_text(s, text, bytes);
}

/* Rows with the names of the one before go on; others begin anew. */
static quorum_status feed_row(quorum_stream *s, json_row *row)
{
    line_input *in = s->lines;
    if (!s->reader || strcmp(in->header, row->header) != 0) {
        mem_free(in->header);
        in->header = row->header;
        row->header = NULL;
        if (!in->header[0])
            return open_text(s, row->row, strlen(row->row));
        TRY(open_text(s, in->header, strlen(in->header)));
    }
    return reader_feed(s->reader, row->row, strlen(row->row));
}

/* Of a model without names of its own, x1, x2, ... are found by their place. */
static quorum_status feed_json(quorum_stream *s, const char *text, size_t bytes)
{
    json_row row;
    const char *const *order =
        s->m->columns.has_names ? NULL : (const char *const *)s->m->columns.names;
    TRY(json_row_read(text, bytes, order, s->columns, &row));
    quorum_status status = feed_row(s, &row);
    json_row_free(&row);
    return status;
}

quorum_status quorum_stream_feed(quorum_stream *s, const char *text, size_t bytes)
{
    if (!s || !text || !s->lines)
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_stream_feed: text and a stream of lines must be given");
    return (s->lines->json ? feed_json : feed_csv)(s, text, bytes);
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

/* 0: no memory. */
static int extra_room(extra_column *x, size_t rows)
{
    mem_free(x->values);
    x->values = NULL;
    return !x->wanted || NEW_ARRAY(x->values, rows);
}

static quorum_status make_room(quorum_stream *s, size_t rows)
{
    if (rows <= s->room)
        return QUORUM_OK;
    mem_free(s->rows);
    mem_free(s->offset);
    s->room = 0;
    NEW_ARRAY(s->rows, rows * s->width);
    NEW_ARRAY(s->offset, rows);
    int fits = s->rows && s->offset;
    fits = extra_room(&s->column, rows) && fits;
    fits = extra_room(&s->noise, rows) && fits;
    fits = extra_room(&s->weights, rows) && fits;
    if (!fits)
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows", rows);
    s->room = rows;
    return QUORUM_OK;
}

/* The inputs of a row, all NaN where a column is, unless that is filled later. */
static void make_row(const quorum_stream *s, const double *columns, double *x)
{
    int usable = 1;
    for (size_t d = 0; d < s->columns; d++)
        usable &= s->fill || !isnan(columns[d]);
    if (usable && s->m->made.count > 0)
        made_apply(&s->m->made, 1, columns, x);
    else if (usable)
        memcpy(x, columns, s->columns * sizeof *x);
    for (size_t d = 0; !usable && d < s->inputs; d++)
        x[d] = NAN;
}

static quorum_status check_place(const quorum_stream *s, const double *columns, size_t i)
{
    return made_check(&s->m->made, columns, "row", s->before + i + 1, s->m->columns.names);
}

/* Of a row that has all its numbers. */
static quorum_status check_extra(const quorum_stream *s, const extra_column *x, const char *what,
                                 size_t i, const double *X)
{
    if (!x->wanted || isnan(X[0]) || (x->values[i] >= 0.0 && isfinite(x->values[i])))
        return QUORUM_OK;
    return failure(QUORUM_E_DATA, "row %zu: its %s is %g: it must be finite and not negative",
                   s->before + i + 1, what, x->values[i]);
}

/* The inputs, the targets, the offsets and more columns apart. */
static quorum_status next_apart(quorum_stream *s, size_t most, double *X, double *y, size_t *rows)
{
    quorum_status ready = make_room(s, most);
    extra_column *const extra[] = {&s->column, &s->noise, &s->weights};
    s->before += s->last;
    TRY(next_rows(ready, s, most, s->rows, rows));
    for (size_t i = 0; i < *rows; i++) {
        const double *row = s->rows + i * s->width;
        TRY(check_place(s, row, i));
        make_row(s, row, X + i * s->inputs);
        if (s->with_target)
            y[i] = row[s->columns];
        if (s->with_offset)
            s->offset[i] = row[s->columns + (size_t)s->with_target];
        for (size_t k = 0; k < sizeof extra / sizeof *extra; k++)
            if (extra[k]->wanted)
                extra[k]->values[i] = row[extra[k]->at];
        TRY(check_extra(s, &s->noise, "noise-std", i, X + i * s->inputs));
        TRY(check_extra(s, &s->weights, "weight", i, X + i * s->inputs));
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
    if (s->lines && !s->lines->begun) { /* nothing was fed */
        *rows = 0;
        return QUORUM_OK;
    }
    if (s->width > s->columns || s->inputs > s->columns || s->column.wanted || s->noise.wanted ||
        s->weights.wanted)
        return next_apart(s, max_rows, X, y, rows);
    return next_rows(QUORUM_OK, s, max_rows, X, rows);
}

const double *quorum_stream_offset(const quorum_stream *s)
{
    return s && s->with_offset ? s->offset : NULL;
}

const double *quorum_stream_column(const quorum_stream *s)
{
    return s ? s->column.values : NULL;
}

size_t quorum_stream_column_place(const quorum_stream *s)
{
    return s && s->column.wanted && s->column.at < s->columns ? s->column.at : SIZE_MAX;
}

const double *quorum_stream_noise_std(const quorum_stream *s)
{
    return s ? s->noise.values : NULL;
}

const double *quorum_stream_weights(const quorum_stream *s)
{
    return s ? s->weights.values : NULL;
}

size_t quorum_stream_dropped(const quorum_stream *s)
{
    return s && s->reader ? reader_dropped(s->reader) : 0;
}

size_t quorum_stream_dropped_row(const quorum_stream *s, size_t i)
{
    return s && s->reader ? reader_dropped_row(s->reader, i) : 0;
}

const char *quorum_stream_why_dropped(const quorum_stream *s, size_t i)
{
    return s && s->reader ? reader_why_dropped(s->reader, i) : "";
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
    stream_clear(s);
    if (s->lines)
        mem_free(s->lines->header);
    mem_free(s->lines);
    mem_free(s);
}
