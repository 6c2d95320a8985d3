/* Time left, from the share that is done, and what would make it shorter: said once, early. */
#include "forecast.h"

#include "clock.h"
#include "talk.h"

#include <stdio.h>
#include <string.h>

static const double PATIENCE = 600.0; /* seconds that nobody is told about             */
static const double ENOUGH = 5.0;     /* seconds after which the rest can be estimated */

void forecast_start(forecast *f)
{
    *f = (forecast){.start = seconds_now()};
}

/* When this share of the work took so long; negative where it is too early to say. */
static double seconds_left(double elapsed, double share)
{
    return elapsed < ENOUGH || !(share > 0.0) ? -1.0 : elapsed * (1.0 - share) / share;
}

static bool is_set_to(const arguments *given, const char *name, const char *value)
{
    return strcmp(quorum_options_get(given->options, name), value) == 0;
}

/* Each query has a GP of its own, on as many rows as the default takes. */
static bool by_default_neighbours(const arguments *given)
{
    return (is_set_to(given, "method", "auto") || is_set_to(given, "method", "nearest")) &&
           is_set_to(given, "select", "auto") && is_set_to(given, "neighbours", "auto");
}

static void tell(const arguments *given, double left)
{
    char time[32];
    if (left < 100.0 * 60.0)
        snprintf(time, sizeof time, "%.0f minutes", left / 60.0);
    else
        snprintf(time, sizeof time, "%.1f hours", left / 3600.0);
    note(given,
         "this will take about %s more; --neighbours 64 is many times faster and a little less "
         "accurate",
         time);
}

void forecast_hear(forecast *f, const arguments *given, const char *stage, double fraction)
{
    if (fraction < 0.0 || f->said || !by_default_neighbours(given))
        return;
    if (strcmp(stage, "read") == 0)
        f->read = fraction;
    if (strcmp(stage, "predict") != 0)
        return;
    double share = f->before + (f->read - f->before) * fraction;
    double left = seconds_left(seconds_now() - f->start, share);
    if (fraction >= 1.0)
        f->before = f->read;
    if (left > PATIENCE) {
        tell(given, left);
        f->said = true;
    }
}
