/* A model file says how large it is before it is read: the directory has the unpacked size of
 * every member, an array's header its shape.  A few kilobytes can unpack to gigabytes, and numbers
 * of one byte become numbers of eight, so all of it is added up, as it will be in memory, before
 * anything is allocated. */
#include "model/file_sizes.h"

#include "model/meta.h"

#include <limits.h>
#include <stdio.h>

static const double META_FACTOR = 52.0; /* bytes of a JSON tree for one of its text, at most */
static const double EACH = 64.0;        /* what is derived, of every expert and input         */
static const double LARGE = 64e6;       /* bytes: a file that unpacks to less harms nobody ... */
static const double MOST_RATIO = 250.0; /* ... and one to so many times its size is no model   */

/* The length of a side of an array. */
typedef enum { NONE, ROWS, INPUTS, EXPERTS, OFFSETS, UP_TO_ROWS, ANY } side;

static const struct {
    const char *name;
    side side[2];
    double copies; /* integers are there twice while they are checked */
    int of_rows;   /* a rank has its share                            */
} arrays[] = {
    {"X", {ROWS, INPUTS}, 1.0, 1},
    {"y", {ROWS, NONE}, 1.0, 1},
    {"row", {ROWS, NONE}, 2.0, 1},
    {"offset", {OFFSETS, NONE}, 2.0, 0},
    {"extra", {ANY, NONE}, 2.0, 0},
    {"extra_offset", {OFFSETS, NONE}, 2.0, 0},
    {"x_mean", {INPUTS, NONE}, 1.0, 0},
    {"x_scale", {INPUTS, NONE}, 1.0, 0},
    {"log_lengthscale", {INPUTS, NONE}, 2.0, 0},
    {"reference", {ANY, INPUTS}, 1.0, 0},
    {"precision", {EXPERTS, EXPERTS}, 1.0, 0},
    {"importance", {EXPERTS, NONE}, 1.0, 0},
    {"calibration", {UP_TO_ROWS, NONE}, 1.0, 0},
};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

static quorum_status too_large(double needed, double memory)
{
    return failure(QUORUM_E_MEMORY,
                   "the model needs %.2f GB when it is loaded, more than memory (%.2f GB) allows: "
                   "raise memory if the file is to be trusted",
                   needed / 1e9, memory / 1e9);
}

quorum_status check_meta_bytes(const npz_reader *npz, double memory)
{
    double bytes = npz_member_bytes(npz, "meta.json");
    if (bytes > MOST_META)
        return damaged("meta.json is too long");
    return META_FACTOR * bytes <= memory ? QUORUM_OK : too_large(META_FACTOR * bytes, memory);
}

static quorum_status check_side(const char *name, side s, size_t found, const model_sizes *m)
{
    const size_t expected[] = {
        [ROWS] = m->n, [INPUTS] = m->D, [EXPERTS] = m->M, [OFFSETS] = m->M + 1};
    if (s == ANY || s == NONE || (s == UP_TO_ROWS && found <= m->n))
        return QUORUM_OK;
    size_t wanted = s == UP_TO_ROWS ? m->n : expected[s];
    if (found == wanted)
        return QUORUM_OK;
    return failure(
        QUORUM_E_FORMAT,
        "the model file is damaged or was altered: %s has size %zu where %zu is expected", name,
        found, wanted);
}

/* Rows and inputs are those of X, the experts have one offset more. */
static quorum_status read_sizes(npz_reader *npz, model_sizes *m)
{
    size_t shape[2], offsets;
    TRY(npz_get_shape(npz, "X", 2, shape));
    if (shape[0] == 0 || shape[1] == 0 || shape[0] > INT_MAX)
        return damaged("X has no rows or columns");
    TRY(npz_get_shape(npz, "offset", 1, &offsets));
    if (offsets < 2 || offsets - 1 > shape[0])
        return damaged("offset does not span the rows");
    *m = (model_sizes){.n = shape[0], .D = shape[1], .M = offsets - 1};
    return QUORUM_OK;
}

static quorum_status measure_array(npz_reader *npz, int i, int ranks, const model_sizes *m,
                                   double *total)
{
    const char *name = arrays[i].name;
    size_t shape[2];
    double bytes;
    int ndim = arrays[i].side[1] == NONE ? 1 : 2;
    TRY(npz_measure(npz, name, ndim, shape, &bytes));
    for (int k = 0; k < ndim; k++)
        TRY(check_side(name, arrays[i].side[k], shape[k], m));
    *total += arrays[i].copies * bytes / (arrays[i].of_rows ? ranks : 1);
    return QUORUM_OK;
}

quorum_status check_model_sizes(npz_reader *npz, double memory, int ranks, model_sizes *out)
{
    TRY(read_sizes(npz, out));
    double total =
        META_FACTOR * npz_member_bytes(npz, "meta.json") + EACH * ((double)out->D + (double)out->M);
    for (int i = 0; i < ARRAYS; i++) {
        char member[32];
        snprintf(member, sizeof member, "%s.npy", arrays[i].name);
        if (npz_has(npz, member))
            TRY(measure_array(npz, i, ranks, out, &total));
    }
    if (total > LARGE && total > MOST_RATIO * npz_file_bytes(npz))
        return failure(
            QUORUM_E_FORMAT,
            "the file of %.2f MB unpacks to %.0f times its size, which no model does: it "
            "is damaged, or made to fill memory",
            npz_file_bytes(npz) / 1e6, total / npz_file_bytes(npz));
    return total <= memory ? QUORUM_OK : too_large(total, memory);
}
