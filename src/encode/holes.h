/* Missing cells, holes, of a table's columns (missing=impute).
 *
 * A hole in a column of numbers is filled with the mean of the training rows that have the cell.  Where
 * training rows have holes in it, an input of its own tells of them (made.h).  A hole in a category is
 * the level NO_LEVEL where training rows have that, and otherwise a level that is not known (nodes.h).
 *
 * A row with holes in the columns H is less certain than others: beside all else its target has the
 * variance
 *
 *   sum_{d in H} v_d,   v_d >= 0, in squared units of the target
 *
 * v_d is what not knowing the cell costs (fit/hole_costs.c).  A training row has it as a known error
 * (gp/noise.h), a query as doubt. */
#ifndef QRM_ENCODE_HOLES_H
#define QRM_ENCODE_HOLES_H

#include "encode/made.h"

#include <stdint.h>

#define NO_TELLER SIZE_MAX

typedef struct {
    double fill;     /* what stands for a missing cell; of a category its level's number, or -1 */
    double variance; /* v_d                                                               */
    size_t teller;   /* the input that is `told` in rows with a hole here; NO_TELLER: the
                        training rows have none                                           */
    double told;
} column_holes;

typedef struct {
    size_t columns;   /* of the table                             */
    column_holes *of; /* columns; NULL: nothing is known of holes */
} hole_rule;

void holes_free(hole_rule *h);

/* What training rows have in their columns; NaN: a hole. */
typedef struct {
    size_t columns;
    const char *const *names;  /* columns at least; NULL: x1, x2, ...               */
    const size_t *levels;      /* columns: above 0 of categories; NULL: none is one */
    char *const *const *level; /* columns: their names                              */
} hole_request;

/* Fills of the columns, all variances 0; *has_holes (columns, the caller's to free): 1 where a number
 * is missing.  A column without any number is QUORUM_E_DATA. */
quorum_status holes_choose(quorum_status ready, const scattered_rows *rows,
                           const hole_request *asked, hole_rule *out, char **has_holes);

/* Derives who tells of holes in column d, which has so many levels (0: a number), once it is known what
 * is made. */
void holes_settle(hole_rule *h, const made_inputs *made, size_t d, size_t levels);

/* Fills the holes of the row x (inputs of the model), NaN in the inputs that are columns.  Returns the
 * variance of all its holes, those that were filled before too; *anew is 1 where one is in a column in
 * which training rows have none; it may be NULL. */
double holes_fill(const hole_rule *h, const made_inputs *made, double *x, int *anew);

/* Whether x, which is filled, has a hole in column d; and the variance of all that it has. */
int holes_has(const hole_rule *h, const double *x, size_t d);
double holes_variance(const hole_rule *h, const double *x);

/* ---- holes_in_file.c ---- */

/* A list of {fill, variance}, one entry a column. */
void holes_put(json_writer *w, const hole_rule *h);

/* Reads it, of a table of so many columns; *what says what is wrong with it, or is NULL where memory
 * has run out. */
quorum_status holes_read(const json_node *list, size_t columns, hole_rule *h, const char **what);

#endif
