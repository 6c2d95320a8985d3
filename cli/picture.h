/* Pictures that commands draw as SVG, written as that or, where the name ends in .png, as PNG. */
#ifndef QUORUM_CLI_PICTURE_H
#define QUORUM_CLI_PICTURE_H

#include "through.h"

/* .svg or .png */
bool is_picture(const char *path);

/* Says early, before hours of work, that the picture could not be made later. */
int picture_check(const arguments *given, const char *path);

/* The picture that `draw` makes of `of`, whole or not at all; NULL is standard output. Returns the
 * exit code. */
int picture_write(const arguments *given, const char *path, drawing *draw, const void *of);

#endif
