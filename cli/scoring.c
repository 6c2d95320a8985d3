/* Contenders (method x selection x space) from the words of the command line, scored block by
 * block on the same rows, and shown as a table or as JSON. */
#include "scoring.h"

#include "events.h"
#include "score_json.h"
#include "talk.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LIST = 64, ITEM_SIZE = 64 };

typedef struct {
    char item[MAX_LIST][ITEM_SIZE];
    size_t count;
} list;

/* ---- Which contenders ---------------------------------------------------------- */

static void list_add(list *l, const char *text, size_t length)
{
    while (length > 0 && text[0] == ' ') {
        text++;
        length--;
    }
    if (length > 0 && l->count < MAX_LIST)
        snprintf(l->item[l->count++], ITEM_SIZE, "%.*s", (int)length, text);
}

static void split_commas(const char *text, list *l)
{
    while (*text) {
        size_t length = strcspn(text, ",");
        list_add(l, text, length);
        text += length + (text[length] == ',');
    }
}

static bool is_all(const char *methods)
{
    return methods && strcmp(methods, "all") == 0;
}

static void all_methods(list *l)
{
    for (int i = 0; i < quorum_method_count(); i++)
        list_add(l, quorum_method_name(i), strlen(quorum_method_name(i)));
}

/* Fills the list for an option and checks each item as the library would. */
static int make_list(const arguments *given, const char *name, const char *text, list *l)
{
    l->count = 0;
    if (!text)
        text = quorum_options_get(given->options, name);
    if (strcmp(name, "method") == 0 && is_all(text))
        all_methods(l);
    else if (text)
        split_commas(text, l);
    if (l->count == 0)
        return usage_error(given->command, "--%s: the list is empty", name);
    quorum_status status = QUORUM_OK;
    for (size_t i = 0; i < l->count && status >= 0; i++)
        status = quorum_options_set(given->options, name, l->item[i]);
    return status < 0 ? option_failure(given, name, status) : EXIT_DONE;
}

/* NAME* is NAME with select graph:0.8 unless another selection is given. */
static const char *effective_select(const char *method, const char *select)
{
    bool starred = method[strlen(method) - 1] == '*';
    return starred && strcmp(select, "auto") == 0 ? "graph:0.8" : select;
}

int contenders_add(contenders *all, const arguments *given, const char *method, const char *select,
                   const char *space)
{
    contender *more = realloc(all->items, (all->count + 1) * sizeof *more);
    if (!more)
        return failure(given, "out of memory for the methods");
    contender *c = &more[all->count++];
    memset(c, 0, sizeof *c);
    snprintf(c->method, sizeof c->method, "%s", method);
    snprintf(c->select, sizeof c->select, "%s", effective_select(method, select));
    snprintf(c->space, sizeof c->space, "%s", space);
    all->items = more;
    return EXIT_DONE;
}

/* Of experts to select, all methods are those that ask experts. */
static bool is_left_out(const char *methods, const char *method, const char *select)
{
    bool asks_nobody = strcmp(method, "nearest") == 0 || strcmp(method, "cells") == 0;
    return is_all(methods) && asks_nobody && strcmp(select, "auto") != 0;
}

static int combine(contenders *all, const arguments *given, const char *methods, const list *m,
                   const list *s, const list *p)
{
    int code = EXIT_DONE;
    for (size_t k = 0; k < p->count; k++)
        for (size_t j = 0; j < s->count; j++)
            for (size_t i = 0; i < m->count && code == EXIT_DONE; i++)
                if (!is_left_out(methods, m->item[i], s->item[j]))
                    code = contenders_add(all, given, m->item[i], s->item[j], p->item[k]);
    return code;
}

int contenders_make(contenders *all, const arguments *given, const char *methods,
                    const char *selects, const char *spaces)
{
    list m, s, p;
    memset(all, 0, sizeof *all);
    int code = make_list(given, "method", methods, &m);
    if (code == EXIT_DONE)
        code = make_list(given, "select", selects, &s);
    if (code == EXIT_DONE)
        code = make_list(given, "space", spaces, &p);
    return code == EXIT_DONE ? combine(all, given, methods, &m, &s, &p) : code;
}

