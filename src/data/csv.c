/* Rows of a csv text, a file's or a query's, through a window that slides over its source. */
#include "base/memory.h"
#include "data/advice.h"
#include "data/cell.h"
#include "data/plain_rows.h"
#include "text/dialect.h"
#include "data/source.h"
#include "data/table.h"
#include "text/text.h"
#include "io/utf8.h"
#include "sqlite/query.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifndef QRM_FIRST_WINDOW
#define QRM_FIRST_WINDOW (1 << 22) /* fuzzing takes a small one, which slides and grows */
#endif

enum {
    FIRST_WINDOW = QRM_FIRST_WINDOW,
    SMALL_WINDOW = 1 << 18,
    TEXT_WINDOW = 4096,
    MAX_RECORD = 1 << 26,
    TEXT_SAMPLE = 100
};

enum column_look { LOOKS_EMPTY, LOOKS_TEXT, LOOKS_NUMERIC };

typedef struct {
    source *source; /* of a file, or ... */
    query *query;   /* ... of a database */
    char *window;   /* capacity bytes, of which [begin, end) are still to be read */
    size_t capacity, begin, end;
    int at_end;  /* nothing comes after the window            */
    int marked;  /* the file begins with UTF-8's mark         */
    size_t line; /* of window[begin], from 1                  */
    dialect dialect;
    int trailing; /* every line ends with a delimiter          */
    size_t columns;
    size_t first_line; /* the one that says how many columns        */
    record record;     /* the one at `begin`, after load_record     */
    size_t next;       /* where the record after it begins          */
    size_t kept;       /* rows that were not dropped                */
    cell_reader cells;
    int has_plain;    /* its rows may be plain, and `plain` knows their columns   */
    int passed_plain; /* a line of the window was not: its other lines are read as records */
    plain_table plain;
} csv;

/* ---- the window ---- */

static quorum_status fail_memory(const reader *r)
{
    return failure(QUORUM_E_MEMORY, "%s: out of memory while reading", r->label);
}

static size_t count_lines(const csv *c, const char *p, const char *end)
{
    return text_count(c->dialect.newline, p, end);
}

static quorum_status check_for_zero_bytes(const reader *r, const csv *c, size_t from)
{
    const char *zero = memchr(c->window + from, '\0', c->end - from);
    if (!zero)
        return QUORUM_OK;
    size_t line = c->line + count_lines(c, c->window + c->begin, zero);
    return failure(
        QUORUM_E_FORMAT,
        "%s: line %zu: contains a zero byte, so this is not text; csv, csv.gz, npy and npz "
        "files can be read",
        r->label, line);
}

/* The window may take a quarter of the memory, but then its old half is there too. */
static quorum_status grow_window(const reader *r, csv *c)
{
    size_t most = r->memory / 8 < MAX_RECORD ? (size_t)(r->memory / 8) : MAX_RECORD;
    if (c->capacity >= most)
        return failure(QUORUM_E_FORMAT, "%s: line %zu: longer than %zu MB; is a quote left open?%s",
                       r->label, c->line, c->capacity >> 20,
                       most < MAX_RECORD ? "  If not, give more with --memory" : "");
    char *larger = mem_grow(c->window, c->end, 2 * c->capacity, 1);
    if (!larger)
        return fail_memory(r);
    c->window = larger;
    c->capacity *= 2;
    return QUORUM_OK;
}

static quorum_status read_bytes(const csv *c, char *to, size_t n, size_t *got)
{
    return c->query ? query_read(c->query, to, n, got) : source_read(c->source, to, n, got);
}

/* Moves what is left to the front and fills the rest. */
static quorum_status refill(const reader *r, csv *c)
{
    size_t got, left = c->end - c->begin;
    memmove(c->window, c->window + c->begin, left);
    c->begin = 0;
    c->end = left;
    if (c->end == c->capacity)
        TRY(grow_window(r, c));
    TRY(read_bytes(c, c->window + c->end, c->capacity - c->end, &got));
    c->end += got;
    c->at_end = c->end < c->capacity;
    c->passed_plain = 0;
    return check_for_zero_bytes(r, c, left);
}

