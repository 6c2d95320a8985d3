/* What a cell of a csv file says. */
#ifndef QRM_DATA_CELL_H
#define QRM_DATA_CELL_H

#include "data/record.h"

#include <locale.h>
#include <stddef.h>

typedef enum {
    CELL_NUMBER,
    CELL_MISSING,       /* empty, NA, N/A, #N/A, NaN, null, none or ?; case does not matter */
    CELL_NON_FINITE,    /* inf, infinity, or too large for a double                         */
    CELL_DECIMAL_COMMA, /* 1,5                                                              */
    CELL_TEXT
} cell_kind;

/* *value is set for CELL_NUMBER only. */
cell_kind cell_read(const cell *c, locale_t c_locale, double *value);

/* `cell is "abc", not a number`: the text cut and made printable. */
void cell_describe(const cell *c, cell_kind kind, char *out, size_t size);

#endif
