/* Tables as users have them: the first bytes choose options, the rest is a csv, csv.gz, npy
 * or npz file.  It is read as training data and, in chunks of two sizes, as queries, with all columns
 * kept as text or none. */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MOST_ROWS = 1 << 14, MOST_CHUNK = 7, MODEL_INPUTS = 2 };

static quorum_model *with_names, *without_names;

static quorum_model *small_model(const char *const *names)
{
    static const double X[] = {0, 1, 1, 0, 2, 3, 3, 1, 4, 2, 5, 0}, y[] = {0, 1, 0, 2, 1, 3};
    quorum_options *o = quorum_options_new();
    quorum_model *m = NULL;
    REQUIRE(o && quorum_options_set(o, "theta", "1,1,0.1") == QUORUM_OK);
    REQUIRE(quorum_options_set(o, "threads", "1") == QUORUM_OK);
    REQUIRE(quorum_fit(X, y, sizeof y / sizeof *y, MODEL_INPUTS, names, o, &m) >= 0);
    quorum_options_free(o);
    return m;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const names[] = {"a", "b", "y"};
    (void)argc;
    (void)argv;
    with_names = small_model(names);
    without_names = small_model(NULL);
    return 0;
}

/* ---- Options ---- */

static void choose(choices *c, quorum_options *o, const char *name, const char *const *values,
                   unsigned count)
{
    const char *value = values[take_below(c, count)];
    REQUIRE(quorum_options_set(o, name, value) == QUORUM_OK);
}

