/* The table of kernels. */
#include "gp/kernel.h"

#include <string.h>

enum { CANDIDATES = 6 }; /* of the table, from its first on */

static const kernel *const table[] = {
    &kernel_se,         &kernel_matern12,   &kernel_matern32,   &kernel_matern52,
    &kernel_matern32x2, &kernel_matern32x3, &kernel_matern52x2,
};

int kernel_count(void)
{
    return (int)(sizeof table / sizeof *table);
}

int kernel_candidates(void)
{
    return CANDIDATES;
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
