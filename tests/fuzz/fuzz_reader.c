/* Any bytes as a data file and as an npz: nothing may crash, leak or hang, and
 * every failure must have a sentence.  See README.md for how to run it. */
#include "base/memory.h"
#include "data/npz.h"
#include "data/npz_list.h"
#include "data/reader.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROWS = 16, MAX_WIDTH = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

/* Rows that come must be finite. */
static void read_rows(reader *r)
{
    size_t rows, width = reader_columns(r);
    double *out = malloc(ROWS * width * sizeof *out);
    quorum_status status;
    do {
        status = reader_next(r, ROWS, out, &rows);
        for (size_t i = 0; status >= 0 && i < rows * width; i++)
            require(isfinite(out[i]));
    } while (status >= 0 && rows > 0);
    require(status >= 0 || strlen(quorum_message()) > 0);
    free(out);
}

static void read_table(const char *path, const reader_options *options)
{
    reader *r = NULL;
    size_t column;
    if (reader_open(path, options, &r) < 0) {
        require(!r && strstr(quorum_message(), path));
        return;
    }
    require(reader_columns(r) > 0);
    require(reader_find(r, "-1", &column) < 0 || column < reader_columns(r));
    reader_find(r, "y", &column);
    if (reader_columns(r) <= MAX_WIDTH)
        read_rows(r);
    reader_close(r);
}

static void read_npz(const char *path)
{
    npz_reader *r = NULL;
    char name[64] = "", *text = NULL;
    double *values = NULL;
    int64_t *integers = NULL;
    size_t shape[2];
    int ndim = 0;
    if (npz_open(path, &r) < 0)
        return;
    if (npz_count_arrays(r, name, sizeof name) > 0 && npz_get_ndim(r, name, &ndim) >= 0) {
        npz_get_doubles(r, name, ndim, shape, &values);
        npz_get_int64(r, name, ndim, shape, &integers);
    }
    npz_get_text(r, "meta.json", &text);
    mem_free(values);
    mem_free(integers);
    mem_free(text);
    npz_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    read_table(path, &(reader_options){.header = HEADER_AUTO, .missing = MISSING_ERROR});
    read_table(path, &(reader_options){.header = HEADER_YES, .missing = MISSING_DROP});
    read_table(path, &(reader_options){.header = HEADER_NO, .missing = MISSING_DROP});
    read_npz(path);
    close(file);
    return 0;
}
