/* The importance of a model's inputs, as it was found, and its picture. */
#ifndef QUORUM_CLI_IMPORTANCE_H
#define QUORUM_CLI_IMPORTANCE_H

#include "hyperparameters.h"
#include "quorum.h"

#include <stdio.h>

typedef struct {
    const quorum_info *info;
    quorum_importance_summary about;
    quorum_input_importance *input; /* about.inputs, the most important first */
} importance_found;

/* "a", or of a place "lon, lat". */
name_text importance_name(const importance_found *f, size_t k);

void draw_importance(const importance_found *f, FILE *file);

#endif
