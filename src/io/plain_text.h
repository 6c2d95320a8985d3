/* Text that came from elsewhere (a file, its name, a cell) made fit to be shown: a terminal
 * would obey control characters. */
#ifndef QRM_IO_PLAIN_TEXT_H
#define QRM_IO_PLAIN_TEXT_H

#include <stddef.h>

/* Copies the text to out (`size` bytes with the final zero, at least 1).  Control characters
 * (C0, DEL, C1, and those that turn the direction of writing) and bytes that are not UTF-8
 * become \xNN, byte by byte; all else stays, so copying twice changes nothing.  What does not
 * fit is left out from a whole character on.  Returns the bytes of `text` that are in `out`. */
size_t plain_text_copy(char *out, size_t size, const char *text);

#endif
