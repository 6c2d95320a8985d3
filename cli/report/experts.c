/* The experts: where they are, how they depend on each other, how large they are and where they err.
 * Pointing at one shows its rows and its neighbours.
 *
 * Two experts are linked where the precision matrix P of the expert graph is not 0; the link's strength
 * is |P_ij| / sqrt(P_ii P_jj).  Only the strongest links are drawn: more would hide each other.  An
 * expert errs where the rows nearest to it have an RMSE of ERRS times that of all rows. */
#include "io/plain_text.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/sections.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ERRS = 1.5;
enum { FEWEST_ASKED = 10 }; /* rows, to say so of an expert */
enum { MOST_NODES = 200, LINKS_A_NODE = 2, LISTED = 20, MOST_NEIGHBOURS = 8, ABOUT_SIZE = 800 };
static const double OUTER =
    0.05; /* share of an expert's rows that its region leaves out at either end */

typedef struct {
    size_t a, b;
    double strength;
} graph_link;

typedef struct {
    const facts *f;
    size_t nodes;
    size_t *expert; /* nodes: the experts that are shown: those that err, ... */
    size_t erring;  /* ... so many, then the most important or largest first  */
    graph_link *link;
    size_t links, drawn; /* of the nodes, strongest first; how many are drawn */
    double *errors;      /* experts: sum of squared errors of the rows nearest to it ...   */
    size_t *rows;        /* ... and how many there are                                      */
    double *x, *y, *size, *ends_x, *ends_y;
    size_t *node_owner,
        *end_owner;        /* the expert's number of each node, and of each end of a link */
    double *row_x, *row_y; /* training rows that are shown ...                          */
    size_t *row_owner;     /* ... and whose they are, from 1                            */
    char (*about)[ABOUT_SIZE];
    const char **abouts;
} expert_view;

/* ---- Which experts and links ---- */

static int by_size(const void *a, const void *b, void *sizes)
{
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    const size_t *size = sizes;
    return size[i] != size[j] ? (size[i] > size[j] ? -1 : 1) : (i > j) - (i < j);
}

static double error_of(const expert_view *v, size_t e)
{
    return v->rows[e] ? sqrt(v->errors[e] / (double)v->rows[e]) : NAN;
}

static bool errs(const expert_view *v, size_t e)
{
    return v->rows[e] >= FEWEST_ASKED && error_of(v, e) > ERRS * v->f->scores.rmse;
}

/* Both parts keep their order. */
static bool put_erring_first(expert_view *v)
{
    size_t M = v->f->info.experts, count = 0;
    size_t *order = malloc(M * sizeof *order);
    for (int pass = 1; order && pass >= 0; pass--) {
        for (size_t k = 0; k < M; k++)
            if (errs(v, v->expert[k]) == (pass == 1))
                order[count++] = v->expert[k];
        if (pass == 1)
            v->erring = count < v->nodes ? count : v->nodes;
    }
    if (order)
        memcpy(v->expert, order, M * sizeof *order);
    free(order);
    return count == M;
}

static bool choose_experts(expert_view *v)
{
    const quorum_info *info = &v->f->info;
    v->expert = malloc(info->experts * sizeof *v->expert);
    if (!v->expert)
        return false;
    for (size_t e = 0; e < info->experts; e++)
        v->expert[e] = info->ranking ? info->ranking[e] : e;
    if (!info->ranking)
        qsort_r(v->expert, info->experts, sizeof *v->expert, by_size, (void *)info->sizes);
    v->nodes = info->experts < MOST_NODES ? info->experts : MOST_NODES;
    return put_erring_first(v);
}

static int by_strength(const void *a, const void *b)
{
    const graph_link *x = a, *y = b;
    if (x->strength != y->strength)
        return x->strength > y->strength ? -1 : 1;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

static bool find_links(expert_view *v)
{
    const quorum_info *info = &v->f->info;
    const double *P = info->precision;
    size_t M = info->experts;
    v->link = malloc((v->nodes * v->nodes / 2 + 1) * sizeof *v->link);
    for (size_t i = 0; v->link && P && i < v->nodes; i++)
        for (size_t j = 0; j < i; j++) {
            size_t a = v->expert[i], b = v->expert[j];
            if (P[a * M + b] != 0.0)
                v->link[v->links++] =
                    (graph_link){a, b, fabs(P[a * M + b]) / sqrt(P[a * M + a] * P[b * M + b])};
        }
    if (v->link)
        qsort(v->link, v->links, sizeof *v->link, by_strength);
    v->drawn = v->links < LINKS_A_NODE * v->nodes ? v->links : LINKS_A_NODE * v->nodes;
    return v->link != NULL;
}

static bool sum_errors(expert_view *v)
{
    const asked_rows *a = &v->f->rows;
    v->errors = calloc(v->f->info.experts, sizeof *v->errors);
    v->rows = calloc(v->f->info.experts, sizeof *v->rows);
    if (!v->errors || !v->rows)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        size_t e = v->f->places.expert[i];
        v->errors[e] += (a->y[i] - a->mean[i]) * (a->y[i] - a->mean[i]);
        v->rows[e]++;
    }
    return true;
}

