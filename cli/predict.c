/* quorum predict: a model and queries in, a table of predictions out.
 *
 * The queries stream through in blocks, so a file larger than memory works. */
#include "arguments.h"
#include "clock.h"
#include "columns.h"
#include "command.h"
#include "events.h"
#include "interrupt.h"
#include "output.h"
#include "progress.h"
#include "quantiles.h"
#include "rows.h"
#include "talk.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    quorum_model *model;
    row_block rows;
    quantiles quantiles;
    extra_columns extra;
    output out;
    progress progress;
    forecast forecast;
    size_t predicted; /* rows                           */
    bool started;     /* the header is written          */
    bool had_graph;
    quorum_report total; /* experts_used: a sum over rows  */
} work;

/* Options that do not go together are refused before queries are waited for. */
static int open_inputs(work *w, const arguments *given)
{
    size_t results = option_is_on(given, "mean-only") ? 1 : 4;
    quorum_prediction none = {0};
    quorum_status status = quorum_load_with(given->operands[0], given->options, &w->model);
    if (status >= 0)
        status = quorum_predict(w->model, NULL, 0, given->options, &none, NULL);
    w->had_graph = status < 0 || has_graph(w->model);
    quorum_stream_request wanted = {.keep = kept_wanted(given)};
    if (status >= 0)
        status = rows_open_with(&w->rows, given->operands[1], w->model, &wanted, results, given);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

/* The columns that are predicted. */
static void write_names(const void *context, FILE *file)
{
    const work *w = context;
    fputs(w->rows.results > 1 ? "mean,std,lower,upper" : "mean", file);
    quantiles_write_names(&w->quantiles, file);
    columns_write_header(&w->extra, w->model, file);
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

static void write_prediction(const work *w, const quorum_prediction *v, size_t i)
{
    FILE *file = w->out.file;
    fprintf(file, "%.17g", v->mean[i]);
    if (v->std)
        fprintf(file, ",%.17g,%.17g,%.17g", v->std[i], v->lower[i], v->upper[i]);
    quantiles_write_row(&w->quantiles, i, file);
    columns_write_row(&w->extra, i, file);
    fputc('\n', file);
}

/* Every row of the block in its place, also those without a prediction. */
static void write_block(const work *w, const quorum_prediction *v)
{
    const kept_rows *kept = &w->rows.kept;
    for (size_t row = 0, i = 0; row < kept->rows; row++) {
        kept_write_row(kept, row, w->out.file);
        if (!kept->hole[row])
            write_prediction(w, v, i++);
    }
}

/* Predicts the rows without holes that were just read. */
static int predict_whole(work *w, const arguments *given, quorum_prediction *values)
{
    row_block *r = &w->rows;
    quorum_report report = {0};
    if (!quantiles_ask(&w->quantiles, r->count, values))
        return failure(given, "out of memory for the quantiles of %zu rows", r->count);
    int code = columns_reserve(&w->extra, r->inputs, r->count, given, values);
    if (code != EXIT_DONE)
        return code;
    progress_task(&w->progress, "rows from %zu", w->predicted + 1);
    quorum_status status =
        quorum_predict(w->model, r->X, r->count, given->options, values, &report);
    progress_clear(&w->progress);
    if (status >= 0)
        status = columns_decide(&w->extra, w->model, given->options, values, r->count);
    if (status < 0)
        return library_failure(given, status);
    add_events(&w->total, &report, r->count);
    w->predicted += r->count;
    return EXIT_DONE;
}

/* Predicts and writes the rows that were just read. */
static int predict_rows(work *w, const arguments *given)
{
    const row_block *r = &w->rows;
    quorum_prediction values = {.mean = r->result[0],
                                .std = r->result[1],
                                .lower = r->result[2],
                                .upper = r->result[3],
                                .offset = r->offset,
                                .noise_std = r->noise};
    int code = r->count > 0 ? predict_whole(w, given, &values) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    write_header(w);
    write_block(w, &values);
    return interrupted() ? interruption(given) : EXIT_DONE;
}

static int predict_all(work *w, const arguments *given)
{
    size_t limit = rows_limit(quorum_block_rows(w->model, given->options), given);
    int code;
    while ((code = rows_next(&w->rows, limit, given)) == EXIT_DONE && w->rows.kept.rows > 0) {
        code = predict_rows(w, given);
        if (code != EXIT_DONE)
            return code;
        if (output_failed(&w->out))
            break; /* said by output_commit */
    }
    if (code == EXIT_DONE)
        write_header(w);
    return code == EXIT_DONE ? output_commit(&w->out, given) : code;
}

static void say_summary(const arguments *given, const work *w, double seconds)
{
    kept_tell(&w->rows.kept, given);
    note_events(given, w->total.method, &w->total, w->predicted);
    note_off_constants(given, w->model, &w->total);
    note_unseen(given, &w->total);
    note_outside(given, &w->total, w->predicted);
    note_learned_graph(given, w->model, w->had_graph);
    if (w->total.calibration_unused)
        note_calibration(given, "std and interval are", w->model);
    if (given->quiet)
        return;
    fprintf(stderr, "quorum predict: %zu row%s in %.2f s", w->predicted, plural(w->predicted),
            seconds);
    if (w->total.experts_used > 0.0)
        fprintf(stderr, ", %.1f experts a row", w->total.experts_used / (double)w->predicted);
    else if (w->predicted)
        fprintf(stderr, ", each %s",
                strcmp(w->total.method, "cells") == 0 ? "by the expert of its cell"
                                                      : "from its nearest rows");
    fputc('\n', stderr);
}

static int run_predict(const arguments *given)
{
    work w = {0};
    double start = seconds_now();
    detail_settings(given);
    progress_start(&w.progress, given);
    forecast_start(&w.forecast);
    w.progress.forecast = &w.forecast;
    int code = quantiles_read(&w.quantiles, given);
    if (code == EXIT_DONE)
        code = columns_parse(&w.extra, given);
    if (code == EXIT_DONE)
        code = open_inputs(&w, given);
    if (code == EXIT_DONE)
        code = kept_check(&w.rows.kept, write_names, &w, given);
    if (code == EXIT_DONE)
        code = output_open(&w.out, given, argument_value(given, "output"));
    if (code == EXIT_DONE)
        code = predict_all(&w, given);
    if (code == EXIT_DONE)
        say_summary(given, &w, seconds_now() - start);
    output_discard(&w.out);
    rows_close(&w.rows);
    quantiles_free(&w.quantiles);
    columns_free(&w.extra);
    quorum_model_free(w.model);
    return code;
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
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command predict_command = {
    .name = "predict",
    .summary = "predict with a model, with uncertainty",
    .usage = "MODEL QUERIES [-o OUT.csv] [options]",
    .description =
        "Predicts at every row of QUERIES and writes csv with the columns mean, std, lower and "
        "upper (only mean with --mean-only), one row a query, in the target's own units. The "
        "interval is for a new observation: noise is included unless --latent is given. Flags add "
        "columns: quantiles, novelty, probabilities and expected improvements, gradients; --keep "
        "passes on columns of QUERIES. Files larger than memory are streamed.",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum predict model.npz new.csv -o out.csv\n"
                "  quorum predict model.npz new.csv --method rbcm --interval 0.99\n"
                "  quorum predict model.npz new.csv --quantiles 0.05,0.5,0.95\n"
                "  quorum predict model.npz new.csv --keep id,city --missing nan -o out.csv\n"
                "  quorum predict model.npz new.csv --select local:8 --neighbours 64\n"
                "  quorum predict model.npz new.csv --method 'npae*' -o out.csv\n"
                "  quorum predict model.npz new.csv --above 30 --novelty --gradient\n"
                "  zcat huge.csv.gz | quorum predict model.npz - --mean-only | gzip > out.csv.gz\n",
    .lists_methods = true,
    .in_team = true,
    .run = run_predict,
};
