/* Which inputs are made of the columns of training rows (made.h): those of the periods and the place that
 * are asked for, one for every column of numbers with holes, and where levels stand apart one for each of
 * them.  For dates, auto takes of day, week and year those that the rows span twice at least, whose half
 * is no less than the least step between the first SAMPLE of them,
 * and in which the rows have PLACES different places of CLOCK: rows of one a day tell nothing of the hours, and
 * rows of one a month nothing of the days of the week. */
#include "encode/made.h"

#include "base/memory.h"
#include "base/plain.h"
#include "text/list.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 2048, CLOCK = 24, PLACES = 4, TIMES_SPANNED = 2, AUTO_UNITS = 3 };

static const char *const auto_units[AUTO_UNITS] = {"day", "week", "year"};

static quorum_status fail_memory(void)
{
    return failure(QUORUM_E_MEMORY, "out of memory for inputs that are made of columns");
}

/* ---- What the rows have in each column ---- */

typedef struct {
    double least, most;         /* of the column's numbers             */
    double count;               /* rows that have one                  */
    uint64_t place[AUTO_UNITS]; /* by unit: a bit for each place taken */
} column_look;

static void look_at(column_look *c, double t)
{
    if (isnan(t))
        return;
    c->least = c->count == 0.0 ? t : fmin(c->least, t);
    c->most = c->count == 0.0 ? t : fmax(c->most, t);
    c->count += 1.0;
    for (int u = 0; u < AUTO_UNITS; u++) {
        double period = period_seconds(auto_units[u]), at = fmod(t, period) / period;
        int place = (int)(CLOCK * (at < 0.0 ? at + 1.0 : at));
        if (place >= 0 && place < CLOCK)
            c->place[u] |= (uint64_t)1 << place;
    }
}

typedef struct {
    size_t columns;
    column_look *look;
} looking;

static void look_at_rows(void *context, const row_range *range)
{
    const looking *l = context;
    for (size_t i = 0; i < range->rows.n; i++)
        for (size_t d = 0; d < l->columns; d++)
            look_at(&l->look[d], range->rows.X[i * l->columns + d]);
}

static int is_worth(const column_look *c, double step, int unit)
{
    int places = __builtin_popcountll(c->place[unit]);
    double spanned = c->most - c->least, period = period_seconds(auto_units[unit]);
    return places >= PLACES && 2.0 * step <= period && spanned >= TIMES_SPANNED * period;
}

/* ---- The least step between rows ---- */

