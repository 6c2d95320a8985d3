/* The list of sub-commands: a new one is a file of its own and a line here. */
#include "command.h"

#include <stddef.h>
#include <string.h>

/* One a line. */
/* clang-format off */
const command *const all_commands[] = {
    &fit_command,
    &update_command,
    &predict_command,
    &evaluate_command,
    &compare_command,
    &importance_command,
    &effects_command,
    &sample_command,
    &suggest_command,
    &serve_command,
    &plot_command,
    &report_command,
    &inspect_command,
    &graph_command,
    &export_c_command,
    &export_fmu_command,
    &demo_command,
    &reproduce_command,
    &options_command,
    &man_command,
    &completion_command,
    NULL,
};
/* clang-format on */

const command *find_command(const char *name)
{
    for (const command *const *c = all_commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}
