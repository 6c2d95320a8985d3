/* evaluate --by as a picture: on the left the share of targets inside the 95 % interval, group by
 * group, over the band in which it would lie by chance if it were 95 %; on the right the mean width
 * of the interval. */
#include "breakdown.h"
#include "picture.h"
#include "plot.h"
#include "scoring.h"
#include "talk.h"

#include <math.h>

static const double PICTURE_WIDTH = 934.0;
static const ink band_ink = {"#7fa8dc", 0.0, NULL, 0.45};
static const ink level_ink = {"#777777", 1.0, "2 3", 1.0};
enum { INKS = 4 };
static const ink way_inks[INKS] = {{"#1f4e9e", 2.2, NULL, 1.0},
                                   {"#b5482f", 2.0, "7 3", 1.0},
                                   {"#3b7a3b", 2.0, "2 3", 1.0},
                                   {"#6a4c93", 2.0, "9 3 2 3", 1.0}};

/* What is drawn of one way: a point for each group, at its number. */
typedef struct {
    double x[GROUPS_ROOM], coverage[GROUPS_ROOM], width[GROUPS_ROOM];
} curve;

typedef struct {
    const breakdown *b;
    const contenders *all;
    const quorum_info *info;
    panel left, right;
} picture;

static curve curve_of(const picture *p, size_t way)
{
    curve c;
    for (size_t k = 0; k < p->b->groups; k++) {
        group_scores s = breakdown_scores(p->b, way, &p->b->group[k], p->info);
        c.x[k] = (double)k + 1.0;
        c.coverage[k] = 100.0 * s.coverage;
        c.width[k] = s.width;
    }
    return c;
}

/* ---- Axes -------------------------------------------------------------------------------- */

static void set_ranges(picture *p)
{
    double low = 95.0, widest = 0.0;
    for (size_t k = 0; k < p->b->groups; k++)
        low = fmin(low, 100.0 * p->b->group[k].expected[0]);
    for (size_t way = 0; way < p->b->ways; way++) {
        curve c = curve_of(p, way);
        for (size_t k = 0; k < p->b->groups; k++) {
            low = fmin(low, c.coverage[k]);
            widest = fmax(widest, c.width[k]);
        }
    }
    p->left.y_min = fmax(0.0, low - 2.0);
    p->left.y_max = 101.0;
    p->right.y_min = 0.0;
    p->right.y_max = widest > 0.0 && isfinite(widest) ? 1.08 * widest : 1.0;
}

static void set_panels(picture *p)
{
    p->left = (panel){.left = 62.0,
                      .top = 92.0,
                      .width = 380.0,
                      .height = 250.0,
                      .x_min = 0.5,
                      .x_max = (double)p->b->groups + 0.5,
                      .title = "targets inside the 95 % interval",
                      .y_label = "per cent"};
    p->right = p->left;
    p->right.left = 528.0;
    p->right.title = "mean width of the 95 % interval";
    p->right.y_label = "width";
    set_ranges(p);
}

/* ---- Marks ------------------------------------------------------------------------------- */

static void draw_band(FILE *file, const picture *p)
{
    const breakdown *b = p->b;
    double x[GROUPS_ROOM + 2], lower[GROUPS_ROOM + 2], upper[GROUPS_ROOM + 2];
    for (size_t k = 0; k < b->groups + 2; k++) { /* the ends go to the edges */
        size_t g = k == 0 ? 0 : k > b->groups ? b->groups - 1 : k - 1;
        x[k] = fmin(fmax((double)k, p->left.x_min), p->left.x_max);
        lower[k] = 100.0 * b->group[g].expected[0];
        upper[k] = 100.0 * b->group[g].expected[1];
    }
    plot_band(file, &p->left, b->groups + 2, x, lower, upper, band_ink);
    plot_line(file, &p->left, 2, (const double[2]){p->left.x_min, p->left.x_max},
              (const double[2]){95.0, 95.0}, level_ink);
}

static void draw_way(FILE *file, const panel *at, const curve *c, const double *y, size_t groups,
                     ink line)
{
    ink points = {line.colour, 6.0, NULL, 1.0};
    plot_line(file, at, groups, c->x, y, line);
    plot_points(file, at, groups, c->x, y, points);
}

static void draw_panels(FILE *file, const picture *p)
{
    plot_panel(file, &p->left);
    draw_band(file, p);
    for (size_t way = 0; way < p->b->ways; way++) {
        curve c = curve_of(p, way);
        draw_way(file, &p->left, &c, c.coverage, p->b->groups, way_inks[way % INKS]);
    }
    plot_panel_end(file, &p->left);
    plot_panel(file, &p->right);
    for (size_t way = 0; way < p->b->ways; way++) {
        curve c = curve_of(p, way);
        draw_way(file, &p->right, &c, c.width, p->b->groups, way_inks[way % INKS]);
    }
    plot_panel_end(file, &p->right);
}

static void draw_legend(FILE *file, const picture *p)
{
    legend_key keys[INKS + 1] = {{KEY_BAND, band_ink, "95 % of chance"}};
    size_t count = 1;
    for (size_t way = 0; way < p->b->ways && way < INKS; way++)
        keys[count++] =
            (legend_key){KEY_LINE, way_inks[way], contender_method(&p->all->items[way])};
    plot_legend(file, keys, count, 62.0, 52.0);
}

/* Below both panels. */
static void draw_ends(FILE *file, const picture *p)
{
    char text[256], first[64], last[64];
    const row_group *group = p->b->group;
    group_name(p->b, &group[0], first, sizeof first);
    group_name(p->b, &group[p->b->groups - 1], last, sizeof last);
    snprintf(text, sizeof text, "group 1 is %s, group %zu is %s", first, p->b->groups, last);
    plot_note(file, PICTURE_WIDTH / 2.0, 380.0, text);
}

static void draw(FILE *file, picture *p)
{
    char title[640];
    shown_text by = shown(p->b->by);
    snprintf(title, sizeof title, "%zu test rows by %.200s", p->b->rows, by.text);
    plot_begin(file, PICTURE_WIDTH, 396.0, title,
               "quorum evaluate --by: coverage and width of the 95 % interval");
    set_panels(p);
    draw_legend(file, p);
    draw_panels(file, p);
    draw_ends(file, p);
    plot_end(file);
}

static void draw_picture(const void *of, FILE *file)
{
    picture p = *(const picture *)of;
    draw(file, &p);
}

int breakdown_draw(const breakdown *b, const contenders *all, const quorum_info *info,
                   const arguments *given, const char *path)
{
    picture p = {.b = b, .all = all, .info = info};
    return picture_write(given, path, draw_picture, &p);
}
