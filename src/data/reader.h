/* Rows of numbers from csv, csv.gz, npy and npz files, and queries to SQLite databases, read in chunks.
 *
 * Open, look at the columns, select those that are wanted, then read rows
 * until none come.  Only selected columns have to be numeric, or categories. */
#ifndef QRM_DATA_READER_H
#define QRM_DATA_READER_H

#include "base/progress.h"
#include "data/levels.h"
#include "text/date.h"

#include <stddef.h>

typedef enum { HEADER_AUTO, HEADER_YES, HEADER_NO } header_mode;
typedef enum { MISSING_ERROR, MISSING_DROP, MISSING_NAN, MISSING_IMPUTE } missing_mode;
typedef enum { DECIMAL_AUTO, DECIMAL_POINT, DECIMAL_COMMA } decimal_mode;
typedef enum { READ_QUERIES, READ_TRAINING } reading_purpose;

typedef struct {
    header_mode header;      /* HEADER_AUTO: a first row with a non-numeric cell is a header */
    missing_mode missing;    /* MISSING_DROP: rows with a missing, non-numeric or non-finite
                             selected cell are skipped and counted; MISSING_NAN: such rows come
                             with NaN in all selected columns; MISSING_IMPUTE: missing cells
                             of columns that reader_leave_holes names are NaN, rows with one in
                             another are dropped, and other cells are errors               */
    reading_purpose purpose; /* what complaints advise; READ_TRAINING: columns can be left out, and
                                the last selected is the target                           */
    decimal_mode decimal;    /* of csv; DECIMAL_AUTO: what the first cell shows that has one, where
                                that is certain (data/cell.h)                             */
    char thousands;          /* between groups of digits (text/notation.h); 0: none       */
    char comment;            /* lines of csv that begin with it are passed over; 0: none  */
    double memory;           /* bytes that the reader itself may hold; 0: as many as it takes */
    int threads;             /* that read, at least 1; 0: one                                */
    progress asked;          /* hears how far reading is, and can cancel it                  */
    const char *query;       /* to an SQLite database; "" or NULL: none                      */
    int no_categories;       /* 1: complaints do not advise to take text for a category      */
    const char *text;        /* text_bytes of csv to be read instead of a file; NULL: a file     */
    size_t text_bytes;
} reader_options;

enum { DROPPED_LISTED = 10 };

typedef struct reader reader;

/* The format is known by content first (zip, npy and gzip magic), so the file's
 * name does not matter.  "-" is standard input (csv only).  An npz is read as
 * the columns of its array X followed by its array y when it has those, or as
 * its only array. */
quorum_status reader_open(const char *path, const reader_options *options, reader **out);

/* Of a reader of text: whole lines that come next, in the place of what is left of earlier ones. */
quorum_status reader_feed(reader *r, const char *text, size_t bytes);

size_t reader_columns(const reader *r);
int reader_has_names(const reader *r);
const char *reader_name(const reader *r, size_t column);    /* header's, or "x1", "x2", ...; in an
                                                            npz with X and y the last is "y"  */
int reader_name_is_made_up(const reader *r, size_t column); /* the header has none for it */
int reader_is_converted(const reader *r);  /* the header is not UTF-8: read as Windows-1252    */
int reader_decimal_comma(const reader *r); /* DECIMAL_AUTO has found that it is the comma     */

int reader_doubts_header(const reader *r); /* HEADER_AUTO took a row for names that has numbers */

/* ".  Line 1 begins with #: ...", or ".  Line 1 is taken for names ...", to be put behind a complaint
 * about columns, or "". */
void reader_advise_comment(const reader *r, char out[100]);
const char *reader_path(const reader *r);

/* A column by name, or by 1-based number, negative counting from the end
 * ("-1" is the last).  A name wins over a number.  The error lists the names. */
quorum_status reader_find(const reader *r, const char *name_or_number, size_t *column);

/* The columns that reader_next yields, in this order; all of them until then. */
quorum_status reader_select(reader *r, const size_t *columns, size_t count);

/* Of the selected columns `count` from `first` on, such as targets, in which a cell that is missing or
 * cannot be used is NaN, with MISSING_DROP, and its row stays. */
void reader_let_miss(reader *r, size_t first, size_t count);