/* A text in memory is all of the window. */
static quorum_status hold_text(const reader *r, csv *c, const char *text, size_t bytes)
{
    if (bytes > c->capacity) {
        char *larger = mem_grow(c->window, 0, 2 * bytes, 1);
        if (!larger)
            return fail_memory(r);
        c->window = larger;
        c->capacity = 2 * bytes;
    }
    memcpy(c->window, text, bytes);
    c->begin = 0;
    c->end = bytes;
    c->at_end = 1;
    return QUORUM_OK;
}

quorum_status csv_feed(reader *r, const char *text, size_t bytes)
{
    csv *c = r->state;
    c->line += count_lines(c, c->window + c->begin, c->window + c->end);
    TRY(hold_text(r, c, text, bytes));
    return check_for_zero_bytes(r, c, 0);
}

/* ---- records ---- */

static void consume_record(csv *c)
{
    c->begin = c->next;
    c->line += c->record.lines;
}

/* Brings the next record that is not blank into c->record; *found is 0 at the end. */
static quorum_status load_record(const reader *r, csv *c, int *found)
{
    for (*found = 0; !*found;) {
        if (c->begin == c->end && c->at_end)
            return QUORUM_OK;
        const char *next = record_scan(&c->dialect, c->window + c->begin, c->window + c->end,
                                       c->at_end, &c->record);
        if (!next && c->at_end)
            return failure(QUORUM_E_FORMAT, "%s: line %zu: a quote is opened and never closed",
                           r->label, c->line);
        if (!next) {
            TRY(refill(r, c));
            continue;
        }
        c->next = (size_t)(next - c->window);
        *found = !record_is_blank(&c->record);
        if (!*found)
            consume_record(c);
    }
    return QUORUM_OK;
}

/* Columns of the record, without the empty cell after a trailing delimiter. */
static size_t record_columns(const csv *c)
{
    const record *rec = &c->record;
    int extra = c->trailing && rec->count > 1 && !rec->last.quoted && cell_is_blank(&rec->last);
    return rec->count - (size_t)extra;
}

static const char *name_delimiter(const csv *c)
{
    switch (c->dialect.delimiter) {
    case '\t': return "tab";
    case ' ': return "blank";
    case ';': return "semicolon";
    default: return "comma";
    }
}

static void describe_columns(const reader *r, const csv *c, size_t found, char *out)
{
    char reference[48] = "the header";
    if (!r->names.given)
        snprintf(reference, sizeof reference, "line %zu", c->first_line);
    snprintf(out, SENTENCE,
             "line %zu: %zu column%s where %s has %zu (delimiter: %s); fix the line%s", c->line,
             found, found == 1 ? "" : "s", reference, c->columns, name_delimiter(c),
             advise_dropping(r));
}

static int is_date(const reader *r, size_t place)
{
    return r->dates && r->dates[place].orders != 0;
}

/* Looks at the selected cells of a record of the sample: once a number, a column is not text. */
static void look_for_text(const reader *r, const csv *c, enum column_look *look)
{
    cell_reader looking = c->cells;
    double value;
    for (size_t i = 0; i < r->n_selected && record_columns(c) == c->columns; i++) {
        cell_kind kind = cell_read(&c->record.cells[r->selected[i]], &looking, &value);
        if (kind == CELL_TEXT && look[i] == LOOKS_EMPTY)
            look[i] = LOOKS_TEXT;
        else if (kind != CELL_TEXT && kind != CELL_MISSING)
            look[i] = LOOKS_NUMERIC;
    }
}

/* Marks the columns of text among the selected, by the loaded record and the next ones that are
 * in the window; the loaded record stays the loaded one.  Categories may have text, unless no column
 * has anything else. */
static quorum_status find_text(const reader *r, csv *c, char *is_text /* n_selected, zeros */)
{
    enum column_look *look;
    const char *p = c->window + c->begin, *limit = c->window + c->end;
    if (!NEW_ZEROED(look, r->n_selected))
        return fail_memory(r);
    for (int n = 0; n < TEXT_SAMPLE && p && p < limit; n++) {
        p = record_scan(&c->dialect, p, limit, c->at_end, &c->record);
        if (p && !record_is_blank(&c->record))
            look_for_text(r, c, look);
    }
    record_scan(&c->dialect, c->window + c->begin, limit, c->at_end, &c->record);
    size_t count = 0;
    for (size_t i = 0; i < r->n_selected; i++)
        count += look[i] == LOOKS_TEXT;
    for (size_t i = 0; i < r->n_selected; i++)
        is_text[i] = look[i] == LOOKS_TEXT &&
                     (count == r->n_selected || !(r->levels && r->levels[i])) && !is_date(r, i);
    mem_free(look);
    return QUORUM_OK;
}

