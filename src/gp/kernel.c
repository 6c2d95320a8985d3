/* The table of kernels. */
#include "gp/kernel.h"

#include <string.h>

static const kernel *const table[] = {
    &kernel_se,
    &kernel_matern12,
    &kernel_matern32,
    &kernel_matern52,
};

int kernel_count(void)
{
    return (int)(sizeof table / sizeof *table);
}

const kernel *kernel_at(int i)
{
    return i >= 0 && i < kernel_count() ? table[i] : NULL;
}

const kernel *kernel_by_name(const char *name)
{
    for (int i = 0; i < kernel_count(); i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}
