/* The encoding between a table's columns and a model's inputs: a number is itself, a level of a
 * category is one number, its position.  Everything behind it (metric, kernel, neighbours, experts,
 * gradients) sees plain numbers.
 *
 * The position of level l is its effect on what is modelled of the target, the target itself or its
 * logarithm, the numbers and the other categories being
 * alike: what pairs of rows that are near in their numbers say of it (matched_pairs.h), in standard
 * deviations of the target, shrunk towards 0 by PRIOR_ROWS rows' worth.  Levels are near each other
 * where they do the same to the target.
 *
 * A category whose levels stand apart (made.h) has the position 0 for all of them: inputs of its levels
 * tell them apart instead. */
#ifndef QRM_ENCODE_ENCODING_H
#define QRM_ENCODE_ENCODING_H

#include "archive/json.h"
#include "encode/made.h"
#include "rows/scattered.h"

typedef struct {
    size_t levels;    /* 0: the input is a number                                    */
    char **name;      /* levels: UTF-8, ascending bytewise, no two alike             */
    double *position; /* levels: finite                                              */
    double unknown;   /* of a level that is none of these: the mean of the positions */
    size_t apart;     /* where its levels stand apart, the first input of them; 0: they do not */
} category;

typedef struct {
    size_t inputs;
    category *of; /* inputs; NULL: all are numbers */
} encoding;

/* ---- encoding.c ---- */

/* Categories with these levels (inputs; names as in quorum_data), all positions 0.  Names that are not
 * as above are QUORUM_E_ARGUMENT.  Free it, also after a failure. */
quorum_status encoding_new(size_t inputs, const size_t *levels, char *const *const *names,
                           encoding *out);
void encoding_free(encoding *e);

/* The positions that another encoding of the same levels has. */
void encoding_take_positions(const encoding *from, encoding *e);

/* Derives `unknown`. */
void encoding_settle(encoding *e);

/* Z = X (n x inputs) with positions instead of levels' numbers; -1: not known.  Z may be X. */
void encoding_apply(const encoding *e, size_t n, const double *X, double *Z);

/* Whether x, in the column of a category, is the number of one of its levels. */
int category_has(const category *c, double x);

/* Whether the row x (inputs) has a level that is not known, and whether known ones have to stand for it
 * (nodes.h): not where levels stand apart. */
int encoding_is_new(const encoding *e, const double *x);
int encoding_needs_nodes(const encoding *e, const double *x);
int category_needs_nodes(const category *c, double x);

/* Which categories stand apart: those whose levels are among what is made. */
void encoding_stand_apart(encoding *e, const made_inputs *made);

/* ---- positions.c ---- */

extern const double PRIOR_ROWS;

/* Learns the positions from rows, whose inputs are numbers and levels' numbers, checked before; 0 of levels
 * that stand apart.  They are effects on log(y + *shift), or on y where shift is NULL. */
quorum_status encoding_learn(quorum_status ready, const scattered_rows *rows, const double *shift,
                             encoding *e);

/* ---- levels_in_file.c ---- */

/* A list of {input, levels, positions}, one entry a category. */
void encoding_put(json_writer *w, const encoding *e);

/* Reads it; *what says what is wrong with it, or is NULL where memory has run out. */
quorum_status encoding_read(const json_node *list, size_t inputs, encoding *e, const char **what);

#endif
