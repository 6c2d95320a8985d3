/* Numbers, levels and dates as they stand on the page. */
#include "dates.h"
#include "digits.h"
#include "hyperparameters.h"
#include "io/plain_text.h"
#include "report/facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool is_category(const quorum_info *info, size_t d)
{
    return info->levels && info->levels[d] > 0;
}

bool is_date(const quorum_info *info, size_t d)
{
    return info->date && d < info->columns && info->date[d];
}

value_text target_label(const quorum_info *info)
{
    value_text v;
    plain_text_copy(v.text, sizeof v.text, target_name(info));
    return v;
}

enum { DIGITS = 4 };

value_text plain_number(double value)
{
    value_text v;
    snprintf(v.text, sizeof v.text, fabs(value) >= 1e4 && fabs(value) < 1e7 ? "%.0f" : "%.4g",
             value);
    return v;
}

value_text number_among(double value, double spread)
{
    value_text v;
    int digits = digits_among(value, spread, DIGITS);
    if (digits == DIGITS)
        return plain_number(value);
    snprintf(v.text, sizeof v.text, "%.*g", digits, value);
    return v;
}

static value_text level_of(const quorum_info *info, size_t d, double value)
{
    value_text v;
    bool known = value >= 0.0 && value < (double)info->levels[d];
    plain_text_copy(v.text, sizeof v.text, known ? info->level[d][(size_t)value] : "(new)");
    return v;
}

static value_text date_of(double seconds)
{
    value_text v;
    date_shown(seconds, v.text, sizeof v.text);
    return v;
}

value_text value_of_column(const quorum_info *info, size_t d, double value)
{
    value_text missing = {"(missing)"};
    if (isnan(value))
        return missing;
    if (fabs(value) < ROUNDING * input_unit(info, d))
        value = 0.0;
    if (is_category(info, d))
        return level_of(info, d, value);
    return is_date(info, d) ? date_of(value) : number_among(value, info->x_scale[d]);
}
