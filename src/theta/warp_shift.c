/* The shift of the option warp, w(y) = log(y + c): 0 where all targets are positive.  With zeros
 * among them it is the one of
 *
 *   c_k = 4^k times the smallest positive target, up to the mean,
 *
 * under which the positive targets have the highest density, w(y) being Gaussian with the mean and
 * the deviation that it has over all rows:
 *
 *   L(c) = sum over y > 0 of log N(w(y); mean, sd^2) - w(y)
 *
 * Zeros are an atom whose density grows without bound as c falls, so they count in mean and deviation
 * only.  Negative targets have no logarithm. */
#include "theta/line.h"

#include "gp/noise.h"

#include <float.h>
#include <math.h>

enum { SHIFTS = 16 };

/* ---- What the targets are like ---- */

typedef struct {
    double least, smallest; /* smallest: of those above 0 */
    double sum, n;          /* of the rows' targets, and of their weights */
    size_t least_row;       /* from 1 */
} target_range;

static void see_range(void *context, const row_range *range)
{
    target_range *t = context;
    for (size_t i = 0; i < range->rows.n; i++) {
        double y = range->rows.y[i], weight = row_weight(&range->rows, i);
        t->sum += weight * y;
        t->n += weight;
        if (y > 0.0)
            t->smallest = fmin(t->smallest, y);
        if (y < t->least) {
            t->least = y;
            t->least_row = range->first + i + 1;
        }
    }
}

/* ---- Which shift ---- */

/* Sums over rows of powers of w(y) - origin. */
typedef struct {
    double shift, origin;
    double n, sum, square;                    /* all rows */
    double positive, their_sum, their_square; /* y > 0 */
} shift_sums;

typedef struct {
    int count;
    shift_sums of[SHIFTS];
} shift_trial;

static void add_target(shift_sums *s, double y, double weight)
{
    double z = log(y + s->shift) - s->origin;
    s->n += weight;
    s->sum += weight * z;
    s->square += weight * (z * z);
    if (y > 0.0) {
        s->positive += weight;
        s->their_sum += weight * z;
        s->their_square += weight * (z * z);
    }
}

static void see_shifts(void *context, const row_range *range)
{
    shift_trial *t = context;
    for (size_t i = 0; i < range->rows.n; i++)
        for (int k = 0; k < t->count; k++)
            add_target(&t->of[k], range->rows.y[i], row_weight(&range->rows, i));
}

/* L(c) over the number of positive targets. */
static double shift_density(const shift_sums *s)
{
    double mean = s->sum / s->n, variance = fmax(s->square / s->n - mean * mean, DBL_MIN);
    double own = s->their_sum / s->positive;
    double about = s->their_square / s->positive - 2.0 * mean * own + mean * mean;
    return -0.5 * log(variance) - 0.5 * about / variance - (own + s->origin);
}

static quorum_status learn_shift(const scattered_rows *given, const target_range *range,
                                 double *shift)
{
    shift_trial t = {0};
    double mean = range->sum / range->n;
    double at = range->smallest;
    for (; t.count < SHIFTS && (t.count == 0 || at <= mean); at *= 4.0)
        t.of[t.count++] = (shift_sums){.shift = at, .origin = log(mean + at)};
    TRY(rows_fold(QUORUM_OK, given, &t, sizeof t, see_shifts, &t));
    int best = 0;
    for (int k = 1; k < t.count; k++)
        best = shift_density(&t.of[k]) > shift_density(&t.of[best]) ? k : best;
    *shift = t.of[best].shift;
    return QUORUM_OK;
}

/* ---- The warp ---- */

static quorum_status refuse(const target_range *range)
{
    return failure(QUORUM_E_DATA,
                   "row %zu: the target is %g, and warp log takes targets that are not negative: "
                   "use warp none, or add to the target what makes it positive",
                   range->least_row, range->least);
}

quorum_status warp_begin(quorum_model *m, const scattered_rows *given, int *possible)
{
    target_range range = {.least = INFINITY, .smallest = INFINITY};
    double shift = 0.0;
    TRY(rows_fold(QUORUM_OK, given, &range, sizeof range, see_range, &range));
    if (possible)
        *possible = range.least >= 0.0;
    if (range.least < 0.0)
        return possible ? QUORUM_OK : refuse(&range);
    if (range.least == 0.0)
        TRY(learn_shift(given, &range, &shift));
    m->units.warp = WARP_LOG;
    m->units.shift = shift;
    return QUORUM_OK;
}

void warp_end(quorum_model *m)
{
    m->units.warp = WARP_NONE;
    m->units.shift = 0.0;
}
