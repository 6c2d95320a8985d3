/* Where a slice lies, what the model says along it, and which rows are near it.
 *
 * Inputs that stand still are at the median of the training rows, categories at their most frequent
 * level.  The rows that are shown are the nearest ones, those whose distance from the slice, sqrt(sum_d
 * ((x_d - at_d) / (scale_d l_d))^2) over the inputs (those made of a date or a place too), is at most one
 * length-scale; rows of another level are farther away than all of its own, and those of which a cell that varies is
 * missing have no place on it. */
#include "slice.h"

#include "axis_range.h"
#include "date_values.h"
#include "grid.h"
#include "hyperparameters.h"
#include "sorted.h"
#include "talk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_POINTS = 301,
    MAP_POINTS = 81,
    MOST_LEVELS = 60,
    NEAR_SHARE = 20, /* one row in so many is near at most, but ... */
    LEAST_NEAR = 40, /* ... so many may be                          */
    MOST_NEAR = 800,
    MEASURED_AT_ONCE = 1024
};

static const double NEAR = 1.0;         /* length-scales                                        */
static const double OTHER_LEVEL = 1e12; /* squared: farther away than rows of the same levels */
static const double MARGIN = 0.03;      /* beyond the training rows, as a share of their range  */

/* ---- The training rows ---- */

