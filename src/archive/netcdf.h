/* NetCDF's classic format with 64-bit offsets (CDF-2), written: dimensions, attributes of text, variables of
 * doubles or of text.  Every NetCDF library reads it. */
#ifndef QRM_ARCHIVE_NETCDF_H
#define QRM_ARCHIVE_NETCDF_H

#include "base/status.h"

#include <stddef.h>

typedef struct {
    const char *name;
    size_t length;
} netcdf_dimension;

typedef struct {
    const char *name, *value; /* an attribute whose value is NULL is left out */
} netcdf_attribute;

enum { NETCDF_MOST_AXES = 16, NETCDF_MOST_ATTRIBUTES = 8 };

typedef struct {
    const char *name;
    size_t ndim;                        /* 0: one value                                   */
    size_t dimension[NETCDF_MOST_AXES]; /* ndim: which, the last one varying fastest    */
    netcdf_attribute attribute[NETCDF_MOST_ATTRIBUTES]; /* up to the first without a name */
    const double *values; /* as many as the dimensions say, or ...          */
    const char *text;     /* ... characters, of one dimension               */
} netcdf_variable;

typedef struct {
    size_t dimensions, variables;
    const netcdf_dimension *dimension;
    const netcdf_variable *variable;
    netcdf_attribute attribute[NETCDF_MOST_ATTRIBUTES]; /* of the file */
} netcdf_file;

/* The file appears whole or not at all.  Names are written with '_' for '/', which they must not have. */
quorum_status netcdf_save(const netcdf_file *f, const char *path);

#endif