#define CHOOSE(c, o, name, ...)                                                                    \
    choose((c), (o), (name), (const char *const[]){__VA_ARGS__},                                   \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* All that matter are set anew each time. */
static quorum_options *choose_options(choices *c)
{
    static quorum_options *o;
    if (!o)
        o = quorum_options_new();
    REQUIRE(o != NULL);
    CHOOSE(c, o, "header", "auto", "yes", "no");
    CHOOSE(c, o, "missing", "error", "drop");
    CHOOSE(c, o, "target", "-1", "1", "y", "a", "2");
    CHOOSE(c, o, "ignore", "", "1", "b", "x1,2");
    CHOOSE(c, o, "decimal", "auto", "point", "comma");
    CHOOSE(c, o, "thousands", "none", "comma", "point", "space", "apostrophe", "underscore");
    CHOOSE(c, o, "comment", "none", "#", "%", "|");
    CHOOSE(c, o, "memory", "auto", "10M");
    return o;
}

/* ---- Reading ---- */

/* Levels are sorted, no two alike, and X has their numbers. */
static void check_levels(const quorum_data *d)
{
    for (size_t i = 0; d->levels && i < d->inputs; i++) {
        for (size_t l = 0; l < d->levels[i]; l++) {
            REQUIRE(d->level[i][l][0] != '\0');
            REQUIRE(l == 0 || strcmp(d->level[i][l - 1], d->level[i][l]) < 0);
        }
        for (size_t r = 0; d->levels[i] > 0 && r < d->rows; r++)
            REQUIRE(d->X[r * d->inputs + i] >= 0.0 &&
                    d->X[r * d->inputs + i] < (double)d->levels[i]);
    }
}

static void read_training(const char *path, const quorum_options *o)
{
    quorum_data *d = NULL;
    quorum_status status = quorum_data_read(path, o, &d);
    if (status < 0) {
        require_failure(status);
        REQUIRE(!d);
        return;
    }
    REQUIRE(d && d->rows > 0 && d->inputs > 0 && d->target <= d->inputs);
    require_finite(d->X, d->rows * d->inputs);
    require_finite(d->y, d->rows);
    check_levels(d);
    for (size_t i = 0; d->names && i <= d->inputs; i++)
        REQUIRE(d->names[i] && d->names[i][0] != '\0');
    quorum_data_free(d);
}

typedef struct {
    double X[MOST_ROWS], y[MOST_ROWS];
    size_t rows, dropped;
    uint64_t texts; /* a digest of what is kept */
    quorum_status status;
} queries;

/* All of a row is NaN, where that is allowed, or nothing. */
static void require_rows(const double *X, size_t rows, int nan_allowed)
{
    for (size_t i = 0; i < rows; i++)
        if (nan_allowed && isnan(X[i * MODEL_INPUTS]))
            require_nan(X + i * MODEL_INPUTS, MODEL_INPUTS);
        else
            require_finite(X + i * MODEL_INPUTS, MODEL_INPUTS);
}

/* Whether a text is UTF-8 is for its reader to say: here every byte is looked at. */
static void add_texts(const quorum_stream *s, size_t rows, queries *q)
{
    size_t columns = quorum_stream_kept_columns(s);
    for (size_t i = 0; i < rows; i++) {
        REQUIRE(columns == 0 || quorum_stream_row(s, i) > q->rows + i);
        for (size_t k = 0; k < columns; k++)
            for (const char *p = quorum_stream_kept(s, i, k); *p; p++)
                q->texts = q->texts * 31 + (unsigned char)*p + k;
    }
}

/* All rows, `chunk` at a time. */
static void read_queries(const char *path, const quorum_model *m, int with_target, const char *keep,
                         const quorum_options *o, size_t chunk, queries *q)
{
    quorum_stream_request wanted = {.with_target = with_target, .keep = keep};
    quorum_stream *s = NULL;
    size_t got = 1;
    q->rows = q->dropped = q->texts = 0;
    q->status = quorum_stream_open_with(path, m, &wanted, o, &s);
    while (q->status >= 0 && got > 0 && q->rows + MOST_CHUNK <= MOST_ROWS / MODEL_INPUTS) {
        q->status = quorum_stream_next(s, chunk, q->X + q->rows * MODEL_INPUTS,
                                       with_target ? q->y + q->rows : NULL, &got);
        if (q->status < 0)
            break;
        add_texts(s, got, q);
        q->rows += got;
    }
    if (q->status < 0)
        require_failure(q->status);
    else
        q->dropped = quorum_stream_dropped(s);
    require_rows(q->X, q->rows, strcmp(quorum_options_get(o, "missing"), "nan") == 0);
    if (with_target)
        require_finite(q->y, q->rows);
    quorum_stream_close(s);
}

/* Rows do not depend on the chunks; a failing chunk loses its first rows. */
static void compare_chunks(const char *path, const quorum_model *m, int with_target,
                           const char *keep, const quorum_options *o)
{
    static queries one, some;
    read_queries(path, m, with_target, keep, o, 1, &one);
    read_queries(path, m, with_target, keep, o, MOST_CHUNK, &some);
    REQUIRE(one.status == some.status);
    REQUIRE(one.status < 0 ? one.rows >= some.rows : one.rows == some.rows);
    REQUIRE(one.status < 0 || (one.dropped == some.dropped && one.texts == some.texts));
    REQUIRE(memcmp(one.X, some.X, some.rows * MODEL_INPUTS * sizeof one.X[0]) == 0);
    if (with_target)
        REQUIRE(memcmp(one.y, some.y, some.rows * sizeof one.y[0]) == 0);
}

/* The bytes as a gzip file, so that changes of a table are not lost on its checksum. */
static size_t compress_bytes(const uint8_t *data, size_t size, uint8_t *out, size_t room)
{
    z_stream z = {.next_in = (uint8_t *)data, .avail_in = (unsigned)size, .next_out = out};
    z.avail_out = (unsigned)room;
    REQUIRE(deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 1, Z_DEFAULT_STRATEGY) == Z_OK);
    REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
    size_t made = z.total_out;
    deflateEnd(&z);
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t packed[1 << 16];
    choices c = {data, size};
    quorum_options *o = choose_options(&c);
    unsigned how = take_byte(&c);
    if (how % 8 == 7 && c.left < sizeof packed / 2) {
        size_t made = compress_bytes(c.at, c.left, packed, sizeof packed);
        c = (choices){packed, made};
    }
    const char *path = file_of(0, c.at, c.left);
    read_training(path, o);
    if (how & 32)
        REQUIRE(quorum_options_set(o, "missing", "nan") == QUORUM_OK);
    compare_chunks(path, how & 8 ? with_names : without_names, (how & 16) != 0,
                   how & 64 ? "all" : NULL, o);
    return 0;
}
