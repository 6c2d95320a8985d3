/* Reading files: bytes a second against plain fread of the same file, which is in the
 * system's cache either way. */
#include "files.h"
#include "suite.h"

#include "base/memory.h"

#include <stdlib.h>

enum { READ_BUFFER = 1 << 18, COLUMNS = MADE_INPUTS + 1 };

typedef struct {
    char path[512];
    quorum_options *options;
} file_run;

static double fread_rate(const void *context, int threads)
{
    (void)threads;
    const file_run *f = context;
    static char buffer[READ_BUFFER];
    double bytes = 0.0, start = wall_seconds();
    FILE *file = must(fopen(f->path, "rb"));
    setvbuf(file, NULL, _IONBF, 0);
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
        bytes += (double)got;
    double seconds = wall_seconds() - start;
    fclose(file);
    return bytes / seconds;
}

static double file_bytes(const file_run *f)
{
    FILE *file = must(fopen(f->path, "rb"));
    fseek(file, 0, SEEK_END);
    double bytes = (double)ftell(file);
    fclose(file);
    return bytes;
}

static double table_seconds(void *context)
{
    file_run *f = context;
    quorum_data *data = NULL;
    double start = wall_seconds();
    check(quorum_data_read(f->path, f->options, &data));
    double seconds = wall_seconds() - start;
    quorum_data_free(data);
    return seconds;
}

static double model_seconds(void *context)
{
    file_run *f = context;
    quorum_model *model = NULL;
    double start = wall_seconds();
    check(quorum_load(f->path, &model));
    double seconds = wall_seconds() - start;
    quorum_model_free(model);
    return seconds;
}

static void write_csv(const char *path, size_t rows, const double *X, const double *y)
{
    FILE *file = must(fopen(path, "w"));
    for (size_t c = 0; c < MADE_INPUTS; c++)
        fprintf(file, "x%zu,", c + 1);
    fprintf(file, "y\n");
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < MADE_INPUTS; c++)
            fprintf(file, "%.17g,", X[i * MADE_INPUTS + c]);
        fprintf(file, "%.17g\n", y[i]);
    }
    if (fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

/* NumPy's format, version 1.0: magic, header padded to 128 bytes, numbers by row. */
static void write_npy(const char *path, size_t rows, const double *X, const double *y)
{
    char header[129];
    FILE *file = must(fopen(path, "wb"));
    snprintf(header, sizeof header,
             "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu, %d), }", rows, COLUMNS);
    fprintf(file, "\x93NUMPY\x01%c\x76%c%-117s\n", 0, 0, header);
    for (size_t i = 0; i < rows; i++) {
        fwrite(X + i * MADE_INPUTS, sizeof *X, MADE_INPUTS, file);
        fwrite(y + i, sizeof *y, 1, file);
    }
    if (fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void write_model(const char *path, size_t rows, const double *X, const double *y)
{
    quorum_options *o = must(quorum_options_new());
    quorum_model *model = NULL;
    check(quorum_options_set(o, "theta", "1.5,1,0.05"));
    check(quorum_options_set(o, "partition", "kdtree"));
    check(quorum_options_set(o, "graph", "none"));
    check(quorum_fit(X, y, rows, MADE_INPUTS, NULL, o, &model));
    check(quorum_save(model, path));
    quorum_model_free(model);
    quorum_options_free(o);
}

static void measure_files(suite *s, const scratch *place, size_t rows)
{
    static const struct {
        const char *name, *file;
        void (*write)(const char *path, size_t rows, const double *X, const double *y);
        timed run;
    } kinds[] = {{"table from csv", "rows.csv", write_csv, table_seconds},
                 {"table from npy", "rows.npy", write_npy, table_seconds},
                 {"model", "model.npz", write_model, model_seconds}};
    double *X, *y;
    file_run f[3];
    limit l[3];
    timing t[3] = {0};
    made_data(rows, 3, &X, &y);
    for (int k = 0; k < 3; k++) {
        scratch_path(place, kinds[k].file, f[k].path, sizeof f[k].path);
        f[k].options = must(quorum_options_new());
        kinds[k].write(f[k].path, rows, X, y);
        l[k] = (limit){"fread", "GB/s", 1e9, fread_rate, &f[k]};
        t[k] = (timing){.size = rows,
                        .D = MADE_INPUTS,
                        .threads = 1,
                        .limit = &l[k],
                        .work = file_bytes(&f[k]),
                        .items = 1.0,
                        .slope = 1.0,
                        .run = kinds[k].run,
                        .context = &f[k]};
        snprintf(t[k].name, sizeof t[k].name, "%s", kinds[k].name);
    }
    suite_measure(s, t, 3, suite_quick(s) ? 1 : 5);
    for (int k = 0; k < 3; k++) {
        scratch_remove(place, kinds[k].file);
        quorum_options_free(f[k].options);
    }
    mem_free(X);
    mem_free(y);
}

void stage_reading(suite *s)
{
    scratch place = scratch_new();
    for (size_t n = suite_pick(s, 20000, 1200); n <= suite_pick(s, 180000, 1200); n *= 3)
        measure_files(s, &place, n);
    scratch_remove(&place, NULL);
}