static int read_rows(slice *s)
{
    const arguments *given = s->given;
    int code = chosen_load_one(&s->targets, given);
    if (code != EXIT_DONE)
        return code;
    s->model = s->targets.model[0];
    quorum_status status = quorum_inspect(s->model, &s->info);
    if (status < 0)
        return library_failure(given, status);
    s->table = malloc(s->info.rows * s->info.columns * sizeof *s->table);
    s->y = malloc(s->info.rows * sizeof *s->y);
    s->at = calloc(s->info.columns, sizeof *s->at);
    s->middle = calloc(s->info.columns, sizeof *s->middle);
    s->near = malloc(s->info.rows * sizeof *s->near);
    if (!s->table || !s->y || !s->at || !s->middle || !s->near)
        return failure(given, "out of memory for %zu rows", s->info.rows);
    status = quorum_training_rows(s->model, s->table, s->y);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

static bool is_category(const slice *s, size_t d)
{
    return s->info.levels && s->info.levels[d] > 0;
}

/* The middle of a sorted list, or of levels the one that comes most often. */
static double middle_of(const double *sorted, size_t n, bool levels)
{
    if (!levels)
        return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
    size_t best = 0, run = 0, longest = 0;
    for (size_t i = 0; i < n; i++) {
        run = i > 0 && sorted[i] == sorted[i - 1] ? run + 1 : 1;
        if (run > longest) {
            longest = run;
            best = i;
        }
    }
    return sorted[best];
}

/* Degrees end where the model's do. */
static void keep_on_sphere(const slice *s, slice_axis *a)
{
    if (s->info.place == 0 || (a->column != s->info.longitude && a->column != s->info.latitude))
        return;
    bool across = a->column == s->info.longitude;
    a->from = fmax(a->from, across ? -180.0 : -90.0);
    a->to = fmin(a->to, across ? 360.0 : 90.0);
}

/* s->at of all columns, and the range of those that vary. */
static int find_middles(slice *s)
{
    size_t n = s->info.rows, columns = s->info.columns;
    double *sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        return failure(s->given, "out of memory for %zu rows", n);
    for (size_t d = 0; d < columns; d++) {
        size_t known = sort_column(s->table, n, columns, d, sorted);
        s->at[d] = s->middle[d] = known ? middle_of(sorted, known, is_category(s, d)) : 0.0;
        for (size_t k = 0; k < s->axes; k++) {
            slice_axis *a = &s->axis[k];
            if (a->column != d || !isnan(a->from))
                continue;
            double low = known ? sorted[0] : 0.0, range = known ? sorted[known - 1] - low : 0.0;
            double margin = range > 0.0 ? MARGIN * range : fmax(1.0, fabs(low)) * 0.5;
            a->from = low - margin;
            a->to = low + range + margin;
            keep_on_sphere(s, a);
        }
    }
    free(sorted);
    return EXIT_DONE;
}

/* ---- Flags ---- */

static int no_column(const slice *s, const char *option, const char *name)
{
    return failure(s->given, "--%s: \"%s\" is no input of the model; 'quorum inspect' lists them",
                   option, name);
}

static int take_levels(slice *s, const char *option, size_t d)
{
    size_t levels = s->info.levels[d];
    if (levels > MOST_LEVELS)
        return failure(s->given,
                       "--%s: \"%s\" has %zu levels, and a picture shows up to %d; give it one by "
                       "--at %s=LEVEL",
                       option, s->info.names[d], levels, MOST_LEVELS, s->info.names[d]);
    s->axis[s->axes++] = (slice_axis){.column = d,
                                      .from = -0.5,
                                      .to = (double)levels - 0.5,
                                      .count = levels,
                                      .level = s->info.level[d]};
    return EXIT_DONE;
}

static int read_axis(slice *s, const char *option, size_t count)
{
    axis_range a;
    int code = axis_read(s->model, &s->info, option, s->given, &a);
    if (code == EXIT_DONE && is_category(s, a.column))
        return take_levels(s, option, a.column);
    s->axis[s->axes++] = (slice_axis){
        .column = a.column, .from = a.ranged ? a.from : NAN, .to = a.to, .count = count};
    return code;
}

static int read_level(slice *s, size_t d, const char *text)
{
    for (size_t l = 0; l < s->info.levels[d]; l++)
        if (strcmp(s->info.level[d][l], text) == 0) {
            s->at[d] = (double)l;
            return EXIT_DONE;
        }
    return failure(s->given, "--at: \"%s\" is no level of \"%s\"", text, s->info.names[d]);
}

static int set_value(slice *s, const quorum_axis *a)
{
    size_t d = column_named(&s->info, a->name);
    char number[40];
    if (a->count != 1)
        return usage_error(s->given->command, "--at: %s: one value is wanted", a->name);
    if (s->info.offset_name && strcmp(s->info.offset_name, a->name) == 0 && a->value) {
        s->offset = a->value[0];
        return EXIT_DONE;
    }
    if (d == s->info.columns)
        return no_column(s, "at", a->name);
    for (size_t k = 0; k < s->axes; k++)
        if (s->axis[k].column == d)
            return usage_error(s->given->command, "--at: \"%s\" varies already", a->name);
    if (is_category(s, d)) {
        snprintf(number, sizeof number, "%.15g", a->value ? a->value[0] : 0.0);
        return read_level(s, d, a->text ? a->text : number);
    }
    if (a->text && s->info.date && s->info.date[d])
        return date_read(s->model, &s->info, d, a->text, strlen(a->text), "at", s->given,
                         &s->at[d]);
    if (!a->value)
        return failure(s->given, "--at: %s=%s: a number is wanted", a->name, a->text);
    s->at[d] = a->value[0];
    return EXIT_DONE;
}

static int read_at(slice *s)
{
    const char *text = argument_value(s->given, "at");
    grid g = {0};
    int code = text ? grid_parse(&g, text, "at", s->given) : EXIT_DONE;
    for (size_t i = 0; code == EXIT_DONE && i < g.axes; i++)
        code = set_value(s, &g.axis[i]);
    grid_free(&g);
    return code;
}

static int read_flags(slice *s)
{
    bool plane = argument_value(s->given, "y") != NULL;
    int code = read_axis(s, "x", plane ? MAP_POINTS : LINE_POINTS);
    if (code == EXIT_DONE && plane)
        code = read_axis(s, "y", MAP_POINTS);
    if (code == EXIT_DONE && plane && s->axis[0].column == s->axis[1].column)
        code = usage_error(s->given->command, "--x and --y are the same input");
    if (code == EXIT_DONE)
        code = find_middles(s);
    return code == EXIT_DONE ? read_at(s) : code;
}

bool slice_varies(const slice *s, size_t d)
{
    return s->axis[0].column == d || (s->axes > 1 && s->axis[1].column == d);
}

/* ---- Predictions ---- */

double slice_value(const slice *s, size_t k, size_t i)
{
    const slice_axis *a = &s->axis[k];
    if (a->level)
        return (double)i;
    return a->from + (a->to - a->from) * ((double)i / (double)(a->count - 1));
}

static void fill_table(const slice *s, double *table)
{
    for (size_t i = 0; i < s->points; i++) {
        double *row = table + i * s->info.columns;
        memcpy(row, s->at, s->info.columns * sizeof *row);
        for (size_t k = 0, place = i; k < s->axes; place /= s->axis[k++].count)
            row[s->axis[k].column] = slice_value(s, k, place % s->axis[k].count);
    }
}

static quorum_status predict(slice *s, const double *table, double *X, double *offset)
{
    quorum_prediction out = {.mean = s->mean, .std = s->std, .lower = s->lower, .upper = s->upper};
    for (size_t i = 0; i < s->points; i++)
        offset[i] = s->offset;
    if (s->info.offset_name)
        out.offset = offset;
    quorum_status status = quorum_make_inputs(s->model, table, s->points, X);
    return status < 0 ? status
                      : quorum_predict(s->model, X, s->points, s->given->options, &out, NULL);
}

static int predict_slice(slice *s)
{
    s->points = s->axis[0].count * (s->axes > 1 ? s->axis[1].count : 1);
    size_t bytes = s->points * sizeof(double);
    double *table = malloc(bytes * s->info.columns), *X = malloc(bytes * s->info.inputs);
    double *offset = malloc(bytes);
    s->mean = malloc(bytes);
    s->std = malloc(bytes);
    s->lower = malloc(bytes);
    s->upper = malloc(bytes);
    int code = EXIT_DONE;
    if (table && X && offset && s->mean && s->std && s->lower && s->upper) {
        fill_table(s, table);
        quorum_status status = predict(s, table, X, offset);
        code = status < 0 ? library_failure(s->given, status) : EXIT_DONE;
    } else {
        code = failure(s->given, "out of memory for %zu points", s->points);
    }
    free(table);
    free(X);
    free(offset);
    return code;
}

/* ---- Rows near the slice ---- */

typedef struct {
    double distance; /* squared */
    size_t row;
} near_row;

static int compare_near(const void *a, const void *b)
{
    const near_row *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The place of the slice that a row is to be near to: its own values where they vary, and otherwise the slice's. */
static void put_on_slice(const slice *s, const double *row, double *on)
{
    memcpy(on, s->at, s->info.columns * sizeof *on);
    for (size_t k = 0; k < s->axes; k++)
        on[s->axis[k].column] = row[s->axis[k].column];
}

/* Squared, in length-scales, between inputs. */
static double squared_distance(const slice *s, const double *x, const double *on)
{
    double sum = 0.0;
    for (size_t d = 0; d < s->info.inputs; d++) {
        double apart =
            standardised_input(&s->info, d, x[d]) - standardised_input(&s->info, d, on[d]);
        double z = apart / s->info.input_lengthscale[d];
        if (d < s->info.columns && is_category(s, d))
            sum += x[d] == on[d] ? 0.0 : OTHER_LEVEL;
        else if (!s->info.constant[d] && isfinite(z)) /* a missing cell says nothing */
            sum += z * z;
    }
    return sum;
}

/* Whether the row has a place along the slice. */
static bool has_place(const slice *s, const double *row)
{
    for (size_t k = 0; k < s->axes; k++)
        if (isnan(row[s->axis[k].column]))
            return false;
    return true;
}

/* Rows from `first` on, `count` of them; room: table (count x columns), x and on (count x inputs). */
static quorum_status measure(const slice *s, size_t first, size_t count, double *table, double *x,
                             double *on, near_row *out)
{
    size_t columns = s->info.columns, inputs = s->info.inputs;
    const double *rows = s->table + first * columns;
    for (size_t i = 0; i < count; i++)
        put_on_slice(s, rows + i * columns, table + i * columns);
    quorum_status status = quorum_make_inputs(s->model, rows, count, x);
    if (status >= 0)
        status = quorum_make_inputs(s->model, table, count, on);
    for (size_t i = 0; status >= 0 && i < count; i++)
        out[first + i] =
            (near_row){.distance = has_place(s, rows + i * columns)
                                       ? squared_distance(s, x + i * inputs, on + i * inputs)
                                       : INFINITY,
                       .row = first + i};
    return status;
}

static int measure_all(const slice *s, near_row *out)
{
    size_t columns = s->info.columns, inputs = s->info.inputs, n = s->info.rows;
    double *table = malloc(MEASURED_AT_ONCE * columns * sizeof *table);
    double *x = malloc(2 * inputs * MEASURED_AT_ONCE * sizeof *x);
    quorum_status status = table && x ? QUORUM_OK : QUORUM_E_MEMORY;
    for (size_t i = 0; status >= 0 && i < n; i += MEASURED_AT_ONCE) {
        size_t count = n - i < MEASURED_AT_ONCE ? n - i : MEASURED_AT_ONCE;
        status = measure(s, i, count, table, x, x + MEASURED_AT_ONCE * inputs, out);
    }
    free(table);
    free(x);
    return status < 0 ? library_failure(s->given, status) : EXIT_DONE;
}

/* How many of the rows, the nearest first, are shown: of a share those within NEAR, or where no input
 * stands still all. */
static size_t count_near(const slice *s, const near_row *sorted)
{
    size_t n = s->info.rows, count = 0;
    size_t most = n / NEAR_SHARE > LEAST_NEAR ? n / NEAR_SHARE : LEAST_NEAR;
    while (n > 0 && isinf(sorted[n - 1].distance))
        n--;
    if (n > 0 && sorted[n - 1].distance == 0.0)
        return n;
    while (count < n && count < most && sorted[count].distance <= NEAR * NEAR)
        count++;
    return count;
}

/* Of too many every so-manieth, so that the picture can be read. */
static int find_near(slice *s)
{
    near_row *sorted = malloc(s->info.rows * sizeof *sorted);
    if (!sorted)
        return failure(s->given, "out of memory for %zu rows", s->info.rows);
    int code = measure_all(s, sorted);
    if (code != EXIT_DONE) {
        free(sorted);
        return code;
    }
    qsort(sorted, s->info.rows, sizeof *sorted, compare_near);
    s->nearest = sorted[0].row;
    size_t count = count_near(s, sorted), step = (count + MOST_NEAR - 1) / MOST_NEAR;
    for (size_t i = 0; i < count; i += step)
        s->near[s->nears++] = sorted[i].row;
    free(sorted);
    return EXIT_DONE;
}

int slice_make(slice *s, const arguments *given)
{
    *s = (slice){.given = given};
    int code = read_rows(s);
    if (code == EXIT_DONE)
        code = read_flags(s);
    if (code == EXIT_DONE)
        code = predict_slice(s);
    return code == EXIT_DONE ? find_near(s) : code;
}

void slice_free(slice *s)
{
    free(s->at);
    free(s->middle);
    free(s->table);
    free(s->y);
    free(s->near);
    free(s->mean);
    free(s->std);
    free(s->lower);
    free(s->upper);
    chosen_free(&s->targets);
}
