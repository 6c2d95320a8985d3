/* The model that answers, and the file that it came from: one that takes the file's place is loaded. */
#ifndef QUORUM_CLI_SERVE_SERVED_MODEL_H
#define QUORUM_CLI_SERVE_SERVED_MODEL_H

#include "arguments.h"
#include "targets.h"

#include <sys/stat.h>

typedef struct {
    chosen_targets targets; /* the model, and which of its targets answer */
    struct stat file;       /* as it was before it was read */
    double looked;          /* seconds_now() when the file was last looked at */
} served_model;

/* The exit code, after saying what is wrong.  Free in any case. */
int served_model_open(served_model *s, const arguments *given);
void served_model_free(served_model *s);

/* Loads the file if it is another one, looked for once a second, or if it is `asked` for.  true: `fresh` is
 * the new model, with which served_model_replace goes on; false: nothing is new, or it cannot serve: then
 * a note says why, and the old one stays. */
bool served_model_refresh(served_model *s, bool asked, const arguments *given,
                          chosen_targets *fresh);
void served_model_replace(served_model *s, const chosen_targets *fresh, const arguments *given);

#endif
