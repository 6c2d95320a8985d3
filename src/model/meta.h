/* meta.json: all of a model that is not an array (docs/model-file.md). */
#ifndef QRM_MODEL_META_H
#define QRM_MODEL_META_H

#include "archive/json.h"
#include "model/model.h"

/* Version 2 has extra rows of the experts, which a reader of version 1 would overlook;
 * without them a file is still of version 1. */
enum { FORMAT_VERSION = 1, FORMAT_VERSION_OVERLAP = 2 };

/* Bytes of its text: no model's is longer. */
enum { MOST_META = 64 << 20 };

typedef struct {
    json_tree tree;
    int64_t version; /* one that this library reads */
} model_meta;

/* The text of meta.json; free with mem_free. */
quorum_status meta_make(const quorum_model *m, char **text);

/* Reads the text; QUORUM_E_FORMAT when it is not that of a model. */
quorum_status meta_parse(const char *text, model_meta *meta);
void meta_free(model_meta *meta);

/* Fills in the model and checks each entry: what is to be known before the arrays are read, and
 * the rest, which must fit the D inputs and M experts that they have. */
quorum_status meta_apply_first(const model_meta *meta, quorum_model *m);
quorum_status meta_apply(const model_meta *meta, quorum_model *m);

/* Whether the text would be accepted for a model of D inputs and M experts. */
quorum_status meta_check(const char *text, size_t D, size_t M);

/* "the model file is damaged or was altered: what" */
quorum_status damaged(const char *what);

#endif
