/* quorum report: a model in, a page out that anyone can open. */
#include "arguments.h"
#include "command.h"
#include "output.h"
#include "report/page.h"
#include "talk.h"

#include <string.h>

static int check_usage(const arguments *given, const char *path)
{
    const char *test = argument_value(given, "test");
    if (path && !output_is_direct(path) && !has_extension(path, ".html") &&
        !has_extension(path, ".htm"))
        return usage_error(given->command, "-o %s: the page's name ends in .html", path);
    if (argument_value(given, "before") && !test)
        return usage_error(given->command,
                           "--before needs --test TEST: an earlier model may have seen the rows "
                           "that are left out of this one");
    if (argument_value(given, "before") && strcmp(test, "-") == 0)
        return usage_error(given->command, "standard input can be read once: give a file");
    return path ? output_check(given, path) : EXIT_DONE;
}

static int run_report(const arguments *given)
{
    facts f = {0};
    output out = {0};
    const char *path = argument_value(given, "output");
    int code = check_usage(given, path);
    if (code != EXIT_DONE)
        return code;
    detail_settings(given);
    code = facts_make(&f, given);
    if (code == EXIT_DONE)
        code = output_open(&out, given, path);
    if (code == EXIT_DONE)
        code = write_page(out.file, &f);
    if (code == EXIT_DONE)
        code = output_commit(&out, given);
    if (code == EXIT_DONE && !page_has_library())
        note(given, "this quorum was built without Chart.js: charts are pictures that do not "
                    "answer the pointer");
    output_discard(&out);
    facts_free(&f);
    return code;
}

static const operand operands[] = {
    {"MODEL", "A model file written by 'quorum fit'."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"test", 0, "TEST", NULL, NULL,
     "Test data with the target's column: csv, csv.gz, npy or npz. Without it some training rows, "
     "500 and a tenth of them at most, are left out of the model and predicted."},
    {"before", 0, "OLD", NULL, NULL,
     "An earlier model of the same target: the page says whether this one is better on TEST, and "
     "whether that may be chance."},
    {"output", 'o', "FILE.html", NULL, NULL, "The page; standard output when absent."},
    TARGET_FLAG_ONE,
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command report_command = {
    .name = "report",
    .summary = "write a page that shows how good a model is, and where",
    .usage = "MODEL [--test TEST] [--before OLD] [-o report.html] [options]",
    .description =
        "Writes one HTML file that opens from disk in any browser, without a network: how good the "
        "model is, where it errs, how far its intervals can be trusted, where the data are, the "
        "experts, and warnings in plain words with what to do. Charts answer the pointer; on paper "
        "and without scripts they are pictures and tables. docs/report.md explains each part.",
    .option_names =
        "weights noise-std header missing decimal thousands comment query unseen method "
        "select neighbours space calibration threads memory",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum report model.npz -o report.html\n"
                "  quorum report model.npz --test test.csv -o report.html\n"
                "  quorum report new.npz --test test.csv --before old.npz -o report.html\n",
    .lists_methods = true,
    .run = run_report,
};
