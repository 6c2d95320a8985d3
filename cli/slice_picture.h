/* The picture of a slice, as SVG. */
#ifndef QUORUM_CLI_SLICE_PICTURE_H
#define QUORUM_CLI_SLICE_PICTURE_H

#include "slice.h"

#include <stdio.h>

/* One input: mean, interval and near rows.  Two: mean and std as maps, near rows on top. */
void draw_slice(const slice *s, FILE *file);

#endif
