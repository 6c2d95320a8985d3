/* Model files under the changes of mutate.c, which leave every checksum right: a model that
 * loads predicts in every way, is saved, loads again, predicts the same bits, and saves the
 * same bytes. */
#include "fuzz.h"
#include "predictions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static quorum_model *reload(const quorum_model *m, const char *name)
{
    char path[512];
    quorum_model *again = NULL;
    snprintf(path, sizeof path, "%s", private_path(name));
    REQUIRE(quorum_save(m, path) == QUORUM_OK);
    REQUIRE(quorum_load(path, &again) >= 0 && again);
    return again;
}

static void compare_files(const char *one, const char *two)
{
    size_t one_size, two_size;
    uint8_t *a = read_whole(private_path(one), &one_size);
    uint8_t *b = read_whole(private_path(two), &two_size);
    REQUIRE(one_size == two_size && memcmp(a, b, one_size) == 0);
    free(a);
    free(b);
}

static void use_model(const quorum_model *m, const uint8_t *data, size_t size)
{
    double numbers[QUERIES * MOST_INPUTS], X[QUERIES * MOST_INPUTS];
    unsigned long long digest, digest_again;
    dice d = {size + (size > 16 ? data[size / 2] : 0)};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        numbers[i] = i < (size_t)3 * MOST_INPUTS ? (double)roll_below(&d, 65) / 16.0 - 2.0
                                                 : odd_number(roll(&d));
    make_queries(m, numbers, X);
    predict_all_ways(m, X, &digest);
    quorum_model *again = reload(m, "one.npz");
    predict_all_ways(again, X, &digest_again);
    REQUIRE(digest == digest_again);
    quorum_model_free(reload(again, "two.npz"));
    compare_files("one.npz", "two.npz");
    quorum_model_free(again);
}

/* All targets together, as each by itself. */
static void use_targets(quorum_model *m)
{
    enum { FEW = 8 };
    double X[MOST_INPUTS] = {0}, mean[FEW], std[FEW], alone[2];
    quorum_prediction place[FEW];
    const quorum_prediction *out[FEW];
    size_t count = quorum_model_targets(m);
    quorum_info first, info;
    REQUIRE(!quorum_model_target(m, count) && quorum_inspect(m, &first) == QUORUM_OK);
    int same = count <= FEW && first.inputs <= MOST_INPUTS;
    for (size_t t = 0; t < count; t++) {
        inspect_all(quorum_model_target(m, t));
        REQUIRE(quorum_inspect(quorum_model_target(m, t), &info) == QUORUM_OK);
        same = same && info.inputs == first.inputs;
    }
    for (size_t t = 0; same && t < count; t++) {
        place[t] = (quorum_prediction){.mean = &mean[t], .std = &std[t]};
        out[t] = &place[t];
    }
    quorum_options *o = quorum_options_new();
    REQUIRE(o && quorum_options_set(o, "method", "nearest") == QUORUM_OK);
    int done = same && !first.offset_name && quorum_predict_targets(m, X, 1, o, out, NULL) >= 0;
    for (size_t t = 0; done && t < count; t++) {
        quorum_prediction one = {.mean = &alone[0], .std = &alone[1]};
        REQUIRE(quorum_predict(quorum_model_target(m, t), X, 1, o, &one, NULL) >= 0);
        REQUIRE(memcmp(&alone[0], &mean[t], sizeof *alone) == 0 &&
                memcmp(&alone[1], &std[t], sizeof *alone) == 0);
    }
    quorum_options_free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    quorum_model *m = NULL;
    quorum_status status = quorum_load(file_of(0, data, size), &m);
    if (status < 0) {
        require_failure(status);
        REQUIRE(!m);
        return 0;
    }
    inspect_all(m);
    if (model_is_small(m)) {
        use_model(m, data, size);
        use_targets(m);
    }
    quorum_model_free(m);
    return 0;
}
