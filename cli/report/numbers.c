/* The page's figures for programs: one JSON object, <script type="application/json" id="numbers">. */
#include "hyperparameters.h"
#include "report/html.h"
#include "report/sections.h"

static void put_scores(json_writer *w, const char *key, const quorum_metrics *m)
{
    json_key(w, key);
    json_begin_object(w);
    json_member_number(w, "smse", m->smse);
    json_member_number(w, "msll", m->msll);
    json_member_number(w, "mae", m->mae);
    json_member_number(w, "rmse", m->rmse);
    json_member_number(w, "nlpd", m->nlpd);
    json_member_number(w, "crps", m->crps);
    json_end(w);
}

static void put_groups(json_writer *w, const grouping *by)
{
    json_key(w, "groups");
    json_begin_list(w);
    for (size_t g = 0; g < by->count; g++) {
        const scored_group *s = &by->group[g];
        json_begin_object(w);
        json_member_text(w, "name", s->name);
        json_member_count(w, "rows", s->rows);
        json_member_number(w, "rmse", s->scores.rmse);
        json_member_number(w, "coverage", s->scores.coverage);
        json_member_number(w, "width", s->scores.width);
        json_member_numbers(w, "expected", s->expected, 2);
        json_end(w);
    }
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
    put_groups(w, &f->by_distance);
    json_end(w);
    json_key(w, "by_column");
    json_begin_list(w);
    for (size_t d = 0; d < f->info.columns; d++) {
        json_begin_object(w);
        json_member_text(w, "name", input_name(&f->info, d).text);
        put_groups(w, &f->by_column[d]);
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
    json_end(&w);
    json_finish(&w);
    fputs("</script>\n", file);
    return EXIT_DONE;
}
