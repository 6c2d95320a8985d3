/* A report without TEST: some training rows are taken out of a copy of the model, which is then asked
 * about them.  Theta, units and calibration stay as they were, so they have seen these rows: the page
 * says so. */
#include "report/facts.h"
#include "report/thin.h"
#include "talk.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LEFT_OUT = 500, LEAST_LEFT_OUT = 10, SHARE_LEFT_OUT = 10 }; /* a tenth of the rows */

/* What training rows alone cannot say. */
static int check_model(const facts *f)
{
    const quorum_info *info = &f->info;
    if (info->offset_name || info->noise_name)
        return failure(f->given,
                       "the model does not keep the %s of its rows (column %s), so rows cannot be "
                       "left out of it: give test data by --test",
                       info->offset_name ? "offset" : "known noise",
                       shown(info->offset_name ? info->offset_name : info->noise_name).text);
    if (info->rows / SHARE_LEFT_OUT < LEAST_LEFT_OUT)
        return failure(f->given,
                       "a model of %zu rows has too few to leave some out: give test data by "
                       "--test",
                       info->rows);
    return EXIT_DONE;
}

/* Without the rows that were chosen, by their numbers. */
static int take_out(facts *f, quorum_model *copy, const size_t *chosen, size_t count)
{
    size_t *numbers = malloc(count * sizeof *numbers);
    if (!numbers)
        return failure(f->given, "out of memory for %zu rows", count);
    for (size_t i = 0; i < count; i++)
        numbers[i] = f->info.row[chosen[i]];
    quorum_forgetting forget = {.row = numbers, .rows = count};
    quorum_status status = quorum_update(copy, NULL, &forget, f->given->options, NULL);
    free(numbers);
    return status < 0 ? library_failure(f->given, status) : EXIT_DONE;
}

static int ask(facts *f, const quorum_model *copy, const size_t *chosen, size_t count)
{
    asked_rows *a = &f->rows;
    size_t D = f->info.inputs;
    int code = asked_reserve(a, D, count, f->given);
    if (code != EXIT_DONE)
        return code;
    for (size_t i = 0; i < count; i++) {
        memcpy(a->X + i * D, f->X + chosen[i] * D, D * sizeof *a->X);
        a->y[i] = f->y[chosen[i]];
        a->number[i] = f->info.row[chosen[i]] + 1;
    }
    return asked_predict(a, count, NULL, NULL, copy, f->given);
}

int left_out_ask(facts *f)
{
    chosen_targets copy = {0};
    size_t tenth = f->info.rows / SHARE_LEFT_OUT, count = 0;
    int code = check_model(f);
    if (code != EXIT_DONE)
        return code;
    size_t *chosen =
        choose_rows(f->info.rows, tenth < MOST_LEFT_OUT ? tenth : MOST_LEFT_OUT, 1, &count);
    if (!chosen)
        return failure(f->given, "out of memory for %zu rows", f->info.rows);
    code = chosen_load_one(&copy, f->given);
    if (code == EXIT_DONE)
        code = take_out(f, copy.model[0], chosen, count);
    if (code == EXIT_DONE)
        code = ask(f, copy.model[0], chosen, count);
    free(chosen);
    chosen_free(&copy);
    return code;
}
