/* A GeoTIFF, written: bands of doubles over a plane of equal steps, north up, with the corner and the size of
 * its cells, and with EPSG:4326 where the plane is of degrees. */
#ifndef QRM_ARCHIVE_GEOTIFF_H
#define QRM_ARCHIVE_GEOTIFF_H

#include "base/status.h"

#include <stddef.h>

typedef struct {
    const char *name;
    const double *values; /* of the point (i, j) at i across + j up, as in geotiff */
} geotiff_band;

typedef struct {
    size_t width, height, bands;
    double x[2], y[2];  /* the first and the last point's, in either order     */
    size_t across, up;  /* steps in `values` to the next point along x and y   */
    int degrees;        /* 1: x is a longitude and y a latitude                */
    const char *source; /* what wrote it                                       */
    const geotiff_band *band;
} geotiff;

/* width and height are 2 or more.  The file appears whole or not at all; it has 4 GB at most. */
quorum_status geotiff_save(const geotiff *g, const char *path);

#endif
