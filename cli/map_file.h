/* Predictions on a grid, held until all are there, and written as NetCDF, GeoTIFF or npz. */
#ifndef QUORUM_CLI_MAP_FILE_H
#define QUORUM_CLI_MAP_FILE_H

#include "answers.h"
#include "grid.h"

typedef struct {
    const char *path; /* NULL: none is wanted                       */
    size_t layers;
    char *names;          /* of the layers, each with its final zero    */
    double **value;       /* layers x rows of the grid                  */
    double *row;          /* layers: of one row                         */
    size_t rows, written; /* of the grid, and those that are there      */
} map_file;

/* Whether a path is that of a map: .nc, .tif or .npz; and one that is of nothing else. */
bool is_map_path(const char *path);
bool is_only_map(const char *path);

/* Room for all; the exit code, after saying what is wrong.  Free in any case. */
int map_open(map_file *m, const char *path, const grid *g, const answers *a,
             const quorum_model *model, const arguments *given);
void map_free(map_file *m);

/* The next `rows` rows, of which all have predictions. */
void map_add(map_file *m, const answers *a, const quorum_prediction *values, size_t rows);

int map_save(const map_file *m, const grid *g, const quorum_model *model, const arguments *given);

#endif
