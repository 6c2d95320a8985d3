/* A table of any format: opens it by what it is, finds columns by name or number, and reads rows
 * of the selected ones.  The formats are csv.c, npy_table.c and npz_table.c (data/table.h). */
#include "data/reader.h"
#include "base/memory.h"
#include "base/plain.h"
#include "data/source.h"
#include "data/table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LISTED_NAMES = 400 };

static quorum_status fail_columnar(const reader *r, const char *format, const char *pandas)
{
    return failure(QUORUM_E_FORMAT,
                   "%s: is %s, which is not read here: fit the data frame of pandas.read_%s in "
                   "Python, or write it as csv with its to_csv(\"NEW.csv\", index=False)",
                   r->label, format, pandas);
}

/* The query's numbers have points and no marks between digits. */
static quorum_status open_database(reader *r)
{
    r->unit = "row";
    r->decimal = DECIMAL_POINT;
    r->thousands = r->comment = '\0';
    return csv_open(r, HEADER_YES);
}

static quorum_status open_format(reader *r, header_mode header)
{
    file_kind kind = KIND_TEXT;
    if (!r->in_memory)
        TRY(source_kind(r->path, &kind));
    if (r->query[0] && kind != KIND_SQLITE)
        return failure(QUORUM_E_ARGUMENT, "%s: is no SQLite database, and --query is for those",
                       r->label);
    if (kind != KIND_SQLITE)
        r->query = NULL;
    r->unit = kind == KIND_ZIP || kind == KIND_NPY ? "row" : r->unit;
    switch (kind) {
    case KIND_ZIP: return npz_table_open(r);
    case KIND_NPY: return npy_table_open(r);
    case KIND_PARQUET: return fail_columnar(r, "Parquet", "parquet");
    case KIND_ARROW: return fail_columnar(r, "Arrow or Feather", "feather");
    case KIND_SQLITE: return open_database(r);
    case KIND_TEXT: break;
    }
    return csv_open(r, header);
}

static quorum_status select_all(reader *r)
{
    size_t count = r->names.count;
    if (!NEW_ARRAY(r->selected, count))
        return failure(QUORUM_E_MEMORY, "%s: out of memory for %zu columns", r->label, count);
    r->n_selected = count;
    for (size_t i = 0; i < count; i++)
        r->selected[i] = i;
    return QUORUM_OK;
}

quorum_status reader_open(const char *path, const reader_options *options, reader **out)
{
    quorum_status status = QUORUM_OK;
    reader_options chosen = options ? *options : (reader_options){0};
    reader *r = NULL;
    *out = NULL;
    if (NEW_ZEROED(r, 1))
        r->path = mem_copy_text(path);
    if (!r || !r->path) {
        status = failure(QUORUM_E_MEMORY, "%s: out of memory while opening", source_label(path));
        goto done;
    }
    r->label = source_label(r->path);
    r->missing = chosen.missing;
    r->purpose = chosen.purpose;
    r->decimal = chosen.decimal;
    r->thousands = chosen.thousands;
    r->comment = chosen.comment;
    r->memory = chosen.memory > 0.0 ? chosen.memory : INFINITY;
    r->threads = chosen.threads > 0 ? chosen.threads : 1;
    r->asked = chosen.asked;
    r->query = chosen.query ? chosen.query : "";
    r->unit = "line";
    r->no_categories = chosen.no_categories;
    r->text = chosen.text;
    r->text_bytes = chosen.text_bytes;
    r->in_memory = chosen.text != NULL;
    TRY_OR_DONE(open_format(r, chosen.header));
    TRY_OR_DONE(select_all(r));
    *out = r;
    r = NULL;
done:
    reader_close(r);
    return status;
}

void reader_close(reader *r)
{
    if (!r)
        return;
    if (r->format)
        r->format->close(r->state);
    names_free(&r->names);
    mem_free(r->selected);
    for (size_t i = 0; i < DROPPED_LISTED; i++)
        mem_free(r->why_dropped[i]);
    kept_cells_free(&r->kept);
    mem_free(r->path);
    mem_free(r);
}

