/* What a run has measured, as a text table and CSV. */
#ifndef QRM_BENCH_REPORT_H
#define QRM_BENCH_REPORT_H

#include "suite.h"

typedef struct {
    const char *stage;
    timing t;
} line;

struct suite {
    int threads, quick;
    const char *stage; /* the one that runs */
    FILE *csv;         /* or NULL           */
    line *lines;
    size_t count, room;
};

void report_start(const suite *s);
void report_slopes(const suite *s);

#endif
