/* quorum graph: a picture of how the experts depend on each other. */
#include "graph.h"

#include "arguments.h"
#include "command.h"
#include "graphviz.h"
#include "output.h"
#include "picture.h"
#include "progress.h"
#include "report.h"
#include "rows.h"
#include "talk.h"
#include "targets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    chosen_targets target;
    quorum_model *model; /* of the target */
    row_block rows;      /* of the test set */
    size_t tested;       /* rows            */
    expert_graph graph;
    progress progress;
} work;

/* ---- Which experts are selected ---------------------------------------------------- */

static size_t share_of(size_t experts, double alpha)
{
    size_t count = (size_t)ceil(alpha * (double)experts - 1e-9);
    return count < 1 ? 1 : count > experts ? experts : count;
}

/* "graph:A" and "best:A" are the A most important, "worst:A" the least. */
static int parse_select(const arguments *given, expert_graph *g, bool *from_bottom)
{
    const char *select = argument_value(given, "select");
    if (!select)
        select = "graph:0.8";
    quorum_status status = quorum_options_set(given->options, "select", select);
    if (status < 0)
        return option_failure(given, "select", status);
    const char *colon = strchr(select, ':');
    size_t length = colon ? (size_t)(colon - select) : 0;
    bool worst = length == 5 && strncmp(select, "worst", 5) == 0;
    bool best = (length == 5 && strncmp(select, "graph", 5) == 0) ||
                (length == 4 && strncmp(select, "best", 4) == 0);
    if ((!worst && !best) || strstr(select, "+"))
        return usage_error(given->command,
                           "--select: '%s' is not one set of experts for all queries; the "
                           "picture can show graph:A, best:A or worst:A",
                           select);
    snprintf(g->select, sizeof g->select, "%s", select);
    g->alpha = strtod(colon + 1, NULL);
    *from_bottom = worst;
    return EXIT_DONE;
}

static int mark_selected(expert_graph *g, const arguments *given, bool from_bottom)
{
    size_t experts = g->info.experts, count = share_of(experts, g->alpha);
    g->selected = calloc(experts, sizeof *g->selected);
    if (!g->selected)
        return failure(given, "out of memory for the choice of experts");
    for (size_t k = 0; k < count; k++)
        g->selected[g->info.ranking[from_bottom ? experts - 1 - k : k]] = true;
    return EXIT_DONE;
}

/* ---- Which experts are best on a test set -------------------------------------------- */

/* Adds expert i's squared errors on the rows just read: the product of experts
 * of one expert is that expert. */
static quorum_status add_errors(work *w, const arguments *given, size_t i)
{
    row_block *r = &w->rows;
    char select[32];
    quorum_prediction out = {.mean = r->result[0], .offset = r->offset};
    snprintf(select, sizeof select, "expert:%zu", i + 1);
    progress_task(&w->progress, "expert %zu of %zu", i + 1, w->graph.info.experts);
    progress_part(&w->progress, i, w->graph.info.experts);
    quorum_status status = quorum_options_set(given->options, "select", select);
    if (status >= 0)
        status = quorum_predict(w->model, r->X, r->count, given->options, &out, NULL);
    for (size_t k = 0; k < r->count && status >= 0; k++)
        w->graph.mse[i] += (r->y[k] - out.mean[k]) * (r->y[k] - out.mean[k]);
    return status;
}

static bool graph_is_on_test(const arguments *given)
{
    return strcmp(quorum_options_get(given->options, "graph-on"), "test") == 0;
}

/* With --graph-on test: the graph of the rows just read, which are then all there are. */
static quorum_status learn_graph(work *w, const arguments *given)
{
    if (!graph_is_on_test(given))
        return QUORUM_OK;
    quorum_status status = quorum_learn_graph(w->model, w->rows.X, w->rows.count, given->options);
    return status < 0 ? status : quorum_inspect(w->model, &w->graph.info);
}

