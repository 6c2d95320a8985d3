/* Training: small tables of any finite numbers and any options of fit.  A fit that succeeds
 * gives a model that predicts in every way, is saved, loads again and predicts the same. */
#include "fuzz.h"
#include "predictions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_ROOM = 16, INPUTS_ROOM = 4, OPTION_ROOM = 4 };

static const char *const extras[] = {
    "kernel=se",        "kernel=matern12",
    "kernel=matern32",  "kernel=matern52",
    "kernel=auto",      "experts=1",
    "experts=3",        "experts=16",
    "expert-size=2",    "expert-size=5",
    "partition=kdtree", "partition=random",
    "overlap=0.5",      "overlap=2",
    "train=parts",      "train=random",
    "train=subset",     "partition-metric=input",
    "restarts=1",       "spread=1",
    "spread=none",      "graph=lasso",
    "graph=none",       "lambda=0",
    "lambda=1e-14",     "lambda=ebic",
    "lambda=10",        "free-diagonal=true",
    "calibrate=true",   "calibrate=strict",
    "theta=1,1,0.1",    "theta=1,1e-9,1e-9",
    "theta=1e9,1,1e-6", "seed=7",
    "min-size=1",       "max-size=3",
    "graph-rows=2",     "train-rows=3",
    "train-experts=1",  "tolerance=0",
    "memory=10M",
};

static quorum_options *choose_options(choices *c)
{
    quorum_options *o = quorum_options_new();
    REQUIRE(o && quorum_options_set(o, "threads", "1") == QUORUM_OK);
    REQUIRE(quorum_options_set(o, "max-evaluations", "4") == QUORUM_OK);
    for (unsigned k = take_below(c, OPTION_ROOM + 1); k > 0; k--) {
        char text[64];
        snprintf(text, sizeof text, "%s", extras[take_below(c, sizeof extras / sizeof *extras)]);
        char *equals = strchr(text, '=');
        *equals = '\0';
        REQUIRE(quorum_options_set(o, text, equals + 1) == QUORUM_OK);
    }
    return o;
}

static void use_model(const quorum_model *m, choices *c)
{
    double numbers[QUERIES * MOST_INPUTS], X[QUERIES * MOST_INPUTS];
    unsigned long long digest, digest_again;
    quorum_model *again = NULL;
    char path[512];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        numbers[i] = take_number(c);
    inspect_all(m);
    make_queries(m, numbers, X);
    predict_all_ways(m, X, &digest);
    snprintf(path, sizeof path, "%s", private_path("fit.npz"));
    REQUIRE(quorum_save(m, path) == QUORUM_OK);
    REQUIRE(quorum_load(path, &again) >= 0);
    predict_all_ways(again, X, &digest_again);
    REQUIRE(digest == digest_again);
    quorum_model_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    double X[ROWS_ROOM * INPUTS_ROOM], y[ROWS_ROOM], weight[ROWS_ROOM], error[ROWS_ROOM];
    quorum_model *m = NULL;
    quorum_options *o = choose_options(&c);
    size_t rows = 1 + take_below(&c, ROWS_ROOM), inputs = 1 + take_below(&c, INPUTS_ROOM);
    for (size_t i = 0; i < rows; i++) {
        y[i] = take_number(&c);
        for (size_t d = 0; d < inputs; d++)
            X[i * inputs + d] = take_number(&c);
    }
    unsigned with = take_below(&c, 4); /* weights, known errors */
    for (size_t i = 0; i < rows; i++) {
        weight[i] = with & 1 ? fabs(take_number(&c)) : 1.0;
        error[i] = with & 2 ? fabs(take_number(&c)) : 0.0;
    }
    quorum_data given = {.rows = rows,
                         .inputs = inputs,
                         .X = X,
                         .y = y,
                         .target = inputs,
                         .weight = with & 1 ? weight : NULL,
                         .noise_std = with & 2 ? error : NULL};
    quorum_status status = quorum_fit_data(&given, o, &m);
    quorum_options_free(o);
    if (status < 0) {
        require_failure(status);
        REQUIRE(!m);
        return 0;
    }
    use_model(m, &c);
    quorum_model_free(m);
    return 0;
}