/* The selected column at `place`, which rows are not read for: a missing cell is NaN, and no fault. */
void reader_let_be_empty(reader *r, size_t place);

/* The columns whose cells are kept as text, beside those that are selected; they may be any, and
 * none: then the numbers of rows are kept alone. */
quorum_status reader_keep(reader *r, const size_t *columns, size_t count);
size_t reader_kept_columns(const reader *r, const size_t **columns);

/* ---- Categories: columns of text ---- */

/* Marks those of the selected columns whose first cells are text (n_selected). */
quorum_status reader_look_for_text(reader *r, char *is_text);

/* Selected columns whose cells are levels: levels[i] (n_selected, kept by the caller until the end
 * of reading) is the table of one, NULL of a number.  reader_next yields a level's number. */
typedef enum {
    LEVELS_LEARN,  /* a new text is a new level                     */
    LEVELS_PASS,   /* the number of a text that is no level is -1   */
    LEVELS_REFUSE, /* a text that is no level is QUORUM_E_DATA      */
} unknown_levels;
void reader_take_levels(reader *r, level_table *const *levels, unknown_levels unknown);

/* ---- Columns of dates ---- */

/* The form that the first cells of selected columns have (n_selected), with all orders of `orders`
 * (text/date.h) that they leave possible; no orders where they are no dates. */
quorum_status reader_look_for_dates(reader *r, int orders, date_form *form);

/* Selected columns whose cells are dates: form[i] (n_selected, kept by the caller until the end of
 * reading) is that of one, without orders of others.  reader_next yields seconds, and narrows the
 * orders to those that all cells have.  In a file of numbers they are seconds already. */
void reader_take_dates(reader *r, date_form *form);

/* Whether reader_next has failed because the column at *place of the selected ones turned out to have
 * its form's next order: opened anew, it can be read. */
int reader_stopped_at_date(const reader *r, size_t *place);

/* The selected columns whose missing cells are no fault with MISSING_IMPUTE, and with MISSING_ERROR one that
 * it mends (n_selected, 1 or 0; kept by the caller until the end of reading).  That of a category is the level NO_LEVEL. */
void reader_leave_holes(reader *r, const char *holes);

/* Whether reader_next has failed because of text in the column at *place of the selected ones. */
int reader_stopped_at_text(const reader *r, size_t *place);

/* Whether the file can be opened once more: it is no pipe. */
int reader_can_begin_anew(const reader *r);

/* Up to max_rows rows into out (row-major, one value a selected column); fewer also where kept text
 * takes its share of memory.  *rows is 0 at the end.  A bad cell is QUORUM_E_DATA with file, line, column
 * and what to do. */
quorum_status reader_next(reader *r, size_t max_rows, double *out, size_t *rows);

/* Of the rows that reader_next gave last, after reader_keep: a kept cell, in UTF-8, and the row's
 * number in the file, from 1; they are the reader's, until its next rows. */
const char *reader_kept(const reader *r, size_t row, size_t column);
size_t reader_row_number(const reader *r, size_t row);
int reader_kept_converted(const reader *r); /* a kept cell was not UTF-8, though the header is */

/* What is wrong with the cells of a column, in a file of which no row is refused. */
typedef struct {
    size_t missing; /* cells ...                                          */
    size_t wrong;   /* ... and others that cannot be used                 */
    size_t first;   /* the number of the first one's line, or row; 0: none */
} column_faults;

/* Reads the rest of the file, and counts the faults of each selected column (n_selected, zeros), and
 * the rows. */
quorum_status reader_survey(reader *r, column_faults *faults, size_t *all);
size_t reader_selected(const reader *r, const size_t **columns);
const char *reader_unit(const reader *r); /* of places in the file: "line", or "row" */

size_t reader_rows(
    const reader *r); /* that the file has, dropped ones too, or about so many; 0: not known */
double reader_held(const reader *r);    /* bytes of the file's rows that the reader holds     */
size_t reader_dropped(const reader *r); /* rows skipped so far by MISSING_DROP    */
size_t reader_dropped_row(const reader *r, size_t i); /* the number of the i-th of them; 0: only
                                                      the first DROPPED_LISTED are known */
const char *reader_why_dropped(const reader *r,
                               size_t i); /* what was wrong with it; "": not known */
void reader_close(reader *r);             /* accepts NULL */

#endif
