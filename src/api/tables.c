/* Training data and query streams from files, over data/reader.h.  Rank 0 of a team reads, and
 * sends the others what they need of it. */
#include "model/model.h"

#include "base/memory.h"
#include "data/names.h"
#include "rows/rows.h"
#include "team/team.h"

#include <string.h>

static reader_options how_to_read(const quorum_options *options, reading_purpose purpose)
{
    const settings *s = options_values(options);
    reader_options how = {.header = (header_mode)s->header,
                          .missing = (missing_mode)s->missing,
                          .purpose = purpose,
                          .decimal = (decimal_mode)s->decimal,
                          .thousands = options_thousands(s),
                          .comment = options_comment(s),
                          .memory = options_memory(s)};
    if (options)
        how.asked = *options_progress(options);
    return how;
}

/* ---- Training data ---- */

enum { FIRST_ROOM = 4096 }; /* rows, where a file does not say how many it has */

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
        status = fail_without_inputs(r, target);
    if (status == QUORUM_OK)
        columns[*inputs] = target;
    mem_free(ignored);
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
static quorum_status check_names_differ(const reader *r, const size_t *columns, size_t count)
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
    quorum_status status =
        twice == count ? QUORUM_OK : fail_twice(r, list + twice, columns[count - 1]);
    mem_free(list);
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

static quorum_status fail_without_rows(const reader *r)
{
    if (!r) /* of another rank */
        return failure(QUORUM_E_DATA, "the file has no usable data rows");
    if (reader_dropped(r) == 0)
        return failure(QUORUM_E_DATA, "%s has no rows%s", reader_path(r),
                       reader_has_names(r) ? " below its header" : "");
    return failure(QUORUM_E_DATA, "%s has no usable rows: all %zu were dropped.  The first: %s",
                   reader_path(r), reader_dropped(r), reader_why_dropped(r));
}

/* ---- Room for rows, within the memory option ---- */

static quorum_status fail_memory(const char *path, size_t rows, size_t width, double memory)
{
    return failure(QUORUM_E_MEMORY,
                   "%s: reading more than %zu rows of %zu columns takes more than memory, which is "
                   "%.0f MB; give more with --memory, or fewer rows or columns",
                   path, rows, width, memory / (1 << 20));
}

/* How many rows there is room for next: twice as many, or as many as memory allows while the old
 * ones are still there; 0: not a tenth more. */
static size_t next_room(size_t room, size_t width, double memory)
{
    double bytes = (double)width * sizeof(double), most = memory / bytes - (double)room;
    if (most < 1.1 * (double)room)
        return 0;
    return most < 2.0 * (double)room ? (size_t)most : 2 * room;
}

/* All of them where the file says how many. */
static size_t first_room(const reader *r, size_t width, double memory)
{
    size_t rows = reader_rows(r) > 0 ? reader_rows(r) + 1 : FIRST_ROOM; /* + 1: sees the end */
    double most = memory / ((double)width * sizeof(double));
    return most < (double)rows ? (size_t)most : rows;
}

static quorum_status grow_rows(const reader *r, size_t width, double memory, double **table,
                               size_t *room)
{
    size_t more = next_room(*room, width, memory);
    if (more == 0)
        return fail_memory(reader_path(r), *room, width, memory);
    double *larger = mem_grow(*table, *room * width, more * width, sizeof *larger);
    if (!larger)
        return failure(QUORUM_E_MEMORY, "out of memory for more than %zu rows of %s", *room,
                       reader_path(r));
    *table = larger;
    *room = more;
    return QUORUM_OK;
}

/* All rows into *table (rows x width).  `memory` is what there is for them. */
static quorum_status read_rows(reader *r, size_t width, double memory, double **table, size_t *rows)
{
    size_t room = first_room(r, width, memory), got = 0;
    *rows = 0;
    if (room == 0)
        return fail_memory(reader_path(r), room, width, memory);
    if (!NEW_ARRAY(*table, room * width))
        return failure(QUORUM_E_MEMORY, "out of memory for reading %s", reader_path(r));
    do {
        if (*rows == room)
            TRY(grow_rows(r, width, memory, table, &room));
        TRY(reader_next(r, room - *rows, *table + *rows * width, &got));
        *rows += got;
    } while (got > 0);
    return *rows > 0 ? QUORUM_OK : fail_without_rows(r);
}