/* The sentence about a cell.  As long as no row could be used it may be a whole column that is
 * text, with others: then all of them are named. */
static void describe_bad_cell(const reader *r, csv *c, size_t place, cell_kind kind, char *out)
{
    char what[240], *is_text = NULL;
    size_t column = r->selected[place];
    cell_describe(&c->record.cells[column], kind, &c->cells, what, sizeof what);
    if (kind == CELL_TEXT && c->kept == 0 && NEW_ZEROED(is_text, r->n_selected))
        (void)find_text(r, c, is_text); /* or else a sentence about the cell alone */
    if (is_text && is_text[place])
        advise_text(r, c->line, is_text, what, out);
    else if (kind == CELL_OTHER_NOTATION)
        advise_notation(r, c->line, column, what, out);
    else if (kind == CELL_UNKNOWN_LEVEL)
        advise_level(r, c->line, column, what, out);
    else if (kind == CELL_NO_DATE || kind == CELL_TURNS_DATE)
        advise_date(r, c->line, place, kind == CELL_TURNS_DATE, what, out);
    else if (kind == CELL_TEXT)
        advise_stray_text(r, c->line, column, what, out);
    else
        advise_cell(r, r->unit, c->line, place, kind == CELL_MISSING, what, out);
    mem_free(is_text);
}

/* Lines that begin with # and spoil the table are comments, as a rule; text in the first row was
 * said to be no header. */
static void advise_more(const reader *r, const csv *c, cell_kind kind, char *out)
{
    size_t used = strlen(out);
    const char *stop = used > 0 && out[used - 1] == '?' ? "" : ".";
    if (r->hash_line || (c->window[c->begin] == '#' && kind != CELL_MISSING))
        snprintf(out + used, SENTENCE - used, "%s  " COMMENT_ADVICE, stop,
                 r->hash_line ? r->hash_line : c->line);
    else if (kind == CELL_TEXT && c->line == c->first_line)
        snprintf(out + used, SENTENCE - used, "%s  If that is a header, give --header yes", stop);
}

/* A row that cannot be used, because of the cell at `place` of the selected ones, or of its
 * number of columns when that is n_selected; *keep is 1 for one that stays without values. */
static quorum_status refuse_row(reader *r, csv *c, size_t place, cell_kind kind, double *row,
                                int *keep)
{
    char sentence[SENTENCE] = "";
    int is_fatal = table_is_fatal(r, kind == CELL_MISSING) || kind == CELL_OTHER_NOTATION ||
                   kind == CELL_TURNS_DATE; /* these are not missing */
    if (is_fatal || r->dropped < DROPPED_LISTED) {
        if (place == r->n_selected)
            describe_columns(r, c, record_columns(c), sentence);
        else
            describe_bad_cell(r, c, place, kind, sentence);
        advise_more(r, c, kind, sentence);
    }
    if (is_fatal && kind == CELL_TEXT && place < r->n_selected)
        r->stopped_at = place + 1;
    if (kind == CELL_TURNS_DATE)
        r->turned_at = place + 1;
    if (is_fatal)
        return failure(QUORUM_E_DATA, "%s: %s", r->label, sentence);
    *keep = table_drop_row(r, sentence, row);
    return QUORUM_OK;
}

/* The cell of a category as the number of its level. */
static quorum_status read_level(const reader *r, const cell *in, size_t place, double *number,
                                cell_kind *kind)
{
    char text[LEVEL_ROOM];
    int known;
    size_t n = cell_level(in, text);
    *kind = CELL_MISSING;
    if (n == 0 && !table_leaves_hole(r, place))
        return QUORUM_OK;
    if (n == 0) {
        n = sizeof NO_LEVEL - 1;
        memcpy(text, NO_LEVEL, n);
    }
    TRY(table_level(r, place, text, n, number, &known));
    *kind = known ? CELL_NUMBER : CELL_UNKNOWN_LEVEL;
    return QUORUM_OK;
}

