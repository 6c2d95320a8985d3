/* What a cell of a csv file says. */
#ifndef QRM_DATA_CELL_H
#define QRM_DATA_CELL_H

#include "text/date.h"
#include "text/notation.h"
#include "text/record.h"

#include <locale.h>
#include <stddef.h>

typedef enum {
    CELL_NUMBER,
    CELL_MISSING,        /* empty, NA, N/A, #N/A, NaN, null, none or ?; case does not matter */
    CELL_NON_FINITE,     /* inf, infinity, or too large for a double                         */
    CELL_OTHER_NOTATION, /* a number, but not in the notation that is read: 1,5 or 236,300   */
    CELL_TEXT,
    CELL_UNKNOWN_LEVEL, /* of a category: a text that is none of its levels                  */
    CELL_NO_DATE,       /* of a column of dates: none of the column's form                   */
    CELL_TURNS_DATE     /* ... the first that shows the month to come first, not the day     */
} cell_kind;

/* How numbers are written.  Undecided: the first cell with a decimal point says that it is the
 * point, the first with a comma that cannot separate thousands (1,5 but not 236,300) that it is
 * the comma; from then on the other one is another notation. */
typedef struct {
    notation notation;
    int undecided;
    int found; /* decided by a cell, not by the caller */
    locale_t c_locale;
} cell_reader;

/* *value is set for CELL_NUMBER only.  May decide what is undecided. */
cell_kind cell_read(const cell *c, cell_reader *k, double *value);

/* The cell of a category: its text without blanks around it, as UTF-8 (what is not is taken for
 * Windows-1252), control characters being blanks.  Returns its bytes: LONGEST_LEVEL + 1 of a longer
 * one, 0 where it is missing (as CELL_MISSING, but for "none", which is a level like others). */
enum { LEVEL_ROOM = 1008 };
size_t cell_level(const cell *c, char out[LEVEL_ROOM]);

int cell_is_missing(const cell *c);

/* The form of the cell's date; no orders where it is none. */
date_form cell_date_form(const cell *c);

/* The cell of a column of dates, all of which have had the form so far, as seconds; narrows the form's
 * orders to those that this one has too.  CELL_NUMBER, CELL_MISSING, CELL_NO_DATE or CELL_TURNS_DATE:
 * the first order of the form is no more what it was. */
cell_kind cell_read_date(const cell *c, date_form *form, double *seconds);

/* `cell is "abc", not a number`: the text cut and made printable. */
void cell_describe(const cell *c, cell_kind kind, const cell_reader *k, char *out, size_t size);

#endif
