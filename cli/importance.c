/* quorum importance: which inputs the predictions depend on, by how much, and how sure that is. */
#include "importance.h"

#include "arguments.h"
#include "cells.h"
#include "command.h"
#include "explain.h"
#include "output.h"
#include "picture.h"
#include "report.h"
#include "table.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 2000 };

name_text importance_name(const importance_found *f, size_t k)
{
    const quorum_input_importance *i = &f->input[k];
    name_text name = input_name(f->info, i->column);
    if (i->also != i->column)
        snprintf(name.text, sizeof name.text, "%.70s, %.70s", input_name(f->info, i->column).text,
                 input_name(f->info, i->also).text);
    return name;
}

/* The larger squared error first; where that is the same, the larger total share. */
static int compare_inputs(const void *a, const void *b)
{
    const quorum_input_importance *x = a, *y = b;
    if (x->squared_error.value != y->squared_error.value)
        return x->squared_error.value > y->squared_error.value ? -1 : 1;
    if (x->total.value != y->total.value)
        return x->total.value > y->total.value ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

/* ---- Telling ---- */

static void add_squared_error(table *t, const quorum_estimate *e)
{
    table_add(t, "%+.3g", e->value);
    table_add(t, "%+.3g to %+.3g", e->low, e->high);
}

static void add_nlpd(table *t, const quorum_estimate *e)
{
    table_add(t, "%+.3f", e->value);
    table_add(t, "%+.3f to %+.3f", e->low, e->high);
}

static void add_share(table *t, const quorum_estimate *e)
{
    table_add(t, "%.1f %%", 100.0 * e->value);
    table_add(t, "%.1f to %.1f", 100.0 * e->low, 100.0 * e->high);
}

static void add_lengthscale(table *t, double value)
{
    if (isnan(value))
        table_add(t, "-");
    else if (isinf(value))
        table_add(t, "none");
    else
        table_add(t, "%.3g", value);
}

static int print_table(const importance_found *f, const arguments *given)
{
    static const char *const titles[] = {"input", "squared error", "95 %",  "NLPD", "95 %",
                                         "first", "95 %",          "total", "95 %", "length-scale"};
    table t;
    table_start(&t, "lrrrrrrrrr", titles);
    for (size_t k = 0; k < f->about.inputs; k++) {
        const quorum_input_importance *i = &f->input[k];
        table_add(&t, "%.62s", importance_name(f, k).text);
        add_squared_error(&t, &i->squared_error);
        add_nlpd(&t, &i->nlpd);
        add_share(&t, &i->first);
        add_share(&t, &i->total);
        add_lengthscale(&t, i->lengthscale);
    }
    return table_finish(&t, given);
}

static void print_story(const importance_found *f, const arguments *given)
{
    const quorum_importance_summary *a = &f->about;
    printf("\n%zu rows of %s, first shares of %zu: mean squared error %.4g, NLPD %.4g, variance of "
           "the\npredictions %.4g.\n",
           a->rows, shown(given->operands[1]).text, a->once, a->squared_error, a->nlpd,
           a->variance);
    printf("squared error, NLPD: what is lost when the input is permuted among the rows.\n"
           "first: share of that variance that the input explains alone, with all that goes with "
           "it;\n"
           "total: the share that is open while only this input is not known.\n"
           "length-scale: how far the function bends, in the input's units; not how much it "
           "matters.\n");
}

/* ---- csv and JSON ---- */

static const char *const parts[] = {"squared_error", "nlpd", "first", "total"};
enum { PARTS = 4 };

static const quorum_estimate *part_of(const quorum_input_importance *i, int part)
{
    const quorum_estimate *of[PARTS] = {&i->squared_error, &i->nlpd, &i->first, &i->total};
    return of[part];
}

static void write_csv(const importance_found *f, FILE *file)
{
    fputs("input", file);
    for (int p = 0; p < PARTS; p++)
        fprintf(file, ",%s,%s_low,%s_high", parts[p], parts[p], parts[p]);
    fputs(",lengthscale\n", file);
    for (size_t k = 0; k < f->about.inputs; k++) {
        cell_write("", importance_name(f, k).text, file);
        for (int p = 0; p < PARTS; p++) {
            const quorum_estimate *e = part_of(&f->input[k], p);
            fprintf(file, ",%.17g,%.17g,%.17g", e->value, e->low, e->high);
        }
        if (isnan(f->input[k].lengthscale))
            fputs(",\n", file);
        else
            fprintf(file, ",%.17g\n", f->input[k].lengthscale);
    }
}

static void put_estimate(json_writer *j, const char *key, const quorum_estimate *e)
{
    json_key(j, key);
    json_begin_object(j);
    json_member_number(j, "value", e->value);
    json_member_number(j, "low", e->low);
    json_member_number(j, "high", e->high);
    json_end(j);
}

static int print_as_json(const importance_found *f, const arguments *given)
{
    json_writer j = json_to_file(stdout);
    json_begin_object(&j);
    json_member_count(&j, "rows", f->about.rows);
    json_member_count(&j, "rows_once", f->about.once);
    json_member_number(&j, "squared_error", f->about.squared_error);
    json_member_number(&j, "nlpd", f->about.nlpd);
    json_member_number(&j, "variance", f->about.variance);
    json_key(&j, "inputs");
    json_begin_list(&j);
    for (size_t k = 0; k < f->about.inputs; k++) {
        json_begin_object(&j);
        json_member_text(&j, "input", importance_name(f, k).text);
        for (int p = 0; p < PARTS; p++)
            put_estimate(&j, parts[p], part_of(&f->input[k], p));
        json_member_number(&j, "lengthscale", f->input[k].lengthscale);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
    return json_report(&j, given);
}

/* ---- The command ---- */

static int write_table(const importance_found *f, const arguments *given, const char *path)
{
    output out = {0};
    int code = output_open(&out, given, path);
    if (code == EXIT_DONE) {
        write_csv(f, out.file);
        code = output_commit(&out, given);
    }
    output_discard(&out);
    return code;
}

static void draw(const void *f, FILE *file)
{
    draw_importance(f, file);
}

static int tell(const importance_found *f, const arguments *given)
{
    const char *path = argument_value(given, "output"), *picture = argument_value(given, "plot");
    int code = picture ? picture_write(given, picture, draw, f) : EXIT_DONE;
    if (code == EXIT_DONE && path)
        code = write_table(f, given, path);
    if (code != EXIT_DONE)
        return code;
    if (argument_value(given, "json"))
        return print_as_json(f, given);
    if (argument_value(given, "csv"))
        return write_table(f, given, "-");
    code = print_table(f, given);
    if (code == EXIT_DONE)
        print_story(f, given);
    return code;
}

static int find(importance_found *f, explained *e, const arguments *given)
{
    int code = explained_read(e, given, true, ROWS);
    if (code != EXIT_DONE)
        return code;
    f->info = &e->info;
    f->input = malloc(e->info.columns * sizeof *f->input);
    if (!f->input)
        return failure(given, "out of memory for %zu inputs", e->info.columns);
    quorum_status status =
        quorum_importance(e->model, &e->given, e->most, given->options, f->input, &f->about);
    progress_clear(&e->progress);
    if (status < 0)
        return library_failure(given, status);
    qsort(f->input, f->about.inputs, sizeof *f->input, compare_inputs);
    return EXIT_DONE;
}

/* That files can be written is seen before the work. */
static int check_flags(const arguments *given)
{
    const char *path = argument_value(given, "output"), *picture = argument_value(given, "plot");
    if (argument_value(given, "json") && argument_value(given, "csv"))
        return usage_error(given->command, "--json and --csv: one of them is printed");
    int code = path ? output_check(given, path) : EXIT_DONE;
    return code == EXIT_DONE && picture ? picture_check(given, picture) : code;
}

static int run_importance(const arguments *given)
{
    explained e = {0};
    importance_found f = {0};
    int code = check_flags(given);
    if (code != EXIT_DONE)
        return code;
    detail_settings(given);
    progress_start(&e.progress, given);
    code = find(&f, &e, given);
    progress_clear(&e.progress);
    if (code == EXIT_DONE)
        code = tell(&f, given);
    free(f.input);
    explained_free(&e);
    return code;
}

static const operand operands[] = {
    {"MODEL", "A model file written by 'quorum fit'."},
    {"DATA", "Rows with the target's column, best ones that the fit has not seen: csv, csv.gz, npy "
             "or npz."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"rows", 0, "N", NULL, "2000",
     "Rows that are permuted and predicted again, drawn by the seed where DATA has more; first "
     "shares take ten times as many. Four times as many rows halve the intervals."},
    SEED_FLAG,
    {"csv", 0, NULL, NULL, NULL, "Print csv instead of the table."},
    {"json", 0, NULL, NULL, NULL, "Print JSON instead of the table."},
    {"output", 'o', "FILE.csv", NULL, NULL, "Also write the csv to a file."},
    {"plot", 0, "FILE", NULL, NULL, "Also draw it, to FILE.svg or FILE.png."},
    TARGET_FLAG_ONE,
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command importance_command = {
    .name = "importance",
    .summary = "say which inputs the predictions depend on, and how sure that is",
    .usage = "MODEL DATA [--rows N] [--csv] [-o FILE.csv] [--plot FILE] [options]",
    .description =
        "Prints for each input, a column as DATA has it (longitude and latitude are one): by how "
        "much squared error and NLPD grow when the column is permuted among the rows; the "
        "first-order share, Var(E[f|x]) / Var(f), which the input explains alone; and the total "
        "share, E[Var(f|all but x)] / Var(f), which is open while it alone is not known. f is the "
        "predicted mean, and both shares are under the distribution of DATA, related inputs and "
        "all: of inputs that go together each has a large first share and a small total one. Of "
        "independent inputs they are Sobol's. Intervals are of 1,000 draws of the rows with "
        "replacement. The length-scale beside them is how far the function bends, not how much "
        "the input matters. docs/importance.md has the definitions.",
    .option_names = "weights noise-std header missing decimal thousands comment query method "
                    "select neighbours space calibration threads memory",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum importance model.npz test.csv\n"
                "  quorum importance model.npz test.csv --rows 10000 --plot importance.svg\n"
                "  quorum importance model.npz test.csv --csv --seed 7 > importance.csv\n",
    .lists_methods = true,
    .run = run_importance,
};