/* The targets out of the table, whose inputs then move together: X takes its place. */
static quorum_status split_table(double *table, size_t rows, quorum_data *d)
{
    size_t D = d->inputs;
    if (!NEW_ARRAY(d->y, rows))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu rows", rows);
    for (size_t i = 0; i < rows; i++) {
        d->y[i] = table[i * (D + 1) + D];
        memmove(table + i * D, table + i * (D + 1), D * sizeof *table);
    }
    return QUORUM_OK;
}

/* The file's columns and names; *out is left open at its first row. */
static quorum_status open_data(const char *path, const quorum_options *options, quorum_data *d,
                               reader **out)
{
    reader_options how = how_to_read(options, READ_TRAINING);
    reader *r = NULL;
    size_t *columns = NULL;
    quorum_status status = reader_open(path, &how, &r);
    if (status < 0)
        return status;
    if (!NEW_ARRAY(columns, reader_columns(r) + 1)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for reading %s", path);
        goto done;
    }
    TRY_OR_DONE(choose_columns(r, options_values(options), columns, &d->inputs, &d->target));
    TRY_OR_DONE(check_names_differ(r, columns, d->inputs + 1));
    TRY_OR_DONE(copy_column_names(r, columns, d));
    TRY_OR_DONE(reader_select(r, columns, d->inputs + 1));
done:
    mem_free(columns);
    if (status < 0)
        reader_close(r);
    else
        *out = r;
    return status;
}

static quorum_status read_alone(reader *r, double memory, quorum_data *d)
{
    quorum_status status = read_rows(r, d->inputs + 1, memory - reader_held(r), &d->X, &d->rows);
    return status == QUORUM_OK ? split_table(d->X, d->rows, d) : status;
}

/* ---- The same by a team: rank 0 reads, and deals blocks of rows to the ranks in turn; when all
 * are read, they go to the ranks that hold them (rows/rows.h) ---- */

enum { DEAL = 4096 }; /* rows of a block */

typedef struct {
    size_t width;
    double *block;      /* DEAL x width: as read                     */
    double *mine;       /* room x width: blocks dealt to this rank   */
    size_t count, room; /* rows                                      */
    size_t *out_bytes, *in_bytes;
    double memory; /* bytes that there are for all this */
} dealing;

static void dealing_free(dealing *t)
{
    mem_free(t->block);
    mem_free(t->mine);
    mem_free(t->out_bytes);
    mem_free(t->in_bytes);
}

static quorum_status dealing_new(size_t width, double memory, dealing *t)
{
    size_t ranks = (size_t)team_size();
    *t = (dealing){.width = width, .memory = memory};
    NEW_ARRAY(t->block, DEAL * width);
    NEW_ARRAY(t->out_bytes, ranks);
    NEW_ARRAY(t->in_bytes, ranks);
    if (t->block && t->out_bytes && t->in_bytes)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for reading");
}

/* A full block, unless the file ends. */
static quorum_status read_block(reader *r, const dealing *t, size_t *rows)
{
    size_t got = 1;
    *rows = 0;
    while (team_rank() == 0 && *rows < DEAL && got > 0) {
        TRY(reader_next(r, DEAL - *rows, t->block + *rows * t->width, &got));
        *rows += got;
    }
    return QUORUM_OK;
}

/* At most two copies at once, here and in settle_rows. */
static quorum_status make_room(dealing *t)
{
    size_t room = t->room == 0 ? DEAL : next_room(t->room, t->width, t->memory);
    if (t->count + DEAL <= t->room)
        return QUORUM_OK;
    if (room < t->room + DEAL)
        return fail_memory("a process's share", t->count, t->width, t->memory);
    double *more = mem_grow(t->mine, t->count * t->width, room * t->width, sizeof *more);
    if (!more)
        return failure(QUORUM_E_MEMORY, "out of memory for more than %zu rows", t->count);
    t->mine = more;
    t->room = room;
    return QUORUM_OK;
}

/* The block of `rows` rows goes from rank 0 to rank `to`. */
static void deal_block(dealing *t, int to, size_t rows)
{
    size_t bytes = rows * t->width * sizeof *t->block;
    for (int k = 0; k < team_size(); k++)
        t->out_bytes[k] = t->in_bytes[k] = 0;
    if (team_rank() == 0)
        t->out_bytes[to] = bytes;
    if (team_rank() == to)
        t->in_bytes[0] = bytes;
    team_exchange(t->block, t->out_bytes, t->mine + t->count * t->width, t->in_bytes, 1);
    t->count += team_rank() == to ? rows : 0;
}

