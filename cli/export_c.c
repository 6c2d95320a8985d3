/* quorum export-c: a model as one file of C99 that predicts as method nearest does, with nothing but
 * libm.  The file is the text of export/predictor.h, which is compiled into this command too
 * (export/exporting.c). */
#include "arguments.h"
#include "command.h"
#include "export/exporting.h"
#include "output.h"
#include "targets.h"

#include <stddef.h>

static int write_file(const arguments *given, const quorum_info *info, const exported *e,
                      const double *table)
{
    const char *path = argument_value(given, "output");
    output o;
    (void)table;
    int code = output_open(&o, given, path);
    if (code != EXIT_DONE)
        return code;
    exported_write(e, info, export_name(given), o.file);
    code = output_commit(&o, given);
    if (code == EXIT_DONE)
        export_note(given, e, path);
    return code;
}

static int run_export_c(const arguments *given)
{
    return export_run(given, &(export_way){.write = write_file});
}

static const operand operands[] = {
    {"MODEL", "A model file written by 'quorum fit'."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"output", 'o', "FILE", NULL, NULL, "Where to write the C file; without it, standard output."},
    {"name", 0, "NAME", NULL, "model",
     "What the file's functions begin with: letters and underscores."},
    TARGET_FLAG_ONE,
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command export_c_command = {
    .name = "export-c",
    .summary = "write a model as one file of C that predicts without quorum",
    .usage = "MODEL [-o FILE] [--name NAME] [options]",
    .description =
        "Writes one file of C99 that needs the mathematics library only and allocates nothing, for "
        "firmware and plug-ins. NAME_predict(x, &mean, &std, &lower, &upper) answers as 'quorum "
        "predict --method nearest' does, to 10 digits or as many as rounding leaves where the "
        "noise is very small; that is compared before the file is written. Refused are categories, "
        "dates, offsets, weights, known noise, linear trends, "
        "models that fill missing cells, and more than 2,000,000 numbers of rows.",
    .option_names = "neighbours interval calibration memory threads",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum export-c model.npz -o model.c\n"
                "  cc -std=c99 -O2 -DMODEL_MAIN model.c -o model -lm && echo '0.3 0.7' | ./model\n",
    .run = run_export_c,
};