void contenders_free(contenders *all)
{
    free(all->items);
    memset(all, 0, sizeof *all);
}

/* ---- Predicting and scoring ------------------------------------------------------ */

quorum_status contender_apply(const contender *c, quorum_options *options)
{
    quorum_status status = quorum_options_set(options, "method", c->method);
    if (status >= 0)
        status = quorum_options_set(options, "select", c->select);
    if (status >= 0)
        status = quorum_options_set(options, "space", c->space);
    return status;
}

quorum_status contenders_block_rows(const contenders *all, const quorum_model *model,
                                    quorum_options *options, size_t *smallest)
{
    quorum_status status = QUORUM_OK;
    *smallest = 0;
    for (size_t i = 0; i < all->count && status >= 0; i++) {
        quorum_prediction none = {0};
        status = contender_apply(&all->items[i], options);
        if (status >= 0) /* refused before the others are scored */
            status = quorum_predict(model, NULL, 0, options, &none, NULL);
        size_t rows = quorum_block_rows(model, options);
        *smallest = i == 0 || rows < *smallest ? rows : *smallest;
    }
    *smallest = *smallest ? *smallest : 1;
    return status;
}

/* The standard normal divided by `scale`. */
static quorum_distribution narrower_normal(double scale)
{
    static const double reach[4] = {0.67448975019608174, 1.6448536269514722, 1.959963984540054,
                                    2.5758293035489004};
    quorum_distribution z = {.points = 2, .u = {-1.0, 1.0}, .z = {-1.0 / scale, 1.0 / scale}};
    for (int k = 0; k < 4; k++) {
        z.lower[k] = -reach[k] / scale;
        z.upper[k] = reach[k] / scale;
    }
    return z;
}

/* Of a warped target the mean depends on calibration too: what was stated before it is a narrower
 * one of the calibrated distributions. */
static void add_before(contender *c, const quorum_info *info, const scored_rows *r)
{
    bool warped = strcmp(info->warp, "none") != 0;
    quorum_distribution narrower = narrower_normal(info->calibration_scale);
    for (size_t i = 0; i < r->count && !warped; i++)
        r->std[i] /= info->calibration_scale;
    quorum_scores_add_weighted(&c->scores_before, info, r->count, r->y, r->mean, r->std,
                               warped ? &narrower : NULL, r->weights);
}

/* Adds the rows to the scores and, of calibrated predictions, to those before it. */
static void add_scores(contender *c, const quorum_distribution *z, const quorum_info *info,
                       const quorum_report *report, const scored_rows *r)
{
    quorum_scores_add_weighted(&c->scores, info, r->count, r->y, r->mean, r->std, z, r->weights);
    if (report->calibrated)
        add_before(c, info, r);
}

quorum_status contenders_score(contenders *all, const quorum_model *model, quorum_options *options,
                               progress *p, const scored_rows *r)
{
    quorum_info info;
    quorum_status status = quorum_inspect(model, &info);
    for (size_t i = 0; i < all->count && status >= 0; i++) {
        contender *c = &all->items[i];
        quorum_report report = {0};
        quorum_prediction out = {
            .mean = r->mean, .std = r->std, .offset = r->offset, .noise_std = r->noise};
        quorum_distribution z;
        if (all->by)
            breakdown_ask(all->by, i, &out);
        progress_task(p, "%s (%zu of %zu), rows from %zu", c->method, i + 1, all->count,
                      c->scores.n + 1);
        progress_part(p, i, all->count);
        status = contender_apply(c, options);
        if (status >= 0)
            status = quorum_predict(model, r->X, r->count, options, &out, &report);
        if (status < 0)
            break;
        quorum_distribution_of(model, options, &z);
        if (all->by)
            breakdown_keep(all->by, i, r->count, &out, &z);
        add_scores(c, &z, &info, &report, r);
        add_events(&c->report, &report, r->count);
    }
    return status;
}

void contenders_finish(contenders *all)
{
    for (size_t i = 0; i < all->count; i++) {
        contender *c = &all->items[i];
        quorum_scores_finish(&c->scores, &c->metrics);
        if (c->scores_before.n)
            quorum_scores_finish(&c->scores_before, &c->metrics_before);
        if (c->scores.n)
            c->report.experts_used /= (double)c->scores.n;
    }
}

