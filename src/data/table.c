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

int table_drop_row(reader *r, const char *why, double *row)
{
    if (r->dropped == 0)
        r->why_dropped = mem_copy_text(why);
    if (r->dropped < DROPPED_LISTED)
        r->dropped_rows[r->dropped] = r->row;
    r->dropped++;
    for (size_t i = 0; r->missing == MISSING_NAN && i < r->n_selected; i++)
        row[i] = NAN;
    return r->missing == MISSING_NAN;
}

quorum_status table_check_row(reader *r, double *row, int *keep)
{
    char what[64], sentence[SENTENCE];
    size_t i = 0;
    r->row++;
    while (i < r->n_selected && isfinite(row[i]))
        i++;
    *keep = i == r->n_selected;
    if (*keep)
        return QUORUM_OK;
    snprintf(what, sizeof what, "value is %s, %s", isnan(row[i]) ? "nan" : "infinite",
             isnan(row[i]) ? "a missing value" : "a non-finite number");
    advise_cell(r, "row", r->row, r->selected[i], what, sentence);
    if (r->missing == MISSING_ERROR)
        return failure(QUORUM_E_DATA, "%s: %s", r->label, sentence);
    *keep = table_drop_row(r, sentence, row);
    return QUORUM_OK;
}
