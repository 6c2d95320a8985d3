/* A figure: title, the chart without scripts, a canvas with its data as JSON, and what to see in it. */
#include "report/chart.h"

#include "date_ticks.h"
#include "report/html.h"

#include <math.h>
#include <string.h>

enum { DATES_ALONG = 6 };

static const char *const kind_name[] = {"points", "line",  "band",  "links",
                                        "bars",   "spans", "cells", "region"};
static const char *const tone_name[] = {"main", "second", "warn", "muted", "rule"};

static void put_numbers(json_writer *w, const char *key, const double *values, size_t count)
{
    if (values)
        json_member_numbers(w, key, values, count);
}

static void put_texts(json_writer *w, const char *key, const char *const *texts, size_t count)
{
    if (!texts)
        return;
    json_key(w, key);
    json_begin_list(w);
    for (size_t i = 0; i < count; i++)
        json_put_text(w, texts[i]);
    json_end(w);
}

static void put_counts(json_writer *w, const char *key, const size_t *counts, size_t count)
{
    if (!counts)
        return;
    json_key(w, key);
    json_begin_list(w);
    for (size_t i = 0; i < count; i++)
        json_put_count(w, counts[i]);
    json_end(w);
}

static void put_flags(json_writer *w, const char *key, const bool *flags, size_t count)
{
    if (!flags)
        return;
    json_key(w, key);
    json_begin_list(w);
    for (size_t i = 0; i < count; i++)
        json_put_flag(w, flags[i]);
    json_end(w);
}

static void put_series(json_writer *w, const series *s)
{
    json_begin_object(w);
    json_member_text(w, "kind", kind_name[s->kind]);
    json_member_text(w, "tone", tone_name[s->tone]);
    if (s->name)
        json_member_text(w, "name", s->name);
    put_numbers(w, "x", s->x, s->count);
    put_numbers(w, "y", s->y, s->count);
    put_numbers(w, "y2", s->y2, s->count);
    put_numbers(w, "size", s->size, s->count);
    put_texts(w, "about", s->about, s->count);
    put_flags(w, "faded", s->faded, s->count);
    put_counts(w, "row", s->row, s->count);
    put_counts(w, "owner", s->owner, s->count);
    if (s->kind == SERIES_CELLS)
        json_member_numbers(w, "cell", s->cell, 2);
    json_end(w);
}

static void put_tick(json_writer *w, double at, const char *text)
{
    json_begin_object(w);
    json_member_number(w, "at", at);
    json_member_text(w, "text", text);
    json_end(w);
}

/* Round dates, [{at, text}]. */
static void put_dates(json_writer *w, const chart *c, bool along_x)
{
    date_tick tick[MOST_DATE_TICKS];
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < c->count; k++) {
        const double *values = along_x ? c->series[k].x : c->series[k].y;
        for (size_t i = 0; i < c->series[k].count; i++) {
            low = fmin(low, values[i]);
            high = fmax(high, values[i]);
        }
    }
    for (size_t i = 0, count = date_ticks(low, high, DATES_ALONG, !along_x, tick); i < count; i++)
        put_tick(w, tick[i].at, tick[i].text);
}

/* "x_ticks" and "x_dates", or "y_...": nothing of an axis of numbers. */
static void put_ticks(json_writer *w, const chart *c, bool along_x)
{
    const named_places *names = along_x ? &c->x_names : &c->y_names;
    bool dates = along_x ? c->x_is_date : c->y_is_date;
    if (!dates && names->count == 0)
        return;
    json_member_flag(w, along_x ? "x_dates" : "y_dates", dates);
    json_key(w, along_x ? "x_ticks" : "y_ticks");
    json_begin_list(w);
    if (dates)
        put_dates(w, c, along_x);
    for (size_t i = 0; i < names->count; i++)
        put_tick(w, names->at[i], names->name[i]);
    json_end(w);
}

static void put_chart(FILE *file, const chart *c)
{
    json_writer w = html_json(file);
    json_begin_object(&w);
    json_member_text(&w, "x_label", c->x_label);
    json_member_text(&w, "y_label", c->y_label);
    json_member_flag(&w, "same_scale", c->same_scale);
    json_member_flag(&w, "from_zero", c->from_zero);
    put_texts(&w, "category", c->category, c->series[0].count);
    put_ticks(&w, c, true);
    put_ticks(&w, c, false);
    json_key(&w, "series");
    json_begin_list(&w);
    for (size_t k = 0; k < c->count; k++)
        put_series(&w, &c->series[k]);
    json_end(&w);
    json_end(&w);
    json_finish(&w);
}

void chart_write(FILE *file, const chart *c)
{
    fprintf(file, "<figure class=\"chart\" id=\"%s\">\n<h3>", c->id);
    html_text(file, c->title);
    fputs("</h3>\n<div class=\"static\">\n", file);
    if (c->category)
        chart_tabulate(file, c);
    else
        chart_draw(file, c);
    fputs("</div>\n<div class=\"live\"><canvas role=\"img\" tabindex=\"0\" aria-label=\"", file);
    html_text(file, c->title);
    fputs(": a chart. Arrow keys go from mark to mark.", file);
    fputs("\"></canvas><p class=\"told\" role=\"status\"></p></div>\n<script "
          "type=\"application/json\">",
          file);
    put_chart(file, c);
    fputs("</script>\n", file);
    if (*c->about) {
        fputs("<figcaption>", file);
        html_text(file, c->about);
        fputs("</figcaption>\n", file);
    }
    fputs("</figure>\n", file);
}