/* ---- Telling ----------------------------------------------------------------------- */

const char *contender_method(const contender *c)
{
    bool starred = c->method[strlen(c->method) - 1] == '*';
    return starred || !c->report.method ? c->method : c->report.method;
}

static void put_events(json_writer *w, const quorum_report *r)
{
    json_member_number(w, "seconds", r->seconds);
    json_member_number(w, "experts_used", r->experts_used);
    json_member_count(w, "prior_fallbacks", r->prior_fallbacks);
    json_member_count(w, "clamped", r->clamped);
    json_member_count(w, "jittered", r->jittered);
    json_member_count(w, "pseudo_inverses", r->pseudo_inverses);
    json_member_count(w, "unsure", r->unsure);
    json_member_count(w, "off_constants", r->off_constants);
    json_member_flag(w, "calibrated", r->calibrated);
}

static void put_group(json_writer *w, const breakdown *b, const row_group *g, const group_scores *s)
{
    char name[520];
    group_name(b, g, name, sizeof name);
    json_begin_object(w);
    group_put(w, name, g, s);
    json_end(w);
}

static void put_groups(json_writer *w, const breakdown *b, size_t way, const quorum_info *info)
{
    json_member_text(w, "by", b->by);
    json_key(w, "groups");
    json_begin_list(w);
    for (size_t k = 0; k < b->groups; k++) {
        group_scores s = breakdown_scores(b, way, &b->group[k], info);
        put_group(w, b, &b->group[k], &s);
    }
    json_end(w);
}

static void put_contender(json_writer *w, const contenders *all, size_t i, const quorum_info *info)
{
    const contender *c = &all->items[i];
    json_begin_object(w);
    json_member_text(w, "method", contender_method(c));
    json_member_text(w, "select", c->select);
    json_member_text(w, "space", c->space);
    metrics_put(w, &c->metrics);
    put_events(w, &c->report);
    json_member_count(w, "rows", c->scores.n);
    if (c->scores_before.n)
        coverage_put(w, "coverage_uncalibrated", c->metrics_before.coverage);
    if (all->by)
        put_groups(w, all->by, i, info);
    json_end(w);
}

quorum_status contenders_put(json_writer *w, const contenders *all, const quorum_model *model)
{
    quorum_info info;
    quorum_status status = quorum_inspect(model, &info);
    json_begin_list(w);
    for (size_t i = 0; status >= 0 && i < all->count; i++)
        put_contender(w, all, i, &info);
    json_end(w);
    return status;
}

int contenders_as_json(const contenders *all, const quorum_model *model, const arguments *given)
{
    json_writer w = json_to_file(stdout);
    quorum_status status = contenders_put(&w, all, model);
    return status < 0 ? library_failure(given, status) : json_report(&w, given);
}

static void say_uncalibrated(const contenders *all, const quorum_model *model,
                             const arguments *given)
{
    char what[64];
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        count += all->items[i].report.calibration_unused != 0;
    snprintf(what, sizeof what, "%zu of %zu predictions %s", count, all->count,
             count == 1 ? "is" : "are");
    if (count > 0)
        note_calibration(given, all->count == 1 ? "this prediction is" : what, model);
}

void contenders_say_events(const contenders *all, const quorum_model *model, const arguments *given)
{
    say_uncalibrated(all, model, given);
    for (size_t i = 0; i < all->count; i++) {
        const contender *c = &all->items[i];
        char name[320];
        snprintf(name, sizeof name, "%.100s%s%s, select %s, %s space",
                 all->target ? all->target : "", all->target ? ": " : "", contender_method(c),
                 c->select, c->space);
        note_events(given, name, &c->report, c->scores.n);
        const double *before = c->metrics_before.coverage;
        if (c->scores_before.n)
            note(given, "%s: before calibration the intervals covered %.1f, %.1f, %.1f and %.1f %%",
                 name, 100.0 * before[0], 100.0 * before[1], 100.0 * before[2], 100.0 * before[3]);
    }
}
