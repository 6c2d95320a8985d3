/* Training data from a file, over data/reader.h: which columns they are, and their rows.  In a team
 * the first process reads, all hear of the columns, and each has the rows that it holds
 * (rows/dealing.h). */
#include "columns/dates.h"
#include "columns/faults.h"
#include "columns/target_columns.h"

#include "base/memory.h"
#include "data/names.h"
#include "rows/dealing.h"

#include <string.h>

/* ---- Columns ---- */

static quorum_status fail_without_inputs(const reader *r, size_t target)
{
    char comment[100];
    reader_advise_comment(r, comment);
    return failure(QUORUM_E_DATA,
                   "%s has no input column beside the target %.200s: is the delimiter (comma, "
                   "semicolon, tab or blanks) or the target right?%s",
                   reader_path(r), reader_name(r, target), comment[0] ? comment + 1 : "");
}

/* The columns that are no inputs, in the order in which they are read. */
enum { TARGET, OFFSET, WEIGHTS, NOISE, OTHERS };

static const char *const roles[OTHERS] = {"the target", "the offset", "the weights",
                                          "the noise-std"};

typedef struct {
    size_t other[OTHERS];    /* the number of columns where there is none */
    size_t *target, targets; /* all targets: other[TARGET] is the first   */
    char *ignored;           /* columns */
} special_columns;

/* The columns that options name: "" is none. */
typedef struct {
    const char *option[OTHERS], *column[OTHERS];
} column_request;

static column_request columns_wanted(const settings *s)
{
    return (column_request){{"target", "offset", "weights", "noise-std"},
                            {s->target, s->offset, s->weights, s->noise_std}};
}

static int is_wanted(const column_request *wanted, int role)
{
    return role == TARGET || wanted->column[role][0] != '\0';
}

/* How many columns are read beside the inputs. */
static size_t count_others(const settings *s)
{
    column_request wanted = columns_wanted(s);
    size_t count = 0;
    for (int a = 0; a < OTHERS; a++)
        count += (size_t)is_wanted(&wanted, a);
    return count;
}

static quorum_status fail_both(const reader *r, size_t column, const char *one, const char *other)
{
    return failure(QUORUM_E_ARGUMENT, "column %s cannot be both %s and %s", reader_name(r, column),
                   one, other);
}

/* Of targets beyond the first. */
static quorum_status check_targets(const reader *r, const special_columns *k)
{
    for (size_t t = 1; t < k->targets; t++) {
        if (k->ignored[k->target[t]])
            return fail_both(r, k->target[t], roles[TARGET], "ignored");
        for (int b = OFFSET; b < OTHERS; b++)
            if (k->target[t] == k->other[b])
                return fail_both(r, k->target[t], roles[TARGET], roles[b]);
    }
    return targets_allowed(k->targets, k->other[OFFSET] < reader_columns(r));
}

static quorum_status check_special(const reader *r, const special_columns *k)
{
    size_t none = reader_columns(r);
    for (int a = 0; a < OTHERS; a++) {
        if (k->other[a] < none && k->ignored[k->other[a]])
            return fail_both(r, k->other[a], roles[a], "ignored");
        for (int b = a + 1; b < OTHERS; b++)
            if (k->other[a] < none && k->other[a] == k->other[b])
                return fail_both(r, k->other[a], roles[a], roles[b]);
    }
    return check_targets(r, k);
}

static quorum_status find_special(const reader *r, const settings *s, special_columns *k)
{
    column_request wanted = columns_wanted(s);
    TRY(find_columns(r, "target", s->target, &k->target, &k->targets));
    k->other[TARGET] = k->target[0];
    for (int a = OFFSET; a < OTHERS; a++) {
        k->other[a] = reader_columns(r);
        if (!is_wanted(&wanted, a))
            continue;
        quorum_status status = reader_find(r, wanted.column[a], &k->other[a]);
        if (status < 0)
            return failure_in(status, "%s", wanted.option[a]);
    }
    TRY(mark_columns(r, "ignore", s->ignore, k->ignored));
    return check_special(r, k);
}

