#include "data/table.h"

#include <math.h>
#include <stdio.h>

enum { MAX_COLUMNS = 1 << 20 };

/* What to write after --ignore: the name where it is one plain word that only
 * this column has, otherwise the number. */
static void write_column_argument(const reader *r, size_t column, char *out, size_t size)
{
    size_t place[2];
    const char *name = names_at(&r->names, column);
    int plain = r->names.given && names_count_of(&r->names, name, place) == 1;
    for (const char *p = name; plain && *p; p++)
        plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' ||
                (p > name && ((*p >= '0' && *p <= '9') || *p == '-' || *p == '.'));
    if (plain)
        snprintf(out, size, "%s", name);
    else
        snprintf(out, size, "%zu", column + 1);
}

quorum_status fail_cell(const reader *r, const char *unit, size_t number, size_t column,
                        const char *what)
{
    char where[200] = "", argument[200];
    if (r->names.given)
        snprintf(where, sizeof where, " (\"%.180s\")", names_at(&r->names, column));
    write_column_argument(r, column, argument, sizeof argument);
    return failure(QUORUM_E_DATA,
                   "%s: %s %zu, column %zu%s: %s; fix it, leave the column out with --ignore %s, "
                   "or skip such rows with --missing drop",
                   r->label, unit, number, column + 1, where, what, argument);
}

quorum_status table_check_width(const reader *r, size_t columns)
{
    if (columns == 0)
        return failure(QUORUM_E_DATA, "%s: has no columns", r->label);
    if (columns > MAX_COLUMNS)
        return failure(QUORUM_E_FORMAT, "%s: has %zu columns; more than %d are not read", r->label,
                       columns, MAX_COLUMNS);
    return QUORUM_OK;
}

quorum_status table_check_row(reader *r, const double *row, size_t number, int *keep)
{
    *keep = 1;
    for (size_t i = 0; i < r->n_selected; i++) {
        if (isfinite(row[i]))
            continue;
        if (r->missing == MISSING_ERROR) {
            char what[64];
            snprintf(what, sizeof what, "value is %s, %s", isnan(row[i]) ? "nan" : "infinite",
                     isnan(row[i]) ? "a missing value" : "a non-finite number");
            return fail_cell(r, "row", number, r->selected[i], what);
        }
        *keep = 0;
        r->dropped++;
        break;
    }
    return QUORUM_OK;
}