/* ---- What is said of one ---- */

static void list_neighbours(const expert_view *v, size_t expert, char *text, size_t size)
{
    size_t used = 0, count = 0;
    text[0] = '\0';
    for (size_t k = 0; k < v->links && count <= MOST_NEIGHBOURS; k++) {
        const graph_link *l = &v->link[k];
        if (l->a != expert && l->b != expert)
            continue;
        size_t other = l->a == expert ? l->b : l->a;
        if (count++ == MOST_NEIGHBOURS)
            snprintf(text + used, size - used, ", ...");
        else
            used +=
                (size_t)snprintf(text + used, size - used, "%s%zu", used ? ", " : "", other + 1);
    }
    if (count == 0)
        snprintf(text, size, "none");
}

/* ---- Where its rows are ---- */

typedef struct {
    char text[480];
} region_text;

static int compare_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { NAMED_LEVELS = 3, LEVEL_SIZE = 48 };

/* The name of the axis' level at this place. */
static const char *level_at(const named_places *names, double place)
{
    size_t best = 0;
    for (size_t l = 1; l < names->count; l++)
        if (fabs(names->at[l] - place) < fabs(names->at[best] - place))
            best = l;
    return names->name[best];
}

/* "Rome or Oslo or 2 more", in the order of their places. */
static void list_levels(const named_places *names, const double *sorted, size_t n, char *text,
                        size_t size)
{
    size_t used = 0, different = 0;
    for (size_t i = 0; i < n; i++) {
        char level[LEVEL_SIZE];
        if (i > 0 && sorted[i] == sorted[i - 1])
            continue;
        if (different++ >= NAMED_LEVELS)
            continue;
        plain_text_copy(level, sizeof level, level_at(names, sorted[i]));
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " or " : "", level);
    }
    if (different > NAMED_LEVELS)
        snprintf(text + used, size - used, " or %zu more", different - NAMED_LEVELS);
}

/* From the smallest to the largest of sorted values along an axis, of a category its levels. */
static void say_span(const facts *f, size_t a, const double *sorted, size_t n, char *text,
                     size_t size)
{
    if (f->places.level[a].count > 0)
        list_levels(&f->places.level[a], sorted, n, text, size);
    else if (axis_is_date(f, (int)a))
        snprintf(text, size, "%.10s to %.10s",
                 value_of_column(&f->info, (size_t)f->places.column[a], sorted[0]).text,
                 value_of_column(&f->info, (size_t)f->places.column[a], sorted[n - 1]).text);
    else
        snprintf(text, size, "%.4g to %.4g", sorted[0], sorted[n - 1]);
}

/* "Lon -95.9 to -94.2, Lat 34.1 to 35": the middle of its rows along both axes; "" without memory. */
static region_text describe_region(const facts *f, size_t e)
{
    region_text r = {""};
    size_t first = f->info.offset[e], n = f->info.offset[e + 1] - first, used = 0;
    size_t away = (size_t)(OUTER * (double)n);
    double *sorted = malloc((n + 1) * sizeof *sorted);
    for (size_t a = 0; sorted && n > 0 && a < 2; a++) {
        char name[48], span[NAMED_LEVELS * (LEVEL_SIZE + 4) + 32];
        plain_text_copy(name, sizeof name, f->places.name[a]);
        for (size_t i = 0; i < n; i++)
            sorted[i] = f->places.training[2 * (first + i) + a];
        qsort(sorted, n, sizeof *sorted, compare_values);
        say_span(f, a, sorted + away, n - 2 * away, span, sizeof span);
        used += (size_t)snprintf(r.text + used, sizeof r.text - used, "%s%s %s", a ? ", " : "",
                                 name, span);
    }
    free(sorted);
    return r;
}

static void place_rows(expert_view *v)
{
    const facts *f = v->f;
    size_t e = 0;
    for (size_t k = 0; k < f->shown_train_count; k++) {
        size_t i = f->shown_training[k]; /* ascending */
        while (i >= f->info.offset[e + 1])
            e++;
        v->row_x[k] = f->places.training[2 * i];
        v->row_y[k] = f->places.training[2 * i + 1];
        v->row_owner[k] = e + 1;
    }
}

