/* The demo's picture: small multiples, one method each, on the same axes. */
#include "demo.h"
#include "output.h"
#include "plot.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 421, PANELS = 3, THINNED = 600 };

static const ink point_ink = {"#8a8a8a", 2.4, NULL, 0.45};
static const ink truth_ink = {"#000000", 1.6, "6 4", 1.0};
static const ink mean_ink = {"#1f4e9e", 2.2, NULL, 1.0};
static const ink band_ink = {"#7fa8dc", 0.0, NULL, 0.55};
static const ink edge_ink = {"#777777", 1.0, "2 3", 1.0};

/* One method's prediction along the x axis. */
typedef struct {
    double x[GRID], truth[GRID];
    double mean[GRID], std[GRID], lower[GRID], upper[GRID];
} curve;

/* ---- Which methods are shown -------------------------------------------------------------- */

static const contender *find_method(const contenders *all, const char *method)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].method, method) == 0)
            return &all->items[i];
    return NULL;
}

/* The best, then methods that fail in different ways. */
static size_t choose_methods(const contenders *all, const contender *chosen[PANELS])
{
    static const char *const contrast[] = {"nearest", "rbcm", "gpoe", "poe", "bcm", NULL};
    size_t count = 0;
    chosen[count++] = best_contender(all);
    for (const char *const *method = contrast; *method && count < PANELS; method++) {
        const contender *c = find_method(all, *method);
        if (c && strncmp(c->method, chosen[0]->method, strlen(c->method)) != 0)
            chosen[count++] = c;
    }
    return count;
}

/* ---- What is drawn --------------------------------------------------------------------------- */

static quorum_status predict_curve(const demo *d, const contender *c, quorum_options *options,
                                   curve *v)
{
    for (int i = 0; i < GRID; i++) {
        v->x[i] = DEMO_LOW + (DEMO_HIGH - DEMO_LOW) * i / (GRID - 1);
        v->truth[i] = quorum_demo_function(v->x[i]);
    }
    quorum_prediction out = {.mean = v->mean, .std = v->std, .lower = v->lower, .upper = v->upper};
    quorum_status status = contender_apply(c, options);
    if (status >= 0)
        status = quorum_predict(d->model, v->x, GRID, options, &out, NULL);
    return status;
}

/* The same y axis for all panels: the data and the true function, with a margin. */
static void y_range(const demo *d, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < DEMO_TRAIN; i++) {
        *low = fmin(*low, d->y[i]);
        *high = fmax(*high, d->y[i]);
    }
    for (int i = 0; i < DEMO_TEST; i++) {
        *low = fmin(*low, d->y_test[i]);
        *high = fmax(*high, d->y_test[i]);
    }
    double margin = 0.12 * (*high - *low);
    *low -= margin;
    *high += margin;
}

static panel panel_at(const demo *d, size_t column, const char *title)
{
    panel p = {.left = 62.0 + 336.0 * (double)column,
               .top = 92.0,
               .width = 306.0,
               .height = 290.0,
               .x_min = DEMO_LOW,
               .x_max = DEMO_HIGH,
               .title = title,
               .x_label = "x",
               .y_label = column == 0 ? "y" : NULL};
    y_range(d, &p.y_min, &p.y_max);
    return p;
}

/* Where the training points end. */
static void mark_edges(FILE *file, const panel *p)
{
    const double y[2] = {p->y_min, p->y_max};
    double place = p->y_min + 0.03 * (p->y_max - p->y_min);
    plot_line(file, p, 2, (const double[2]){0.0, 0.0}, y, edge_ink);
    plot_line(file, p, 2, (const double[2]){1.0, 1.0}, y, edge_ink);
    plot_text(file, p, 0.5 * DEMO_LOW, place, "no data");
    plot_text(file, p, 1.0 + 0.5 * (DEMO_HIGH - 1.0), place, "no data");
}

static void draw_panel(FILE *file, const demo *d, const contender *c, const curve *v, size_t column)
{
    char title[160];
    snprintf(title, sizeof title, "%s: SMSE %.3f, MSLL %.2f, 95 %%: %.1f %%", c->method,
             c->metrics.smse, c->metrics.msll, 100.0 * c->metrics.coverage[2]);
    panel p = panel_at(d, column, title);
    plot_panel(file, &p);
    plot_band(file, &p, GRID, v->x, v->lower, v->upper, band_ink);
    plot_points(file, &p, THINNED, d->x, d->y, point_ink);
    mark_edges(file, &p);
    plot_line(file, &p, GRID, v->x, v->mean, mean_ink);
    plot_line(file, &p, GRID, v->x, v->truth, truth_ink);
    plot_panel_end(file, &p);
}

static void draw_frame(FILE *file, const demo *d, size_t panels)
{
    static const legend_key keys[] = {
        {KEY_POINTS, {"#8a8a8a", 2.4, NULL, 0.8}, "training points (600 of 5000)"},
        {KEY_LINE, {"#000000", 1.6, "6 4", 1.0}, "true function"},
        {KEY_LINE, {"#1f4e9e", 2.2, NULL, 1.0}, "predicted mean"},
        {KEY_BAND, {"#7fa8dc", 0.0, NULL, 0.55}, "95 % interval for an observation"},
    };
    quorum_info info;
    char title[160];
    quorum_inspect(d->model, &info);
    snprintf(title, sizeof title, "%d points, %zu experts (%s), one model, %zu ways to predict",
             DEMO_TRAIN, info.experts, info.partition, panels);
    plot_begin(file, 62.0 + 336.0 * (double)panels - 14.0, 432.0, title,
               "quorum demo: fits of the built-in example with their 95 % intervals");
    plot_legend(file, keys, sizeof keys / sizeof *keys, 62.0, 52.0);
}

static quorum_status draw_all(const demo *d, quorum_options *options, FILE *file, curve *v)
{
    const contender *chosen[PANELS];
    size_t count = choose_methods(&d->all, chosen);
    quorum_status status = quorum_options_set(options, "interval", "0.95");
    draw_frame(file, d, count);
    for (size_t i = 0; i < count && status >= 0; i++) {
        status = predict_curve(d, chosen[i], options, v);
        if (status >= 0)
            draw_panel(file, d, chosen[i], v, i);
    }
    plot_end(file);
    return status;
}

int draw_demo(const demo *d, const arguments *given, const char *path)
{
    output out;
    curve *v = malloc(sizeof *v);
    if (!v)
        return failure(given, "out of memory for the picture");
    int code = output_open(&out, given, path);
    if (code == EXIT_DONE) {
        quorum_status status = draw_all(d, given->options, out.file, v);
        code = status < 0 ? library_failure(given, status) : output_commit(&out, given);
        output_discard(&out);
    }
    free(v);
    return code;
}
