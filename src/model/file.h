/* One model's members of a model file: added to one that is being written, or read from one. */
#ifndef QRM_MODEL_FILE_H
#define QRM_MODEL_FILE_H

#include "archive/npz.h"
#include "model/meta.h"
#include "rows/home.h"

/* ---- Writing ---- */

typedef struct {
    npz_writer *w;
    rows_home *home; /* where rows come from that are elsewhere; NULL: all are here    */
    const quorum_model *
        like; /* whose members the file has already: of shared_members those that are the same are not
                  written again; NULL: none                                           */
} model_saving;

/* What a writer refers to: it lives until the file is written. */
typedef struct {
    char *meta;
    int64_t *indices[MOST_ARRAYS]; /* as the file has them */
} saved_members;

/* Members that models of one file may have in common, by their full names; ends with NULL. */
extern const char *const shared_members[];

quorum_status model_add_members(const quorum_model *m, const model_saving *how,
                                saved_members *kept);
void saved_members_free(saved_members *kept);

/* Of what was just written, all but the rows, which the CRC answers for: it must load. */
quorum_status model_check_members(npz_reader *npz, const quorum_model *saved);

/* ---- Reading ---- */

/* meta.json alone; free it in any case. */
quorum_status load_meta(npz_reader *npz, double memory, model_meta *meta);

/* Into a new model; *memory (bytes) is what it may take, and then what is left. */
quorum_status model_load_members(npz_reader *npz, double *memory, quorum_model *m);

#endif