/* ---- Nodes ---- */

static void describe(const expert_view *v, size_t e, char text[ABOUT_SIZE])
{
    const quorum_info *info = &v->f->info;
    char neighbours[128];
    list_neighbours(v, e, neighbours, sizeof neighbours);
    size_t used = (size_t)snprintf(text, ABOUT_SIZE, "expert %zu\n%zu rows", e + 1, info->sizes[e]);
    if (info->importance)
        used += (size_t)snprintf(text + used, ABOUT_SIZE - used, "\nimportance %.3g",
                                 info->importance[e]);
    if (info->precision)
        used += (size_t)snprintf(text + used, ABOUT_SIZE - used, "\nneighbours: %s", neighbours);
    used += (size_t)snprintf(text + used, ABOUT_SIZE - used, "\nregion: %s",
                             describe_region(v->f, e).text);
    if (v->rows[e])
        snprintf(text + used, ABOUT_SIZE - used, "\nRMSE %.4g of the %zu asked rows nearest to it",
                 error_of(v, e), v->rows[e]);
}

static bool reserve_nodes(expert_view *v)
{
    size_t n = v->nodes, ends = 2 * v->drawn + 1, rows = v->f->shown_train_count + 1;
    v->x = malloc(n * sizeof *v->x);
    v->y = malloc(n * sizeof *v->y);
    v->size = malloc(n * sizeof *v->size);
    v->node_owner = malloc(n * sizeof *v->node_owner);
    v->ends_x = malloc(ends * sizeof *v->ends_x);
    v->ends_y = malloc(ends * sizeof *v->ends_y);
    v->end_owner = malloc(ends * sizeof *v->end_owner);
    v->row_x = malloc(rows * sizeof *v->row_x);
    v->row_y = malloc(rows * sizeof *v->row_y);
    v->row_owner = malloc(rows * sizeof *v->row_owner);
    v->about = malloc(n * sizeof *v->about);
    v->abouts = malloc(n * sizeof *v->abouts);
    return v->x && v->y && v->size && v->node_owner && v->ends_x && v->ends_y && v->end_owner &&
           v->row_x && v->row_y && v->row_owner && v->about && v->abouts;
}

static void place_links(expert_view *v)
{
    for (size_t k = 0; k < v->drawn; k++) {
        const size_t pair[2] = {v->link[k].a, v->link[k].b};
        for (size_t end = 0; end < 2; end++) {
            v->ends_x[2 * k + end] = v->f->places.node[2 * pair[end]];
            v->ends_y[2 * k + end] = v->f->places.node[2 * pair[end] + 1];
            v->end_owner[2 * k + end] = pair[end] + 1;
        }
    }
}

static bool place_nodes(expert_view *v)
{
    const facts *f = v->f;
    size_t largest = 1;
    if (!reserve_nodes(v))
        return false;
    for (size_t e = 0; e < f->info.experts; e++)
        largest = f->info.sizes[e] > largest ? f->info.sizes[e] : largest;
    for (size_t k = 0; k < v->nodes; k++) {
        size_t e = v->expert[k];
        v->x[k] = f->places.node[2 * e];
        v->y[k] = f->places.node[2 * e + 1];
        v->size[k] = 6.0 + 14.0 * sqrt((double)f->info.sizes[e] / (double)largest);
        v->node_owner[k] = e + 1;
        describe(v, e, v->about[k]);
        v->abouts[k] = v->about[k];
    }
    place_links(v);
    place_rows(v);
    return true;
}

/* ---- Writing ---- */

/* Nodes first .. end - 1. */
static series nodes_of(const expert_view *v, size_t first, size_t end)
{
    return (series){.kind = SERIES_POINTS,
                    .count = end - first,
                    .x = v->x + first,
                    .y = v->y + first,
                    .size = v->size + first,
                    .owner = v->node_owner + first,
                    .about = v->abouts + first};
}

