/* What the formats of tables share: a bound on the columns, and rows that are dropped or refused
 * because of a value that is missing or not finite. */
#include "data/table.h"
#include "base/memory.h"
#include "data/advice.h"

#include <math.h>
#include <stdio.h>

enum { MAX_COLUMNS = 1 << 20, COLUMN_BYTES = 100 /* its cell, its name and its places */ };

quorum_status table_check_width(const reader *r, size_t columns)
{
    if (columns == 0)
        return failure(QUORUM_E_DATA, "%s: has no columns", r->label);
    if (columns > MAX_COLUMNS)
        return failure(QUORUM_E_FORMAT, "%s: has %zu columns; more than %d are not read", r->label,
                       columns, MAX_COLUMNS);
    if ((double)columns * COLUMN_BYTES > r->memory)
        return failure(QUORUM_E_MEMORY,
                       "%s: has %zu columns, for which memory (%.0f MB) is not enough; give more "
                       "with --memory",
                       r->label, columns, r->memory / (1 << 20));
    return QUORUM_OK;
}

void table_drop_row(reader *r, const char *why)
{
    if (r->dropped++ == 0)
        r->why_dropped = mem_copy_text(why);
}

quorum_status table_check_row(reader *r, const double *row, size_t number, int *keep)
{
    char what[64], sentence[SENTENCE];
    size_t i = 0;
    while (i < r->n_selected && isfinite(row[i]))
        i++;
    *keep = i == r->n_selected;
    if (*keep)
        return QUORUM_OK;
    snprintf(what, sizeof what, "value is %s, %s", isnan(row[i]) ? "nan" : "infinite",
             isnan(row[i]) ? "a missing value" : "a non-finite number");
    advise_cell(r, "row", number, r->selected[i], what, sentence);
    if (r->missing == MISSING_ERROR)
        return failure(QUORUM_E_DATA, "%s: %s", r->label, sentence);
    table_drop_row(r, sentence);
    return QUORUM_OK;
}