static quorum_status deal_rows(reader *r, dealing *t, size_t *total)
{
    size_t rows = DEAL;
    *total = 0;
    for (int to = 0; rows == DEAL; to = (to + 1) % team_size()) {
        quorum_status status = read_block(r, t, &rows);
        if (status == QUORUM_OK && team_rank() == to)
            status = make_room(t);
        TRY(team_agree(status));
        team_send(&rows, sizeof rows);
        deal_block(t, to, rows);
        *total += rows;
    }
    return *total > 0 ? QUORUM_OK : fail_without_rows(r);
}

/* The rows from .. to - 1 that were dealt to a rank: how many, the first being that rank's first
 * or some later one. */
static size_t dealt_before(size_t row, int rank)
{
    size_t ranks = (size_t)team_size(), round = DEAL * ranks, r = (size_t)rank;
    size_t rest = row % round, first = r * DEAL;
    return row / round * DEAL + (rest <= first ? 0 : rest - first < DEAL ? rest - first : DEAL);
}

static size_t dealt_between(team_slice rows, int rank)
{
    return dealt_before(rows.first + rows.count, rank) - dealt_before(rows.first, rank);
}

/* What came from rank r, in its order, to the places that the rows have in the slice. */
static const double *put_dealt(const dealing *t, team_slice held, int r, const double *came,
                               quorum_data *d)
{
    size_t ranks = (size_t)team_size(), D = d->inputs;
    for (size_t i = 0; i < held.count; i++) {
        if ((held.first + i) / DEAL % ranks != (size_t)r)
            continue;
        memcpy(d->X + i * D, came, D * sizeof *came);
        d->y[i] = came[D];
        came += t->width;
    }
    return came;
}

static void count_exchange(dealing *t, size_t rows, team_slice held)
{
    size_t bytes = t->width * sizeof *t->mine;
    for (int k = 0; k < team_size(); k++) {
        team_slice theirs = slice_of(rows, ROWS_STEP, k, team_size());
        t->out_bytes[k] = dealt_between(theirs, team_rank()) * bytes;
        t->in_bytes[k] = dealt_between(held, k) * bytes;
    }
}

/* Room for what comes, beside what was dealt. */
static quorum_status room_to_settle(const dealing *t, size_t rows, double **came)
{
    double bytes = (double)(t->room + rows) * (double)t->width * sizeof **came;
    if (bytes > t->memory)
        return fail_memory("a process's share", rows, t->width, t->memory);
    return NEW_ARRAY(*came, rows * t->width)
               ? QUORUM_OK
               : failure(QUORUM_E_MEMORY, "out of memory for %zu rows", rows);
}

static quorum_status settle_rows(dealing *t, quorum_data *d)
{
    quorum_status status;
    team_slice held = my_slice(d->rows, ROWS_STEP);
    double *came = NULL;
    count_exchange(t, d->rows, held);
    TRY_OR_DONE(team_agree(room_to_settle(t, held.count, &came)));
    team_exchange(t->mine, t->out_bytes, came, t->in_bytes, 1);
    mem_free(t->mine);
    t->mine = NULL;
    NEW_ARRAY(d->X, held.count * d->inputs);
    NEW_ARRAY(d->y, held.count);
    TRY_OR_DONE(team_agree(
        d->X && d->y ? QUORUM_OK
                     : failure(QUORUM_E_MEMORY, "out of memory for %zu rows", held.count)));
    const double *next = came;
    for (int r = 0; r < team_size(); r++)
        next = put_dealt(t, held, r, next, d);
done:
    mem_free(came);
    return status;
}

