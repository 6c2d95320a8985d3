/* TIFF 6.0 with the tags of GeoTIFF 1.1: "II" 42, a directory of tags, their values, then the bands one
 * after another in strips of rows, all with the low byte first.
 *
 *   ModelPixelScale  dx, dy, 0
 *   ModelTiepoint    0, 0, 0 -> x_least - dx/2, y_most + dy/2, 0     points are in the middle of their cells
 *   GeoKeyDirectory  cells are areas; EPSG:4326 of degrees
 *   GDAL_METADATA    the names of the bands
 *
 * The directory is written twice, the first time to see how long it is. */
#include "archive/geotiff.h"

#include "archive/sink.h"
#include "base/memory.h"
#include "base/text_buffer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ASCII = 2, SHORT = 3, LONG = 4, DOUBLE = 12, TAGS = 17, STRIP = 1 << 18 /* bytes, about */ };

static const uint64_t MOST_BYTES = 0xFFFFFFFFu; /* of the file */

/* A tag's values, in the order of its array. */
typedef struct {
    uint16_t tag, type;
    size_t count;
    const void *values;
} entry;

typedef struct {
    const geotiff *g;
    entry tag[TAGS];
    size_t tags;
    uint32_t width, height, rows; /* rows of a strip                             */
    uint16_t bands;
    size_t strips;                   /* of all bands                              */
    uint32_t *place, *bytes;         /* strips                                    */
    uint16_t *bits, *format, *extra; /* bands: 64, 3 (IEEE), 0 (not specified)    */
    double scale[3], tie[6];
    char *names; /* GDAL_METADATA */
} layout;

/* ---- Tags ---- */

static const uint16_t one = 1, apart = 2;
static const uint16_t degree_keys[] = {1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326};
static const uint16_t plain_keys[] = {1, 1, 0, 1, 1025, 0, 1, 1};

/* Ascending, as the standard wants them. */
static void list_tags(layout *l)
{
    const geotiff *g = l->g;
    size_t bands = g->bands;
    const void *keys = g->degrees ? degree_keys : plain_keys;
    size_t key_count = g->degrees ? sizeof degree_keys / 2 : sizeof plain_keys / 2;
    const entry all[TAGS] = {
        {256, LONG, 1, &l->width},
        {257, LONG, 1, &l->height},
        {258, SHORT, bands, l->bits},
        {259, SHORT, 1, &one}, /* not compressed  */
        {262, SHORT, 1, &one}, /* 0 is black      */
        {273, LONG, l->strips, l->place},
        {277, SHORT, 1, &l->bands},
        {278, LONG, 1, &l->rows},
        {279, LONG, l->strips, l->bytes},
        {284, SHORT, 1, &apart}, /* bands one after another */
        {305, ASCII, strlen(g->source) + 1, g->source},
        {338, SHORT, bands - 1, l->extra},
        {339, SHORT, bands, l->format},
        {33550, DOUBLE, 3, l->scale},
        {33922, DOUBLE, 6, l->tie},
        {34735, SHORT, key_count, keys},
        {42112, ASCII, strlen(l->names) + 1, l->names},
    };
    for (size_t i = 0; i < TAGS; i++)
        if (all[i].count > 0)
            l->tag[l->tags++] = all[i];
}

static int size_of(const entry *e)
{
    return e->type == DOUBLE ? 8 : e->type == LONG ? 4 : e->type == SHORT ? 2 : 1;
}

static uint64_t value_at(const entry *e, size_t i)
{
    switch (e->type) {
    case DOUBLE: return double_bits(((const double *)e->values)[i]);
    case LONG: return ((const uint32_t *)e->values)[i];
    case SHORT: return ((const uint16_t *)e->values)[i];
    default: return ((const unsigned char *)e->values)[i];
    }
}

static void put_values(sink *s, const entry *e)
{
    for (size_t i = 0; i < e->count; i++)
        sink_put_low(s, value_at(e, i), size_of(e));
}

/* In the directory itself where there is room, else at *place. */
static void put_entry(sink *s, const entry *e, uint64_t *place)
{
    uint64_t bytes = e->count * (uint64_t)size_of(e), end = s->written + 12;
    sink_put_low(s, e->tag, 2);
    sink_put_low(s, e->type, 2);
    sink_put_low(s, e->count, 4);
    if (bytes <= 4) {
        put_values(s, e);
        sink_put_low(s, 0, (int)(end - s->written));
        return;
    }
    sink_put_low(s, *place, 4);
    *place += (bytes + 7) / 8 * 8;
}

static void put_header(sink *s, const layout *l)
{
    uint64_t place = (8 + 2 + 12 * l->tags + 4 + 7) / 8 * 8;
    sink_put_low(s, 0x002A4949, 4); /* "II" 42 */
    sink_put_low(s, 8, 4);
    sink_put_low(s, l->tags, 2);
    for (size_t i = 0; i < l->tags; i++)
        put_entry(s, &l->tag[i], &place);
    sink_put_low(s, 0, 4);
    for (size_t i = 0; i < l->tags; i++) {
        while (s->written % 8)
            sink_put(s, 0);
        if (l->tag[i].count * (size_t)size_of(&l->tag[i]) > 4)
            put_values(s, &l->tag[i]);
    }
    while (s->written % 8)
        sink_put(s, 0);
}

