/* Steps are some seconds up to two weeks, some months, or years. */
#include "date_ticks.h"

#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { MINUTE = 60, HOUR = 3600, DAY = 86400, WEEK = 604800, MONTHS_A_YEAR = 12 };
static const double MONTH = 2629746.0, YEAR = 31556952.0; /* on average, in seconds */
static const double LATEST = 2e11;                        /* about the year 8300    */

typedef struct {
    double seconds; /* 0: the step is ... */
    int months;
} tick_step;

static const tick_step steps[] = {
    {1, 0},           {2, 0},           {5, 0},          {10, 0},         {15, 0},
    {30, 0},          {MINUTE, 0},      {2 * MINUTE, 0}, {5 * MINUTE, 0}, {10 * MINUTE, 0},
    {15 * MINUTE, 0}, {30 * MINUTE, 0}, {HOUR, 0},       {2 * HOUR, 0},   {3 * HOUR, 0},
    {6 * HOUR, 0},    {12 * HOUR, 0},   {DAY, 0},        {2 * DAY, 0},    {WEEK, 0},
    {2 * WEEK, 0},    {0, 1},           {0, 2},          {0, 3},          {0, 6}};

static double length_of(tick_step s)
{
    return s.months > 0 ? s.months * MONTH : s.seconds;
}

/* The first that has no more than so many parts, or so many years. */
static tick_step choose_step(double range, int parts)
{
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        if (range / length_of(steps[k]) <= parts)
            return steps[k];
    double years = fmax(1.0, nice_step(range / YEAR, parts));
    return (tick_step){.months = MONTHS_A_YEAR * (int)fmin(years, 1e6)};
}

/* Down to the unit of the step. */
static void write_tick(tick_step s, double range, bool brief, const struct tm *day, date_tick *t)
{
    size_t room = sizeof t->text;
    if (s.months >= MONTHS_A_YEAR)
        strftime(t->text, room, "%Y", day);
    else if (s.months > 0)
        strftime(t->text, room, "%Y-%m", day);
    else if (s.seconds >= DAY && brief)
        strftime(t->text, room, "%m-%d", day);
    else if (s.seconds >= DAY)
        strftime(t->text, room, "%Y-%m-%d", day);
    else if (s.seconds < MINUTE)
        strftime(t->text, room, "%H:%M:%S", day);
    else if (range <= DAY || brief)
        strftime(t->text, room, "%H:%M", day);
    else
        strftime(t->text, room, "%m-%d %H:%M", day);
}

/* The k-th step from 1970 on, or of months from the year 0 on. */
static double time_of(tick_step s, double k)
{
    if (s.months == 0)
        return k * s.seconds;
    struct tm day = {.tm_year = -1900, .tm_mday = 1};
    double months = k * s.months;
    day.tm_year += (int)floor(months / MONTHS_A_YEAR);
    day.tm_mon = (int)(months - MONTHS_A_YEAR * floor(months / MONTHS_A_YEAR));
    return (double)timegm(&day);
}

size_t date_ticks(double from, double to, int parts, bool brief, date_tick out[MOST_DATE_TICKS])
{
    size_t count = 0;
    if (!(from < to && fabs(from) < LATEST && fabs(to) < LATEST))
        return 0;
    tick_step s = choose_step(to - from, parts > 1 ? parts : 1);
    double since = s.months > 0 ? 1970.0 * YEAR : 0.0; /* where steps begin */
    for (double k = floor((from + since) / length_of(s)) - 2.0; count < MOST_DATE_TICKS; k++) {
        double at = time_of(s, k);
        time_t whole = (time_t)at;
        struct tm day;
        if (at > to)
            break;
        if (at < from || !gmtime_r(&whole, &day))
            continue;
        out[count].at = at;
        write_tick(s, to - from, brief, &day, &out[count++]);
    }
    return count;
}
