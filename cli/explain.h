/* What 'importance' and 'effects' share: a model, all rows of DATA, the names of inputs. */
#ifndef QUORUM_CLI_EXPLAIN_H
#define QUORUM_CLI_EXPLAIN_H

#include "arguments.h"
#include "progress.h"
#include "rows.h"
#include "targets.h"

typedef struct {
    chosen_targets targets; /* one */
    quorum_model *model;
    quorum_info info;
    row_block rows; /* all */
    quorum_new_rows given;
    progress progress;
    size_t most; /* rows that are looked at */
} explained;

/* Sets the seed, and reads MODEL and DATA; the exit code, after saying what is wrong.  Free in any
 * case. */
int explained_read(explained *e, const arguments *given, bool with_target, size_t most);
void explained_free(explained *e);

/* A whole number from `least` to `largest`, or where the flag is absent `otherwise`. */
int count_flag(const arguments *given, const char *name, size_t least, size_t largest,
               size_t otherwise, size_t *out);

/* The flags of both. */
#define SEED_FLAG                                                                                  \
    {                                                                                              \
        "seed", 0, "S", NULL, "1",                                                                 \
            "Seed of the rows, permutations and draws: the same numbers "                          \
            "again."                                                                               \
    }

#endif
