/* Which hyperparameters ended on a bound of their range: the sentence of QUORUM_AT_BOUND.  A noise on its
 * lower one may be what weights say: a row of weight w is w rows that agree exactly (gp/noise.h). */
#include "theta/theta.h"

#include "base/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LIST_SIZE = 300, WEIGHTS_SIZE = 330 };

/* A mean weight above this says that rows are repeated, not only how they compare. */
static const double MANY = 1.1;

/* "a, b, c", or "a, b, ..." when there is no room for more. */
static void append_item(char list[LIST_SIZE], const char *name, const char *what)
{
    size_t used = strlen(list);
    const char *comma = used ? ", " : "";
    if (used + strlen(name) + strlen(what) + 8 < LIST_SIZE)
        snprintf(list + used, LIST_SIZE - used, "%s%s%s", comma, name, what);
    else if (used < 3 || strcmp(list + used - 3, "...") != 0)
        snprintf(list + used, LIST_SIZE - used, "%s...", comma);
}

static void append_bound(const quorum_model *m, size_t i, char list[LIST_SIZE])
{
    static const char *const others[] = {"signal variance", "noise variance",
                                         "share of the long scale", "reach of the long scale"};
    const char *low = m->shown.at_bound[i] < 0 ? " (lower)" : " (upper)";
    char direction[32];
    snprintf(direction, sizeof direction, "direction %zu", i + 1);
    if (i < m->rows.D)
        append_item(list, m->units.rotation ? direction : m->columns.names[i],
                    " (length-scale, lower)");
    else
        append_item(list, others[i - m->rows.D], low);
}

__attribute__((format(printf, 2, 3))) static void print_weights(char out[WEIGHTS_SIZE],
                                                                const char *format, ...)
{
    va_list args;
    va_start(args, format);
    plain_print(out, WEIGHTS_SIZE, format, args);
    va_end(args);
}

/* Where all noise may be known beforehand, none being left is no news. */
static void explain_by_weights(const quorum_model *m, double weight, char out[WEIGHTS_SIZE])
{
    out[0] = '\0';
    if (m->shown.at_bound[m->rows.D + 1] < 0 && weight > MANY && !m->columns.has_errors)
        print_weights(out,
                      "; weights are %.3g on average, and a row of weight 2 is two rows that agree "
                      "exactly, which says that there is no noise: where weights only say how rows "
                      "count beside each other, divide them by their mean; where they come from "
                      "known errors, give these by noise-std instead",
                      weight);
}

/* That a direction hardly matters is no news, nor that an input may matter by a line alone. */
quorum_status model_say_bounds(const quorum_model *m, double weight)
{
    char flat[LIST_SIZE] = "", other[LIST_SIZE] = "", weights[WEIGHTS_SIZE];
    for (size_t i = 0; i < m->rows.D + 2 + MOST_SHAPES; i++) {
        int is_flat = i < m->rows.D && m->shown.at_bound[i] > 0;
        if (is_flat && !m->units.rotation && !m->units.line)
            append_item(flat, m->columns.names[i], "");
        else if (is_flat)
            continue;
        else if (m->shown.at_bound[i])
            append_bound(m, i, other);
    }
    if (!flat[0] && !other[0])
        return QUORUM_OK;
    explain_by_weights(m, weight, weights);
    return failure(QUORUM_AT_BOUND, "%s%s%s%s%s%s",
                   flat[0] ? "length-scales on their upper bound (the target hardly changes with "
                             "these inputs): "
                           : "",
                   flat, flat[0] && other[0] ? "; " : "",
                   other[0] ? "on a bound of the range: " : "", other, weights);
}