static quorum_status read_cell(reader *r, csv *c, size_t place, double *value, cell_kind *kind)
{
    const cell *in = &c->record.cells[r->selected[place]];
    if (is_date(r, place)) {
        *kind = cell_read_date(in, &r->dates[place], value);
        return QUORUM_OK;
    }
    if (r->levels && r->levels[place])
        return read_level(r, in, place, value, kind);
    *kind = cell_read(in, &c->cells, value);
    return QUORUM_OK;
}

/* The faults of the loaded record's cells. */
static quorum_status count_faults(reader *r, csv *c, double *row)
{
    for (size_t i = 0; i < r->n_selected && record_columns(c) == c->columns; i++) {
        cell_kind kind;
        TRY(read_cell(r, c, i, &row[i], &kind));
        if (kind != CELL_NUMBER && kind != CELL_TURNS_DATE)
            table_count_fault(r, i, kind == CELL_MISSING, c->line);
    }
    return QUORUM_OK;
}

/* The loaded record as a row; *keep is 0 for one that is dropped. */
static quorum_status read_row(reader *r, csv *c, double *row, int *keep)
{
    *keep = 0;
    if (r->faults)
        return count_faults(r, c, row);
    *keep = record_columns(c) == c->columns;
    if (!*keep)
        return refuse_row(r, c, r->n_selected, CELL_TEXT, row, keep);
    for (size_t i = 0; i < r->n_selected; i++) {
        cell_kind kind;
        TRY(read_cell(r, c, i, &row[i], &kind));
        if (kind == CELL_NUMBER)
            continue;
        if ((kind == CELL_MISSING && table_leaves_hole(r, i)) ||
            (table_may_miss(r, i) && kind != CELL_OTHER_NOTATION)) {
            row[i] = NAN;
            continue;
        }
        *keep = 0;
        return refuse_row(r, c, i, kind, row, keep);
    }
    c->kept++;
    r->decimal_comma = c->cells.found && c->cells.notation.decimal == ',';
    return QUORUM_OK;
}

/* ---- plain rows ---- */

/* Nothing but numbers is wanted of the selected columns. */
static int wants_numbers(const reader *r)
{
    for (size_t i = 0; i < r->n_selected; i++)
        if (is_date(r, i) || (r->levels && r->levels[i]))
            return 0;
    return !r->faults && !r->kept.wanted;
}

/* Before the first row. */
static quorum_status prepare_plain(const reader *r, csv *c)
{
    const dialect *d = &c->dialect;
    int fits;
    if (c->plain.place || r->in_memory || c->trailing || d->comment || d->delimiter == ' ' ||
        c->cells.notation.thousands || !wants_numbers(r))
        return QUORUM_OK;
    TRY(plain_table_new(c->columns, r->selected, r->n_selected, &c->plain, &fits));
    c->plain.delimiter = d->delimiter;
    c->plain.newline = d->newline;
    c->plain.c_locale = c->cells.c_locale;
    c->has_plain = fits;
    return QUORUM_OK;
}

/* The plain rows that come next in the window, from when on a number has shown its decimal mark. */
static quorum_status read_plain(reader *r, csv *c, size_t most, double *out, size_t *rows)
{
    const char *p = c->window + c->begin;
    *rows = 0;
    if (!c->has_plain || c->passed_plain || c->cells.undecided || c->cells.notation.decimal != '.')
        return QUORUM_OK;
    TRY(plain_rows_read(&c->plain, r->threads, &p, c->window + c->end, most, out, rows));
    c->begin = (size_t)(p - c->window);
    c->line += *rows;
    c->kept += *rows;
    r->row += *rows;
    c->passed_plain = *rows < most;
    return QUORUM_OK;
}

static quorum_status csv_next(reader *r, size_t max_rows, double *out, size_t *rows)
{
    csv *c = r->state;
    TRY(prepare_plain(r, c));
    while (*rows < max_rows && !kept_cells_is_full(&r->kept, r->memory)) {
        int found, keep;
        size_t plain;
        TRY(read_plain(r, c, max_rows - *rows, out + *rows * r->n_selected, &plain));
        *rows += plain;
        if (*rows == max_rows)
            break;
        TRY(load_record(r, c, &found));
        if (!found)
            break;
        r->row++;
        quorum_status status = read_row(r, c, out + *rows * r->n_selected, &keep);
        if (status >= 0 && keep)
            status = kept_cells_add_record(&r->kept, r->row, &c->record, r->names.windows);
        consume_record(c);
        TRY(status);
        *rows += (size_t)keep;
    }
    return QUORUM_OK;
}

