/* A fair choice of rows, the same at every call: charts have room for some. */
#ifndef QUORUM_CLI_REPORT_THIN_H
#define QUORUM_CLI_REPORT_THIN_H

#include <stddef.h>

/* Up to `most` of the rows 0 .. count - 1, ascending, and how many: every row is as likely as any
 * other, whatever their order; with the same seed the same ones.  NULL: out of memory. */
size_t *choose_rows(size_t count, size_t most, unsigned long long seed, size_t *chosen);

#endif
