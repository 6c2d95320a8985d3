/* A slice through a model: one or two inputs vary, the others stand still. */
#ifndef QUORUM_CLI_SLICE_H
#define QUORUM_CLI_SLICE_H

#include "arguments.h"
#include "quorum.h"
#include "targets.h"

/* An input that varies: over a range, or of a category through all levels, half a step beyond at either end. */
typedef struct {
    size_t column;
    double from, to;
    size_t count;
    const char *const *level; /* names; NULL: a number or a date */
} slice_axis;

typedef struct {
    const arguments *given;
    chosen_targets targets; /* one */
    quorum_model *model;
    quorum_info info;
    slice_axis axis[2];
    size_t axes;    /* 1 or 2                                                       */
    double *at;     /* columns: what the others are; of categories a level's number */
    double *middle; /* columns: where they would be without --at */
    double offset;
    double *table, *y;                  /* the training rows: rows x columns, and their targets   */
    size_t points;                      /* of the slice, the first axis varying fastest           */
    double *mean, *std, *lower, *upper; /* points                                */
    size_t *near, nears;                /* training rows that are near the slice ...            */
    size_t nearest;                     /* ... and the one that is nearest                      */
} slice;

/* All of it; the exit code, after saying what is wrong.  Free in any case. */
int slice_make(slice *s, const arguments *given);
void slice_free(slice *s);

/* Whether column d varies along the slice. */
bool slice_varies(const slice *s, size_t d);

/* A note where no training row is near the slice, with a place where one is (slice_note.c). */
void slice_note(const slice *s);

/* The value of axis k at its place i. */
double slice_value(const slice *s, size_t k, size_t i);

#endif