/* Before any row is read. */
static quorum_status csv_look_for_text(reader *r, char *is_text)
{
    int found;
    TRY(load_record(r, r->state, &found));
    return found ? find_text(r, r->state, is_text) : QUORUM_OK;
}

/* Cells of a column that were looked at, and those that have the form of its first date. */
typedef struct {
    int seen, dates;
} date_count;

static void look_for_dates(const reader *r, const csv *c, int orders, date_count *count,
                           date_form *form)
{
    for (size_t i = 0; i < r->n_selected && record_columns(c) == c->columns; i++) {
        const cell *in = &c->record.cells[r->selected[i]];
        date_form here = cell_date_form(in);
        here.orders &= orders;
        if (here.orders == 0 && cell_is_missing(in))
            continue;
        date_form both = count[i].dates > 0 ? date_common(form[i], here) : here;
        count[i].seen++;
        count[i].dates += both.orders != 0;
        form[i] = both.orders != 0 ? both : form[i];
    }
}

/* A column of dates has more of them than of anything else: the rest are wrong cells. */
static quorum_status csv_look_for_dates(reader *r, int orders, date_form *form)
{
    csv *c = r->state;
    date_count *count;
    int found;
    TRY(load_record(r, c, &found));
    const char *p = c->window + c->begin, *limit = c->window + c->end;
    if (!NEW_ZEROED(count, r->n_selected))
        return fail_memory(r);
    for (int n = 0; found && n < TEXT_SAMPLE && p && p < limit; n++) {
        p = record_scan(&c->dialect, p, limit, c->at_end, &c->record);
        if (p && !record_is_blank(&c->record))
            look_for_dates(r, c, orders, count, form);
    }
    record_scan(&c->dialect, c->window + c->begin, limit, c->at_end, &c->record);
    for (size_t i = 0; i < r->n_selected; i++)
        form[i].orders = 2 * count[i].dates > count[i].seen ? form[i].orders : 0;
    mem_free(count);
    return QUORUM_OK;
}

/* ---- opening ---- */

/* By its mark, or by zeros beside the first two characters. */
static int is_utf16(const char *text, size_t n)
{
    if (n >= 2 && (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0))
        return 1;
    return n >= 4 && !text[0] == !text[2] && !text[1] == !text[3] && !text[0] != !text[1];
}

static int is_utf32(const char *text, size_t n)
{
    return n >= 4 && (memcmp(text, "\xFF\xFE\0\0", 4) == 0 || memcmp(text, "\0\0\xFE\xFF", 4) == 0);
}

static quorum_status check_encoding(const reader *r, csv *c)
{
    const char *text = c->window;
    file_kind kind = source_kind_of_bytes(text, c->end);
    if (kind != KIND_TEXT)
        return failure(
            QUORUM_E_FORMAT,
            "%s: %s data are read from a plain file only, not compressed and not through a pipe",
            r->label, kind == KIND_NPY || kind == KIND_ZIP ? "npy and npz" : "SQLite");
    if (is_utf32(text, c->end))
        return failure(QUORUM_E_FORMAT,
                       "%s: is UTF-32 text; save it as UTF-8, or convert it: iconv -f UTF-32 -t "
                       "UTF-8 OLD.csv > NEW.csv",
                       r->label);
    if (is_utf16(text, c->end))
        return failure(QUORUM_E_FORMAT,
                       "%s: is UTF-16 text; save it as UTF-8, or convert it: iconv -f UTF-16 -t "
                       "UTF-8 OLD.csv > NEW.csv",
                       r->label);
    c->marked = c->end >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
    c->begin = c->marked ? 3 : 0;
    return QUORUM_OK;
}

/* The window's first filling; zero bytes are judged after the encoding. */
static quorum_status fill_first_window(const reader *r, csv *c)
{
    if (r->in_memory) {
        TRY(hold_text(r, c, r->text, r->text_bytes));
    } else {
        TRY(read_bytes(c, c->window, c->capacity, &c->end));
        c->at_end = c->end < c->capacity;
    }
    TRY(check_encoding(r, c));
    return check_for_zero_bytes(r, c, c->begin);
}

