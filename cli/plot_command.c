/* quorum plot: what a model says along one or two inputs, as a picture. */
#include "arguments.h"
#include "command.h"
#include "output.h"
#include "picture.h"
#include "progress.h"
#include "slice.h"
#include "slice_picture.h"
#include "talk.h"
#include "targets.h"

static void draw(const void *s, FILE *file)
{
    draw_slice(s, file);
}

static int run_plot(const arguments *given)
{
    slice s = {0};
    progress shown;
    const char *path = argument_value(given, "output");
    if (!argument_value(given, "x"))
        return usage_error(given->command, "--x is missing: the input that varies");
    if (path && !output_is_direct(path) && !is_picture(path))
        return usage_error(given->command, "-o %s: pictures are .svg or .png", path);
    detail_settings(given);
    int code = path ? picture_check(given, path) : EXIT_DONE;
    progress_start(&shown, given);
    if (code == EXIT_DONE)
        code = slice_make(&s, given);
    progress_clear(&shown);
    if (code == EXIT_DONE)
        code = picture_write(given, path, draw, &s);
    if (code == EXIT_DONE)
        slice_note(&s);
    slice_free(&s);
    return code;
}

static const operand operands[] = {
    {"MODEL", "A model file written by 'quorum fit'."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"x", 0, "NAME", NULL, NULL,
     "The input that varies from left to right, over the range of the training rows or "
     "NAME=FROM:TO, in dates of a date; of a category the levels stand side by side, 60 at "
     "most."},
    {"y", 0, "NAME", NULL, NULL,
     "A second input, upwards: the picture is then a map of the mean and one of the std."},
    {"at", 0, "LIST", NULL, NULL,
     "Where the other inputs stand, as in c=3,city=Rome,day=2024-07-01, a level with a comma in "
     "double quotes; without it at their medians, categories at their most frequent level, an "
     "offset at 0."},
    {"output", 'o', "FILE", NULL, NULL,
     "The picture, FILE.svg or FILE.png (librsvg makes it); SVG on standard output when absent."},
    TARGET_FLAG_ONE,
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command plot_command = {
    .name = "plot",
    .summary = "draw what a model says along one or two inputs",
    .usage = "MODEL --x NAME [--y NAME] [--at LIST] [-o FILE.svg|FILE.png] [options]",
    .description =
        "Draws a slice through the model: along one input the mean with its interval, along "
        "two a map of the mean and one of the std, in colours whose lightness tells them apart for "
        "every reader. The training rows that are nearest to the slice, a twentieth of them at "
        "most "
        "(but up to 40), none beyond a length-scale or of another level, are points; where there "
        "are "
        "none, that is said, with an --at where the nearest row is.",
    .option_names = "method select neighbours space interval interval-shape calibration latent "
                    "threads memory",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum plot model.npz --x temperature -o slice.svg\n"
                "  quorum plot model.npz --x lon --y lat --at month=7 -o map.png\n"
                "  quorum plot model.npz --x a=0:10 --interval 0.5 --latent -o slice.svg\n",
    .lists_methods = true,
    .run = run_plot,
};
