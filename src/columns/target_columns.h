/* Several targets of a training file.  While rows are read the targets but the last are columns behind
 * the inputs; then they come apart. */
#ifndef QRM_API_TARGET_COLUMNS_H
#define QRM_API_TARGET_COLUMNS_H

#include "data/reader.h"
#include "targets/several.h"

/* How many targets: 1 at least. */
size_t targets_of(const quorum_data *d);

/* Refuses too many, and what goes with one alone. */
quorum_status targets_allowed(size_t targets, int with_offset);

/* Room for what is known of them; nothing of one alone. */
quorum_status targets_room(quorum_data *d, size_t targets);
void targets_free(quorum_data *d);

/* The reader, just opened and with its columns selected, takes missing cells of targets for NaN where
 * rows with such cells are dropped. */
void targets_attach(const quorum_data *d, reader *r);

/* What the reading process knows of them, to all. */
quorum_status targets_send(quorum_data *d);

/* The targets out of X, for team_all; data is a quorum_data. */
quorum_status targets_split(void *data);

/* Input i is no input any more: places behind it move up. */
void targets_forget_input(quorum_data *d, size_t i);

#endif