/* The place of a column among the columns that are kept, but for the roles from `without` on. */
static size_t place_of(const special_columns *k, size_t column, int without)
{
    size_t place = 0;
    for (size_t c = 0; c < column; c++) {
        int counts = !k->ignored[c];
        for (int a = without; a < OTHERS; a++)
            counts = counts && k->other[a] != c;
        place += (size_t)counts;
    }
    return place;
}

static int is_special(const special_columns *k, size_t column)
{
    for (int a = 0; a < OTHERS; a++)
        if (k->other[a] == column)
            return 1;
    for (size_t t = 1; t < k->targets; t++)
        if (k->target[t] == column)
            return 1;
    return 0;
}

/* The columns of targets, and where they stand. */
static quorum_status list_targets(const special_columns *k, size_t *columns, quorum_data *d)
{
    TRY(targets_room(d, k->targets));
    for (size_t t = 0; t < k->targets; t++)
        columns[d->inputs + t] = k->target[t];
    for (size_t t = 0; t < d->targets; t++)
        d->target_place[t] = place_of(k, k->target[t], OTHERS);
    return QUORUM_OK;
}

/* Input columns in file order, then the targets, then the others as far as there are any. */
static quorum_status list_columns(const reader *r, const special_columns *k, size_t *columns,
                                  quorum_data *d)
{
    size_t count = reader_columns(r);
    d->inputs = 0;
    for (size_t c = 0; c < count; c++)
        if (!k->ignored[c] && !is_special(k, c))
            columns[d->inputs++] = c;
    if (d->inputs == 0)
        return fail_without_inputs(r, k->other[TARGET]);
    TRY(list_targets(k, columns, d));
    size_t next = d->inputs + k->targets;
    for (int a = OFFSET; a < OTHERS; a++)
        if (k->other[a] < count)
            columns[next++] = k->other[a];
    d->target = place_of(k, k->other[TARGET], OFFSET);
    d->offset_place = k->other[OFFSET] < count ? place_of(k, k->other[OFFSET], WEIGHTS) : 0;
    d->weight_place = k->other[WEIGHTS] < count ? place_of(k, k->other[WEIGHTS], OTHERS) : 0;
    d->noise_place = k->other[NOISE] < count ? place_of(k, k->other[NOISE], OTHERS) : 0;
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
    mem_free(k.target);
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

/* Where the names of the columns beside inputs and target go, in the order of reading. */
static void list_names(quorum_data *d, char **names[OTHERS])
{
    names[OFFSET] = &d->offset_name;
    names[WEIGHTS] = &d->weight_name;
    names[NOISE] = &d->noise_name;
}

static quorum_status copy_column_names(const reader *r, const size_t *columns, const settings *s,
                                       quorum_data *d)
{
    column_request wanted = columns_wanted(s);
    char **names[OTHERS];
    size_t next = d->inputs + targets_of(d);
    if (!reader_has_names(r))
        return QUORUM_OK;
    if (!NEW_ZEROED(d->names, d->inputs + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    for (size_t i = 0; i <= d->inputs; i++)
        if (!(d->names[i] = mem_copy_text(reader_name(r, columns[i]))))
            return failure(QUORUM_E_MEMORY, "out of memory for column names");
    for (size_t t = 1; t < d->targets; t++)
        if (!(d->target_name[t] = mem_copy_text(reader_name(r, columns[d->inputs + t]))))
            return failure(QUORUM_E_MEMORY, "out of memory for column names");
    list_names(d, names);
    for (int a = OFFSET; a < OTHERS; a++)
        if (is_wanted(&wanted, a) && !(*names[a] = mem_copy_text(reader_name(r, columns[next++]))))
            return failure(QUORUM_E_MEMORY, "out of memory for column names");
    return QUORUM_OK;
}

typedef struct {
    const char *path;
    const quorum_options *options;
    quorum_data *d;
    /* of the process that reads; empty on the others: */
    reader *r;
    size_t *columns, used; /* used: of the file that are read, in this order */
    category_columns categories;
    date_columns dates;
    char *holes; /* used: 1 of inputs */
} reading;

/* The file's columns and names; in->r is left open at its first row. */
static quorum_status open_data(void *context)
{
    reading *in = context;
    quorum_data *d = in->d;
    const settings *s = options_values(in->options);
    reader_options how = how_to_read(in->options, READ_TRAINING);
    TRY(reader_open(in->path, &how, &in->r));
    reader *r = in->r;
    if (!NEW_ARRAY(in->columns, reader_columns(r) + OTHERS))
        return failure(QUORUM_E_MEMORY, "out of memory for reading %s", in->path);
    TRY(choose_columns(r, s, in->columns, d));
    in->used = d->inputs + targets_of(d) - 1 + count_others(s);
    TRY(check_names_differ(r, in->columns, in->used, in->columns[d->inputs]));
    TRY(copy_column_names(r, in->columns, s, d));
    TRY(reader_select(r, in->columns, in->used));
    if (!NEW_ZEROED(in->holes, in->used))
        return failure(QUORUM_E_MEMORY, "out of memory for reading %s", in->path);
    memset(in->holes, 1, d->inputs);
    reader_leave_holes(r, in->holes);
    TRY(categories_begin(&in->categories, r, in->columns, d->inputs, in->used, s));
    TRY(dates_begin(&in->dates, r, &in->categories, s));
    categories_attach(&in->categories, r);
    dates_attach(&in->dates, r);
    if (s->share == SHARE_NONE)
        targets_attach(d, r);
    return QUORUM_OK;
}

/* Once more from its first row. */
static quorum_status open_anew(void *context)
{
    reading *in = context;
    reader_options how = how_to_read(in->options, READ_TRAINING);
    reader_close(in->r);
    in->r = NULL;
    TRY(reader_open(in->path, &how, &in->r));
    TRY(reader_select(in->r, in->columns, in->used));
    categories_attach(&in->categories, in->r);
    dates_attach(&in->dates, in->r);
    reader_leave_holes(in->r, in->holes);
    if (options_values(in->options)->share == SHARE_NONE)
        targets_attach(in->d, in->r);
    return QUORUM_OK;
}

/* ---- Reading ---- */

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
    size_t about[] = {d->inputs,       d->target,       d->names != NULL,
                      d->offset_place, d->weight_place, d->noise_place};
    char **names[OTHERS];
    team_send(about, sizeof about);
    d->inputs = about[0];
    d->target = about[1];
    d->offset_place = about[3];
    d->weight_place = about[4];
    d->noise_place = about[5];
    if (!about[2])
        return QUORUM_OK;
    TRY(team_all(QUORUM_OK, room_for_names, d));
    for (size_t i = 0; i <= d->inputs; i++)
        TRY(team_send_text(QUORUM_OK, &d->names[i]));
    list_names(d, names);
    for (int a = OFFSET; a < OTHERS; a++)
        TRY(team_send_text(QUORUM_OK, names[a]));
    return QUORUM_OK;
}

static quorum_status send_all_columns(quorum_data *d)
{
    TRY(send_columns(d));
    return targets_send(d);
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
                   reader_path(r), reader_dropped(r), reader_why_dropped(r, 0));
}

static quorum_status read_rows(reading *in)
{
    quorum_data *d = in->d;
    const settings *s = options_values(in->options);
    row_source source = {.like = rows_schema(d->inputs + targets_of(d) - 1),
                         .memory = options_memory(s),
                         .threads = options_threads(s)};
    row_set held;
    if (s->offset[0] != '\0')
        source.like.offset = source.like.y;
    if (s->weights[0] != '\0')
        source.like.weight = source.like.y;
    if (s->noise_std[0] != '\0')
        source.like.error = source.like.y;
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
    d->weight = held.weight;
    d->noise_std = held.error;
    TRY(status);
    return d->rows > 0 ? QUORUM_OK : team_first(QUORUM_OK, fail_without_rows, in->r);
}

static void forget_rows(quorum_data *d)
{
    mem_free(d->X);
    mem_free(d->y);
    mem_free(d->offset);
    mem_free(d->weight);
    mem_free(d->noise_std);
    d->X = d->y = d->offset = d->weight = d->noise_std = NULL;
}

/* After reading has failed for good: the sentence that says most. */
static quorum_status explain(reading *in, quorum_status status)
{
    status = categories_blame(&in->categories, in->r, status);
    if (status != QUORUM_E_DATA || options_values(in->options)->missing != MISSING_ERROR ||
        !reader_can_begin_anew(in->r))
        return status;
    char *said = mem_copy_text(quorum_message());
    if (open_anew(in) >= 0 && said) {
        set_message("%s", said);
        status = faults_name(in->r, in->d->inputs, status);
    } else if (said)
        set_message("%s", said);
    mem_free(said);
    return status;
}

/* Where a column of numbers turns out to have text, or dates to have the month first, all of the file is read again, as what the column
 * is. */
static quorum_status read_rows_typed(reading *in)
{
    for (;;) {
        int again = 0;
        quorum_status status = read_rows(in);
        if (status < 0 && in->r)
            again = dates_turn(&in->dates, in->r) ||
                    categories_turn(&in->categories, in->r, options_values(in->options), &status);
        if (status >= 0)
            return status;
        team_send(&again, sizeof again);
        if (!again)
            return in->r ? explain(in, status) : status;
        forget_rows(in->d);
        TRY(team_first(QUORUM_OK, open_anew, in));
    }
}

/* What was seen on the way, to all. */
static void send_findings(reading *in)
{
    quorum_data *d = in->d;
    if (in->r) {
        d->dropped = reader_dropped(in->r);
        d->converted = reader_is_converted(in->r);
        d->decimal_comma = reader_decimal_comma(in->r);
        d->header_doubt = reader_doubts_header(in->r);
    }
    team_send(&d->dropped, sizeof d->dropped);
    team_send(&d->converted, sizeof d->converted);
    team_send(&d->decimal_comma, sizeof d->decimal_comma);
    team_send(&d->header_doubt, sizeof d->header_doubt);
}

static quorum_status read_data(quorum_status ready, reading *in)
{
    TRY(team_first(ready, open_data, in));
    TRY(send_all_columns(in->d));
    TRY(read_rows_typed(in));
    TRY(team_all(QUORUM_OK, targets_split, in->d));
    send_findings(in);
    TRY(dates_settle(&in->dates, in->r, in->d));
    return categories_settle(&in->categories, in->r, in->d);
}

quorum_status quorum_data_read(const char *path, const quorum_options *options, quorum_data **data)
{
    if (!path || !data)
        return failure(QUORUM_E_ARGUMENT, "quorum_data_read: path and data must not be NULL");
    if (options_values(options)->missing == MISSING_NAN)
        return failure(
            QUORUM_E_ARGUMENT,
            "option missing: nan is for predictions, whose rows it keeps in their place; "
            "for training give drop, impute or error");
    reading in = {.path = path, .options = options};
    *data = NULL;
    NEW_ZEROED(in.d, 1);
    quorum_status ready =
        in.d ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for reading %s", path);
    quorum_status status = read_data(ready, &in);
    reader_close(in.r);
    mem_free(in.columns);
    mem_free(in.holes);
    categories_free(&in.categories);
    dates_free(&in.dates);
    if (status < 0)
        quorum_data_free(in.d);
    else
        *data = in.d;
    return status;
}

static void free_levels(char **level, size_t levels)
{
    for (size_t l = 0; level && l < levels; l++)
        mem_free(level[l]);
    mem_free(level);
}

void quorum_data_free(quorum_data *d)
{
    if (!d)
        return;
    for (size_t i = 0; d->names && i <= d->inputs; i++)
        mem_free(d->names[i]);
    for (size_t i = 0; d->level && i < d->inputs; i++)
        free_levels(d->level[i], d->levels[i]);
    for (size_t i = 0; i < d->left_out; i++)
        mem_free(d->left_name[i]);
    for (size_t i = 0; d->date && i < d->inputs; i++)
        mem_free(d->date[i]);
    mem_free(d->date);
    mem_free(d->names);
    mem_free(d->levels);
    mem_free(d->level);
    mem_free(d->left_name);
    forget_rows(d);
    targets_free(d);
    mem_free(d->offset_name);
    mem_free(d->weight_name);
    mem_free(d->noise_name);
    mem_free(d);
}
