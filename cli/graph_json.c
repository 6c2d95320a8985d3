/* The expert graph as JSON, for programs that draw it themselves. */
#include "graph.h"
#include "report.h"

static json_t *node_as_json(const expert_graph *g, size_t i, size_t rank)
{
    json_t *o = json_object();
    json_object_set_new(o, "expert", json_count(i + 1));
    json_object_set_new(o, "rows", json_count(g->info.sizes[i]));
    json_object_set_new(o, "importance", json_number(g->info.importance[i]));
    json_object_set_new(o, "rank", json_count(rank + 1));
    json_object_set_new(o, "selected", json_boolean(g->selected[i]));
    if (g->best) {
        json_object_set_new(o, "mse", json_number(g->mse[i]));
        json_object_set_new(o, "best", json_boolean(g->best[i]));
    }
    return o;
}

/* Most important first. */
static json_t *nodes_as_json(const expert_graph *g)
{
    json_t *list = json_array();
    for (size_t k = 0; k < g->info.experts; k++)
        json_array_append_new(list, node_as_json(g, g->info.ranking[k], k));
    return list;
}

static json_t *edges_as_json(const quorum_info *info)
{
    json_t *list = json_array();
    for (size_t i = 0; i < info->experts; i++)
        for (size_t j = i + 1; j < info->experts; j++) {
            double value = info->precision[i * info->experts + j];
            if (value != 0.0)
                json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "from", json_count(i + 1),
                                                      "to", json_count(j + 1), "precision",
                                                      json_number(value)));
        }
    return list;
}

json_t *expert_graph_as_json(const expert_graph *g)
{
    json_t *o = json_object();
    json_object_set_new(o, "experts", json_count(g->info.experts));
    json_object_set_new(o, "lambda", json_number(g->info.lambda));
    json_object_set_new(o, "select", json_string(g->select));
    json_object_set_new(o, "alpha", json_number(g->alpha));
    json_object_set_new(o, "nodes", nodes_as_json(g));
    json_object_set_new(o, "edges", edges_as_json(&g->info));
    return o;
}
