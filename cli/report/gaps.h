/* Places of the map without training rows, though there are some all around. */
#ifndef QUORUM_CLI_REPORT_GAPS_H
#define QUORUM_CLI_REPORT_GAPS_H

#include <stddef.h>

struct facts;

typedef struct {
    size_t across;  /* cells along either axis; 0: rows are too few to look for gaps  */
    size_t count;   /* of gaps: ...                                                   */
    double *x, *y;  /* ... middles of these cells, count                              */
    double cell[2]; /* their width and height                                         */
    size_t asked;   /* rows that are there ...                                        */
    double rmse;    /* ... and how much is erred of them                              */
} found_gaps;

/* From f->places; returns an exit code. */
int gaps_find(struct facts *f);
void gaps_free(found_gaps *g);

#endif
