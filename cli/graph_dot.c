/* The expert graph in Graphviz's language.
 *
 * Readable without colour: selected experts are filled circles, the others
 * open squares; the best on the test set have a second outline. */
#include "graph.h"

#include <math.h>

static double largest_link(const quorum_info *info)
{
    double largest = 0.0;
    for (size_t i = 0; i < info->experts; i++)
        for (size_t j = i + 1; j < info->experts; j++)
            largest = fmax(largest, fabs(info->precision[i * info->experts + j]));
    return largest;
}

static double largest_importance(const quorum_info *info)
{
    return info->importance[info->ranking[0]];
}

/* The area of a node grows with importance, from 0.32 to 0.9 inches across. */
static double node_width(const quorum_info *info, size_t i)
{
    double largest = largest_importance(info);
    double share = largest > 0.0 ? info->importance[i] / largest : 1.0;
    return 0.32 + 0.58 * sqrt(share > 0.0 ? share : 0.0);
}

static void write_node(FILE *file, const expert_graph *g, size_t i)
{
    bool selected = g->selected[i], best = g->best && g->best[i];
    double width = node_width(&g->info, i) * (selected ? 1.0 : 0.886); /* equal areas */
    fprintf(file,
            "  e%zu [label=\"%zu\", width=%.3f, height=%.3f, fontsize=%.1f, shape=%s, "
            "fillcolor=\"%s\", fontcolor=\"%s\", color=\"%s\", penwidth=%s, peripheries=%d];\n",
            i + 1, i + 1, width, width, 8.0 + 8.0 * (width - 0.32), selected ? "circle" : "square",
            selected ? "#c0392b" : "#ffffff", selected ? "#ffffff" : "#333333",
            best ? "#1e8449" : "#333333", best ? "2.5" : "1", best ? 2 : 1);
}

/* Widths by |Omega_ij| over the largest; all of them thinner where there are many. */
static void write_edges(FILE *file, const quorum_info *info)
{
    double largest = largest_link(info);
    double widest = 4.2 * fmin(1.0, sqrt(40.0 / (double)(info->edges ? info->edges : 1)));
    for (size_t i = 0; i < info->experts; i++) {
        for (size_t j = i + 1; j < info->experts; j++) {
            double share = fabs(info->precision[i * info->experts + j]) / largest;
            if (!(share > 0.0))
                continue;
            fprintf(file, "  e%zu -- e%zu [penwidth=%.3f, len=%.3f, weight=%.4f];\n", i + 1, j + 1,
                    0.2 + widest * share, 2.2 - 0.9 * sqrt(share), 0.2 + share);
        }
    }
}

static void write_legend_row(FILE *file, const char *symbol, const char *colour, const char *text)
{
    fprintf(file,
            "<tr><td><font color=\"%s\" point-size=\"16\">%s</font></td>"
            "<td align=\"left\">%s</td></tr>",
            colour, symbol, text);
}

static size_t count_marks(const bool *marks, size_t count)
{
    size_t marked = 0;
    for (size_t i = 0; i < count; i++)
        marked += marks[i];
    return marked;
}

/* Title above, legend in the same label below it. */
static void write_label(FILE *file, const expert_graph *g)
{
    const quorum_info *info = &g->info;
    char text[128];
    size_t selected = count_marks(g->selected, info->experts);
    fprintf(file, "  label=<<table border=\"0\" cellspacing=\"2\" cellpadding=\"0\">");
    fprintf(file,
            "<tr><td colspan=\"2\"><font point-size=\"16\">Expert graph: %zu experts, %zu edges, "
            "&lambda; = %.4g, &alpha; = %.4g</font></td></tr>",
            info->experts, info->edges, info->lambda, g->alpha);
    snprintf(text, sizeof text,
             "selected (%s): %zu of %zu experts; a larger node is more "
             "important",
             g->select, selected, info->experts);
    write_legend_row(file, "&#9679;", "#c0392b", text);
    write_legend_row(file, "&#9633;", "#333333", "not selected");
    if (g->best) {
        snprintf(text, sizeof text, "second ring: the %zu best on the test set, each on its own",
                 count_marks(g->best, info->experts));
        write_legend_row(file, "&#9678;", "#1e8449", text);
    }
    write_legend_row(file, "&#9473;", "#555555",
                     "dependent given all other experts; wider is stronger");
    fprintf(file, "</table>>;\n");
}

void write_dot(FILE *file, const expert_graph *g)
{
    fprintf(file, "graph experts {\n"
                  "  layout=neato; overlap=false; splines=false; outputorder=edgesfirst;\n"
                  "  start=1; labelloc=t; fontname=\"Helvetica\"; pad=0.2; bgcolor=\"#ffffff\";\n"
                  "  node [style=filled, fixedsize=true, fontname=\"Helvetica\"];\n"
                  "  edge [color=\"#55555599\"];\n");
    write_label(file, g);
    for (size_t i = 0; i < g->info.experts; i++)
        write_node(file, g, i);
    write_edges(file, &g->info);
    fprintf(file, "}\n");
}
