/* Rows that alone make half of the squared error. */
#ifndef QUORUM_CLI_REPORT_DOMINANT_H
#define QUORUM_CLI_REPORT_DOMINANT_H

#include <stddef.h>

struct facts;

enum { NAMED_ROWS = 5 };

typedef struct {
    size_t count;              /* how many they are; 0: no few rows make half of it   */
    double share;              /* of the squared error that they make                 */
    double rmse, smse;         /* of the other rows                                   */
    size_t number[NAMED_ROWS]; /* the first of them, the largest error first          */
} dominant_rows;

/* f->dominant, once the scores are there; returns an exit code. */
int dominant_find(struct facts *f);

#endif