/* Delimiters that are marks in numbers.  Where cells are quoted, a comma between them can only be
 * a delimiter.  Of a text in memory the first line alone is seen, and names may contain blanks. */
static void exclude_marks(const reader *r, const csv *c, const char *text, size_t n, char *excluded)
{
    const notation *used = &c->cells.notation;
    int comma = r->decimal == DECIMAL_COMMA || used->thousands == ',';
    if (comma && !memchr(text, '"', n))
        *excluded++ = ',';
    if (used->thousands == ' ' || r->in_memory)
        *excluded++ = ' ';
    *excluded = '\0';
}

static quorum_status detect_dialect(const reader *r, csv *c)
{
    char excluded[3];
    for (;;) { /* until the window holds a whole line */
        const char *text = c->window + c->begin;
        size_t n = c->end - c->begin;
        exclude_marks(r, c, text, n, excluded);
        c->dialect = dialect_detect(text, c->window + c->end, c->at_end, r->comment, excluded);
        const char *newline = memchr(text, c->dialect.newline, n);
        if (c->at_end || (newline && newline + 1 < c->window + c->end))
            break;
        TRY(refill(r, c));
    }
    if (r->in_memory)
        c->dialect.newline = '\n';
    c->trailing =
        dialect_has_trailing(&c->dialect, c->window + c->begin, c->window + c->end, c->at_end);
    return QUORUM_OK;
}

/* Finds how many columns there are, and loads the first record with all its cells. */
static quorum_status load_first_record(reader *r, csv *c)
{
    int found;
    TRY(load_record(r, c, &found));
    if (!found)
        return failure(QUORUM_E_DATA, "%s: is empty", r->label);
    c->columns = record_columns(c);
    c->first_line = c->line;
    r->hash_line = c->window[c->begin] == '#' ? c->line : 0;
    TRY(table_check_width(r, c->columns));
    c->record.capacity = c->columns;
    if (!NEW_ARRAY(c->record.cells, c->columns))
        return fail_memory(r);
    return load_record(r, c, &found);
}

static int first_record_is_header(const csv *c, header_mode header)
{
    cell_reader looking = c->cells; /* which decides nothing */
    double value;
    for (size_t i = 0; header == HEADER_AUTO && i < c->columns; i++)
        if (cell_read(&c->record.cells[i], &looking, &value) == CELL_TEXT &&
            cell_date_form(&c->record.cells[i]).orders == 0)
            return 1;
    return header == HEADER_YES;
}

/* As a row of data has, and names seldom are. */
static int has_number(const csv *c)
{
    cell_reader looking = c->cells;
    double value;
    for (size_t i = 0; i < c->columns; i++)
        if (!c->record.cells[i].quoted &&
            cell_read(&c->record.cells[i], &looking, &value) == CELL_NUMBER)
            return 1;
    return 0;
}

/* A file has one encoding: one name that is not UTF-8 makes all of them Windows-1252. */
static int header_is_utf8(const csv *c)
{
    for (size_t i = 0; i < c->columns; i++)
        if (utf8_find_fault(c->record.cells[i].begin, c->record.cells[i].end) !=
            c->record.cells[i].end)
            return 0;
    return 1;
}

static quorum_status fail_name(const reader *r, const csv *c, size_t column, char byte,
                               const char *what)
{
    return failure(QUORUM_E_FORMAT,
                   "%s: line %zu, column %zu: the column name has the byte 0x%02X, %s", r->label,
                   c->line, column + 1, (unsigned char)byte, what);
}

/* Nothing but characters, and the line ends and tabs that become blanks. */
static quorum_status check_name(const reader *r, const csv *c, size_t column, int utf8)
{
    const cell *name = &c->record.cells[column];
    for (const char *p = name->begin; p < name->end; p++) {
        char other[4];
        size_t n = utf8 ? utf8_length(p, name->end) : 1;
        if (!utf8 && c->marked && (unsigned char)*p >= 0x80)
            return fail_name(
                r, c, column, *p,
                "which is not UTF-8, though the file begins with UTF-8's mark; save it "
                "as UTF-8");
        if (!utf8 && windows_to_utf8(*p, other) == 0)
            return fail_name(r, c, column, *p,
                             "which is neither UTF-8 nor Windows-1252; save the file as UTF-8, or "
                             "convert it: iconv -f ENCODING -t UTF-8 OLD.csv > NEW.csv");
        if (*p != '\n' && *p != '\r' && *p != '\t' && utf8_find_control(p, p + n))
            return fail_name(r, c, column, *p, "a control character; take it out");
        p += n - 1;
    }
    return QUORUM_OK;
}

