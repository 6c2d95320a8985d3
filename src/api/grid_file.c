/* Values on a grid as a file: NetCDF by the CF conventions, GeoTIFF, or npz.  In the first and the last the axis that is named first
 * varies fastest, so that a map of lon and lat has rows of lat. */
#include "archive/geotiff.h"
#include "archive/netcdf.h"
#include "archive/npz.h"
#include "base/memory.h"
#include "base/plain.h"
#include "quorum.h"
#include "team/work.h"

#include <stdio.h>
#include <string.h>

static int ends_with(const char *path, const char *extension)
{
    size_t n = strlen(path), m = strlen(extension);
    return n > m && plain_compare(path + n - m, extension) == 0;
}

static int varies(const quorum_axis *a)
{
    return a->count > 1;
}

/* ---- Degrees ---- */

/* What is known of an axis of degrees. */
typedef struct {
    const char *standard_name, *units, *axis;
    const char *names[2]; /* that say so */
} degree_axis;

static const degree_axis longitudes = {"longitude", "degrees_east", "X", {"lon", "longitude"}};
static const degree_axis latitudes = {"latitude", "degrees_north", "Y", {"lat", "latitude"}};

static int is_of(const degree_axis *d, const char *given, const char *name)
{
    if (given)
        return strcmp(given, name) == 0;
    return plain_compare(name, d->names[0]) == 0 || plain_compare(name, d->names[1]) == 0;
}

/* NULL: none. */
static const degree_axis *degrees_of(const quorum_grid *g, const quorum_axis *a)
{
    if (is_of(&longitudes, g->longitude, a->name))
        return &longitudes;
    return is_of(&latitudes, g->latitude, a->name) ? &latitudes : NULL;
}

/* ---- NetCDF ---- */

static void describe_axis(const quorum_grid *g, const quorum_axis *a, netcdf_variable *v)
{
    netcdf_attribute *list = v->attribute;
    const degree_axis *d = degrees_of(g, a);
    *list++ = (netcdf_attribute){"long_name", a->name};
    if (!d) {
        *list = (netcdf_attribute){"units", a->units};
        return;
    }
    *list++ = (netcdf_attribute){"standard_name", d->standard_name};
    *list++ = (netcdf_attribute){"units", d->units};
    *list++ = (netcdf_attribute){"axis", d->axis};
}

/* Dimensions of axes that vary, and of texts; variables of all axes, then of all layers. */
typedef struct {
    const quorum_grid *g;
    netcdf_dimension *dimension; /* axes                                           */
    netcdf_variable *variable;   /* axes + layers                                  */
    size_t dimensions, variables;
    char *text_names; /* axes x name_room: of the dimensions of texts   */
    size_t name_room;
    char *fixed; /* names of the axes with one value, by blanks    */
} cf;

static void add_axis(cf *c, size_t i)
{
    const quorum_axis *a = &c->g->axis[i];
    netcdf_variable *v = &c->variable[c->variables++];
    *v = (netcdf_variable){.name = a->name, .values = a->value, .text = a->text};
    describe_axis(c->g, a, v);
    if (!varies(a))
        sprintf(c->fixed + strlen(c->fixed), "%s%s", c->fixed[0] ? " " : "", a->name);
    if (!varies(a) && !a->text)
        return;
    char *name = c->text_names + i * c->name_room;
    snprintf(name, c->name_room, a->text ? "%s_length" : "%s", a->name);
    v->ndim = 1;
    v->dimension[0] = c->dimensions;
    c->dimension[c->dimensions++] = (netcdf_dimension){name, a->text ? strlen(a->text) : a->count};
}

/* The axes that vary, the one named first last. */
static void add_layer(cf *c, size_t i)
{
    const quorum_layer *l = &c->g->layer[i];
    netcdf_variable *v = &c->variable[c->variables++];
    const char *with =
        i == 0 && c->g->layers > 1 && strcmp(c->g->layer[1].name, "std") == 0 ? "std" : NULL;
    *v = (netcdf_variable){.name = l->name,
                           .values = l->value,
                           .attribute = {{"long_name", l->long_name},
                                         {"coordinates", c->fixed[0] ? c->fixed : NULL},
                                         {"ancillary_variables", with}}};
    for (size_t a = c->g->axes, d = c->dimensions; a-- > 0;) {
        d -= varies(&c->g->axis[a]) || c->g->axis[a].text;
        if (varies(&c->g->axis[a]))
            v->dimension[v->ndim++] = d;
    }
}

static quorum_status cf_room(cf *c)
{
    size_t longest = 0, all = 1;
    for (size_t i = 0; i < c->g->axes; i++) {
        size_t n = strlen(c->g->axis[i].name);
        longest = n > longest ? n : longest;
        all += n + 1;
    }
    c->name_room = longest + sizeof "_length";
    if (NEW_ZEROED(c->dimension, c->g->axes) && NEW_ZEROED(c->fixed, all) &&
        NEW_ZEROED(c->variable, c->g->axes + c->g->layers) &&
        NEW_ZEROED(c->text_names, c->g->axes * c->name_room))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for a grid");
}