static int score_experts(work *w, const arguments *given)
{
    size_t block = rows_limit(quorum_block_rows(w->model, given->options), given);
    int code;
    while ((code = rows_next(&w->rows, block, given)) == EXIT_DONE && w->rows.count > 0) {
        quorum_status status = learn_graph(w, given);
        for (size_t i = 0; i < w->graph.info.experts && status >= 0; i++)
            status = add_errors(w, given, i);
        progress_clear(&w->progress);
        if (status < 0)
            return library_failure(given, status);
        w->tested += w->rows.count;
    }
    return code;
}

/* The ceil(alpha M) experts with the smallest error; ties: the lower index. */
static void mark_best(expert_graph *g)
{
    size_t experts = g->info.experts;
    for (size_t k = 0; k < share_of(experts, g->alpha); k++) {
        size_t next = experts;
        for (size_t i = 0; i < experts; i++)
            if (!g->best[i] && (next == experts || g->mse[i] < g->mse[next]))
                next = i;
        g->best[next] = true;
    }
}

/* Options for the means of one expert at a time. */
static quorum_status predict_alone(quorum_options *options)
{
    quorum_status status = quorum_options_set(options, "method", "poe");
    if (status >= 0)
        status = quorum_options_set(options, "select", "expert:1");
    return status < 0 ? status : quorum_options_set(options, "mean-only", "true");
}

static int test_experts(work *w, const arguments *given, const char *path)
{
    expert_graph *g = &w->graph;
    g->mse = calloc(g->info.experts, sizeof *g->mse);
    g->best = calloc(g->info.experts, sizeof *g->best);
    if (!g->mse || !g->best)
        return failure(given, "out of memory for the errors of %zu experts", g->info.experts);
    quorum_status status = predict_alone(given->options);
    if (status >= 0)
        status = rows_open(&w->rows, path, w->model, true, 1, given);
    int code = status < 0 ? library_failure(given, status) : score_experts(w, given);
    if (code != EXIT_DONE)
        return code;
    if (w->tested == 0)
        return failure(given, "%s: has no rows to test the experts on", path);
    for (size_t i = 0; i < g->info.experts; i++)
        g->mse[i] /= (double)w->tested;
    mark_best(g);
    return EXIT_DONE;
}

/* ---- Drawing ----------------------------------------------------------------------------- */

static int draw(const expert_graph *g, const arguments *given, const char *path)
{
    output out;
    int code = output_open(&out, given, path);
    if (code != EXIT_DONE)
        return code;
    if (has_extension(path, ".json"))
        code = write_graph_as_json(out.file, g, given);
    else if (has_extension(path, ".dot"))
        write_dot(out.file, g);
    else
        code = draw_with_graphviz(given, out.file, path, g);
    if (code == EXIT_DONE)
        code = output_commit(&out, given);
    output_discard(&out);
    return code;
}

static int mark_and_draw(work *w, const arguments *given, const char *path, bool from_bottom)
{
    const char *test = argument_value(given, "test");
    int code = test ? test_experts(w, given, test) : EXIT_DONE;
    if (code == EXIT_DONE)
        code = mark_selected(&w->graph, given, from_bottom);
    if (code == EXIT_DONE)
        code = draw(&w->graph, given, path);
    if (code == EXIT_DONE)
        note(given, "the expert graph is in %s", path);
    return code;
}

/* ---- The model's own graph ---------------------------------------------------------------- */

/* Unless the model has its graph or that of the test set is wanted, learns it; *learned: whether it
 * did. */
static quorum_status find_graph(work *w, const arguments *given, bool *learned)
{
    quorum_status status = quorum_inspect(w->model, &w->graph.info);
    *learned = status >= 0 && !w->graph.info.ranking;
    if (status >= 0 && !graph_is_on_test(given))
        status = quorum_learn_graph(w->model, NULL, 0, given->options);
    progress_clear(&w->progress);
    return status < 0 ? status : quorum_inspect(w->model, &w->graph.info);
}

static int write_into_model(const work *w, const arguments *given, bool learned)
{
    const char *path = given->operands[0];
    if (!learned) {
        note(given, "%s has its expert graph already", path);
        return EXIT_DONE;
    }
    quorum_status status = quorum_save(w->target.all, path);
    if (status < 0)
        return library_failure(given, status);
    note(given, "the expert graph, of %zu edge%s, is in %s", w->graph.info.edges,
         plural(w->graph.info.edges), path);
    return EXIT_DONE;
}

