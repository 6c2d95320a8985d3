/* quorum demo: the main job on built-in data, no files needed. */
#include "demo.h"

#include "command.h"
#include "progress.h"
#include "report.h"
#include "table.h"
#include "talk.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void make_data(demo *d, const arguments *given)
{
    const char *text = quorum_options_get(given->options, "seed");
    unsigned long long seed = text ? strtoull(text, NULL, 10) : 0;
    quorum_demo_data(DEMO_TRAIN, 0.0, 1.0, DEMO_NOISE, seed, d->x, d->y);
    quorum_demo_data(DEMO_TEST, DEMO_LOW, DEMO_HIGH, DEMO_NOISE, seed + 1, d->x_test, d->y_test);
}

static quorum_status fit(demo *d, const arguments *given)
{
    static const char *const names[] = {"x", "y"};
    if (!argument_value(given, "experts")) {
        quorum_status status = quorum_options_set(given->options, "experts", "20");
        if (status < 0)
            return status;
    }
    return quorum_fit(d->x, d->y, DEMO_TRAIN, 1, names, given->options, &d->model);
}

static quorum_status score(demo *d, const arguments *given, progress *p)
{
    double mean[DEMO_TEST], std[DEMO_TEST];
    const scored_rows rows = {
        .count = DEMO_TEST, .X = d->x_test, .y = d->y_test, .mean = mean, .std = std};
    quorum_status status = contenders_score(&d->all, d->model, given->options, p, &rows);
    contenders_finish(&d->all);
    return status;
}

const contender *best_contender(const contenders *all)
{
    const contender *best = &all->items[0];
    for (size_t i = 1; i < all->count; i++)
        if (all->items[i].metrics.msll < best->metrics.msll)
            best = &all->items[i];
    return best;
}

static int print_scores(const contenders *all, const arguments *given)
{
    static const char *const titles[] = {"method", "SMSE", "MSLL", "MAE", "95 %", "seconds"};
    table t;
    table_start(&t, "lrrrrr", titles);
    for (size_t i = 0; i < all->count; i++) {
        const contender *c = &all->items[i];
        table_add(&t, "%s", c->method);
        table_add(&t, "%.4f", c->metrics.smse);
        table_add(&t, "%.3f", c->metrics.msll);
        table_add(&t, "%.4f", c->metrics.mae);
        table_add(&t, "%.1f", 100.0 * c->metrics.coverage[2]);
        table_add(&t, "%.2f", c->report.seconds);
    }
    return table_finish(&t, given);
}

static int print_story(const demo *d, const arguments *given, const quorum_info *info,
                       const char *picture)
{
    printf("%d points of the paper's function on [0, 1] with noise %.1f, %zu experts (%s), fitted "
           "in %.2f s.\n",
           DEMO_TRAIN, DEMO_NOISE, info->experts, info->partition, info->seconds_total);
    printf("Scores on %d points of [%.1f, %.1f], of which the experts have seen [0, 1] only:\n\n",
           DEMO_TEST, DEMO_LOW, DEMO_HIGH);
    if (print_scores(&d->all, given) != EXIT_DONE)
        return EXIT_FAILED;
    printf("\nSMSE: squared error over variance, 0 is perfect.  MSLL: log loss against a plain\n"
           "Gaussian, the lower the better.  95 %%: share of points inside the 95 %% interval.\n"
           "Best by MSLL: %s.  The picture of the fits is in %s\n",
           best_contender(&d->all)->method, shown(picture).text);
    printf("\nNext: quorum fit your.csv -o model.npz\n");
    return EXIT_DONE;
}

/* DIR/demo.svg; the directory is made when it is not there. */
static int picture_path(const arguments *given, char path[PATH_MAX])
{
    const char *directory = argument_value(given, "output");
    if (!directory) {
        snprintf(path, PATH_MAX, "demo.svg");
        return EXIT_DONE;
    }
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return failure(given, "%s: cannot be made: %s", directory, strerror(errno));
    bool slash = directory[0] && directory[strlen(directory) - 1] == '/';
    snprintf(path, PATH_MAX, "%s%sdemo.svg", directory, slash ? "" : "/");
    return EXIT_DONE;
}

static int tell(const demo *d, const arguments *given, const char *path)
{
    quorum_info info;
    quorum_status status = quorum_inspect(d->model, &info);
    if (status < 0)
        return library_failure(given, status);
    contenders_say_events(&d->all, d->model, given);
    if (argument_value(given, "json"))
        return contenders_as_json(&d->all, d->model, given);
    return print_story(d, given, &info, path);
}

static int fit_score_draw(demo *d, const arguments *given, const char *path)
{
    progress p;
    progress_start(&p, given);
    make_data(d, given);
    quorum_status status = fit(d, given);
    if (status >= 0)
        status = score(d, given, &p);
    progress_clear(&p);
    if (status < 0)
        return library_failure(given, status);
    int code = draw_demo(d, given, path);
    progress_clear(&p);
    return code == EXIT_DONE ? tell(d, given, path) : code;
}

/* All methods, and NPAE once more on the experts that the graph selects. */
static int enter_contenders(contenders *all, const arguments *given)
{
    const char *space = quorum_options_get(given->options, "space");
    int code = EXIT_DONE;
    for (int i = 0; i < quorum_method_count() && code == EXIT_DONE; i++) {
        const char *method = quorum_method_name(i);
        code = contenders_add(all, given, method, "auto", space);
        if (code == EXIT_DONE && strcmp(method, "npae") == 0)
            code = contenders_add(all, given, "npae*", "auto", space);
    }
    return code;
}

static int run_demo(const arguments *given)
{
    char path[PATH_MAX];
    int code = picture_path(given, path);
    if (code != EXIT_DONE)
        return code;
    demo *d = calloc(1, sizeof *d);
    if (!d)
        return failure(given, "out of memory for the demonstration");
    code = enter_contenders(&d->all, given);
    if (code == EXIT_DONE)
        code = fit_score_draw(d, given, path);
    contenders_free(&d->all);
    quorum_model_free(d->model);
    free(d);
    return code;
}

static const own_flag flags[] = {
    {"output", 'o', "DIR", NULL, ".", "Directory for the picture demo.svg; made when missing."},
    {"json", 0, NULL, NULL, NULL, "Print the scores as 'quorum evaluate --json' does."},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command demo_command = {
    .name = "demo",
    .summary = "see it work on built-in data, no files needed",
    .usage = "[-o DIR] [options]",
    .description =
        "Draws 5000 noisy points of the paper's one-dimensional function, fits 20 experts to them, "
        "compares all methods on 500 points that also lie outside the data, and writes demo.svg, "
        "a picture of the best fit with its 95 % interval beside others.",
    .option_names = "experts partition kernel seed lambda space threads",
    .flags = flags,
    .examples = "  quorum demo\n"
                "  quorum demo -o /tmp/demo --experts 40 --seed 3\n",
    .lists_methods = true,
    .run = run_demo,
};
