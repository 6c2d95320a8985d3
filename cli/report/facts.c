/* Gathers what the page says: the model and its rows, the asked rows and what is predicted of them, by
 * an earlier model too, groups, and which points charts show. */
#include "report/facts.h"

#include "report/thin.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int load_model(facts *f)
{
    int code = chosen_load_one(&f->targets, f->given);
    if (code != EXIT_DONE)
        return code;
    f->model = f->targets.model[0];
    quorum_status status = quorum_inspect(f->model, &f->info);
    return status < 0 ? library_failure(f->given, status) : EXIT_DONE;
}

/* The columns of a place are no inputs, and X has nothing there: they are found again from the point on
 * the unit sphere, (cos lat cos lon, cos lat sin lon, sin lat), with longitudes within half a turn of
 * `middle`. */
static void put_degrees(const quorum_info *info, double *X, size_t rows, double middle)
{
    const double degree = M_PI / 180.0;
    for (size_t i = 0; info->place > 0 && i < rows; i++) {
        double *x = X + i * info->inputs, *p = x + info->place;
        double lon = atan2(p[1], p[0]) / degree;
        x[info->longitude] = lon + 360.0 * round((middle - lon) / 360.0);
        x[info->latitude] = atan2(p[2], hypot(p[0], p[1])) / degree;
    }
}

/* What is missing does not count. */
static double mean_of_column(const quorum_info *info, const double *table, size_t d)
{
    double sum = 0.0, count = 0.0;
    for (size_t i = 0; i < info->rows; i++)
        if (!isnan(table[i * info->columns + d])) {
            sum += table[i * info->columns + d];
            count += 1.0;
        }
    return count > 0.0 ? sum / count : 0.0;
}

static int read_training(facts *f)
{
    const quorum_info *info = &f->info;
    double *table = malloc(info->rows * info->columns * sizeof *table);
    quorum_status status = QUORUM_OK;
    f->X = calloc(info->rows * info->inputs, sizeof *f->X);
    f->y = malloc(info->rows * sizeof *f->y);
    if (!table || !f->X || !f->y) {
        free(table);
        return failure(f->given, "out of memory for %zu training rows", info->rows);
    }
    status = quorum_training_rows(f->model, table, f->y);
    if (status >= 0)
        status = quorum_make_inputs(f->model, table, info->rows, f->X);
    f->middle = status >= 0 ? mean_of_column(info, table, info->longitude) : 0.0;
    free(table);
    return status < 0 ? library_failure(f->given, status) : EXIT_DONE;
}

/* Training rows have their holes, whatever --missing says of the test file, which has been read. */
static int allow_holes(facts *f)
{
    size_t numbers = f->info.rows * f->info.inputs, i = 0;
    while (i < numbers && !isnan(f->X[i]))
        i++;
    if (i == numbers)
        return EXIT_DONE;
    quorum_status status = quorum_options_set(f->given->options, "missing", "impute");
    return status < 0 ? library_failure(f->given, status) : EXIT_DONE;
}

/* ---- Scores ---- */

/* Of the training target's mean, with its deviation, as a Gaussian. */
static quorum_metrics score_trivial(const facts *f)
{
    const asked_rows *a = &f->rows;
    quorum_info plain = f->info;
    quorum_scores sums = {0};
    quorum_metrics m;
    plain.warp = "none";
    for (size_t i = 0; i < a->count; i++)
        quorum_scores_add_weighted(&sums, &plain, 1, &a->y[i], &f->info.target_mean,
                                   &f->info.target_scale, NULL, a->weighted ? &a->weight[i] : NULL);
    quorum_scores_finish(&sums, &m);
    return m;
}

/* ---- The earlier model ---- */

/* Both have predicted the same rows of the file. */
static int check_same_rows(const facts *f)
{
    const asked_rows *a = &f->rows, *b = &f->old_rows;
    size_t i = 0;
    while (i < a->count && i < b->count && a->number[i] == b->number[i])
        i++;
    if (i == a->count && i == b->count)
        return EXIT_DONE;
    return failure(f->given,
                   "%s: the models do not leave out the same rows; give a file without missing "
                   "cells",
                   f->test);
}

static int ask_earlier(facts *f)
{
    arguments of = *f->given;
    of.operands[0] = f->before;
    int code = chosen_load_one(&f->old, &of);
    if (code != EXIT_DONE)
        return code;
    const char *now = name_of_target(f->model), *then = name_of_target(f->old.model[0]);
    if (strcmp(now, then) != 0)
        return failure(f->given,
                       "the model predicts %s and --before predicts %s: models of one "
                       "target are compared",
                       shown(now).text, shown(then).text);
    quorum_status status = quorum_inspect(f->old.model[0], &f->old_info);
    if (status < 0)
        return library_failure(f->given, status);
    code = asked_read(&f->old_rows, f->test, f->old.model[0], &f->progress, f->given);
    return code == EXIT_DONE ? check_same_rows(f) : code;
}

/* ---- All of it ---- */

static int choose_points(facts *f)
{
    f->shown = choose_rows(f->rows.count, MOST_POINTS, 2, &f->shown_count);
    f->shown_training = choose_rows(f->info.rows, MOST_POINTS, 3, &f->shown_train_count);
    return f->shown && f->shown_training
               ? EXIT_DONE
               : failure(f->given, "out of memory for %zu rows", f->info.rows);
}

int facts_make(facts *f, const arguments *given)
{
    *f = (facts){.given = given,
                 .test = argument_value(given, "test"),
                 .before = argument_value(given, "before")};
    progress_start(&f->progress, given);
    int code = load_model(f);
    if (code == EXIT_DONE)
        code = read_training(f);
    if (code == EXIT_DONE && f->test)
        code = asked_read(&f->rows, f->test, f->model, &f->progress, given);
    if (code == EXIT_DONE && f->before)
        code = ask_earlier(f);
    if (code == EXIT_DONE)
        code = allow_holes(f);
    if (code == EXIT_DONE && !f->test)
        code = left_out_ask(f);
    if (code == EXIT_DONE)
        code = shares_find(f);
    if (code != EXIT_DONE)
        return code;
    put_degrees(&f->info, f->X, f->info.rows, f->middle);
    put_degrees(&f->info, f->rows.X, f->rows.count, f->middle);
    code = effects_find(f);
    progress_clear(&f->progress);
    if (code != EXIT_DONE)
        return code;
    f->scores = asked_scores(&f->rows, &f->info);
    f->trivial = score_trivial(f);
    code = dominant_find(f);
    if (code == EXIT_DONE)
        code = groupings_make(f);
    if (code == EXIT_DONE)
        code = choose_points(f);
    if (code == EXIT_DONE)
        code = places_make(f);
    return code == EXIT_DONE ? gaps_find(f) : code;
}

void facts_free(facts *f)
{
    chosen_free(&f->targets);
    chosen_free(&f->old);
    asked_free(&f->rows);
    asked_free(&f->old_rows);
    places_free(&f->places);
    free(f->X);
    free(f->y);
    free(f->by_column);
    free(f->shown);
    free(f->shown_training);
    free(f->shares.input);
    effects_free(&f->effects);
    gaps_free(&f->gaps);
}