static int learn_and_show(work *w, const arguments *given, const char *path, bool from_bottom)
{
    bool learned;
    int code = chosen_load_one(&w->target, given);
    if (code != EXIT_DONE)
        return code;
    w->model = w->target.model[0];
    quorum_status status = find_graph(w, given, &learned);
    if (status < 0)
        return library_failure(given, status);
    if (argument_value(given, "write"))
        code = write_into_model(w, given, learned);
    if (code == EXIT_DONE && path)
        code = mark_and_draw(w, given, path, from_bottom);
    if (code == EXIT_DONE && w->graph.info.graph_trouble)
        note(given, "the graph is only approximate: %s", w->graph.info.graph_trouble);
    return code;
}

static int check_usage(const arguments *given, const char *path)
{
    bool writes = argument_value(given, "write");
    if (!path && !writes)
        return usage_error(given->command, "-o FILE is missing, or --write");
    if (path && !is_picture(path) && !has_extension(path, ".dot") && !has_extension(path, ".json"))
        return usage_error(given->command, "-o %s: the name must end in .svg, .png, .dot or .json",
                           path);
    if (graph_is_on_test(given) && writes)
        return usage_error(given->command, "--write is for the model's own graph, not for one of "
                                           "--graph-on test");
    if (graph_is_on_test(given) && !argument_value(given, "test"))
        return usage_error(given->command, "--graph-on test needs --test TEST");
    return EXIT_DONE;
}

static int run_graph(const arguments *given)
{
    const char *path = argument_value(given, "output");
    bool from_bottom = false;
    work w = {0};
    int code = check_usage(given, path);
    if (code == EXIT_DONE)
        code = parse_select(given, &w.graph, &from_bottom);
    if (code != EXIT_DONE)
        return code;
    progress_start(&w.progress, given);
    code = learn_and_show(&w, given, path, from_bottom);
    free(w.graph.selected);
    free(w.graph.mse);
    free(w.graph.best);
    rows_close(&w.rows);
    chosen_free(&w.target);
    return code;
}

static const operand operands[] = {
    {"MODEL", "A model file written by 'quorum fit'."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"output", 'o', "FILE", NULL, NULL,
     "Where to draw: .svg or .png (Graphviz does the layout), .dot or .json, by the name's ending. "
     "Required, unless --write is given."},
    {"write", 0, NULL, NULL, NULL,
     "Write the graph into MODEL if it is not there, so that nobody learns it again; MODEL is "
     "replaced as a whole."},
    {"select", 0, "RULE", NULL, "graph:0.8",
     "Which experts are drawn as selected: graph:A or best:A, the share A that is most important, "
     "or worst:A, the share A that is least important."},
    {"test", 0, "TEST", NULL, NULL,
     "Test data with the target's column: also marks the experts whose own predictions have the "
     "smallest error on it, as many as are selected."},
    TARGET_FLAG_ONE,
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command graph_command = {
    .name = "graph",
    .summary = "draw how the experts depend on each other",
    .usage = "MODEL -o graph.svg|graph.png|graph.dot|graph.json [--write] [options]",
    .description =
        "Draws the expert graph, and learns it first where the model has none: an expert is a "
        "node, larger when more important; the selected "
        "experts are filled; an edge joins two experts that depend on each other given all others, "
        "wider for a stronger link. With --test, the experts that are best on their own get a "
        "second ring, so one sees how well importance finds them.",
    .option_names = "graph-on header missing decimal thousands comment query threads memory",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum graph model.npz -o graph.svg\n"
                "  quorum graph model.npz -o graph.svg --select graph:0.5 --test test.csv\n"
                "  quorum graph model.npz -o graph.svg --test test.csv --graph-on test\n"
                "  quorum graph model.npz --write\n"
                "  quorum graph model.npz -o graph.dot && neato -Tpdf graph.dot -o graph.pdf\n",
    .run = run_graph,
};
