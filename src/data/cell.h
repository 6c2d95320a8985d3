/* What a cell of a csv file says. */
#ifndef QRM_DATA_CELL_H
#define QRM_DATA_CELL_H

#include "data/notation.h"
#include "data/record.h"

#include <locale.h>
#include <stddef.h>

typedef enum {
    CELL_NUMBER,
    CELL_MISSING,        /* empty, NA, N/A, #N/A, NaN, null, none or ?; case does not matter */
    CELL_NON_FINITE,     /* inf, infinity, or too large for a double                         */
    CELL_OTHER_NOTATION, /* a number, but not in the notation that is read: 1,5 or 236,300   */
    CELL_TEXT
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

/* `cell is "abc", not a number`: the text cut and made printable. */
void cell_describe(const cell *c, cell_kind kind, const cell_reader *k, char *out, size_t size);

#endif
