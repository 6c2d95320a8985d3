/* One or several targets of a round (round_targets.h). */
#include "serve/round_targets.h"

#include "cells.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void round_targets_take(round_targets *t, const chosen_targets *targets)
{
    t->chosen = *targets;
    t->together = chosen_together(targets);
}

static size_t inputs_of(const quorum_model *model)
{
    quorum_info info;
    return quorum_inspect(model, &info) < 0 ? 0 : info.inputs;
}

size_t round_targets_count(const round_targets *t)
{
    size_t count = 0;
    for (size_t k = 0; k < t->chosen.count; k++)
        count += answers_count(&t->of[k].answers, inputs_of(t->chosen.model[k]));
    return count;
}

/* ---- Room ---- */

/* Of one target as they are, of several with the target's name in front. */
static void write_names(const round_targets *t, size_t k, FILE *file)
{
    char *names = NULL;
    size_t size;
    FILE *text = t->chosen.several ? open_memstream(&names, &size) : file;
    if (!text)
        return;
    answers_write_names(&t->of[k].answers, t->chosen.model[k], text);
    if (t->chosen.several && fclose(text) == 0)
        chosen_write_names(name_of_target(t->chosen.model[k]), names, file);
    free(names);
}

static bool list_names(round_targets *t)
{
    size_t size;
    FILE *file = open_memstream(&t->names, &size);
    for (size_t k = 0; file && k < t->chosen.count; k++) {
        if (k > 0)
            fputc(',', file);
        write_names(t, k, file);
    }
    return file && fclose(file) == 0;
}

static bool make_room(round_targets *t, size_t most)
{
    bool fits = list_names(t);
    fits = fits && (t->row = malloc((round_targets_count(t) + 1) * sizeof *t->row));
    for (size_t k = 0; fits && k < t->chosen.count; k++)
        for (size_t i = 0; fits && i < (t->of[k].answers.mean_only ? 1 : 4); i++)
            fits = (t->of[k].result[i] = malloc(most * sizeof **t->of[k].result)) != NULL;
    return fits;
}

int round_targets_open(round_targets *t, const arguments *given, size_t most,
                       const chosen_targets *targets)
{
    round_targets_take(t, targets);
    t->of = calloc(t->chosen.count + 1, sizeof *t->of); /* of none there is room too */
    int code = t->of ? EXIT_DONE : failure(given, "out of memory for %zu rows", most);
    for (size_t k = 0; code == EXIT_DONE && k < t->chosen.count; k++)
        code = answers_parse(&t->of[k].answers, given);
    if (code == EXIT_DONE && !make_room(t, most))
        return failure(given, "out of memory for %zu rows", most);
    return code;
}

void round_targets_free(round_targets *t)
{
    for (size_t k = 0; t->of && k < t->chosen.count; k++) {
        answers_free(&t->of[k].answers);
        for (size_t i = 0; i < 4; i++)
            free(t->of[k].result[i]);
        free(t->of[k].inputs);
    }
    free(t->of);
    free(t->names);
    free(t->row);
}

/* ---- Predictions ---- */

static quorum_status reserve(round_targets *t, const double *offset, const double *noise,
                             size_t rows, const arguments *given)
{
    for (size_t k = 0; k < t->chosen.count; k++) {
        round_target *of = &t->of[k];
        of->values = (quorum_prediction){.mean = of->result[0],
                                         .std = of->result[1],
                                         .lower = of->result[2],
                                         .upper = of->result[3],
                                         .offset = offset,
                                         .noise_std = noise};
        if (answers_reserve(&of->answers, inputs_of(t->chosen.model[k]), rows, given,
                            &of->values) != EXIT_DONE)
            return QUORUM_E_MEMORY;
    }
    return QUORUM_OK;
}

static quorum_status predict_together(round_targets *t, const double *X, size_t rows,
                                      const arguments *given)
{
    const quorum_prediction *out[MOST_TARGETS];
    for (size_t k = 0; k < t->chosen.count; k++)
        out[k] = &t->of[k].values;
    quorum_status status =
        quorum_predict_targets(t->chosen.all, X, rows, given->options, out, NULL);
    for (size_t k = 0; k < t->chosen.count && status >= 0; k++)
        status = columns_decide(&t->of[k].answers.extra, t->chosen.model[k], given->options,
                                &t->of[k].values, rows);
    return status;
}

static quorum_status predict_one(round_targets *t, size_t k, const double *X, size_t rows,
                                 const arguments *given)
{
    round_target *of = &t->of[k];
    const quorum_model *const *model = (const quorum_model *const *)t->chosen.model;
    const double *own;
    if (chosen_inputs(model[0], model[k], X, rows, &of->inputs, given, &own) != EXIT_DONE)
        return QUORUM_E_MEMORY;
    return answers_predict(&of->answers, model[k], own, rows, given, &of->values, NULL);
}

quorum_status round_targets_predict(round_targets *t, const double *X, const double *offset,
                                    const double *noise, size_t rows, const arguments *given)
{
    quorum_status status = reserve(t, offset, noise, rows, given);
    if (status >= 0 && t->together)
        return predict_together(t, X, rows, given);
    for (size_t k = 0; k < t->chosen.count && status >= 0; k++)
        status = predict_one(t, k, X, rows, given);
    return status;
}

/* ---- Lines ---- */

void round_targets_write(const round_targets *t, size_t i, FILE *file)
{
    for (size_t k = 0; k < t->chosen.count; k++) {
        if (k > 0)
            fputc(',', file);
        answers_write_row(&t->of[k].answers, &t->of[k].values, i, file);
    }
}

static void put_named(const round_targets *t, const size_t *i, json_writer *w)
{
    char *name = malloc(strlen(t->names) + 1);
    double *to = t->row;
    for (size_t k = 0; i && k < t->chosen.count; k++) {
        answers_values(&t->of[k].answers, &t->of[k].values, *i, to);
        to += answers_count(&t->of[k].answers, inputs_of(t->chosen.model[k]));
    }
    const char *rest = name ? t->names : NULL;
    for (size_t k = 0; rest; k++) {
        rest = cell_take(rest, name);
        json_member_number(w, name, i ? t->row[k] : NAN);
    }
    free(name);
}

void round_targets_put(const round_targets *t, const size_t *i, json_writer *w)
{
    if (t->chosen.several)
        put_named(t, i, w);
    else
        answers_put_row(&t->of[0].answers, t->chosen.model[0], i ? &t->of[0].values : NULL,
                        i ? *i : 0, w);
}