static quorum_status save_netcdf(const quorum_grid *g, const char *path)
{
    cf c = {.g = g};
    char source[64];
    snprintf(source, sizeof source, "quorum %s", quorum_version());
    quorum_status status = cf_room(&c);
    if (status >= 0) {
        for (size_t i = 0; i < g->axes; i++)
            add_axis(&c, i);
        for (size_t i = 0; i < g->layers; i++)
            add_layer(&c, i);
        netcdf_file f = {
            .dimensions = c.dimensions,
            .dimension = c.dimension,
            .variables = c.variables,
            .variable = c.variable,
            .attribute = {{"Conventions", "CF-1.8"}, {"title", g->title}, {"source", source}}};
        status = netcdf_save(&f, path);
    }
    mem_free(c.dimension);
    mem_free(c.variable);
    mem_free(c.text_names);
    mem_free(c.fixed);
    return status;
}

/* ---- GeoTIFF ---- */

/* The two axes that vary, with their steps through the values, x first: the longitude, or the one that is
 * named first. */
typedef struct {
    const quorum_axis *axis[2];
    size_t step[2], count;
} plane;

static plane find_plane(const quorum_grid *g)
{
    plane p = {0};
    for (size_t a = 0, step = 1; a < g->axes; step *= g->axis[a++].count)
        if (varies(&g->axis[a]) && p.count++ < 2) {
            p.axis[p.count - 1] = &g->axis[a];
            p.step[p.count - 1] = step;
        }
    if (p.count == 2 &&
        (degrees_of(g, p.axis[0]) == &latitudes || degrees_of(g, p.axis[1]) == &longitudes))
        p = (plane){{p.axis[1], p.axis[0]}, {p.step[1], p.step[0]}, 2};
    return p;
}

static quorum_status save_geotiff(const quorum_grid *g, const char *path)
{
    plane p = find_plane(g);
    geotiff_band *band;
    if (p.count != 2)
        return failure(QUORUM_E_ARGUMENT,
                       "%s: a GeoTIFF is of two axes that vary, and the grid has %zu", path,
                       p.count);
    if (!NEW_ARRAY(band, g->layers))
        return failure(QUORUM_E_MEMORY, "out of memory for a grid");
    for (size_t k = 0; k < g->layers; k++)
        band[k] = (geotiff_band){g->layer[k].name, g->layer[k].value};
    const quorum_axis *x = p.axis[0], *y = p.axis[1];
    geotiff t = {.width = x->count,
                 .height = y->count,
                 .bands = g->layers,
                 .x = {x->value[0], x->value[x->count - 1]},
                 .y = {y->value[0], y->value[y->count - 1]},
                 .across = p.step[0],
                 .up = p.step[1],
                 .degrees = degrees_of(g, x) == &longitudes && degrees_of(g, y) == &latitudes,
                 .source = "quorum",
                 .band = band};
    quorum_status status = geotiff_save(&t, path);
    mem_free(band);
    return status;
}

/* ---- npz ---- */

/* Of one axis, or of two; of more all values in a row. */
static void shape_of(const quorum_grid *g, int *ndim, size_t shape[2])
{
    size_t all = 1, varying = 0, length[2] = {1, 1};
    for (size_t a = g->axes; a-- > 0;) {
        all *= g->axis[a].count;
        if (varies(&g->axis[a]) && varying++ < 2)
            length[varying - 1] = g->axis[a].count;
    }
    *ndim = varying == 2 ? 2 : 1;
    shape[0] = varying == 2 ? length[0] : all;
    shape[1] = length[1];
}

static quorum_status save_npz(const quorum_grid *g, const char *path)
{
    size_t shape[2];
    int ndim;
    quorum_status status = QUORUM_OK;
    npz_writer *w = npz_writer_new();
    if (!w)
        return failure(QUORUM_E_MEMORY, "%s: out of memory while writing", path);
    shape_of(g, &ndim, shape);
    for (size_t i = 0; i < g->axes; i++)
        if (g->axis[i].value)
            TRY_OR_DONE(
                npz_add_doubles(w, g->axis[i].name, 1, &g->axis[i].count, g->axis[i].value));
    for (size_t i = 0; i < g->layers; i++)
        TRY_OR_DONE(npz_add_doubles(w, g->layer[i].name, ndim, shape, g->layer[i].value));
    TRY_OR_DONE(npz_writer_save(w, path));
done:
    npz_writer_free(w);
    return status;
}

typedef struct {
    const quorum_grid *g;
    const char *path;
} saving;

static quorum_status save(void *context)
{
    const saving *s = context;
    if (ends_with(s->path, ".nc"))
        return save_netcdf(s->g, s->path);
    if (ends_with(s->path, ".npz"))
        return save_npz(s->g, s->path);
    if (ends_with(s->path, ".tif") || ends_with(s->path, ".tiff"))
        return save_geotiff(s->g, s->path);
    return failure(QUORUM_E_ARGUMENT, "%s: grids are written as .nc, .tif or .npz", s->path);
}

quorum_status quorum_save_grid(const quorum_grid *g, const char *path)
{
    if (!g || !path || g->axes == 0 || g->axes > NETCDF_MOST_AXES)
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_save_grid: a path and a grid of 1 to %d axes must be given",
                       NETCDF_MOST_AXES);
    saving s = {g, path};
    return team_first(QUORUM_OK, save, &s);
}