static quorum_status fetch_first(quorum_status ready, const scattered_rows *rows, size_t columns,
                                 row_set *out)
{
    size_t which[SAMPLE], count = rows->n < SAMPLE ? rows->n : SAMPLE;
    row_set like = {.D = columns};
    for (size_t i = 0; i < count; i++)
        which[i] = i;
    *out = (row_set){0};
    if (ready >= 0)
        ready = rows_new(&like, count, out);
    return rows_fetch(ready, rows, which, count, out);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Infinite where all are alike. */
static double least_step(const row_set *first, size_t column)
{
    double t[SAMPLE], least = INFINITY;
    size_t count = 0;
    for (size_t i = 0; i < first->n; i++)
        if (!isnan(first->X[i * first->D + column]))
            t[count++] = first->X[i * first->D + column];
    qsort(t, count, sizeof *t, compare_numbers);
    for (size_t i = 1; i < count; i++)
        if (t[i] > t[i - 1])
            least = fmin(least, t[i] - t[i - 1]);
    return least;
}

/* ---- The list ---- */

typedef struct {
    const made_request *asked;
    const column_look *look;
    const row_set *first; /* rows */
    made_inputs made;
    char **names;
    size_t room;
} choosing;

static const char *column_name(const made_request *a, size_t d, char made_up[32])
{
    snprintf(made_up, 32, "x%zu", d + 1);
    return a->names ? a->names[d] : made_up;
}

static quorum_status make_room(choosing *c)
{
    size_t room = c->room ? 2 * c->room : 16;
    if (c->made.count < c->room)
        return QUORUM_OK;
    made_input *of = mem_grow(c->made.of, c->made.count, room, sizeof *of);
    if (of)
        c->made.of = of;
    char **names = mem_grow(c->names, c->made.count, room, sizeof *names);
    if (names)
        c->names = names;
    if (!of || !names)
        return fail_memory();
    c->room = room;
    return QUORUM_OK;
}

/* `what` is behind the column's name, in brackets. */
static quorum_status add_made(choosing *c, made_input in, const char *what)
{
    char made_up[32], *name;
    const char *column = column_name(c->asked, in.column, made_up);
    size_t size = strlen(column) + strlen(what) + 16;
    TRY(make_room(c));
    if (!NEW_ARRAY(name, size))
        return fail_memory();
    if (in.kind == MADE_LEVEL)
        snprintf(name, size, "%s = %s", column, what);
    else
        snprintf(name, size, in.kind == MADE_HOLE ? "%s (%s)" : "%s (%s, %s)", column, what,
                 in.kind == MADE_SIN ? "sin" : "cos");
    c->names[c->made.count] = name;
    c->made.of[c->made.count++] = in;
    return QUORUM_OK;
}

static quorum_status add_period(choosing *c, size_t column, double period, const char *what)
{
    for (size_t k = 0; k < c->made.count; k++) /* once is enough */
        if (c->made.of[k].column == column && c->made.of[k].period == period)
            return QUORUM_OK;
    TRY(add_made(c, (made_input){.column = column, .kind = MADE_SIN, .period = period}, what));
    return add_made(c, (made_input){.column = column, .kind = MADE_COS, .period = period}, what);
}

static quorum_status add_auto(choosing *c)
{
    for (size_t d = 0; c->asked->dates && d < c->asked->columns; d++) {
        double step = c->asked->dates[d] ? least_step(c->first, d) : INFINITY;
        for (int u = 0; u < AUTO_UNITS; u++)
            if (is_worth(&c->look[d], step, u))
                TRY(add_period(c, d, period_seconds(auto_units[u]), auto_units[u]));
    }
    return QUORUM_OK;
}

/* By name, or by number among the inputs. */
static quorum_status find_column(const made_request *a, const char *option, const char *name,
                                 size_t *column)
{
    char made_up[32], *end;
    for (*column = 0; *column < a->columns; (*column)++)
        if (strcmp(column_name(a, *column, made_up), name) == 0)
            return QUORUM_OK;
    errno = 0;
    unsigned long long number = plain_count(name, &end);
    if (*name && *end == '\0' && errno == 0 && number >= 1 && number <= a->columns) {
        *column = (size_t)number - 1;
        return QUORUM_OK;
    }
    return failure(QUORUM_E_ARGUMENT,
                   "%s: there is no input column \"%.200s\"; the first is \"%.200s\"", option, name,
                   column_name(a, 0, made_up));
}

static quorum_status check_column(const made_request *a, size_t d, const char *period)
{
    char made_up[32];
    if (a->levels && a->levels[d] > 0)
        return failure(QUORUM_E_ARGUMENT,
                       "periodic: column %.200s is a category, which has no period",
                       column_name(a, d, made_up));
    if (period_seconds(period) > 0.0 && !(a->dates && a->dates[d]))
        return failure(QUORUM_E_ARGUMENT,
                       "periodic: column %.200s has no dates: give its period as a number, in its "
                       "own units, rather than %s",
                       column_name(a, d, made_up), period);
    return QUORUM_OK;
}

static quorum_status add_listed(choosing *c, char *name)
{
    for (const char *p = c->asked->periodic; *p;) {
        char text[PERIOD_ROOM];
        double period;
        size_t column;
        if (!(p = period_next(p, name, text, &period)))
            return failure(QUORUM_E_ARGUMENT, "periodic: \"%.200s\" is not a list of COL:PERIOD",
                           c->asked->periodic);
        if (name[0] == '\0') {
            TRY(add_auto(c));
            continue;
        }
        TRY(find_column(c->asked, "periodic", name, &column));
        TRY(check_column(c->asked, column, text));
        TRY(add_period(c, column, period, text));
    }
    return QUORUM_OK;
}

static quorum_status add_holes(choosing *c)
{
    for (size_t d = 0; c->asked->has_holes && d < c->asked->columns; d++)
        if (c->asked->has_holes[d])
            TRY(add_made(c, (made_input){.column = d, .kind = MADE_HOLE}, "missing"));
    return QUORUM_OK;
}

static quorum_status add_levels(choosing *c, size_t d)
{
    made_input in = {.column = d, .kind = MADE_LEVEL, .levels = c->asked->levels[d]};
    for (; in.level < in.levels; in.level++)
        TRY(add_made(c, in, c->asked->level[d][in.level]));
    return QUORUM_OK;
}

static quorum_status add_categories(choosing *c)
{
    const made_request *a = c->asked;
    for (size_t d = 0; a->apart && a->levels && a->level && d < a->columns; d++)
        if (a->levels[d] > 0 && a->levels[d] <= MOST_APART && a->level[d])
            TRY(add_levels(c, d));
    return QUORUM_OK;
}

/* ---- A place ---- */

/* Of numbers without holes, within the range of degrees. */
static quorum_status check_degrees(const choosing *c, size_t d, const char *what, double least,
                                   double most)
{
    char made_up[32];
    const char *name = column_name(c->asked, d, made_up);
    const column_look *look = &c->look[d];
    if ((c->asked->levels && c->asked->levels[d] > 0) || (c->asked->dates && c->asked->dates[d]))
        return failure(QUORUM_E_ARGUMENT, "lonlat: column %.200s has no numbers", name);
    if (c->asked->has_holes && c->asked->has_holes[d])
        return failure(QUORUM_E_DATA,
                       "lonlat: cells of %.200s are missing, and a place cannot be filled in: drop "
                       "these rows",
                       name);
    if (look->least < least || look->most > most)
        return failure(QUORUM_E_DATA,
                       "lonlat: %.200s goes from %.6g to %.6g, and %ss from %g to %g degrees; the "
                       "option is LON,LAT",
                       name, look->least, look->most, what, least, most);
    return QUORUM_OK;
}

static quorum_status add_place_input(choosing *c, made_input in)
{
    static const char *const axis[] = {"x", "y", "z"};
    char one[32], two[32], *name;
    const char *lon = column_name(c->asked, in.column, one);
    const char *lat = column_name(c->asked, in.other, two);
    size_t size = strlen(lon) + strlen(lat) + 8;
    TRY(make_room(c));
    if (!NEW_ARRAY(name, size))
        return fail_memory();
    snprintf(name, size, "%s %s (%s)", lon, lat, axis[in.kind - MADE_X]);
    c->names[c->made.count] = name;
    c->made.of[c->made.count++] = in;
    return QUORUM_OK;
}

/* Longitudes are from 0 on where some are beyond 180 and none is below 0. */
static quorum_status add_place(choosing *c, char *name)
{
    made_input in = {0};
    const char *rest = list_take(c->asked->lonlat, name);
    if (!rest)
        return failure(QUORUM_E_ARGUMENT, "lonlat: \"%.200s\" is not LON,LAT", c->asked->lonlat);
    TRY(find_column(c->asked, "lonlat", name, &in.column));
    if (!list_take(rest, name))
        return failure(QUORUM_E_ARGUMENT, "lonlat: \"%.200s\" is not LON,LAT", c->asked->lonlat);
    TRY(find_column(c->asked, "lonlat", name, &in.other));
    if (in.column == in.other)
        return failure(QUORUM_E_ARGUMENT, "lonlat: longitude and latitude are the same column");
    TRY(check_degrees(c, in.column, "longitude", LEAST_LONGITUDE, MOST_LONGITUDE));
    TRY(check_degrees(c, in.other, "latitude", -MOST_LATITUDE, MOST_LATITUDE));
    const column_look *lon = &c->look[in.column];
    in.degrees = lon->least >= 0.0 && lon->most > 180.0 ? 0.0 : LEAST_LONGITUDE;
    for (int kind = MADE_X; kind <= MADE_Z; kind++) {
        in.kind = (made_kind)kind;
        TRY(add_place_input(c, in));
    }
    return QUORUM_OK;
}

static quorum_status list_inputs(choosing *c)
{
    char *name;
    if (!NEW_ARRAY(name, strlen(c->asked->periodic) + strlen(c->asked->lonlat) + 1))
        return fail_memory();
    quorum_status status = add_listed(c, name);
    if (status >= 0 && c->asked->lonlat[0] != '\0')
        status = add_place(c, name);
    mem_free(name);
    TRY(status);
    TRY(add_holes(c));
    return add_categories(c);
}

static quorum_status list_here(void *context)
{
    return list_inputs(context);
}

quorum_status made_choose(quorum_status ready, const scattered_rows *rows,
                          const made_request *asked, made_inputs *out, char ***names)
{
    looking l = {.columns = asked->columns};
    row_set first;
    choosing c = {.asked = asked, .first = &first, .made.columns = asked->columns};
    if (ready >= 0 && !NEW_ZEROED(l.look, asked->columns))
        ready = fail_memory();
    c.look = l.look;
    quorum_status status = fetch_first(ready, rows, asked->columns, &first);
    if (status >= 0)
        status =
            rows_fold(QUORUM_OK, rows, l.look, asked->columns * sizeof *l.look, look_at_rows, &l);
    if (status >= 0)
        status = team_all(QUORUM_OK, list_here, &c);
    mem_free(l.look);
    rows_free(&first);
    *out = c.made;
    *names = c.names;
    return status;
}
