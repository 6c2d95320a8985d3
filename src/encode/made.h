/* Inputs that are made of a table's columns.  A model's first inputs are the columns themselves; behind
 * them stand those that are made:
 *
 *   sin, cos   sin and cos of 2 pi t / period, t the column's number: places on a circle, so that
 *              what a period brings back is near
 *
 * Everything behind sees plain numbers with names of their own: "date (week, sin)". */
#ifndef QRM_ENCODE_MADE_H
#define QRM_ENCODE_MADE_H

#include "archive/json.h"
#include "rows/scattered.h"

typedef enum { MADE_SIN, MADE_COS } made_kind;

typedef struct {
    size_t column;
    made_kind kind;
    double period; /* above 0 */
} made_input;

typedef struct {
    size_t columns; /* of the table                                   */
    size_t count;   /* inputs made of them; 0: inputs are the columns */
    made_input *of; /* count                                          */
} made_inputs;

void made_free(made_inputs *m);

/* X (n x (columns + count)) of T (n x columns). */
void made_apply(const made_inputs *m, size_t n, const double *T, double *X);

/* ---- periods.c: what of columns is periodic ---- */

/* The next of a list such as `date:week,"a,b":24,auto`: the column's name or number (room: as long as
 * the list, and its final zero), "" for auto, and its period, with the text of it: one of hour, day,
 * week and year, in seconds, or a number.  Returns what follows it; NULL: it is not such a list. */
enum { PERIOD_ROOM = 40 };
const char *period_next(const char *list, char *column, char text[PERIOD_ROOM], double *period);

/* A unit in seconds; 0: it is none. */
double period_seconds(const char *unit);

/* ---- choose.c ---- */

/* What is known of the columns of training rows. */
typedef struct {
    size_t columns;
    const char *const *names; /* columns at least; NULL: x1, x2, ... */
    const char *const *dates; /* columns: not NULL of dates; NULL: there are none */
    const size_t *levels;     /* columns: above 0 of categories; NULL: there are none */
    const char *periodic;     /* the option                          */
} made_request;

/* What to make of the rows, whose inputs are the table's columns; names (count, for the caller to free
 * each and all) are those of what is made. */
quorum_status made_choose(quorum_status ready, const scattered_rows *rows,
                          const made_request *asked, made_inputs *out, char ***names);

/* ---- made_in_file.c ---- */

/* A list of {column, kind, period}. */
void made_put(json_writer *w, const made_inputs *m);

/* Reads it, of a model of so many inputs; *what says what is wrong with it, or is NULL where memory has
 * run out. */
quorum_status made_read(const json_node *list, size_t inputs, made_inputs *m, const char **what);

#endif
