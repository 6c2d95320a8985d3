/* quorum predict: a model and queries in, a table of predictions out.
 *
 * The queries stream through in blocks, so a file larger than memory works. */
#include "answers.h"
#include "arguments.h"
#include "clock.h"
#include "command.h"
#include "events.h"
#include "grid.h"
#include "interrupt.h"
#include "many.h"
#include "map_file.h"
#include "output.h"
#include "progress.h"
#include "rows.h"
#include "talk.h"
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is predicted of one target. */
typedef struct {
    quorum_model *model;
    const char *name;
    answers answers;
    double *result[MAX_RESULTS]; /* capacity each; NULL where not wanted         */
    double *inputs;              /* room, where its inputs are not those of the first */
    size_t capacity;
    bool had_graph;
    quorum_prediction values; /* of the rows that were read last */
    quorum_report report;
    quorum_report total; /* experts_used: a sum over rows  */
} target_work;

typedef struct {
    chosen_targets targets;
    target_work *of; /* targets.count */
    bool together;   /* all at once    */
    row_block rows;
    grid grid;    /* no axes: queries come from a file       */
    map_file map; /* no path: predictions are written as csv */
    size_t results;
    output out;
    progress progress;
    forecast forecast;
    size_t predicted; /* rows                           */
    bool started;     /* the header is written          */
} work;