static quorum_status take_names(reader *r, csv *c)
{
    size_t bytes = 0;
    int utf8 = header_is_utf8(c);
    for (size_t i = 0; i < c->columns; i++) {
        TRY(check_name(r, c, i, utf8));
        bytes += (size_t)(c->record.cells[i].end - c->record.cells[i].begin);
    }
    TRY(names_reserve(&r->names, c->columns, bytes, !utf8));
    r->names.given = 1;
    for (size_t i = 0; i < c->columns; i++) {
        cell *name = &c->record.cells[i];
        cell_trim(name);
        names_append(&r->names, name->begin, name->end, name->quoted);
    }
    consume_record(c);
    return QUORUM_OK;
}

/* Where commas group digits the decimal mark is a point, and the other way round. */
static quorum_status choose_notation(const reader *r, cell_reader *k)
{
    char mark = r->thousands;
    int comma = r->decimal == DECIMAL_COMMA || (r->decimal == DECIMAL_AUTO && mark == '.');
    if (mark == (comma ? ',' : '.'))
        return failure(QUORUM_E_ARGUMENT,
                       "options decimal and thousands are both a %s: one mark cannot be both",
                       comma ? "comma" : "point");
    k->notation = (notation){.decimal = comma ? ',' : '.', .thousands = mark};
    k->undecided = r->decimal == DECIMAL_AUTO && mark != ',' && mark != '.';
    return QUORUM_OK;
}

static void csv_close(void *state)
{
    csv *c = state;
    if (!c)
        return;
    source_close(c->source);
    query_close(c->query);
    mem_free(c->window);
    mem_free(c->record.cells);
    mem_free(c->plain.place);
    if (c->cells.c_locale)
        freelocale(c->cells.c_locale);
    mem_free(c);
}

static quorum_status open_source(const reader *r, csv *c)
{
    if (r->in_memory)
        return QUORUM_OK;
    return r->query ? query_open(r->path, r->query, &r->asked, &c->query)
                    : source_open(r->path, r->threads, &r->asked, &c->source);
}

/* As much of the memory as grow_window would take. */
static size_t first_window(const reader *r)
{
    size_t bytes = FIRST_WINDOW;
    while (bytes > SMALL_WINDOW && (double)bytes > r->memory / 8)
        bytes /= 2;
    return bytes;
}

/* As many rows as there are if the others are as long as those of the window, and a twentieth more; 0:
 * nobody knows how long the text is. */
static size_t expect_rows(const reader *r, const csv *c)
{
    double lines = (double)count_lines(c, c->window + c->begin, c->window + c->end) + 1.0;
    if (r->in_memory || r->query)
        return 0;
    double windows = c->at_end ? 1.0 : 1.05 * source_size(c->source) / (double)(c->end - c->begin);
    return (size_t)(lines * windows);
}

quorum_status csv_open(reader *r, header_mode header)
{
    static const file_format format = {csv_next, csv_close, csv_look_for_text, csv_look_for_dates};
    csv *c = NULL;
    if (!NEW_ZEROED(c, 1))
        return fail_memory(r);
    r->state = c; /* from here on reader_close frees it */
    r->format = &format;
    c->line = r->query ? 0 : 1; /* rows of a query are counted */
    c->dialect = (dialect){.delimiter = ',', .newline = '\n'};
    c->capacity = r->in_memory ? TEXT_WINDOW : first_window(r);
    TRY(choose_notation(r, &c->cells));
    c->cells.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c->cells.c_locale || !NEW_ARRAY(c->window, c->capacity))
        return fail_memory(r);
    TRY(open_source(r, c));
    TRY(fill_first_window(r, c));
    if (!r->query)
        TRY(detect_dialect(r, c));
    TRY(load_first_record(r, c));
    r->rows = expect_rows(r, c);
    if (r->query || first_record_is_header(c, header)) {
        r->header_doubt = !r->query && header == HEADER_AUTO && has_number(c);
        return take_names(r, c);
    }
    return names_number(&r->names, c->columns, 0);
}
