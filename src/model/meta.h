/* meta.json: all of a model that is not an array (docs/model-file.md). */
#ifndef QRM_MODEL_META_H
#define QRM_MODEL_META_H

#include "model/members.h"

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

/* Fills in a new model, which knows how many inputs and experts it is to have, and checks each
 * value. */
quorum_status meta_apply(const model_meta *meta, quorum_model *m);

/* Whether the text would be accepted for a model of D inputs and M experts. */
quorum_status meta_check(const char *text, size_t D, size_t M);

#endif