size_t reader_columns(const reader *r)
{
    return r->names.count;
}

int reader_has_names(const reader *r)
{
    return r->names.given;
}

const char *reader_name(const reader *r, size_t column)
{
    return names_at(&r->names, column);
}

int reader_name_is_made_up(const reader *r, size_t column)
{
    return r->names.made_up[column];
}

int reader_is_converted(const reader *r)
{
    return r->names.windows;
}

int reader_decimal_comma(const reader *r)
{
    return r->decimal_comma;
}

void reader_advise_comment(const reader *r, char out[100])
{
    out[0] = '\0';
    if (r->hash_line)
        snprintf(out, 100, ".  " COMMENT_ADVICE, r->hash_line);
    else if (r->header_doubt)
        snprintf(
            out, 100,
            ".  The first row is taken for names, with numbers: if it is data, give --header no");
}

int reader_doubts_header(const reader *r)
{
    return r->header_doubt;
}

const char *reader_path(const reader *r)
{
    return r->label;
}

size_t reader_rows(const reader *r)
{
    return r->rows;
}

double reader_held(const reader *r)
{
    return r->held;
}

size_t reader_dropped(const reader *r)
{
    return r->missing == MISSING_DROP || r->missing == MISSING_IMPUTE ? r->dropped : 0;
}

size_t reader_dropped_row(const reader *r, size_t i)
{
    return i < reader_dropped(r) && i < DROPPED_LISTED ? r->dropped_rows[i] : 0;
}

const char *reader_why_dropped(const reader *r, size_t i)
{
    return i < DROPPED_LISTED && r->why_dropped[i] ? r->why_dropped[i] : "";
}

/* 1-based, negative from the end; 0 when `text` is no such number. */
static int parse_column_number(const reader *r, const char *text, size_t *column)
{
    char *end;
    long long count = (long long)r->names.count;
    errno = 0;
    long long number = plain_integer(text, &end);
    if (end == text || *end != '\0' || errno != 0)
        return 0;
    if (number == 0 || number > count || number < -count)
        return 0;
    *column = (size_t)(number > 0 ? number - 1 : count + number);
    return 1;
}

/* "a", "b", "c", ... as far as they fit */
static void list_names(const reader *r, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < r->names.count; i++) {
        const char *name = names_at(&r->names, i);
        const char *comma = i ? ", " : "";
        if (used + strlen(name) + 10 > size) {
            snprintf(out + used, size - used, "%s...", comma);
            return;
        }
        used += (size_t)snprintf(out + used, size - used, "%s\"%s\"", comma, name);
    }
}

quorum_status reader_find(const reader *r, const char *name_or_number, size_t *column)
{
    char names[LISTED_NAMES] = "";
    size_t place[2], same = names_count_of(&r->names, name_or_number, place);
    if (same > 1)
        return failure(QUORUM_E_ARGUMENT,
                       "%s: columns %zu and %zu are both named \"%.100s\"; give the column's "
                       "number instead",
                       r->label, place[0] + 1, place[1] + 1, name_or_number);
    if (same == 1) {
        *column = place[0];
        return QUORUM_OK;
    }
    if (parse_column_number(r, name_or_number, column))
        return QUORUM_OK;
    char doubt[100];
    list_names(r, names, sizeof names);
    reader_advise_comment(r, doubt);
    return failure(QUORUM_E_ARGUMENT,
                   "%s: has no column \"%.100s\"; its %zu columns are %s (numbers from 1 work too, "
                   "and -1 is the last)%s",
                   r->label, name_or_number, r->names.count, names, doubt);
}

static quorum_status check_columns(const reader *r, const size_t *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (columns[i] >= r->names.count)
            return failure(QUORUM_E_ARGUMENT, "%s: column %zu does not exist, there are %zu",
                           r->label, columns[i] + 1, r->names.count);
    return QUORUM_OK;
}

