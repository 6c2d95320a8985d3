/* The expert graph as JSON, for programs that draw it themselves. */
#include "graph.h"
#include "report.h"

static void put_node(json_writer *w, const expert_graph *g, size_t i, size_t rank)
{
    json_begin_object(w);
    json_member_count(w, "expert", i + 1);
    json_member_count(w, "rows", g->info.sizes[i]);
    json_member_number(w, "importance", g->info.importance[i]);
    json_member_count(w, "rank", rank + 1);
    json_member_flag(w, "selected", g->selected[i]);
    if (g->best) {
        json_member_number(w, "mse", g->mse[i]);
        json_member_flag(w, "best", g->best[i]);
    }
    json_end(w);
}

/* Most important first. */
static void put_nodes(json_writer *w, const expert_graph *g)
{
    json_key(w, "nodes");
    json_begin_list(w);
    for (size_t k = 0; k < g->info.experts; k++)
        put_node(w, g, g->info.ranking[k], k);
    json_end(w);
}

static void put_edge(json_writer *w, size_t i, size_t j, double precision)
{
    json_begin_object(w);
    json_member_count(w, "from", i + 1);
    json_member_count(w, "to", j + 1);
    json_member_number(w, "precision", precision);
    json_end(w);
}

static void put_edges(json_writer *w, const quorum_info *info)
{
    json_key(w, "edges");
    json_begin_list(w);
    for (size_t i = 0; i < info->experts; i++)
        for (size_t j = i + 1; j < info->experts; j++) {
            double value = info->precision[i * info->experts + j];
            if (value != 0.0)
                put_edge(w, i, j, value);
        }
    json_end(w);
}

int write_graph_as_json(FILE *file, const expert_graph *g, const arguments *given)
{
    json_writer w = json_to_file(file);
    json_begin_object(&w);
    json_member_count(&w, "experts", g->info.experts);
    json_member_number(&w, "lambda", g->info.lambda);
    json_member_text(&w, "select", g->select);
    json_member_number(&w, "alpha", g->alpha);
    put_nodes(&w, g);
    put_edges(&w, &g->info);
    json_end(&w);
    return json_report(&w, given);
}
