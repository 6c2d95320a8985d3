/* Inputs that are made of a table's columns.  A model's first inputs are the columns themselves; behind
 * them stand those that are made:
 *
 *   sin, cos   sin and cos of 2 pi t / period, t the column's number: places on a circle, so that
 *              what a period brings back is near; 0 both, its middle, where t is missing
 *   hole       1 where the column's cell is missing (NaN), otherwise 0 (holes.h)
 *   level      of a category whose levels stand apart (apart.c): 1 in rows of that level, otherwise 0
 *   x, y, z    of a longitude and a latitude, the place on the unit sphere (sphere.c).  The two columns
 *              themselves are then 0 in all rows, so that they are constant and take no part
 *
 * Everything behind sees plain numbers with names of their own: "date (week, sin)". */
#ifndef QRM_ENCODE_MADE_H
#define QRM_ENCODE_MADE_H

#include "archive/json.h"
#include "rows/scattered.h"

typedef enum { MADE_SIN, MADE_COS, MADE_HOLE, MADE_LEVEL, MADE_X, MADE_Y, MADE_Z } made_kind;

typedef struct {
    size_t column;
    made_kind kind;
    double period;        /* above 0; of others than sin and cos 0    */
    size_t level, levels; /* which, of so many in all; of others 0, 0 */
    size_t other;   /* of x, y and z: the latitude's column, `column` being the longitude's ... */
    double degrees; /* ... whose numbers begin here: -180 or 0 */
} made_input;

typedef struct {
    size_t columns; /* of the table                                   */
    size_t count;   /* inputs made of them; 0: inputs are the columns */
    made_input *of; /* count                                          */
} made_inputs;

void made_free(made_inputs *m);

/* Of a column's number t, NaN where the cell is missing. */
double made_of(const made_input *in, double t);

/* X (n x (columns + count)) of T (n x columns); holes stay NaN in the columns themselves, and a place of
 * which one is missing has NaN in x, y and z. */
void made_apply(const made_inputs *m, size_t n, const double *T, double *X);

/* ---- apart.c: categories whose levels are as far from one another as any two ---- */

/* A category of more levels has positions (encoding.h). */
enum { MOST_APART = 64 };

/* Of a level's number t, one of none being a level that is not known. */
double level_apart(const made_input *in, double t);

/* The first of the inputs of the column's levels; 0: there are none. */
size_t made_first_level(const made_inputs *m, size_t column);

/* same (inputs) becomes for each input the first that has its length-scale: itself but for levels of one
 * category, and y and z of places.  Returns how many have one of their own. */
size_t made_share_scales(const made_inputs *m, size_t inputs, size_t *same);
/* ---- sphere.c: places ---- */

/* Whether it is x, y or z of them. */
int made_is_place(const made_input *in);

/* The input that is x of places, y and z being the next two; 0: there are none. */
size_t made_place(const made_inputs *m);

/* Whether column d is a longitude or a latitude, which is not an input itself. */
int made_hides(const made_inputs *m, size_t d);

enum { LEAST_LONGITUDE = -180, MOST_LONGITUDE = 360, MOST_LATITUDE = 90 };

/* Fails where the row t (columns) has a place outside these; what it is, such as "query", its number, and
 * the columns' names are for the sentence. */
quorum_status made_check(const made_inputs *m, const double *t, const char *what, size_t number,
                         char *const *names);

/* x, y or z of degrees. */
double on_sphere(made_kind kind, double lon, double lat);

/* Longitudes and latitudes of a row x of inputs, into the columns that have them. */
void made_degrees(const made_inputs *m, double *x);

/* The slopes by longitude and latitude, into their columns of a gradient (inputs) at x:
 *   d/dlon = pi/180 (-y, x, 0) . g,   d/dlat = pi/180 (-z cos lon, -z sin lon, cos lat) . g */
void made_slopes(const made_inputs *m, const double *x, double *gradient);

/* x, y and z have one scale, sqrt((s_x^2 + s_y^2 + s_z^2) / 2): distances stay those of the sphere, of
 * whose two dimensions each has a deviation of 1. */
void made_share_scale(const made_inputs *m, const char *constant, double *scale);

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
    const char *const *names;  /* columns at least; NULL: x1, x2, ... */
    const char *const *dates;  /* columns: not NULL of dates; NULL: there are none */
    const size_t *levels;      /* columns: above 0 of categories; NULL: there are none */
    const char *periodic;      /* the option                          */
    const char *has_holes;     /* columns: 1 of numbers with holes, to be told; NULL: none is */
    int apart;                 /* 1: levels of categories stand apart ... */
    char *const *const *level; /* ... columns: by these names            */
    const char *lonlat;        /* the option, "": none                */
} made_request;

/* What to make of the rows, whose inputs are the table's columns; names (count, for the caller to free
 * each and all) are those of what is made. */
quorum_status made_choose(quorum_status ready, const scattered_rows *rows,
                          const made_request *asked, made_inputs *out, char ***names);

/* ---- made_in_file.c ---- */

/* A list of {column, kind, period}; of a hole without a period, of a place with {latitude, degrees}. */
void made_put(json_writer *w, const made_inputs *m);

/* Reads it, of a model of so many inputs; *what says what is wrong with it, or is NULL where memory has
 * run out. */
quorum_status made_read(const json_node *list, size_t inputs, made_inputs *m, const char **what);

#endif
