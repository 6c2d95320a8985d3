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

quorum_status wrong_size(const char *name, size_t found, size_t wanted)
{
    return failure(
        QUORUM_E_FORMAT,
        "the model file is damaged or was altered: %s has size %zu where %zu is expected", name,
        found, wanted);
}

/* Sides that nothing but arrays themselves tell are as long as the first of them says. */
static quorum_status settle_side(const char *name, side s, size_t found, model_sizes *sizes)
{
    if ((s == SIDE_HELD_OUT || s == SIDE_CELLS) && found > sizes->length[SIDE_ROWS])
        return wrong_size(name, found, sizes->length[SIDE_ROWS]);
    int told = s != SIDE_EXTRAS && s != SIDE_REFERENCES && s != SIDE_HELD_OUT && s != SIDE_CELLS;
    if (!told && sizes->length[s] == 0)
        sizes->length[s] = found;
    return found == sizes->length[s] ? QUORUM_OK : wrong_size(name, found, sizes->length[s]);
}

/* Rows and inputs are those of X, the experts have one offset more. */
static quorum_status read_sizes(npz_reader *npz, model_sizes *sizes)
{
    size_t shape[2], offsets;
    TRY(npz_get_shape(npz, "X", 2, shape));
    if (shape[0] == 0 || shape[1] == 0 || shape[0] > INT_MAX)
        return damaged("X has no rows or columns");
    TRY(npz_get_shape(npz, "offset", 1, &offsets));
    if (offsets < 2 || offsets - 1 > shape[0])
        return damaged("offset does not span the rows");
    *sizes = (model_sizes){{[SIDE_ROWS] = shape[0],
                            [SIDE_INPUTS] = shape[1],
                            [SIDE_EXPERTS] = offsets - 1,
                            [SIDE_OFFSETS] = offsets,
                            [SIDE_LINE] = shape[1] + 1}};
    return QUORUM_OK;
}

/* Indices are there twice while they are checked, and so is what becomes a part of an array. */
static double copies(const array_member *a)
{
    return a->type == INDICES || a->within ? 2.0 : 1.0;
}

static quorum_status measure_array(npz_reader *npz, const array_member *a, int whole,
                                   model_sizes *sizes, double *total)
{
    size_t shape[2];
    double bytes;
    int ndim = array_shape(a, sizes, shape);
    TRY(npz_measure(npz, a->name, ndim, shape, &bytes));
    for (int k = 0; k < ndim; k++)
        TRY(settle_side(a->name, a->side[k], shape[k], sizes));
    bytes *= copies(a);
    *total += a->of_rows && !whole ? holdings_bytes(bytes) : bytes;
    return QUORUM_OK;
}

int has_array(const npz_reader *npz, const array_member *a)
{
    char member[32];
    snprintf(member, sizeof member, "%s.npy", a->name);
    return npz_has(npz, member);
}

quorum_status check_model_sizes(npz_reader *npz, double memory, int whole, model_sizes *out,
                                double *needed)
{
    TRY(read_sizes(npz, out));
    double total = META_FACTOR * npz_member_bytes(npz, "meta.json") +
                   EACH * ((double)out->length[SIDE_INPUTS] + (double)out->length[SIDE_EXPERTS]);
    for (int i = 0; i < ARRAYS; i++)
        if (array_members[i].side[0] != NO_SIDE && has_array(npz, &array_members[i]))
            TRY(measure_array(npz, &array_members[i], whole, out, &total));
    *needed = total;
    if (total > LARGE && total > MOST_RATIO * npz_file_bytes(npz))
        return failure(
            QUORUM_E_FORMAT,
            "the file of %.2f MB unpacks to %.0f times its size, which no model does: it "
            "is damaged, or made to fill memory",
            npz_file_bytes(npz) / 1e6, total / npz_file_bytes(npz));
    return total <= memory ? QUORUM_OK : too_large(total, memory);
}
