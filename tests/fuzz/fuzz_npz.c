/* Arrays: npy and npz files through the table reader and through the npz reader by itself,
 * under the changes of mutate.c. */
#include "fuzz.h"

#include "base/memory.h"
#include "archive/npz.h"
#include "archive/npz_list.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = 1 << 16 };

/* The member's shape must be that of its numbers: all are looked at. */
static void read_member(npz_reader *r, const char *name)
{
    size_t shape[2] = {1, 1};
    double *values = NULL, sum = 0.0;
    int64_t *integers = NULL;
    int ndim = 0;
    if (npz_get_ndim(r, name, &ndim) < 0)
        return;
    REQUIRE(ndim >= 0 && ndim <= 2);
    quorum_status status = npz_get_doubles(r, name, ndim, shape, &values);
    for (size_t i = 0; status >= 0 && i < shape[0] * (ndim == 2 ? shape[1] : 1); i++)
        sum += values[i];
    status = npz_get_int64(r, name, ndim, shape, &integers);
    for (size_t i = 0; status >= 0 && i < shape[0] * (ndim == 2 ? shape[1] : 1); i++)
        sum += (double)integers[i];
    volatile double keep = sum;
    (void)keep;
    mem_free(values);
    mem_free(integers);
}

static void read_npz(const char *path)
{
    static const char *const members[] = {"X", "y", "row", "calibration"};
    npz_reader *r = NULL;
    char name[64] = "", *text = NULL;
    quorum_status status = npz_open(path, &r);
    if (status < 0) {
        require_failure(status);
        return;
    }
    if (npz_count_arrays(r, name, sizeof name) > 0)
        read_member(r, name);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        read_member(r, members[i]);
    if (npz_get_text(r, "meta.json", &text) >= 0)
        REQUIRE(strlen(text) < (size_t)1 << 30);
    mem_free(text);
    npz_close(r);
}

static void read_table(const char *path)
{
    quorum_data *d = NULL;
    quorum_status status = quorum_data_read(path, NULL, &d);
    if (status < 0) {
        require_failure(status);
        REQUIRE(!d);
        return;
    }
    REQUIRE(d->rows > 0 && d->inputs > 0);
    require_finite(d->X, d->rows * d->inputs);
    require_finite(d->y, d->rows);
    quorum_data_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = file_of(0, data, size);
    read_npz(path);
    read_table(path);
    return 0;
}