/* ---- Values ---- */

/* From the top, where y is most, and from the left, where x is least. */
static void put_band(sink *s, const geotiff *g, const double *values)
{
    int is_up = g->y[0] < g->y[1], is_right = g->x[0] < g->x[1];
    for (size_t row = 0; row < g->height; row++)
        for (size_t column = 0; column < g->width; column++) {
            size_t j = is_up ? g->height - 1 - row : row;
            size_t i = is_right ? column : g->width - 1 - column;
            sink_put_low(s, double_bits(values[i * g->across + j * g->up]), 8);
        }
}

/* Where the strips are, from `place` on. */
static void place_strips(const layout *l, uint64_t place)
{
    size_t per_band = l->strips / l->bands;
    for (size_t k = 0; k < l->strips; k++) {
        size_t left = l->height - k % per_band * l->rows;
        l->place[k] = (uint32_t)place;
        l->bytes[k] = (uint32_t)((left < l->rows ? left : l->rows) * l->width * sizeof(double));
        place += l->bytes[k];
    }
}

static void write_all(const void *what, sink *s, int fd)
{
    const layout *l = what;
    sink_begin(s, -1);
    put_header(s, l);
    place_strips(l, s->written);
    sink_begin(s, fd);
    put_header(s, l);
    for (size_t k = 0; k < l->bands; k++)
        put_band(s, l->g, l->g->band[k].values);
}

/* ---- Layout ---- */

static int put_escaped(text_buffer *b, const char *text)
{
    for (; *text; text++) {
        const char *as = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : NULL;
        if (text_buffer_put(b, as ? as : text, as ? strlen(as) : 1) != 0)
            return -1;
    }
    return 0;
}

static int put_plain(text_buffer *b, const char *text)
{
    return text_buffer_put(b, text, strlen(text));
}

static quorum_status name_bands(layout *l)
{
    text_buffer b = {0};
    char line[80];
    int failed = put_plain(&b, "<GDALMetadata>\n");
    for (size_t k = 0; k < l->bands; k++) {
        snprintf(line, sizeof line,
                 "  <Item name=\"DESCRIPTION\" sample=\"%zu\" role=\"description\">", k);
        failed |=
            put_plain(&b, line) | put_escaped(&b, l->g->band[k].name) | put_plain(&b, "</Item>\n");
    }
    failed |= put_plain(&b, "</GDALMetadata>");
    if (!failed)
        l->names = text_buffer_take(&b);
    text_buffer_free(&b);
    return l->names ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for a map");
}

static quorum_status make_room(layout *l)
{
    size_t bands = l->bands, per_band = (l->height + l->rows - 1) / l->rows;
    l->strips = bands * per_band;
    NEW_ZEROED(l->place, l->strips);
    NEW_ZEROED(l->bytes, l->strips);
    NEW_ARRAY(l->bits, bands);
    NEW_ARRAY(l->format, bands);
    NEW_ZEROED(l->extra, bands);
    if (!l->place || !l->bytes || !l->bits || !l->format || !l->extra)
        return failure(QUORUM_E_MEMORY, "out of memory for a map");
    for (size_t k = 0; k < bands; k++) {
        l->bits[k] = 64;
        l->format[k] = 3;
    }
    return name_bands(l);
}

static void place_cells(layout *l)
{
    const geotiff *g = l->g;
    double dx = fabs(g->x[1] - g->x[0]) / (double)(g->width - 1);
    double dy = fabs(g->y[1] - g->y[0]) / (double)(g->height - 1);
    l->scale[0] = dx;
    l->scale[1] = dy;
    l->tie[3] = fmin(g->x[0], g->x[1]) - 0.5 * dx;
    l->tie[4] = fmax(g->y[0], g->y[1]) + 0.5 * dy;
}

static quorum_status check_size(const geotiff *g, const char *path)
{
    double bytes = (double)g->width * (double)g->height * (double)g->bands * sizeof(double);
    if (bytes < 0.99 * (double)MOST_BYTES && g->bands < UINT16_MAX)
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT,
                   "%s: a TIFF has 4 GB at most; make the grid smaller, or write .nc, csv or npz",
                   path);
}

quorum_status geotiff_save(const geotiff *g, const char *path)
{
    TRY(check_size(g, path));
    size_t rows = STRIP / (g->width * sizeof(double));
    layout l = {.g = g,
                .width = (uint32_t)g->width,
                .height = (uint32_t)g->height,
                .rows = rows > 0 ? (uint32_t)rows : 1,
                .bands = (uint16_t)g->bands};
    quorum_status status = make_room(&l);
    if (status >= 0) {
        place_cells(&l);
        list_tags(&l);
        status = sink_save(path, write_all, &l);
    }
    mem_free(l.place);
    mem_free(l.bytes);
    mem_free(l.bits);
    mem_free(l.format);
    mem_free(l.extra);
    mem_free(l.names);
    return status;
}
