/* A layer is a column of the answers on the grid. */
#include "map_file.h"

#include "cells.h"
#include "kept.h"
#include "output.h"
#include "talk.h"
#include "team.h"

#include <stdlib.h>
#include <string.h>

static const double SHARE_OF_MEMORY = 0.5;

bool is_only_map(const char *path)
{
    return has_extension(path, ".nc") || has_extension(path, ".tif") ||
           has_extension(path, ".tiff");
}

bool is_map_path(const char *path)
{
    return path && (has_extension(path, ".npz") || is_only_map(path));
}

/* The names of the answers, one after another. */
static bool list_names(map_file *m, const answers *a, const quorum_model *model)
{
    char *header = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&header, &size);
    if (!file)
        return false;
    answers_write_names(a, model, file);
    bool whole = fclose(file) == 0 && (m->names = malloc(size + 1)) != NULL;
    char *to = m->names;
    for (const char *at = header; whole && at; to += strlen(to) + 1)
        at = cell_take(at, to);
    free(header);
    return whole;
}

/* Of several processes the first has the map. */
static bool make_room(map_file *m)
{
    if (quorum_team_rank() != 0)
        return true;
    bool fits = (m->value = calloc(m->layers, sizeof *m->value)) != NULL &&
                (m->row = malloc(m->layers * sizeof *m->row)) != NULL;
    for (size_t k = 0; fits && k < m->layers; k++)
        fits = (m->value[k] = malloc(m->rows * sizeof **m->value)) != NULL;
    return fits;
}

static size_t count_varying(const grid *g)
{
    size_t count = 0;
    for (size_t a = 0; a < g->axes; a++)
        count += g->axis[a].count > 1;
    return count;
}

int map_open(map_file *m, const char *path, const grid *g, const answers *a,
             const quorum_model *model, const arguments *given)
{
    quorum_info info;
    m->rows = g->rows;
    if (is_only_map(path) && !has_extension(path, ".nc") && count_varying(g) != 2)
        return usage_error(given->command,
                           "-o %s: a GeoTIFF is of two axes that vary, and the grid has %zu; write "
                           ".nc, .npz or csv",
                           path, count_varying(g));
    m->path = path;
    quorum_status status = quorum_inspect(model, &info);
    if (status < 0)
        return library_failure(given, status);
    m->layers = answers_count(a, info.inputs);
    double memory = quorum_options_memory(given->options);
    if ((double)m->rows * (double)m->layers * sizeof(double) > SHARE_OF_MEMORY * memory)
        return failure(
            given,
            "%s: %zu rows of %zu columns take more than memory, which is %.0f MB, has for "
            "them; write csv, or give more with --memory",
            path, m->rows, m->layers, memory / (1 << 20));
    bool fits = list_names(m, a, model) && make_room(m);
    int code = fits ? EXIT_DONE : failure(given, "out of memory for a map of %zu rows", m->rows);
    code = team_code(code);
    return code == EXIT_DONE ? output_check(given, path) : code;
}

void map_free(map_file *m)
{
    for (size_t k = 0; m->value && k < m->layers; k++)
        free(m->value[k]);
    free(m->value);
    free(m->row);
    free(m->names);
    *m = (map_file){0};
}

void map_add(map_file *m, const answers *a, const quorum_prediction *values, size_t rows)
{
    for (size_t i = 0; m->value && i < rows; i++, m->written++) {
        answers_values(a, values, i, m->row);
        for (size_t k = 0; k < m->layers; k++)
            m->value[k][m->written] = m->row[k];
    }
}

/* "mean of y", as CF wants a name for readers. */
static char *describe(const char *name, const char *target)
{
    char *text = malloc(strlen(name) + strlen(target) + sizeof " of ");
    if (text)
        sprintf(text, "%s of %s", name, target);
    return text;
}

int map_save(const map_file *m, const grid *g, const quorum_model *model, const arguments *given)
{
    quorum_info info;
    quorum_status status = quorum_inspect(model, &info);
    quorum_layer *layer = status >= 0 ? calloc(m->layers, sizeof *layer) : NULL;
    int code = team_code(layer ? EXIT_DONE : failure(given, "out of memory for a map"));
    if (code != EXIT_DONE || !layer) {
        free(layer);
        return code;
    }
    const char *target = info.names[info.inputs], *name = m->names;
    for (size_t k = 0; k < m->layers; k++, name += strlen(name) + 1)
        layer[k] = (quorum_layer){name, describe(name, target), m->value ? m->value[k] : NULL};
    char *title = describe("predictions", target);
    quorum_grid map = {
        .axes = g->axes, .axis = g->axis, .layers = m->layers, .layer = layer, .title = title};
    if (info.place > 0) {
        map.longitude = info.names[info.longitude];
        map.latitude = info.names[info.latitude];
    }
    status = quorum_save_grid(&map, m->path);
    for (size_t k = 0; k < m->layers; k++)
        free((char *)layer[k].long_name);
    free(layer);
    free(title);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}
