/* With p(v) = floor(log10 |v|), a value of d significant digits is told to 10^(p(value) - d + 1), which is to be
 * 10^(p(spread) - 2) or less: d = p(value) - p(spread) + 3.  The value is taken a little larger, since rounding may
 * carry. */
#include "digits.h"

#include <math.h>

int digits_among(double value, double spread, int least)
{
    if (!(fabs(value) > 0.0 && spread > 0.0 && isfinite(value) && isfinite(spread)))
        return least;
    double digits = floor(log10(fabs(value) + 0.01 * spread)) - floor(log10(spread)) + 3.0;
    return (int)fmin(fmax(digits, (double)least), (double)MOST_DIGITS);
}
