/* Training data from a file, over data/reader.h: which columns they are, and their rows.  In a team
 * the first process reads, all hear of the columns, and each has the rows that it holds
 * (rows/dealing.h). */
#include "api/reading.h"

#include "base/memory.h"
#include "data/names.h"
#include "rows/dealing.h"

#include <string.h>

/* ---- Columns ---- */

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

static quorum_status fail_without_inputs(const reader *r, size_t target)
{
    char comment[100];
    reader_advise_comment(r, comment);
    return failure(QUORUM_E_DATA,
                   "%s has no input column beside the target %.200s: is the delimiter (comma, "
                   "semicolon, tab or blanks) or the target right?%s",
                   reader_path(r), reader_name(r, target), comment[0] ? comment + 1 : "");
}

/* The columns that are no inputs. */
typedef struct {
    size_t target, offset; /* offset: the number of columns where there is none */
    char *ignored;         /* columns */
} special_columns;

static quorum_status fail_both(const reader *r, size_t column, const char *one, const char *other)
{
    return failure(QUORUM_E_ARGUMENT, "column %s cannot be both %s and %s", reader_name(r, column),
                   one, other);
}

static quorum_status find_special(const reader *r, const settings *s, special_columns *k)
{
    quorum_status status = reader_find(r, s->target, &k->target);
    if (status < 0)
        return failure_in(status, "target");
    k->offset = reader_columns(r);
    if (s->offset[0] != '\0' && (status = reader_find(r, s->offset, &k->offset)) < 0)
        return failure_in(status, "offset");
    TRY(mark_columns(r, s->ignore, k->ignored));
    if (k->ignored[k->target])
        return fail_both(r, k->target, "the target", "ignored");
    if (k->offset == k->target)
        return fail_both(r, k->target, "the target", "the offset");
    if (k->offset < reader_columns(r) && k->ignored[k->offset])
        return fail_both(r, k->offset, "the offset", "ignored");
    return QUORUM_OK;
}

/* Input columns in file order, then the target, then the offset where there is one. */
static quorum_status list_columns(const reader *r, const special_columns *k, size_t *columns,
                                  quorum_data *d)
{
    size_t count = reader_columns(r), kept = 0;
    d->inputs = 0;
    for (size_t c = 0; c < count; c++) {
        if (k->ignored[c])
            continue;
        if (c == k->target)
            d->target = d->inputs;
        else if (c == k->offset)
            d->offset_place = kept;
        else
            columns[d->inputs++] = c;
        kept++;
    }
    if (d->inputs == 0)
        return fail_without_inputs(r, k->target);
    columns[d->inputs] = k->target;
    columns[d->inputs + 1] = k->offset;
    return QUORUM_OK;
}

static quorum_status choose_columns(const reader *r, const settings *s, size_t *columns,
                                    quorum_data *d)
{
    special_columns k = {0};
    if (!NEW_ZEROED(k.ignored, reader_columns(r)))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu columns", reader_columns(r));
    quorum_status status = find_special(r, s, &k);
    if (status == QUORUM_OK)
        status = list_columns(r, &k, columns, d);
    mem_free(k.ignored);
    return status;
}

static quorum_status fail_twice(const reader *r, const named_column *two, size_t target)
{
    size_t first = two[0].column, second = two[1].column, other = first == target ? second : first;
    if (two[1].made_up)
        return failure(QUORUM_E_DATA,
                       "%s: column %zu has no name, and \"%s\", which it would get, is the name "
                       "of column %zu: name it, or leave it out with --ignore %zu",
                       reader_path(r), second + 1, two->name, first + 1, second + 1);
    return failure(QUORUM_E_DATA,
                   "%s: columns %zu and %zu are both named \"%s\"%s: rename one, or leave one out "
                   "with --ignore %zu",
                   reader_path(r), first + 1, second + 1, two->name,
                   first == target || second == target ? ", one of them the target" : "",
                   other + 1);
}

/* Of the columns that are used no two may have the same name: which is meant?  Above all, a copy
 * of the target among the inputs would explain everything. */
static quorum_status check_names_differ(const reader *r, const size_t *columns, size_t count,
                                        size_t target)
{
    named_column *list;
    if (!reader_has_names(r))
        return QUORUM_OK;
    if (!NEW_ARRAY(list, count))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    for (size_t i = 0; i < count; i++)
        list[i] = (named_column){reader_name(r, columns[i]), columns[i],
                                 reader_name_is_made_up(r, columns[i])};
    names_sort(list, count);
    size_t twice = names_find_twice(list, count);
    quorum_status status = twice == count ? QUORUM_OK : fail_twice(r, list + twice, target);
    mem_free(list);
    return status;
}

