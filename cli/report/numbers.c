/* The page's figures for programs: one JSON object, <script type="application/json" id="numbers">. */
#include "hyperparameters.h"
#include "report/html.h"
#include "report/sections.h"
#include "score_json.h"

static void put_scores(json_writer *w, const char *key, const quorum_metrics *m)
{
    json_key(w, key);
    json_begin_object(w);
    metrics_put(w, m);
    json_end(w);
}

static void put_groups(json_writer *w, const facts *f, const grouping *by)
{
    json_key(w, "groups");
    json_begin_list(w);
    for (size_t g = 0; g < by->count; g++) {
        const scored_group *s = &by->group[g];
        json_begin_object(w);
        group_put(w, s->name, &s->rows, &s->scores);
        json_member_number(w, "rmse_trivial", s->trivial);
        if (f->before)
            json_member_number(w, "rmse_before", s->before);
        json_end(w);
    }
    json_end(w);
}

static void put_effects(json_writer *w, const facts *f)
{
    json_key(w, "effects");
    json_begin_list(w);
    for (size_t k = 0; k < f->effects.count; k++) {
        const input_effect *e = &f->effects.of[k];
        json_begin_object(w);
        json_member_text(w, "input", input_name(&f->info, e->column).text);
        json_member_numbers(w, "value", e->values, e->points);
        json_member_numbers(w, "mean", e->mean, e->points);
        json_member_numbers(w, "lower", e->lower, e->points);
        json_member_numbers(w, "upper", e->upper, e->points);
        json_member_numbers(w, "support", e->support, e->points);
        json_member_numbers(w, "occurring", e->occurring, e->points);
        json_end(w);
    }
    json_end(w);
}

static void put_gaps(json_writer *w, const found_gaps *g)
{
    json_key(w, "gaps");
    json_begin_object(w);
    json_member_count(w, "across", g->across);
    json_member_count(w, "empty", g->count);
    json_member_count(w, "rows", g->asked);
    json_member_number(w, "rmse", g->rmse);
    json_end(w);
}

static void put_coverage(json_writer *w, const facts *f)
{
    coverage c = find_coverage(&f->rows);
    json_key(w, "coverage");
    json_begin_object(w);
    json_member_numbers(w, "stated", c.stated, COVERAGE_LEVELS);
    json_member_numbers(w, "share", c.share, COVERAGE_LEVELS);
    json_member_numbers(w, "low", c.low, COVERAGE_LEVELS);
    json_member_numbers(w, "high", c.high, COVERAGE_LEVELS);
    json_end(w);
}

static void put_all_groups(json_writer *w, const facts *f)
{
    json_key(w, "by_distance");
    json_begin_object(w);
    put_groups(w, f, &f->by_distance);
    json_end(w);
    json_key(w, "by_column");
    json_begin_list(w);
    for (size_t d = 0; d < f->info.columns; d++) {
        json_begin_object(w);
        json_member_text(w, "name", input_name(&f->info, d).text);
        put_groups(w, f, &f->by_column[d]);
        json_end(w);
    }
    json_end(w);
}

int write_numbers(FILE *file, const facts *f)
{
    json_writer w;
    fputs("<script type=\"application/json\" id=\"numbers\">", file);
    w = html_json(file);
    json_begin_object(&w);
    json_member_text(&w, "quorum", quorum_version());
    json_member_flag(&w, "left_out", !f->test);
    json_member_count(&w, "training_rows", f->info.rows);
    json_member_count(&w, "rows", f->rows.count);
    json_member_count(&w, "rows_shown", f->shown_count);
    put_scores(&w, "scores", &f->scores);
    put_scores(&w, "trivial", &f->trivial);
    if (f->before) {
        quorum_metrics old = asked_scores(&f->old_rows, &f->old_info);
        put_scores(&w, "before", &old);
    }
    put_coverage(&w, f);
    put_all_groups(&w, f);
    json_member_count(&w, "effect_rows", f->effects.rows);
    put_effects(&w, f);
    put_gaps(&w, &f->gaps);
    json_end(&w);
    json_finish(&w);
    fputs("</script>\n", file);
    return EXIT_DONE;
}