static void draw_graph(FILE *file, const expert_view *v)
{
    chart c = {
        .id = "experts-graph",
        .title = "The experts",
        .about =
            "Each expert is a part of the training rows, drawn at the middle of them "
            "and larger where it has more. A line joins two that depend on each other "
            "given all others. The pointer on an expert shows "
            "its rows and its neighbours. One that errs has asked rows near it whose error is 1.5 "
            "times that of all rows, or more.",
        .x_label = v->f->places.name[0],
        .y_label = v->f->places.name[1],
        .x_is_date = axis_is_date(v->f, 0),
        .y_is_date = axis_is_date(v->f, 1),
        .x_names = v->f->places.level[0],
        .y_names = v->f->places.level[1],
        .count = 4};
    c.series[0] = (series){.kind = SERIES_REGION,
                           .tone = TONE_SECOND,
                           .name = "training rows",
                           .count = v->f->shown_train_count,
                           .x = v->row_x,
                           .y = v->row_y,
                           .owner = v->row_owner};
    c.series[1] = (series){.kind = SERIES_LINKS,
                           .tone = TONE_MUTED,
                           .name = "depend on each other",
                           .count = 2 * v->drawn,
                           .x = v->ends_x,
                           .y = v->ends_y,
                           .owner = v->end_owner};
    c.series[2] = nodes_of(v, v->erring, v->nodes);
    c.series[2].tone = TONE_MAIN;
    c.series[2].name = "experts";
    c.series[3] = nodes_of(v, 0, v->erring);
    c.series[3].tone = TONE_WARN;
    c.series[3].name = "those that err";
    chart_write(file, &c);
}

static void list_experts(FILE *file, const expert_view *v)
{
    static const char *const titles[] = {"expert",
                                         "rows",
                                         "importance",
                                         "neighbours",
                                         "asked rows",
                                         "their RMSE",
                                         "nine tenths of its rows"};
    const quorum_info *info = &v->f->info;
    size_t listed = v->nodes < LISTED ? v->nodes : LISTED;
    char neighbours[128];
    html_word_table_begin(file,
                          info->ranking ? "Those that err, then the most important first"
                                        : "Those that err, then the largest first",
                          titles, 7);
    for (size_t k = 0; k < listed; k++) {
        size_t e = v->expert[k];
        list_neighbours(v, e, neighbours, sizeof neighbours);
        html_row(file);
        html_head_cell(file, "%zu", e + 1);
        html_cell(file, "%zu", info->sizes[e]);
        if (info->importance)
            html_cell(file, "%.3g", info->importance[e]);
        else
            html_cell(file, "-");
        html_cell(file, "%s", info->precision ? neighbours : "-");
        html_cell(file, "%zu", v->rows[e]);
        html_cell(file, "%s", v->rows[e] ? plain_number(error_of(v, e)).text : "-");
        html_cell(file, "%s", describe_region(v->f, e).text);
        fputs("</tr>\n", file);
    }
    html_table_end(file);
}

static void say_more(FILE *file, const expert_view *v)
{
    const quorum_info *info = &v->f->info;
    fputs("<p>", file);
    html_say(file, "An asked row is counted for the expert whose middle is nearest to it.");
    if (!info->ranking)
        html_say(file, " The model's expert graph is not learned yet: 'quorum graph MODEL --write' "
                       "learns it, and a new report shows it.");
    if (v->drawn < v->links)
        html_say(file, " The %zu strongest of %zu links are drawn.", v->drawn, v->links);
    if (v->nodes < info->experts)
        html_say(file, " %zu of %zu experts are drawn.", v->nodes, info->experts);
    if (info->experts > LISTED)
        html_say(file, " %d of %zu are listed.", LISTED, info->experts);
    fputs("</p>\n", file);
}

static void view_free(expert_view *v)
{
    free(v->expert);
    free(v->link);
    free(v->errors);
    free(v->rows);
    free(v->x);
    free(v->y);
    free(v->size);
    free(v->ends_x);
    free(v->ends_y);
    free(v->node_owner);
    free(v->end_owner);
    free(v->row_x);
    free(v->row_y);
    free(v->row_owner);
    free(v->about);
    free(v->abouts);
}

static int write_several(FILE *file, const facts *f)
{
    expert_view v = {.f = f};
    bool fits = sum_errors(&v) && choose_experts(&v) && find_links(&v) && place_nodes(&v);
    if (fits) {
        fputs("<div class=\"charts\">\n", file);
        draw_graph(file, &v);
        fputs("</div>\n", file);
        list_experts(file, &v);
        say_more(file, &v);
    }
    view_free(&v);
    return fits ? EXIT_DONE : failure(f->given, "out of memory for %zu experts", f->info.experts);
}

int write_experts(FILE *file, const facts *f)
{
    int code = EXIT_DONE;
    begin_section(file, "experts", "The experts");
    if (f->info.experts > 1)
        code = write_several(file, f);
    else
        fputs("<p>There is one expert, which has all rows.</p>\n", file);
    fputs("</section>\n", file);
    return code;
}