static quorum_status copy_column_names(const reader *r, const size_t *columns, size_t used,
                                       quorum_data *d)
{
    if (!reader_has_names(r))
        return QUORUM_OK;
    if (!NEW_ZEROED(d->names, d->inputs + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    for (size_t i = 0; i <= d->inputs; i++)
        if (!(d->names[i] = mem_copy_text(reader_name(r, columns[i]))))
            return failure(QUORUM_E_MEMORY, "out of memory for column names");
    if (used > d->inputs + 1 &&
        !(d->offset_name = mem_copy_text(reader_name(r, columns[d->inputs + 1]))))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    return QUORUM_OK;
}

static int has_offset(const quorum_options *options)
{
    return options_values(options)->offset[0] != '\0';
}

/* The file's columns and names; *out is left open at its first row. */
static quorum_status open_file(const char *path, const quorum_options *options, quorum_data *d,
                               reader **out)
{
    reader_options how = how_to_read(options, READ_TRAINING);
    reader *r = NULL;
    size_t *columns = NULL, used;
    quorum_status status = reader_open(path, &how, &r);
    if (status < 0)
        return status;
    if (!NEW_ARRAY(columns, reader_columns(r) + 2)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for reading %s", path);
        goto done;
    }
    TRY_OR_DONE(choose_columns(r, options_values(options), columns, d));
    used = d->inputs + 1 + (size_t)has_offset(options);
    TRY_OR_DONE(check_names_differ(r, columns, used, columns[d->inputs]));
    TRY_OR_DONE(copy_column_names(r, columns, used, d));
    TRY_OR_DONE(reader_select(r, columns, used));
done:
    mem_free(columns);
    if (status < 0)
        reader_close(r);
    else
        *out = r;
    return status;
}

/* ---- Reading ---- */

typedef struct {
    const char *path;
    const quorum_options *options;
    quorum_data *d;
    reader *r; /* of the process that reads; NULL on the others */
} reading;

static quorum_status open_data(void *context)
{
    reading *in = context;
    return open_file(in->path, in->options, in->d, &in->r);
}

static quorum_status room_for_names(void *context)
{
    quorum_data *d = context;
    if (d->names || NEW_ZEROED(d->names, d->inputs + 1))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for column names");
}

/* What the reading process knows of the columns, to all. */
static quorum_status send_columns(quorum_data *d)
{
    size_t about[] = {d->inputs, d->target, d->names != NULL, d->offset_place};
    team_send(about, sizeof about);
    d->inputs = about[0];
    d->target = about[1];
    d->offset_place = about[3];
    if (!about[2])
        return QUORUM_OK;
    TRY(team_all(QUORUM_OK, room_for_names, d));
    for (size_t i = 0; i <= d->inputs; i++)
        TRY(team_send_text(QUORUM_OK, &d->names[i]));
    return team_send_text(QUORUM_OK, &d->offset_name);
}

static quorum_status next_rows(void *r, size_t most, double *rows, size_t *got)
{
    return reader_next(r, most, rows, got);
}

static quorum_status fail_without_rows(void *context)
{
    const reader *r = context;
    if (reader_dropped(r) == 0)
        return failure(QUORUM_E_DATA, "%s has no rows%s", reader_path(r),
                       reader_has_names(r) ? " below its header" : "");
    return failure(QUORUM_E_DATA, "%s has no usable rows: all %zu were dropped.  The first: %s",
                   reader_path(r), reader_dropped(r), reader_why_dropped(r));
}

static quorum_status read_rows(reading *in)
{
    quorum_data *d = in->d;
    row_source source = {.like = rows_schema(d->inputs),
                         .memory = options_memory(options_values(in->options))};
    row_set held;
    if (has_offset(in->options))
        source.like.offset = source.like.y;
    if (in->r) {
        source.memory -= reader_held(in->r);
        source.name = reader_path(in->r);
        source.expected = reader_rows(in->r);
        source.next = next_rows;
        source.context = in->r;
    }
    quorum_status status = rows_deal(QUORUM_OK, &source, &d->rows, &held);
    d->X = held.X;
    d->y = held.y;
    d->offset = held.offset;
    TRY(status);
    return d->rows > 0 ? QUORUM_OK : team_first(QUORUM_OK, fail_without_rows, in->r);
}

/* What was seen on the way, to all. */
static void send_findings(reading *in)
{
    quorum_data *d = in->d;
    if (in->r) {
        d->dropped = reader_dropped(in->r);
        d->converted = reader_is_converted(in->r);
        d->decimal_comma = reader_decimal_comma(in->r);
    }
    team_send(&d->dropped, sizeof d->dropped);
    team_send(&d->converted, sizeof d->converted);
    team_send(&d->decimal_comma, sizeof d->decimal_comma);
}

static quorum_status read_data(quorum_status ready, reading *in)
{
    TRY(team_first(ready, open_data, in));
    TRY(send_columns(in->d));
    TRY(read_rows(in));
    send_findings(in);
    return QUORUM_OK;
}

quorum_status quorum_data_read(const char *path, const quorum_options *options, quorum_data **data)
{
    if (!path || !data)
        return failure(QUORUM_E_ARGUMENT, "quorum_data_read: path and data must not be NULL");
    if (options_values(options)->missing == MISSING_NAN)
        return failure(
            QUORUM_E_ARGUMENT,
            "option missing: nan is for predictions, whose rows it keeps in their place; "
            "for training give drop or error");
    reading in = {.path = path, .options = options};
    *data = NULL;
    NEW_ZEROED(in.d, 1);
    quorum_status ready =
        in.d ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for reading %s", path);
    quorum_status status = read_data(ready, &in);
    reader_close(in.r);
    if (status < 0)
        quorum_data_free(in.d);
    else
        *data = in.d;
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
    mem_free(d->offset);
    mem_free(d->offset_name);
    mem_free(d);
}
