/* Numbers, levels and dates as they stand on the page. */
#include "hyperparameters.h"
#include "io/plain_text.h"
#include "report/facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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

value_text plain_number(double value)
{
    value_text v;
    snprintf(v.text, sizeof v.text, fabs(value) >= 1e4 && fabs(value) < 1e7 ? "%.0f" : "%.4g",
             value);
    return v;
}

static value_text level_of(const quorum_info *info, size_t d, double value)
{
    value_text v;
    bool known = value >= 0.0 && value < (double)info->levels[d];
    plain_text_copy(v.text, sizeof v.text, known ? info->level[d][(size_t)value] : "(new)");
    return v;
}

/* With the time of day where it is not midnight. */
static value_text date_of(double seconds)
{
    value_text v;
    struct tm day;
    time_t whole = (time_t)floor(seconds);
    if (!(fabs(seconds) < 1e12) || !gmtime_r(&whole, &day))
        return plain_number(seconds);
    bool midnight = day.tm_hour == 0 && day.tm_min == 0 && day.tm_sec == 0;
    if (strftime(v.text, sizeof v.text, midnight ? "%Y-%m-%d" : "%Y-%m-%d %H:%M", &day) == 0)
        return plain_number(seconds);
    return v;
}

value_text value_of_column(const quorum_info *info, size_t d, double value)
{
    value_text missing = {"(missing)"};
    if (isnan(value))
        return missing;
    if (fabs(value) < ROUNDING * info->x_scale[d])
        value = 0.0;
    if (is_category(info, d))
        return level_of(info, d, value);
    return is_date(info, d) ? date_of(value) : plain_number(value);
}
