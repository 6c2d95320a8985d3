/* quorum sample: joint draws of the target at queries, as a table. */
#include "arguments.h"
#include "clock.h"
#include "command.h"
#include "events.h"
#include "interrupt.h"
#include "output.h"
#include "progress.h"
#include "rows.h"
#include "talk.h"
#include "targets.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_DRAWS = 1000000 };

typedef struct {
    chosen_targets target;
    quorum_model *model; /* of the target */
    row_block rows;
    output out;
    progress progress;
    size_t count;  /* draws            */
    double *draws; /* rows x count     */
} work;

/* Numbers of the command's own flags are set as options of the library, which checks them. */
static int read_flags(work *w, const arguments *given)
{
    const char *count = argument_value(given, "count"), *seed = argument_value(given, "seed");
    char *end = NULL;
    double number = count ? strtod(count, &end) : 1.0;
    if (count && (end == count || *end || !(number >= 1.0 && number <= MOST_DRAWS) ||
                  number != (double)(size_t)number))
        return usage_error(given->command, "--count: '%s' is not a whole number from 1 to %d",
                           shown(count).text, MOST_DRAWS);
    w->count = (size_t)number;
    quorum_status status = seed ? quorum_options_set(given->options, "seed", seed) : QUORUM_OK;
    return status < 0 ? option_failure(given, "seed", status) : EXIT_DONE;
}

static int open_inputs(work *w, const arguments *given)
{
    quorum_prediction none = {0};
    int code = chosen_load_one(&w->target, given);
    if (code != EXIT_DONE)
        return code;
    w->model = w->target.model[0];
    quorum_status status = quorum_predict(w->model, NULL, 0, given->options, &none, NULL);
    quorum_stream_request wanted = {.keep = kept_wanted(given)};
    if (status >= 0)
        status = rows_open_with(&w->rows, given->operands[1], w->model, &wanted, 0, given);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

static void write_names(const void *context, FILE *file)
{
    const work *w = context;
    for (size_t j = 0; j < w->count; j++)
        fprintf(file, "%ss%zu", j ? "," : "", j + 1);
}

static void write_header(const work *w)
{
    kept_write_names(&w->rows.kept, w->out.file);
    write_names(w, w->out.file);
    fputc('\n', w->out.file);
}

/* The draws at row i of those without holes. */
static void write_row(const work *w, size_t i)
{
    double offset = w->rows.with_offset ? w->rows.offset[i] : 0.0;
    for (size_t j = 0; j < w->count; j++)
        fprintf(w->out.file, "%s%.17g", j ? "," : "", w->draws[i * w->count + j] + offset);
    fputc('\n', w->out.file);
}

static void write_draws(const work *w)
{
    const kept_rows *kept = &w->rows.kept;
    for (size_t row = 0, i = 0; row < kept->rows && !output_failed(&w->out); row++) {
        kept_write_row(kept, row, w->out.file);
        if (!kept->hole[row])
            write_row(w, i++);
    }
}

static int draw(work *w, const arguments *given)
{
    int code = rows_next(&w->rows, ALL_ROWS, given);
    size_t rows = w->rows.count;
    if (code != EXIT_DONE)
        return code;
    if (rows > 0) {
        w->draws = rows <= SIZE_MAX / sizeof(double) / w->count
                       ? malloc(rows * w->count * sizeof(double))
                       : NULL;
        if (!w->draws)
            return failure(given, "out of memory for %zu draws at %zu rows", w->count, rows);
        quorum_status status =
            quorum_sample(w->model, w->rows.X, rows, given->options, w->count, w->draws);
        progress_clear(&w->progress);
        if (status < 0)
            return library_failure(given, status);
    }
    if (interrupted())
        return interruption(given);
    write_header(w);
    write_draws(w);
    return output_commit(&w->out, given);
}

static void say_summary(const arguments *given, const work *w, double seconds)
{
    quorum_report report = {0};
    quorum_prediction none = {0};
    kept_tell(&w->rows.kept, given);
    if (quorum_predict(w->model, NULL, 0, given->options, &none, &report) >= 0 &&
        report.calibration_unused)
        note_calibration(given, "draws are", w->model);
    if (!given->quiet)
        fprintf(stderr, "quorum sample: %zu draw%s at %zu row%s in %.2f s\n", w->count,
                plural(w->count), w->rows.count, plural(w->rows.count), seconds);
}

static int run_sample(const arguments *given)
{
    work w = {0};
    double start = seconds_now();
    detail_settings(given);
    progress_start(&w.progress, given);
    int code = read_flags(&w, given);
    if (code == EXIT_DONE)
        code = open_inputs(&w, given);
    if (code == EXIT_DONE)
        code = kept_check(&w.rows.kept, write_names, &w, given);
    if (code == EXIT_DONE)
        code = output_open(&w.out, given, argument_value(given, "output"));
    if (code == EXIT_DONE)
        code = draw(&w, given);
    if (code == EXIT_DONE)
        say_summary(given, &w, seconds_now() - start);
    output_discard(&w.out);
    rows_close(&w.rows);
    free(w.draws);
    chosen_free(&w.target);
    return code;
}

static const operand operands[] = {
    {"MODEL", "A model file written by 'quorum fit'."},
    {"QUERIES", "Inputs to draw at: csv, csv.gz, npy or npz, or '-' for csv from standard input. "
                "All of them are in memory at once: some 100,000 rows are fine."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"count", 'n', "N", NULL, "1",
     "Draws: columns s1 to sN. More of them leave the first as they are."},
    {"keep", 0, "COLS", NULL, NULL,
     "Columns of QUERIES to pass on, as they stand there, before the draws: names or numbers from "
     "1, separated by commas (a name with a comma in double quotes), or 'all'. They need not be "
     "inputs, nor numbers."},
    {"row-number", 0, NULL, NULL, NULL,
     "Adds a first column row: the row's number in QUERIES, from 1."},
    {"output", 'o', "OUT.csv", NULL, NULL,
     "Where to write the draws; standard output when absent. The file appears whole or not at "
     "all."},
    {"seed", 0, "S", NULL, "1",
     "Seed of the draws. The same seed, model and set of queries give the same draws, in whatever "
     "order the file has its rows."},
    TARGET_FLAG_ONE,
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command sample_command = {
    .name = "sample",
    .summary = "draw the target jointly at many queries",
    .usage = "MODEL QUERIES [-n N] [--seed S] [-o OUT.csv] [options]",
    .description =
        "Draws what the target might be at all rows of QUERIES together, N times, and writes csv "
        "with the columns s1 to sN, one row a query in the file's order. Near rows have similar "
        "errors, so that a column is one possible world: take sums, maxima or whatever a decision "
        "needs of each column, and look at how that varies. Each row's draws are distributed as "
        "'quorum predict' says, with its quantiles; noise is included, a new one for every row, "
        "unless --latent is given (then a column is a smooth function).",
    .option_names = "header missing decimal thousands comment query method select neighbours space "
                    "graph-on interval-shape calibration latent threads memory",
    .operands = operands,
    .flags = flags,
    .examples =
        "  quorum sample model.npz grid.csv -n 100 -o draws.csv\n"
        "  quorum sample model.npz grid.csv --count 1000 --latent --seed 7 -o functions.csv\n",
    .lists_methods = true,
    .run = run_sample,
};
