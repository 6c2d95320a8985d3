/* The inside of a reader: what all file formats share, and the contract of one.
 *
 * To add a format: write X_open, which fills `names`, `format` and `state` of
 * a reader, and call it from reader_open. */
#ifndef QRM_DATA_TABLE_H
#define QRM_DATA_TABLE_H

#include "data/kept.h"
#include "data/names.h"
#include "data/reader.h"

typedef struct {
    /* Up to max_rows rows of the selected columns; *rows is 0 on entry. */
    quorum_status (*next)(reader *r, size_t max_rows, double *out, size_t *rows);
    void (*close)(void *state);
    quorum_status (*look_for_text)(reader *r, char *is_text); /* NULL: there is none */
    quorum_status (*look_for_dates)(reader *r, int orders, date_form *form); /* likewise */
} file_format;

struct reader {
    char *path;        /* as it was given         */
    const char *label; /* as messages name it     */
    const char *query; /* of a database; NULL: of a file. Until it is opened */
    const char *text;  /* text_bytes of csv instead of a file, until it is opened; NULL: a file */
    size_t text_bytes;
    int in_memory;    /* it is, or was opened from, such a text             */
    const char *unit; /* of places in it: "line", or "row"                  */
    int header_doubt; /* auto took a first row for names that has numbers   */
    missing_mode missing;
    reading_purpose purpose;
    decimal_mode decimal;
    char thousands, comment; /* 0: none                 */
    int decimal_comma;       /* found by DECIMAL_AUTO   */
    size_t hash_line;        /* the first one, when it begins with # and that is no comment */
    double memory;           /* bytes that may be held  */
    int threads;             /* that read               */
    progress asked;
    column_names names; /* one for every column    */
    size_t *selected;   /* n_selected columns      */
    size_t n_selected;
    size_t may_miss, may_miss_count; /* selected columns in which NaN may stand (reader_let_miss) */
    size_t may_be_empty;        /* place of a selected column + 1 (reader_let_be_empty); 0: none */
    level_table *const *levels; /* n_selected: of categories, or NULL; NULL: there are none */
    unknown_levels unknown;
    int no_categories;
    date_form *dates;  /* n_selected: of columns of dates; NULL: there are none             */
    size_t turned_at;  /* place of a selected column + 1 whose dates have another order; 0: none */
    const char *holes; /* n_selected: 1 where a missing cell is no fault; NULL: nowhere      */
    column_faults *faults; /* n_selected: being counted, and no row is given; or NULL          */
    size_t stopped_at;     /* place of a selected column + 1 in which text was the end; 0: none */
    size_t rows;           /* that the file has, or some more; 0: not known */
    double held;           /* bytes of them in memory */
    size_t row;            /* the number of the last one that was looked at, from 1 */
    size_t dropped;        /* rows that cannot be used: dropped, or all NaN */
    size_t dropped_rows[DROPPED_LISTED]; /* the first of them */
    char *why_dropped[DROPPED_LISTED];   /* what was wrong with each; NULL: none, or no memory */
    kept_cells kept;
    const file_format *format;
    void *state; /* the format's own        */
};

#define COMMENT_ADVICE "Line %zu begins with #: if that is a comment, give --comment '#'"

quorum_status csv_open(reader *r, header_mode header);
quorum_status csv_feed(reader *r, const char *text, size_t bytes);
quorum_status npy_table_open(reader *r);
quorum_status npz_table_open(reader *r);

/* Fails when there is no column, or more than anyone can mean. */
quorum_status table_check_width(const reader *r, size_t columns);

/* Looks at the next row of selected values: *keep is 0 for a row to be dropped, which is counted.
 * Values of categories become numbers of levels. */
quorum_status table_check_row(reader *r, double *row, int *keep);

/* Whether the selected column at `place` may have NaN for a cell that cannot be used. */
int table_may_miss(const reader *r, size_t place);

/* The number of the level `text` (n bytes, UTF-8) of the category at `place` of the selected columns;
 * *known is 0 where it is refused. */
quorum_status table_level(const reader *r, size_t place, const char *text, size_t n, double *number,
                          int *known);

/* Whether a missing cell of the selected column at `place` is left as it is. */
int table_leaves_hole(const reader *r, size_t place);

/* Whether a row with such a cell ends the reading. */
int table_is_fatal(const reader *r, int missing);

/* Counts a fault of the selected column at `place`, in line or row `number`. */
void table_count_fault(reader *r, size_t place, int missing, size_t number);

/* Counts a row that cannot be used and keeps the first one's sentence.  Returns whether the row is
 * kept nevertheless, with NaN in all its values. */
int table_drop_row(reader *r, const char *why, double *row);

#endif
