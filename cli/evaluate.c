/* quorum evaluate: a model and test data in, a table of scores out. */
#include "arguments.h"
#include "command.h"
#include "breakdown.h"
#include "events.h"
#include "picture.h"
#include "progress.h"
#include "report.h"
#include "rows.h"
#include "scoring.h"
#include "table.h"
#include "talk.h"
#include "targets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One target's scores. */
typedef struct {
    quorum_model *model;
    row_block rows;
    contenders all;
    breakdown by; /* with --by */
    progress progress;
    forecast forecast; /* of one contender; several take turns on the rows */
    size_t block;      /* rows to read at once */
    size_t scored;     /* rows */
    bool had_graph;
} work;

static int open_inputs(work *w, const arguments *given)
{
    quorum_status status = contenders_block_rows(&w->all, w->model, given->options, &w->block);
    w->had_graph = status < 0 || has_graph(w->model);
    quorum_stream_request wanted = {.with_target = true,
                                    .column = w->all.by && !w->by.by_distance ? w->by.by : NULL};
    if (status >= 0)
        status = rows_open_with(&w->rows, given->operands[1], w->model, &wanted, 2, given);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

/* Every contender on the rows that were just read. */
static int score_rows(work *w, const arguments *given)
{
    row_block *r = &w->rows;
    w->by.weighted = r->weights != NULL;
    if (w->all.by && breakdown_reserve(&w->by, given, r->count) != EXIT_DONE)
        return EXIT_FAILED;
    const scored_rows rows = {.count = r->count,
                              .X = r->X,
                              .y = r->y,
                              .offset = r->offset,
                              .noise = r->noise,
                              .weights = r->weights,
                              .mean = r->result[0],
                              .std = r->result[1]};
    quorum_status status = contenders_score(&w->all, w->model, given->options, &w->progress, &rows);
    progress_clear(&w->progress);
    w->scored += r->count;
    if (w->all.by && status >= 0)
        breakdown_take(&w->by, r->count, r->column, r->y, r->weights);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

static int group_rows(work *w, const arguments *given)
{
    quorum_info info;
    quorum_status status = quorum_inspect(w->model, &info);
    if (status < 0)
        return library_failure(given, status);
    breakdown_name_keys(&w->by, &info, quorum_stream_column_place(w->rows.stream));
    return breakdown_group(&w->by, given);
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
    if (code == EXIT_DONE && w->all.items[0].scores.weight == 0.0)
        return failure(given, "%s: all rows have the weight 0: there is nothing to score",
                       given->operands[1]);
    contenders_finish(&w->all);
    return code == EXIT_DONE && w->all.by ? group_rows(w, given) : code;
}

static void add_scores(table *t, const contender *c)
{
    const quorum_metrics *m = &c->metrics;
    const double values[] = {m->smse, m->msll, m->mae, m->rmse, m->nlpd, m->crps};
    table_add(t, "%s", contender_method(c));
    table_add(t, "%s", c->select);
    table_add(t, "%s", c->space);
    for (int k = 0; k < 6; k++)
        table_add_real(t, values[k]);
    for (int k = 0; k < 4; k++)
        table_add(t, "%.1f", 100.0 * m->coverage[k]);
    table_add(t, "%.1f", c->report.experts_used);
    table_add(t, "%.2f", c->report.seconds);
}

/* A row for each target and contender; one target alone is not named. */
static int print_scores(const work *of, size_t count, bool named, const arguments *given)
{
    static const char *const titles[] = {"target", "method", "select",  "space",  "SMSE", "MSLL",
                                         "MAE",    "RMSE",   "NLPD",    "CRPS",   "50 %", "90 %",
                                         "95 %",   "99 %",   "experts", "seconds"};
    table t;
    table_start(&t, named ? "llllrrrrrrrrrrrr" : "lllrrrrrrrrrrrr", titles + !named);
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < of[k].all.count; i++) {
            if (named)
                table_add(&t, "%s", name_of_target(of[k].model));
            add_scores(&t, &of[k].all.items[i]);
        }
    return table_finish(&t, given);
}

/* SMSE is a squared error over the variance of the targets; and a logarithm has a least target. */
static void note_targets(const work *w, const arguments *given)
{
    if (isinf(w->all.items[0].metrics.nlpd))
        note(given, "there is no log density of these rows: some targets are below all that the "
                    "model's logarithm of the target can be of");
    if (isfinite(w->all.items[0].metrics.smse))
        return;
    if (w->scored == 1)
        note(given, "there is no SMSE of one row: one target has no variance");
    else
        note(given, "there is no SMSE of these rows: the targets are all the same and have no "
                    "variance");
}

/* The groups, where they are wanted, below the scores and as a picture. */
static int tell_groups(work *w, const arguments *given)
{
    quorum_info info;
    const char *path = argument_value(given, "plot");
    quorum_status status = quorum_inspect(w->model, &info);
    if (status < 0)
        return library_failure(given, status);
    int code = path ? breakdown_draw(&w->by, &w->all, &info, given, path) : EXIT_DONE;
    if (code == EXIT_DONE && !argument_value(given, "json"))
        code = breakdown_print(&w->by, &w->all, &info, given);
    return code;
}

/* What there is to say of one target. */
static void say_notes(const work *w, const arguments *given)
{
    size_t dropped = quorum_stream_dropped(w->rows.stream);
    const char *target = w->all.target ? w->all.target : "";
    if (dropped)
        note(given, "%s%s%zu row%s with missing cells left out: %s", target, *target ? ": " : "",
             dropped, plural(dropped), dropped_rows(w->rows.stream).text);
    contenders_say_events(&w->all, w->model, given);
    note_off_constants(given, w->model, &w->all.items[0].report);
    note_unseen(given, &w->all.items[0].report);
    note_filled(given, &w->all.items[0].report);
    note_learned_graph(given, w->model, w->had_graph);
    note_targets(w, given);
}

/* A list, or of several targets an object that has one for each. */
static int print_as_json(const work *of, size_t count, bool named, const arguments *given)
{
    json_writer w = json_to_file(stdout);
    quorum_status status = QUORUM_OK;
    if (named)
        json_begin_object(&w);
    for (size_t k = 0; k < count && status >= 0; k++) {
        if (named)
            json_key(&w, name_of_target(of[k].model));
        status = contenders_put(&w, &of[k].all, of[k].model);
    }
    if (named)
        json_end(&w);
    return status < 0 ? library_failure(given, status) : json_report(&w, given);
}

static int tell(work *of, size_t count, bool named, const arguments *given)
{
    for (size_t k = 0; k < count; k++)
        say_notes(&of[k], given);
    int code = argument_value(given, "json") ? print_as_json(of, count, named, given)
                                             : print_scores(of, count, named, given);
    for (size_t k = 0; code == EXIT_DONE && k < count && of[k].all.by; k++) {
        if (named && !argument_value(given, "json"))
            printf("\nTarget %s\n", shown(name_of_target(of[k].model)).text);
        code = tell_groups(&of[k], given);
    }
    return code;
}

/* Rows are kept where groups are wanted; that a picture can be written is seen before the work. */
static int start_breakdown(work *w, const arguments *given)
{
    const char *by = argument_value(given, "by"), *path = argument_value(given, "plot");
    if (path && !by)
        return usage_error(given->command, "--plot draws the groups of --by: say by what");
    if (!by)
        return EXIT_DONE;
    int code = path ? picture_check(given, path) : EXIT_DONE;
    if (code == EXIT_DONE)
        code = breakdown_start(&w->by, given, by, w->all.count);
    w->all.by = &w->by;
    return code;
}

/* Reads TEST and scores one target on it. */
static int evaluate_target(work *w, const arguments *given)
{
    int code = contenders_make(&w->all, given, argument_value(given, "method"),
                               argument_value(given, "select"), argument_value(given, "space"));
    if (code == EXIT_DONE)
        code = start_breakdown(w, given);
    if (code != EXIT_DONE)
        return code;
    progress_start(&w->progress, given);
    forecast_start(&w->forecast);
    w->progress.forecast = w->all.count == 1 ? &w->forecast : NULL;
    code = open_inputs(w, given);
    return code == EXIT_DONE ? score_all(w, given) : code;
}

static void work_free(work *w)
{
    contenders_free(&w->all);
    breakdown_free(&w->by);
    rows_close(&w->rows);
}

/* TEST is read once for each target, and a picture is of one. */
static int check_several(const chosen_targets *c, const arguments *given)
{
    if (c->count > 1 && argument_value(given, "plot"))
        return usage_error(given->command, "--plot draws one target: say which with --target");
    if (c->count > 1 && strcmp(given->operands[1], "-") == 0)
        return usage_error(given->command,
                           "standard input can be read once, and the model has %zu "
                           "targets: give a file, or --target",
                           c->count);
    return EXIT_DONE;
}

static int evaluate_targets(const chosen_targets *c, const arguments *given)
{
    work *of = calloc(c->count, sizeof *of);
    if (!of)
        return failure(given, "out of memory for the targets");
    int code = check_several(c, given);
    for (size_t k = 0; k < c->count && code == EXIT_DONE; k++) {
        of[k].model = c->model[k];
        code = evaluate_target(&of[k], given);
        of[k].all.target = c->several ? name_of_target(c->model[k]) : NULL;
    }
    if (code == EXIT_DONE)
        code = tell(of, c->count, c->several, given);
    for (size_t k = 0; k < c->count; k++)
        work_free(&of[k]);
    free(of);
    return code;
}

/* Flags that are wrong are said before the model is read. */
static int check_flags(const arguments *given)
{
    work w = {0};
    int code = contenders_make(&w.all, given, argument_value(given, "method"),
                               argument_value(given, "select"), argument_value(given, "space"));
    if (code == EXIT_DONE)
        code = start_breakdown(&w, given);
    work_free(&w);
    return code;
}

static int run_evaluate(const arguments *given)
{
    chosen_targets targets = {0};
    progress loading;
    int code = check_flags(given);
    if (code != EXIT_DONE)
        return code;
    detail_settings(given);
    progress_start(&loading, given);
    code = chosen_load(&targets, given);
    progress_clear(&loading);
    if (code == EXIT_DONE)
        code = evaluate_targets(&targets, given);
    chosen_free(&targets);
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
    {"by", 0, "KEY", NULL, NULL,
     "Also score groups of rows, about a tenth of them each: by 'distance', to the nearest "
     "training row in length-scales, or by a column of TEST, which need not be an input (name, or "
     "number from 1). Up to ten different values are a group each; of a category with more levels "
     "the nine that most rows have are, and the others one. Rows without a value are one more, "
     "'(no value)'."},
    {"plot", 0, "FILE", NULL, NULL,
     "With --by, also draw coverage and width of the 95 % interval, group by group, to FILE.svg or "
     "FILE.png."},
    {"json", 0, NULL, NULL, NULL,
     "Print the scores as a JSON list of objects; of several targets as an object of such lists."},
    TARGET_FLAG_LIST,
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
        "the seconds taken. With --by a second table has the coverage of the 95 % interval, its "
        "mean width, RMSE and MSLL of each group of rows; 'expected' is where chance puts the "
        "coverage of so many rows in 95 of 100 cases if the interval is right. Of a model of "
        "several targets each has its rows in the tables, on the rows of TEST that have it.",
    .operands = operands,
    .flags = flags,
    .examples =
        "  quorum evaluate model.npz test.csv\n"
        "  quorum evaluate model.npz test.csv --method all\n"
        "  quorum evaluate model.npz test.csv --method npae --select all,local:4,graph:0.8\n"
        "  quorum evaluate model.npz test.csv --method nearest --neighbours 64\n"
        "  quorum evaluate model.npz test.csv --method rbcm --space latent,observed --json\n"
        "  quorum evaluate model.npz test.csv --by distance --plot distance.svg\n",
    .lists_methods = true,
    .in_team = true,
    .run = run_evaluate,
};
