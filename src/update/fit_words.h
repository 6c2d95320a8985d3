/* What a model's fit was asked for, as far as its division among experts goes by it. */
#ifndef QRM_UPDATE_FIT_WORDS_H
#define QRM_UPDATE_FIT_WORDS_H

#include "model/model.h"

typedef struct {
    int metric;     /* the option partition-metric: PARTITION_..            */
    double overlap; /* the option overlap                                   */
} fit_words;

/* Words that are missing or none that this library knows are the defaults. */
quorum_status fit_words_read(const quorum_model *m, fit_words *out);

#endif
