/* Checkpoints: one that is taken gives its answers again, takes more, and gives those after
 * it has been closed and opened. */
#include "fuzz.h"

#include "train/checkpoint.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PARAMETERS = 3, MOST_RECORDS = 64 };
static const char FIT[] = "version: 1\ndata: 6 rows\noptions: 0\n";

/* The x of the k-th question of the corpus: searches ask for what they know. */
static void ask(double *x, int k)
{
    for (int i = 0; i < PARAMETERS; i++)
        x[i] = 0.25 * i + 0.5 * k;
}

/* Answers as long as they are known: how many, and their sum. */
static int recall_all(checkpoint *c, double *values)
{
    int count = 0, known = 1;
    while (known && count < MOST_RECORDS) {
        double x[PARAMETERS], gradient[PARAMETERS];
        evaluation e = {.parameters = PARAMETERS, .gradient = count % 2 ? NULL : gradient};
        ask(x, count);
        quorum_status status = checkpoint_recall(c, x, &e, &known);
        if (status < 0) {
            require_failure(status);
            return -1;
        }
        if (known) {
            REQUIRE(e.status == QUORUM_OK || e.status == QUORUM_E_NUMERIC);
            values[count++] = e.value;
        }
    }
    return known ? -1 : count;
}

static void record_one(checkpoint *c, int count)
{
    double x[PARAMETERS], gradient[PARAMETERS] = {1, 2, 3};
    evaluation e = {.parameters = PARAMETERS,
                    .status = QUORUM_OK,
                    .value = 7.5,
                    .gradient = count % 2 ? NULL : gradient};
    ask(x, count);
    REQUIRE(checkpoint_record(c, x, &e) == QUORUM_OK);
}

static void check_again(const char *path, const double *values, int count)
{
    double again[MOST_RECORDS + 1];
    checkpoint *c = NULL;
    REQUIRE(checkpoint_open(path, FIT, PARAMETERS, &c) == QUORUM_OK);
    REQUIRE(recall_all(c, again) == count + 1 || count + 1 >= MOST_RECORDS);
    REQUIRE(memcmp(values, again, (size_t)count * sizeof *values) == 0);
    REQUIRE(again[count] == 7.5);
    checkpoint_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = private_path("checkpoint.npz");
    double values[MOST_RECORDS + 1];
    checkpoint *c = NULL;
    FILE *f = fopen(path, "wb");
    REQUIRE(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
    quorum_status status = checkpoint_open(path, FIT, PARAMETERS, &c);
    if (status < 0) {
        require_failure(status);
        REQUIRE(!c);
        return 0;
    }
    int count = recall_all(c, values);
    if (count >= 0)
        record_one(c, count);
    checkpoint_close(c);
    if (count >= 0)
        check_again(path, values, count);
    unlink(path);
    return 0;
}
