/* quorum evaluate: a model and test data in, a table of scores out. */
#include "arguments.h"
#include "command.h"
#include "events.h"
#include "progress.h"
#include "report.h"
#include "rows.h"
#include "scoring.h"
#include "table.h"
#include "talk.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    quorum_model *model;
    row_block rows;
    contenders all;
    progress progress;
    forecast forecast; /* of one contender; several take turns on the rows */
    size_t block;      /* rows to read at once */
    size_t scored;     /* rows */
    bool had_graph;
} work;

static int open_inputs(work *w, const arguments *given)
{
    quorum_status status = quorum_load_with(given->operands[0], given->options, &w->model);
    if (status >= 0)
        status = contenders_block_rows(&w->all, w->model, given->options, &w->block);
    w->had_graph = status < 0 || has_graph(w->model);
    if (status >= 0)
        status = rows_open(&w->rows, given->operands[1], w->model, true, 2, given);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

/* Every contender on the rows that were just read. */
static int score_rows(work *w, const arguments *given)
{
    row_block *r = &w->rows;
    quorum_status status =
        contenders_score(&w->all, w->model, given->options, &w->progress, r->count, r->X, r->y,
                         r->offset, r->result[0], r->result[1]);
    progress_clear(&w->progress);
    w->scored += r->count;
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

static int score_all(work *w, const arguments *given)
{
    size_t limit = rows_limit(w->block, given);
    int code;
    while ((code = rows_next(&w->rows, limit, given)) == EXIT_DONE && w->rows.count > 0)
        if ((code = score_rows(w, given)) != EXIT_DONE)
            return code;
    if (code == EXIT_DONE && w->scored == 0)
        return failure(given, "%s: has no rows to evaluate on", given->operands[1]);
    contenders_finish(&w->all);
    return code;
}

static int print_scores(const contenders *all, const arguments *given)
{
    static const char *const titles[] = {"method", "select", "space", "SMSE",    "MSLL",
                                         "MAE",    "RMSE",   "NLPD",  "CRPS",    "50 %",
                                         "90 %",   "95 %",   "99 %",  "experts", "seconds"};
    table t;
    table_start(&t, "lllrrrrrrrrrrrr", titles);
    for (size_t i = 0; i < all->count; i++) {
        const contender *c = &all->items[i];
        const quorum_metrics *m = &c->metrics;
        const double values[] = {m->smse, m->msll, m->mae, m->rmse, m->nlpd, m->crps};
        table_add(&t, "%s", contender_method(c));
        table_add(&t, "%s", c->select);
        table_add(&t, "%s", c->space);
        for (int k = 0; k < 6; k++)
            table_add_real(&t, values[k]);
        for (int k = 0; k < 4; k++)
            table_add(&t, "%.1f", 100.0 * m->coverage[k]);
        table_add(&t, "%.1f", c->report.experts_used);
        table_add(&t, "%.2f", c->report.seconds);
    }
    return table_finish(&t, given);
}

/* SMSE is a squared error over the variance of the targets. */
static void note_targets(const work *w, const arguments *given)
{
    if (isfinite(w->all.items[0].metrics.smse))
        return;
    if (w->scored == 1)
        note(given, "there is no SMSE of one row: one target has no variance");
    else
        note(given, "there is no SMSE of these rows: the targets are all the same and have no "
                    "variance");
}

static int tell(work *w, const arguments *given)
{
    size_t dropped = quorum_stream_dropped(w->rows.stream);
    if (dropped)
        note(given, "%zu row%s with missing cells left out", dropped, plural(dropped));
    contenders_say_events(&w->all, w->model, given);
    note_off_constants(given, w->model, &w->all.items[0].report);
    note_learned_graph(given, w->model, w->had_graph);
    note_targets(w, given);
    if (argument_value(given, "json"))
        return contenders_as_json(&w->all, given);
    return print_scores(&w->all, given);
}

static int run_evaluate(const arguments *given)
{
    work w = {0};
    int code = contenders_make(&w.all, given, argument_value(given, "method"),
                               argument_value(given, "select"), argument_value(given, "space"));
    if (code == EXIT_DONE) {
        detail_settings(given);
        progress_start(&w.progress, given);
        forecast_start(&w.forecast);
        w.progress.forecast = w.all.count == 1 ? &w.forecast : NULL;
        code = open_inputs(&w, given);
    }
    if (code == EXIT_DONE)
        code = score_all(&w, given);
    if (code == EXIT_DONE)
        code = tell(&w, given);
    contenders_free(&w.all);
    rows_close(&w.rows);
    quorum_model_free(w.model);
    return code;
}

static const operand operands[] = {
    {"MODEL", "A model file written by 'quorum fit'."},
    {"TEST", "Test data with the target's column: csv, csv.gz, npy or npz."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"method", 0, "LIST", NULL, NULL,
     "Methods to compare, separated by commas (nearest,npae,'gpoe*'), or 'all'. The method that "
     "'quorum predict' would use when absent."},
    {"select", 0, "LIST", NULL, NULL,
     "Experts that take part, as in 'quorum predict'; several rules are separated by commas "
     "(all,local:8,graph:0.8)."},
    {"space", 0, "LIST", NULL, NULL,
     "Where experts are aggregated: latent, observed, or both as latent,observed."},
    {"json", 0, NULL, NULL, NULL, "Print the scores as a JSON list of objects."},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command evaluate_command = {
    .name = "evaluate",
    .summary = "score a model on test data, method by method",
    .usage = "MODEL TEST [--method all|nearest,npae,...] [options]",
    .description =
        "Predicts TEST with each method and prints a table of scores: SMSE (squared error over "
        "the target's variance; 1 is no better than the mean), MSLL (log loss against a Gaussian "
        "of the training target; below 0 is better than that), MAE, RMSE, NLPD, CRPS, the share "
        "of targets inside the central 50, 90, 95 and 99 % intervals, the experts used a row and "
        "the seconds taken.",
    .operands = operands,
    .flags = flags,
    .examples =
        "  quorum evaluate model.npz test.csv\n"
        "  quorum evaluate model.npz test.csv --method all\n"
        "  quorum evaluate model.npz test.csv --method npae --select all,local:4,graph:0.8\n"
        "  quorum evaluate model.npz test.csv --method nearest --neighbours 64\n"
        "  quorum evaluate model.npz test.csv --method rbcm --space latent,observed --json\n",
    .lists_methods = true,
    .in_team = true,
    .run = run_evaluate,
};
