/* What the formats of tables share: a bound on the columns, and rows that are dropped or refused
 * because of a value that is missing or not finite. */
#include "data/table.h"
#include "base/memory.h"
#include "data/advice.h"

#include "base/plain.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    if (r->dropped < DROPPED_LISTED) {
        r->why_dropped[r->dropped] = mem_copy_text(why);
        r->dropped_rows[r->dropped] = r->row;
    }
    r->dropped++;
    for (size_t i = 0; r->missing == MISSING_NAN && i < r->n_selected; i++)
        row[i] = NAN;
    return r->missing == MISSING_NAN;
}

int table_leaves_hole(const reader *r, size_t place)
{
    return place + 1 == r->may_be_empty ||
           (r->missing == MISSING_IMPUTE && r->holes && r->holes[place]);
}

int table_may_miss(const reader *r, size_t place)
{
    return place >= r->may_miss && place < r->may_miss + r->may_miss_count;
}

int table_is_fatal(const reader *r, int missing)
{
    return r->missing == MISSING_ERROR || (r->missing == MISSING_IMPUTE && !missing);
}

void table_count_fault(reader *r, size_t place, int missing, size_t number)
{
    column_faults *f = &r->faults[place];
    f->first = f->first ? f->first : number;
    f->missing += missing != 0;
    f->wrong += !missing;
}

static void count_faults(reader *r, const double *row)
{
    for (size_t i = 0; i < r->n_selected; i++)
        if (!isfinite(row[i]))
            table_count_fault(r, i, isnan(row[i]), r->row);
}

/* ---- Categories ---- */

/* Of all levels that are learned, in parts of the memory. */
static const double LEVELS_SHARE = 0.25;

static quorum_status check_levels_memory(const reader *r)
{
    double bytes = 0.0;
    for (size_t i = 0; i < r->n_selected; i++)
        bytes += r->levels[i] ? levels_bytes(r->levels[i]) : 0.0;
    if (bytes <= LEVELS_SHARE * r->memory)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY,
                   "%s: the levels of its columns of text take more than memory (%.0f MB) has for "
                   "them; give more with --memory, or leave such columns out with --ignore",
                   r->label, r->memory / (1 << 20));
}

quorum_status table_level(const reader *r, size_t place, const char *text, size_t n, double *number,
                          int *known)
{
    level_table *t = r->levels[place];
    size_t before = t->count, level;
    *known = 1;
    if (r->unknown == LEVELS_LEARN) {
        TRY(levels_add(t, text, n, &level));
        *number = (double)level;
        return t->count > before ? check_levels_memory(r) : QUORUM_OK;
    }
    level = levels_find(t, text, n);
    *number = level < t->count ? (double)level : -1.0;
    *known = level < t->count || r->unknown == LEVELS_PASS;
    return QUORUM_OK;
}

__attribute__((format(printf, 3, 4))) static void print_plain(char *out, size_t size,
                                                              const char *format, ...)
{
    va_list args;
    va_start(args, format);
    plain_print(out, size, format, args);
    va_end(args);
}

/* The shorter of the texts of a number that say it exactly. */
static void number_text(double value, char out[32])
{
    print_plain(out, 32, "%.15g", value);
    if (plain_real(out, NULL) != value)
        print_plain(out, 32, "%.17g", value);
}

/* In a file of numbers a level is the text of its number. */
static quorum_status number_levels(reader *r, double *row, int *keep)
{
    char text[32], what[100], sentence[SENTENCE];
    for (size_t i = 0; i < r->n_selected; i++) {
        if (!r->levels[i])
            continue;
        if (isnan(row[i]))
            snprintf(text, sizeof text, NO_LEVEL);
        else
            number_text(row[i], text);
        TRY(table_level(r, i, text, strlen(text), &row[i], keep));
        if (*keep)
            continue;
        snprintf(what, sizeof what, "value is %s, a level that was not in the training data", text);
        advise_cell(r, "row", r->row, i, 0, what, sentence);
        if (table_is_fatal(r, 0))
            return failure(QUORUM_E_DATA, "%s: %s", r->label, sentence);
        *keep = table_drop_row(r, sentence, row);
        return QUORUM_OK;
    }
    return QUORUM_OK;
}

quorum_status table_check_row(reader *r, double *row, int *keep)
{
    char what[64], sentence[SENTENCE];
    size_t i = 0;
    r->row++;
    *keep = 0;
    if (r->faults) {
        count_faults(r, row);
        return QUORUM_OK;
    }
    for (; i < r->n_selected &&
           (isfinite(row[i]) || table_may_miss(r, i) || (isnan(row[i]) && table_leaves_hole(r, i)));
         i++)
        row[i] = isfinite(row[i]) ? row[i] : NAN;
    *keep = i == r->n_selected;
    if (*keep)
        return r->levels ? number_levels(r, row, keep) : QUORUM_OK;
    snprintf(what, sizeof what, "value is %s, %s", isnan(row[i]) ? "nan" : "infinite",
             isnan(row[i]) ? "a missing value" : "a non-finite number");
    advise_cell(r, "row", r->row, i, isnan(row[i]), what, sentence);
    if (table_is_fatal(r, isnan(row[i])))
        return failure(QUORUM_E_DATA, "%s: %s", r->label, sentence);
    *keep = table_drop_row(r, sentence, row);
    return QUORUM_OK;
}