quorum_status reader_select(reader *r, const size_t *columns, size_t count)
{
    size_t *copy;
    if (count == 0)
        return failure(QUORUM_E_ARGUMENT, "%s: no column is selected", r->label);
    TRY(check_columns(r, columns, count));
    if (!NEW_ARRAY(copy, count))
        return failure(QUORUM_E_MEMORY, "%s: out of memory for %zu columns", r->label, count);
    memcpy(copy, columns, count * sizeof *copy);
    mem_free(r->selected);
    r->selected = copy;
    r->n_selected = count;
    return QUORUM_OK;
}

void reader_let_miss(reader *r, size_t first, size_t count)
{
    r->may_miss = first;
    r->may_miss_count = r->missing == MISSING_DROP ? count : 0;
}

void reader_let_be_empty(reader *r, size_t place)
{
    r->may_be_empty = place + 1;
}

/* ---- Kept cells ---- */

quorum_status reader_keep(reader *r, const size_t *columns, size_t count)
{
    TRY(check_columns(r, columns, count));
    return kept_cells_choose(&r->kept, columns, count);
}

size_t reader_kept_columns(const reader *r, const size_t **columns)
{
    *columns = r->kept.columns;
    return r->kept.count;
}

const char *reader_kept(const reader *r, size_t row, size_t column)
{
    return kept_cells_at(&r->kept, row, column);
}

size_t reader_row_number(const reader *r, size_t row)
{
    return r->kept.number[row];
}

int reader_kept_converted(const reader *r)
{
    return r->kept.converted;
}

quorum_status reader_feed(reader *r, const char *text, size_t bytes)
{
    return csv_feed(r, text, bytes);
}

quorum_status reader_next(reader *r, size_t max_rows, double *out, size_t *rows)
{
    *rows = 0;
    kept_cells_clear(&r->kept);
    return r->format->next(r, max_rows, out, rows);
}

/* ---- Faults ---- */

quorum_status reader_survey(reader *r, column_faults *faults, size_t *all)
{
    double *row;
    size_t rows = 0;
    if (!NEW_ARRAY(row, r->n_selected))
        return failure(QUORUM_E_MEMORY, "%s: out of memory while reading", r->label);
    r->faults = faults;
    quorum_status status = r->format->next(r, 1, row, &rows);
    r->faults = NULL;
    *all = r->row;
    mem_free(row);
    return status;
}

size_t reader_selected(const reader *r, const size_t **columns)
{
    *columns = r->selected;
    return r->n_selected;
}

const char *reader_unit(const reader *r)
{
    return r->unit;
}

/* ---- Categories ---- */

quorum_status reader_look_for_text(reader *r, char *is_text)
{
    memset(is_text, 0, r->n_selected);
    return r->format->look_for_text ? r->format->look_for_text(r, is_text) : QUORUM_OK;
}

void reader_take_levels(reader *r, level_table *const *levels, unknown_levels unknown)
{
    r->levels = levels;
    r->unknown = unknown;
}

/* ---- Dates ---- */

quorum_status reader_look_for_dates(reader *r, int orders, date_form *form)
{
    memset(form, 0, r->n_selected * sizeof *form);
    if (!r->format->look_for_dates || orders == 0)
        return QUORUM_OK;
    return r->format->look_for_dates(r, orders, form);
}

void reader_take_dates(reader *r, date_form *form)
{
    r->dates = form;
}

void reader_leave_holes(reader *r, const char *holes)
{
    r->holes = holes;
}

int reader_stopped_at_date(const reader *r, size_t *place)
{
    *place = r->turned_at - 1;
    return r->turned_at > 0;
}

int reader_stopped_at_text(const reader *r, size_t *place)
{
    *place = r->stopped_at - 1;
    return r->stopped_at > 0;
}

int reader_can_begin_anew(const reader *r)
{
    struct stat about;
    return strcmp(r->path, "-") != 0 && stat(r->path, &about) == 0 && S_ISREG(about.st_mode);
}
