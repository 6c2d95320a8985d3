/* quorum suggest: the rows of a file whose measurement makes predictions surer. */
#include "arguments.h"
#include "clock.h"
#include "command.h"
#include "interrupt.h"
#include "output.h"
#include "progress.h"
#include "rows.h"
#include "talk.h"
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_ROWS = 2000 };

typedef struct {
    chosen_targets target;
    quorum_model *model; /* of the target */
    row_block candidates, over;
    output out;
    progress progress;
    size_t count;
    size_t *row;       /* count */
    double *reduction; /* count */
    quorum_suggestion about;
} work;

static int read_flags(work *w, const arguments *given)
{
    const char *count = argument_value(given, "count");
    char *end = NULL;
    double number = count ? strtod(count, &end) : 20.0;
    if (count && (end == count || *end || !(number >= 1.0 && number <= MOST_ROWS) ||
                  number != (double)(size_t)number))
        return usage_error(given->command, "--count: '%s' is not a whole number from 1 to %d",
                           shown(count).text, MOST_ROWS);
    w->count = (size_t)number;
    return EXIT_DONE;
}

/* All rows of a file. */
static int read_rows(work *w, row_block *b, const char *path, const char *keep,
                     const arguments *given)
{
    quorum_stream_request wanted = {.keep = keep};
    quorum_status status = rows_open_with(b, path, w->model, &wanted, 0, given);
    if (status < 0)
        return library_failure(given, status);
    int code = rows_next(b, ALL_ROWS, given);
    if (code == EXIT_DONE && b->kept.holes > 0)
        return usage_error(given->command, "--missing nan: rows with missing cells cannot be "
                                           "suggested; give drop");
    if (code == EXIT_DONE && b->count == 0)
        return failure(given, "%s has no rows", path);
    return code;
}

static int read_inputs(work *w, const arguments *given)
{
    const char *over = argument_value(given, "over");
    int code = chosen_load_one(&w->target, given);
    if (code != EXIT_DONE)
        return code;
    w->model = w->target.model[0];
    code = read_rows(w, &w->candidates, given->operands[1], "all", given);
    if (code == EXIT_DONE && over)
        code = read_rows(w, &w->over, over, "", given);
    if (code == EXIT_DONE && w->count > w->candidates.count)
        w->count = w->candidates.count;
    return code;
}

/* Rows are as they stand in the file, with their numbers there. */
static void write_rows(const work *w)
{
    const kept_rows *kept = &w->candidates.kept;
    fputs("rank,row,", w->out.file);
    kept_write_names(kept, w->out.file);
    fputs("reduction\n", w->out.file);
    for (size_t i = 0; i < w->count; i++) {
        fprintf(w->out.file, "%zu,%zu,", i + 1, kept->number[w->row[i]]);
        kept_write_row(kept, w->row[i], w->out.file);
        fprintf(w->out.file, "%.17g\n", w->reduction[i]);
    }
}

static int suggest(work *w, const arguments *given)
{
    w->row = malloc(w->count * sizeof *w->row);
    w->reduction = malloc(w->count * sizeof *w->reduction);
    if (!w->row || !w->reduction)
        return failure(given, "out of memory for %zu rows", w->count);
    quorum_status status =
        quorum_suggest(w->model, w->candidates.X, w->candidates.count, w->over.X, w->over.count,
                       given->options, w->count, w->row, w->reduction, &w->about);
    progress_clear(&w->progress);
    if (status < 0)
        return library_failure(given, status);
    if (interrupted())
        return interruption(given);
    write_rows(w);
    return output_commit(&w->out, given);
}

/* How much was looked at, and what the suggestions come to. */
static void say_summary(const arguments *given, const work *w, double seconds)
{
    double sum = 0.0;
    size_t dropped = quorum_stream_dropped(w->candidates.stream);
    size_t targets = w->over.stream ? w->over.count : w->candidates.count;
    for (size_t i = 0; i < w->count; i++)
        sum += w->reduction[i];
    if (dropped)
        note(given, "%zu row%s with missing cells left out: %s", dropped, plural(dropped),
             dropped_rows(w->candidates.stream).text);
    if (w->about.candidates < w->candidates.count)
        note(given,
             "%zu of %zu candidates are looked at, a fixed sample: the covariance between "
             "all would be too large",
             w->about.candidates, w->candidates.count);
    if (w->about.targets < targets)
        note(given, "the variance is that of %zu of %zu rows, a fixed sample", w->about.targets,
             targets);
    if (!given->quiet)
        fprintf(stderr,
                "quorum suggest: %zu row%s in %.2f s, which take the mean variance from %.6g to "
                "%.6g\n",
                w->count, plural(w->count), seconds, w->about.variance, w->about.variance - sum);
}

static int run_suggest(const arguments *given)
{
    work w = {0};
    double start = seconds_now();
    detail_settings(given);
    progress_start(&w.progress, given);
    int code = read_flags(&w, given);
    if (code == EXIT_DONE)
        code = read_inputs(&w, given);
    if (code == EXIT_DONE)
        code = output_open(&w.out, given, argument_value(given, "output"));
    if (code == EXIT_DONE)
        code = suggest(&w, given);
    if (code == EXIT_DONE)
        say_summary(given, &w, seconds_now() - start);
    output_discard(&w.out);
    rows_close(&w.candidates);
    rows_close(&w.over);
    free(w.row);
    free(w.reduction);
    chosen_free(&w.target);
    return code;
}

static const operand operands[] = {
    {"MODEL", "A model file written by 'quorum fit'."},
    {"CANDIDATES", "Inputs that could be measured: csv, csv.gz, npy or npz, or '-' for csv from "
                   "standard input. Of more than 2,000 rows a fixed sample is looked at."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"count", 'n', "N", NULL, "20", "Rows to suggest; fewer where the file has fewer."},
    {"over", 0, "FILE", NULL, NULL,
     "Inputs where predictions are to become surer; the candidates themselves when absent."},
    {"output", 'o', "OUT.csv", NULL, NULL,
     "Where to write the rows; standard output when absent. The file appears whole or not at all."},
    TARGET_FLAG_ONE,
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command suggest_command = {
    .name = "suggest",
    .summary = "find the rows that are worth measuring next",
    .usage = "MODEL CANDIDATES [-n N] [--over FILE] [-o OUT.csv] [options]",
    .description =
        "Finds the N rows of CANDIDATES whose measurement would make the model's predictions "
        "surest, and writes csv with the columns rank, row (counted from 1), those of CANDIDATES "
        "as they stand there, and reduction: by how much the measurement, after those before it, "
        "lowers the mean variance "
        "(of the function, without noise) over all candidates, or over the rows of --over. Rows "
        "are taken one by one, each the best after the ones before it: places far from the data "
        "come first, and none beside one that is suggested already.",
    .option_names = "header missing decimal thousands comment query method select neighbours space "
                    "graph-on calibration threads memory",
    .operands = operands,
    .flags = flags,
    .examples =
        "  quorum suggest model.npz candidates.csv\n"
        "  quorum suggest model.npz candidates.csv -n 5 --over where-it-matters.csv -o next.csv\n",
    .lists_methods = true,
    .run = run_suggest,
};
