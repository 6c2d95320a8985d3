/* Scores of rows and of groups of them, member by member. */
#include "score_json.h"

void coverage_put(json_writer *w, const char *key, const double coverage[4])
{
    static const char *const percent[] = {"50", "90", "95", "99"};
    json_key(w, key);
    json_begin_object(w);
    for (int k = 0; k < 4; k++)
        json_member_number(w, percent[k], coverage[k]);
    json_end(w);
}

void metrics_put(json_writer *w, const quorum_metrics *m)
{
    json_member_number(w, "smse", m->smse);
    json_member_number(w, "msll", m->msll);
    json_member_number(w, "mae", m->mae);
    json_member_number(w, "rmse", m->rmse);
    json_member_number(w, "nlpd", m->nlpd);
    json_member_number(w, "crps", m->crps);
    coverage_put(w, "coverage", m->coverage);
}

void group_put(json_writer *w, const char *name, const row_group *g, const group_scores *s)
{
    json_member_text(w, "name", name);
    json_member_number(w, "low", g->low);
    json_member_number(w, "high", g->high);
    json_member_count(w, "rows", g->count);
    json_member_number(w, "coverage", s->coverage);
    json_member_numbers(w, "expected", g->expected, 2);
    json_member_number(w, "width", s->width);
    json_member_number(w, "rmse", s->rmse);
    json_member_number(w, "msll", s->msll);
}
