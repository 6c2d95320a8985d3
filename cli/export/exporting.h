/* What commands that export a model have in common: which models can be, and that what is written answers as the library
 * does. */
#ifndef QUORUM_CLI_EXPORTING_H
#define QUORUM_CLI_EXPORTING_H

#include "arguments.h"
#include "export/exported.h"

/* One way to write a model. */
typedef struct {
    bool has_slopes; /* derivatives are compared too */
    int (*write)(const arguments *given, const quorum_info *info, const exported *e,
                 const double *table /* rows x inputs */); /* an exit code */
} export_way;

/* The whole command, of MODEL and the flags output, name and target; an exit code. */
int export_run(const arguments *given, const export_way *way);

/* What functions and files are called: --name, or "model". */
const char *export_name(const arguments *given);

/* "600 rows, 3 inputs, 512 neighbours; largest difference ...; PATH written", where PATH is not NULL. */
void export_note(const arguments *given, const exported *e, const char *path);

#endif