static quorum_status read_together(reader *r, double memory, quorum_data *d)
{
    dealing t;
    double held = r ? reader_held(r) : 0.0;
    quorum_status status = team_agree(dealing_new(d->inputs + 1, memory - held, &t));
    if (status == QUORUM_OK)
        status = deal_rows(r, &t, &d->rows);
    if (status == QUORUM_OK)
        status = settle_rows(&t, d);
    dealing_free(&t);
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

/* What rank 0 knows of the columns to all. */
static quorum_status send_columns(quorum_data *d)
{
    size_t about[] = {d->inputs, d->target, d->names != NULL};
    team_send(about, sizeof about);
    d->inputs = about[0];
    d->target = about[1];
    return send_names(d, (int)about[2]);
}

static quorum_status read_data(const char *path, const quorum_options *options, quorum_data *d)
{
    reader *r = NULL;
    double memory = options_memory(options_values(options));
    quorum_status status =
        team_agree(team_rank() == 0 ? open_data(path, options, d, &r) : QUORUM_OK);
    if (status == QUORUM_OK && team_size() > 1) {
        status = send_columns(d);
        if (status == QUORUM_OK)
            status = read_together(r, memory, d);
    } else if (status == QUORUM_OK) {
        status = read_alone(r, memory, d);
    }
    if (r) {
        d->dropped = reader_dropped(r);
        d->converted = reader_is_converted(r);
        d->decimal_comma = reader_decimal_comma(r);
    }
    team_send(&d->dropped, sizeof d->dropped);
    team_send(&d->converted, sizeof d->converted);
    team_send(&d->decimal_comma, sizeof d->decimal_comma);
    reader_close(r);
    return status;
}

quorum_status quorum_data_read(const char *path, const quorum_options *options, quorum_data **data)
{
    if (!path || !data)
        return failure(QUORUM_E_ARGUMENT, "quorum_data_read: path and data must not be NULL");
    quorum_data *d;
    *data = NULL;
    NEW_ZEROED(d, 1);
    quorum_status status =
        team_agree(d ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for reading %s", path));
    if (status == QUORUM_OK)
        status = read_data(path, options, d);
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

/* Of the memory, what a chunk may take: who reads all rows by doubling holds four times that. */
static const double CHUNK_SHARE = 0.25;

struct quorum_stream {
    reader *reader;       /* of rank 0; NULL on the others */
    size_t inputs, width; /* selected columns: inputs, or inputs + 1 */
    double *rows;         /* room x width */
    size_t room;
    double memory; /* the option's bytes */
};

/* The column of the model's name i in the sorted list of all columns. */
static quorum_status find_by_name(const reader *r, const quorum_model *m, size_t i,
                                  const named_column *list, size_t *column)
{
    size_t count = reader_columns(r), found = names_find(list, count, m->names[i]);
    const char *role = i < m->D ? "an input" : "the target";
    char comment[100];
    reader_advise_comment(r, comment);
    if (found == count)
        return failure(QUORUM_E_DATA,
                       "%s has no column \"%s\", which the model needs as %s; it has %zu columns, "
                       "the first is \"%s\"%s",
                       reader_path(r), m->names[i], role, count, reader_name(r, 0), comment);
    const named_column *here = &list[found];
    if (found + 1 < count && !here[1].made_up && strcmp(here[0].name, here[1].name) == 0)
        return failure(QUORUM_E_DATA,
                       "%s: columns %zu and %zu are both named \"%s\", which the model needs as "
                       "%s: rename or remove the one that is not meant",
                       reader_path(r), here[0].column + 1, here[1].column + 1, m->names[i], role);
    *column = here->column;
    return QUORUM_OK;
}

static quorum_status match_by_name(const reader *r, const quorum_model *m, size_t wanted,
                                   size_t *columns)
{
    quorum_status status = QUORUM_OK;
    named_column *list;
    size_t count = reader_columns(r);
    if (!NEW_ARRAY(list, count))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    for (size_t c = 0; c < count; c++)
        list[c] = (named_column){reader_name(r, c), c, reader_name_is_made_up(r, c)};
    names_sort(list, count);
    for (size_t i = 0; i < wanted && status == QUORUM_OK; i++)
        status = find_by_name(r, m, i, list, &columns[i]);
    mem_free(list);
    return status;
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

static quorum_status open_reader(const char *path, const quorum_model *m,
                                 const quorum_options *options, quorum_stream *s)
{
    reader_options o = how_to_read(options, READ_QUERIES);
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
        s->memory = options_memory(options_values(options));
        if (team_rank() == 0)
            status = open_reader(path, m, options, s);
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
    if ((double)max_rows * (double)s->width * sizeof *X > CHUNK_SHARE * s->memory)
        return failure(
            QUORUM_E_MEMORY,
            "%zu rows of %zu columns at once take more than memory, which is %.0f MB, has "
            "for them; give more with --memory",
            max_rows, s->width, s->memory / (1 << 20));
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

int quorum_stream_converted(const quorum_stream *s)
{
    return s && s->reader ? reader_is_converted(s->reader) : 0;
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
    mem_free(s);
}