/* Options that do not go together are refused before queries are waited for. */
static int start_target(target_work *t, quorum_model *model, const arguments *given)
{
    quorum_prediction none = {0};
    t->model = model;
    t->name = name_of_target(model);
    int code = answers_parse(&t->answers, given);
    if (code != EXIT_DONE)
        return code;
    quorum_status status = quorum_predict(model, NULL, 0, given->options, &none, NULL);
    t->had_graph = status < 0 || has_graph(model);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

static int start_targets(work *w, const arguments *given)
{
    int code = chosen_load(&w->targets, given);
    if (code != EXIT_DONE)
        return code;
    w->of = calloc(w->targets.count, sizeof *w->of);
    if (!w->of)
        return failure(given, "out of memory for %zu targets", w->targets.count);
    for (size_t t = 0; t < w->targets.count && code == EXIT_DONE; t++)
        code = start_target(&w->of[t], w->targets.model[t], given);
    w->together = chosen_together(&w->targets);
    return code;
}

static int open_inputs(work *w, const arguments *given)
{
    int code = start_targets(w, given);
    if (code != EXIT_DONE)
        return code;
    quorum_stream_request wanted = {.keep = kept_wanted(given)};
    w->results = option_is_on(given, "mean-only") ? 1 : 4;
    if (w->grid.axes > 0)
        code = grid_check(&w->grid, "grid", w->of[0].model, given);
    if (code != EXIT_DONE)
        return code;
    quorum_status status =
        w->grid.axes > 0
            ? rows_open_grid(&w->rows, &w->grid, w->of[0].model, 0, given)
            : rows_open_with(&w->rows, given->operands[1], w->of[0].model, &wanted, 0, given);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

/* Of several targets with their names in front. */
static void write_target_names(const target_work *t, FILE *file)
{
    char *names = NULL;
    size_t size;
    FILE *text = open_memstream(&names, &size);
    if (text) {
        answers_write_names(&t->answers, t->model, text);
        if (fclose(text) == 0 && names)
            chosen_write_names(t->name, names, file);
    }
    free(names);
}

/* The columns that are predicted. */
static void write_names(const void *context, FILE *file)
{
    const work *w = context;
    for (size_t t = 0; t < w->targets.count; t++) {
        if (t > 0)
            fputc(',', file);
        if (w->targets.several)
            write_target_names(&w->of[t], file);
        else
            answers_write_names(&w->of[t].answers, w->of[t].model, file);
    }
}

/* Before the first rows are predicted nothing is written: it may fail. */
static void write_header(work *w)
{
    if (w->started)
        return;
    kept_write_names(&w->rows.kept, w->out.file);
    write_names(w, w->out.file);
    fputc('\n', w->out.file);
    w->started = true;
}

static void write_predictions(const work *w, size_t i)
{
    for (size_t t = 0; t < w->targets.count; t++) {
        if (t > 0)
            fputc(',', w->out.file);
        answers_write_row(&w->of[t].answers, &w->of[t].values, i, w->out.file);
    }
    fputc('\n', w->out.file);
}

/* Every row of the block in its place, also those without a prediction. */
static void write_block(const work *w)
{
    const kept_rows *kept = &w->rows.kept;
    for (size_t row = 0, i = 0; row < kept->rows; row++) {
        kept_write_row(kept, row, w->out.file);
        if (!kept->hole[row])
            write_predictions(w, i++);
    }
}

/* Room for the results of so many rows, and where they go. */
static int make_room(const work *w, target_work *t, size_t rows, quorum_prediction *values,
                     const arguments *given)
{
    quorum_info info;
    quorum_status status = quorum_inspect(t->model, &info);
    if (status < 0)
        return library_failure(given, status);
    for (size_t k = 0; rows > t->capacity && k < w->results; k++) {
        free(t->result[k]);
        if (!(t->result[k] = malloc(rows * sizeof **t->result)))
            return failure(given, "out of memory for %zu rows; --memory makes blocks smaller",
                           rows);
    }
    t->capacity = rows > t->capacity ? rows : t->capacity;
    values->mean = t->result[0];
    values->std = t->result[1];
    values->lower = t->result[2];
    values->upper = t->result[3];
    return answers_reserve(&t->answers, info.inputs, rows, given, values);
}

/* Room for all targets' results. */
static int make_all_room(work *w, const arguments *given)
{
    const row_block *r = &w->rows;
    int code = EXIT_DONE;
    for (size_t t = 0; t < w->targets.count && code == EXIT_DONE; t++) {
        w->of[t].values = (quorum_prediction){.offset = r->offset, .noise_std = r->noise};
        w->of[t].report = (quorum_report){0};
        code = make_room(w, &w->of[t], r->count, &w->of[t].values, given);
    }
    return code;
}

/* Predicts the rows without holes that were just read. */
static int predict_target(work *w, target_work *t, const arguments *given)
{
    const row_block *r = &w->rows;
    const double *X;
    int code = chosen_inputs(w->of[0].model, t->model, r->X, r->count, &t->inputs, given, &X);
    if (code != EXIT_DONE)
        return code;
    quorum_status status =
        quorum_predict(t->model, X, r->count, given->options, &t->values, &t->report);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

static int predict_together(work *w, const arguments *given)
{
    const quorum_prediction *out[MOST_TARGETS];
    quorum_report report[MOST_TARGETS] = {0};
    for (size_t t = 0; t < w->targets.count; t++)
        out[t] = &w->of[t].values;
    quorum_status status = quorum_predict_targets(w->targets.all, w->rows.X, w->rows.count,
                                                  given->options, out, report);
    for (size_t t = 0; t < w->targets.count; t++)
        w->of[t].report = report[t];
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

static int predict_whole(work *w, const arguments *given)
{
    size_t count = w->targets.count;
    quorum_status status = QUORUM_OK;
    int code = make_all_room(w, given);
    progress_task(&w->progress, "rows from %zu", w->predicted + 1);
    if (code == EXIT_DONE && w->together)
        code = predict_together(w, given);
    for (size_t t = 0; t < count && !w->together && code == EXIT_DONE; t++)
        code = predict_target(w, &w->of[t], given);
    progress_clear(&w->progress);
    for (size_t t = 0; t < count && code == EXIT_DONE && status >= 0; t++) {
        target_work *of = &w->of[t];
        add_events(&of->total, &of->report, w->rows.count);
        status = columns_decide(&of->answers.extra, of->model, given->options, &of->values,
                                w->rows.count);
    }
    return status < 0 ? library_failure(given, status) : code;
}

/* Predicts and writes the rows that were just read. */
static int predict_rows(work *w, const arguments *given)
{
    int code = w->rows.count > 0 ? predict_whole(w, given) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    w->predicted += w->rows.count;
    if (w->map.path) {
        map_add(&w->map, &w->of[0].answers, &w->of[0].values, w->rows.count);
    } else {
        write_header(w);
        write_block(w);
    }
    return interrupted() ? interruption(given) : EXIT_DONE;
}

/* Rows that are good to predict at once, for all targets. */
static size_t block_rows(const work *w, const arguments *given)
{
    size_t least = quorum_block_rows(w->of[0].model, given->options);
    for (size_t t = 1; t < w->targets.count; t++) {
        size_t rows = quorum_block_rows(w->of[t].model, given->options);
        least = rows < least ? rows : least;
    }
    return least;
}

static int predict_all(work *w, const arguments *given)
{
    size_t limit = rows_limit(block_rows(w, given), given);
    int code;
    while ((code = rows_next(&w->rows, limit, given)) == EXIT_DONE && w->rows.kept.rows > 0) {
        code = predict_rows(w, given);
        if (code != EXIT_DONE)
            return code;
        if (!w->map.path && output_failed(&w->out))
            break; /* said by output_commit */
    }
    if (code == EXIT_DONE && w->map.path)
        return map_save(&w->map, &w->grid, w->of[0].model, given);
    if (code == EXIT_DONE)
        write_header(w);
    return code == EXIT_DONE ? output_commit(&w->out, given) : code;
}

/* Of several targets the notes begin with the target's name. */
static void say_events(const arguments *given, const work *w, const target_work *t)
{
    char name[200], what[200];
    bool several = w->targets.count > 1;
    snprintf(name, sizeof name, "%.100s%s%.60s", several ? shown(t->name).text : "",
             several ? ", " : "", t->total.method ? t->total.method : "");
    snprintf(what, sizeof what, "%.100s%sstd and interval are", several ? shown(t->name).text : "",
             several ? ": " : "");
    note_events(given, name, &t->total, w->predicted);
    note_off_constants(given, t->model, &t->total);
    if (t == w->of)
        note_unseen(given, &t->total);
    if (t == w->of)
        note_filled(given, &t->total);
    note_outside(given, &t->total, w->predicted);
    if (t == w->of)
        advise_cells(t->model, w->predicted, given);
    note_learned_graph(given, t->model, t->had_graph);
    if (t->total.calibration_unused)
        note_calibration(given, what, t->model);
}

static void say_summary(const arguments *given, const work *w, double seconds)
{
    const quorum_report *total = &w->of[0].total;
    kept_tell(&w->rows.kept, given);
    for (size_t t = 0; t < w->targets.count; t++)
        say_events(given, w, &w->of[t]);
    if (given->quiet)
        return;
    fprintf(stderr, "quorum predict: %zu row%s", w->predicted, plural(w->predicted));
    if (w->targets.count > 1)
        fprintf(stderr, " of %zu targets", w->targets.count);
    fprintf(stderr, " in %.2f s", seconds);
    if (total->experts_used > 0.0)
        fprintf(stderr, ", %.1f experts a row", total->experts_used / (double)w->predicted);
    else if (w->predicted)
        fprintf(stderr, ", each %s",
                strcmp(total->method, "cells") == 0 ? "by the experts of cells around it"
                                                    : "from its nearest rows");
    fputc('\n', stderr);
}

static void work_free(work *w)
{
    output_discard(&w->out);
    rows_close(&w->rows);
    for (size_t t = 0; w->of && t < w->targets.count; t++) {
        answers_free(&w->of[t].answers);
        free(w->of[t].inputs);
        for (size_t k = 0; k < MAX_RESULTS; k++)
            free(w->of[t].result[k]);
    }
    free(w->of);
    map_free(&w->map);
    grid_free(&w->grid);
    chosen_free(&w->targets);
}

/* Flags that are wrong are said before anything is read. */
static int check_flags(const arguments *given)
{
    answers a = {0};
    int code = answers_parse(&a, given);
    answers_free(&a);
    return code;
}

/* --grid, which takes the place of QUERIES. */
static int read_grid(work *w, const arguments *given)
{
    const char *text = argument_value(given, "grid"), *out = argument_value(given, "output");
    if (text && argument_value(given, "keep"))
        return usage_error(given->command, "--keep: the result of --grid has all its columns");
    if (!text && out && is_only_map(out))
        return usage_error(given->command, "-o %s: only what --grid predicts is a map", out);
    return text ? grid_parse(&w->grid, text, "grid", given) : EXIT_DONE;
}

static int open_output(work *w, const arguments *given)
{
    const char *path = argument_value(given, "output");
    if (w->grid.axes > 0 && is_map_path(path) && w->targets.count > 1)
        return usage_error(given->command,
                           "-o %s: a map is of one target; say by --target which, or write csv",
                           path);
    if (w->grid.axes > 0 && is_map_path(path))
        return map_open(&w->map, path, &w->grid, &w->of[0].answers, w->of[0].model, given);
    return output_open(&w->out, given, path);
}

static int predict(const arguments *given)
{
    work w = {0};
    double start = seconds_now();
    detail_settings(given);
    progress_start(&w.progress, given);
    forecast_start(&w.forecast);
    int code = check_flags(given);
    if (code == EXIT_DONE)
        code = read_grid(&w, given);
    if (code == EXIT_DONE)
        code = open_inputs(&w, given);
    w.progress.forecast = w.targets.count == 1 ? &w.forecast : NULL;
    if (code == EXIT_DONE)
        code = kept_check(&w.rows.kept, write_names, &w, given);
    if (code == EXIT_DONE)
        code = open_output(&w, given);
    if (code == EXIT_DONE)
        code = predict_all(&w, given);
    if (code == EXIT_DONE)
        say_summary(given, &w, seconds_now() - start);
    work_free(&w);
    return code;
}

/* One of QUERIES and --grid; messages name the grid where they name the file. */
static int run_predict(const arguments *given)
{
    bool on_grid = argument_value(given, "grid") != NULL;
    arguments named = *given;
    if (on_grid == (given->operand_count == 2))
        return usage_error(given->command, on_grid ? "--grid: QUERIES cannot be given as well"
                                                   : "QUERIES is missing, or --grid");
    if (on_grid)
        named.operands[1] = "the grid";
    return predict(&named);
}

static const operand operands[] = {
    {"MODEL", "A model file written by 'quorum fit'."},
    {"QUERIES", "Inputs to predict at: csv, csv.gz, npy or npz, or '-' for csv from standard "
                "input. Columns are matched by name where both have names, else by position."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"output", 'o', "OUT.csv", NULL, NULL,
     "Where to write the predictions; standard output when absent. The file appears whole or not "
     "at all."},
    {"grid", 0, "GRID", NULL, NULL,
     "Predict on a grid instead of QUERIES: lon=-95.9:-91.3:500,lat=34.3:37.1:300,c=3 has 500 "
     "values "
     "of lon, 300 of lat and one of c, which may be a level or a date; "
     "day=2024-01-01:2024-12-31:366 has 366 dates. All inputs are named; rows "
     "have the one named first varying fastest, and the result begins with these columns. "
     "-o MAP.nc writes NetCDF by the CF conventions, -o MAP.tif a GeoTIFF, -o MAP.npz arrays."},
    {"keep", 0, "COLS", NULL, NULL,
     "Columns of QUERIES to pass on, as they stand there, before the predicted ones: names or "
     "numbers from "
     "1, separated by commas (a name with a comma in double quotes), or 'all'. They need not be "
     "inputs, nor numbers."},
    {"row-number", 0, NULL, NULL, NULL,
     "Adds a first column row: the row's number in QUERIES, from 1."},
    {"quantiles", 0, "LIST", NULL, NULL,
     "Probabilities, separated by commas, as in 0.05,0.5,0.95: a column more for each, named q0.05 "
     "and so on, with the quantile of what the interval is of."},
    {"gradient", 0, NULL, NULL, NULL,
     "Adds the derivatives of mean and std by each input: columns dmean_NAME and dstd_NAME, in the "
     "data's units. The rows or experts that a query is predicted from are held fixed."},
    {"novelty", 0, NULL, NULL, NULL,
     "Adds a column novelty from 0 to 1: the share of the prior variance that is left. 1: nothing "
     "is known there."},
    {"above", 0, "V", NULL, NULL,
     "Adds a column above_V: the probability that the target is above V, or for each of several as "
     "in 10,20.5."},
    {"below", 0, "V", NULL, NULL, "The same below V: a column below_V."},
    {"improvement-above", 0, "V", NULL, NULL,
     "Adds a column improvement_above_V: the expected improvement on V where more is better, the "
     "mean of max(0, target - V)."},
    {"improvement-below", 0, "V", NULL, NULL,
     "The same where less is better, the mean of max(0, V - target): a column "
     "improvement_below_V."},
    TARGET_FLAG_LIST,
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command predict_command = {
    .name = "predict",
    .summary = "predict with a model, with uncertainty",
    .usage = "MODEL QUERIES|--grid GRID [-o OUT.csv] [options]",
    .description =
        "Predicts at every row of QUERIES and writes csv with the columns mean, std, lower and "
        "upper (only mean with --mean-only), one row a query, in the target's own units. The "
        "interval is for a new observation: noise is included unless --latent is given. Flags add "
        "columns: quantiles, novelty, probabilities and expected improvements, gradients; --keep "
        "passes on columns of QUERIES. Of a model of several targets each has these columns, with "
        "its "
        "name in front: a_mean, a_std and so on. Files larger than memory are streamed.",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum predict model.npz new.csv -o out.csv\n"
                "  quorum predict model.npz new.csv --method rbcm --interval 0.99\n"
                "  quorum predict model.npz new.csv --quantiles 0.05,0.5,0.95\n"
                "  quorum predict model.npz new.csv --keep id,city --missing nan -o out.csv\n"
                "  quorum predict model.npz new.csv --select local:8 --neighbours 64\n"
                "  quorum predict model.npz new.csv --method 'npae*' -o out.csv\n"
                "  quorum predict model.npz new.csv --above 30 --novelty --gradient\n"
                "  quorum predict model.npz --grid lon=-96:-91:500,lat=34:37:300 -o map.nc\n"
                "  zcat huge.csv.gz | quorum predict model.npz - --mean-only | gzip > out.csv.gz\n",
    .lists_methods = true,
    .in_team = true,
    .run = run_predict,
    .may_lack = 1,
};
