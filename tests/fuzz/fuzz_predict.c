/* Queries and prediction options: the bytes choose one of some models, any options of
 * prediction and any finite queries. */
#include "fuzz.h"
#include "predictions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40 };

static const char *const fits[] = {
    "theta=1,1,0.1 kernel=se experts=3",
    "theta=0.5,2,0.01 kernel=matern12 experts=4 overlap=0.5",
    "theta=1,1,0.1 kernel=matern32 experts=2 calibrate=true spread=4",
    "theta=3,1,1e-8 kernel=matern52 experts=1",
    "theta=1,1,0.1 kernel=se experts=5 partition=random graph=none",
    "theta=1,1,0.1 kernel=matern32 experts=3 graph=lasso calibrate=true",
};
enum { MODELS = sizeof fits / sizeof *fits };
static quorum_model *models[MODELS];

static void set_words(quorum_options *o, const char *words)
{
    char text[256], *rest = text, *word;
    snprintf(text, sizeof text, "%s", words);
    while ((word = strsep(&rest, " "))) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        REQUIRE(quorum_options_set(o, word, equals + 1) == QUORUM_OK);
    }
}

static quorum_model *fit_model(int i)
{
    double X[2 * ROWS], y[ROWS];
    quorum_model *m = NULL;
    quorum_options *o = quorum_options_new();
    dice d = {(uint64_t)i};
    size_t D = i % 2 ? 1 : 2;
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t k = 0; k < D; k++)
            X[r * D + k] = (double)roll_below(&d, 1000) / 200.0;
        y[r] = sin(X[r * D]) + (double)roll_below(&d, 100) / 500.0;
    }
    REQUIRE(o != NULL);
    set_words(o, fits[i]);
    set_words(o, "threads=1 min-size=1");
    REQUIRE(quorum_fit(X, y, ROWS, D, NULL, o, &m) >= 0);
    quorum_options_free(o);
    return m;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    for (int i = 0; i < MODELS; i++)
        models[i] = fit_model(i);
    return 0;
}

static quorum_options *choose_options(choices *c)
{
    static const char *const selects[] = {
        "auto",     "all",     "none",    "graph:0.5",  "worst:0.5", "expert:1",
        "expert:4", "local:1", "local:3", "local:auto", "knn:2",     "graph:0.7+local:2",
        "best:0.01"};
    static const char *const neighbours[] = {"auto", "0",  "1",   "2",    "5",
                                             "23",   "24", "512", "10000"};
    quorum_options *o = quorum_options_new();
    char text[200];
    unsigned flags;
    REQUIRE(o != NULL);
    int method = (int)take_below(c, (unsigned)quorum_method_count() + 1) - 1;
    const char *name = method < 0 ? "auto" : quorum_method_name(method);
    int starred = !take_below(c, 4) && method >= 0 && strcmp(name, "nearest") != 0 &&
                  strcmp(name, "cells") != 0;
    snprintf(text, sizeof text, "threads=1 method=%s%s select=%s neighbours=%s", name,
             starred ? "*" : "", selects[take_below(c, sizeof selects / sizeof *selects)],
             neighbours[take_below(c, sizeof neighbours / sizeof *neighbours)]);
    set_words(o, text);
    flags = take_byte(c);
    snprintf(text, sizeof text,
             "latent=%s mean-only=%s space=%s graph-on=%s calibration=%s interval=%s",
             flags & 1 ? "true" : "false", (flags & 14) == 2 ? "true" : "false",
             flags & 16 ? "observed" : "latent", (flags & 96) == 32 ? "test" : "train",
             flags & 128 ? "off" : "auto",
             (flags & 12) == 4   ? "0.999999"
             : (flags & 12) == 8 ? "0.001"
                                 : "0.95");
    set_words(o, text);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    unsigned long long digest = 0;
    const quorum_model *m = models[take_below(&c, MODELS)];
    quorum_options *o = choose_options(&c);
    double numbers[QUERIES * MOST_INPUTS], X[QUERIES * MOST_INPUTS];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        numbers[i] = take_number(&c);
    make_queries(m, numbers, X);
    predict_one_way(m, X, o, &digest);
    quorum_options_free(o);
    return 0;
}
