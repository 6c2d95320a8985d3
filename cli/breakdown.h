/* evaluate --by: the scores of groups of test rows, by the distance to the training rows or by a
 * column.
 *
 * Rows in the order of the key are cut into ten groups of about as many rows each; rows with the
 * same key stay together, and up to ten different keys are a group each.  Of a category with more levels
 * the nine that most rows have are a group each, and all others one.  Rows without a key, NaN, are one
 * more group, the last.  All rows have to be seen
 * first: 3 numbers are kept of each row, with its weight 4, and 3 for each way of predicting it. */
#ifndef QUORUM_CLI_BREAKDOWN_H
#define QUORUM_CLI_BREAKDOWN_H

#include "arguments.h"
#include "quorum.h"

enum { MOST_GROUPS = 10, GROUPS_ROOM = MOST_GROUPS + 1 /* that of rows without a key */ };

/* What one way of predicting says of all rows. */
typedef struct {
    double *mean, *std, *width; /* rows; width: of the 95 % interval */
    quorum_distribution z;      /* as quorum_scores_add wants it     */
} predicted_rows;

/* The rows order[first] .. order[first + count - 1], whose keys are from low to high; NaN: they have none. */
typedef struct {
    size_t first, count;
    double low, high;
    size_t others; /* levels that are together because few rows have each; 0: keys low to high */
    double expected[2]; /* the central 95 % of the shares that an interval which covers 95 % has
                           inside, of so many rows */
} row_group;

typedef struct {
    double coverage, width, rmse, msll; /* of the 95 % interval: share inside, mean width */
} group_scores;

typedef struct breakdown {
    const char *by;           /* "distance", or a column                */
    bool by_distance;         /* the key is what a prediction gives     */
    const char *const *level; /* of a category: the names of its levels, ... */
    size_t levels;            /* ... so many; 0: the key is a number  */
    bool is_date;             /* the key is seconds since 1970        */
    double memory;            /* bytes that it may take                 */
    size_t ways;              /* of predicting                          */
    size_t rows, room;
    double *key, *y;     /* room */
    bool weighted;       /* whether rows have weights, to be said before any is kept ... */
    double *weight;      /* ... room: as how many rows each counts */
    predicted_rows *way; /* ways */
    size_t *order;       /* rows, once they are grouped */
    row_group group[GROUPS_ROOM];
    size_t groups;
} breakdown;

/* For so many ways of predicting; free in any case.  Functions that return an exit code have said
 * what went wrong. */
int breakdown_start(breakdown *b, const arguments *given, const char *by, size_t ways);
void breakdown_free(breakdown *b);

/* Room for so many rows more; how many there may be is said when it is too little. */
int breakdown_reserve(breakdown *b, const arguments *given, size_t more);

/* Rows for which there is room have been predicted by all ways: their keys (NULL: the distances
 * that breakdown_ask has put in place), targets and weights, where they are weighted. */
void breakdown_take(breakdown *b, size_t count, const double *key, const double *y,
                    const double *weight);

/* What a prediction is to give beside mean and std, put in the rows' place: lower and upper, and the
 * distance where that is the key and the way the first. */
void breakdown_ask(breakdown *b, size_t way, quorum_prediction *out);

/* Keeps what that way gave for the next `count` rows. */
void breakdown_keep(breakdown *b, size_t way, size_t count, const quorum_prediction *out,
                    const quorum_distribution *z);

/* Sorts the rows into groups, once all are there. */
int breakdown_group(breakdown *b, const arguments *given);

group_scores breakdown_scores(const breakdown *b, size_t way, const row_group *group,
                              const quorum_info *info);

/* Where the key is a category of the model, groups are called by its levels, where it is a date by dates; `place`
 * is that of quorum_stream_column_place; what info has is kept. */
void breakdown_name_keys(breakdown *b, const quorum_info *info, size_t place);

/* "0.12 to 0.34", "3" where all keys are the same, "(no value)" where there are none. */
void group_name(const breakdown *b, const row_group *g, char *text, size_t size);

/* ---- breakdown_tell.c ---- */

struct contenders;

/* The table on standard output, a row for each way and group. */
int breakdown_print(const breakdown *b, const struct contenders *all, const quorum_info *info,
                    const arguments *given);

/* ---- breakdown_picture.c ---- */

/* Coverage and width, group by group, to an SVG or PNG file. */
int breakdown_draw(const breakdown *b, const struct contenders *all, const quorum_info *info,
                   const arguments *given, const char *path);

#endif
