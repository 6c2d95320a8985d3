/* Lists of columns and their periods, as the option periodic has them (made.h). */
#include "encode/made.h"

#include "base/plain.h"
#include "text/list.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    double seconds;
} units[] = {{"hour", 3600.0}, {"day", 86400.0}, {"week", 604800.0}, {"year", 31556952.0}};

enum { UNITS = sizeof units / sizeof *units };

double period_seconds(const char *unit)
{
    for (int i = 0; i < UNITS; i++)
        if (strcmp(units[i].name, unit) == 0)
            return units[i].seconds;
    return 0.0;
}

/* What stands behind the colon, up to a comma or the end. */
static const char *take_period(const char *p, char text[PERIOD_ROOM], double *period)
{
    char *end;
    size_t n = strcspn(p, ",");
    if (n == 0 || n >= PERIOD_ROOM)
        return NULL;
    memcpy(text, p, n);
    text[n] = '\0';
    *period = period_seconds(text);
    if (*period == 0.0) {
        *period = plain_real(text, &end);
        if (end == text || *end != '\0' || !isfinite(*period) || *period <= 0.0)
            return NULL;
    }
    return p + n + (p[n] == ',');
}

/* A name without quotes ends at the last colon before a comma. */
static const char *take_plain(const char *list, char *column)
{
    size_t n = strcspn(list, ",");
    while (n > 0 && list[n - 1] != ':')
        n--;
    if (n < 2)
        return NULL;
    memcpy(column, list, n - 1);
    column[n - 1] = '\0';
    return list + n;
}

const char *period_next(const char *list, char *column, char text[PERIOD_ROOM], double *period)
{
    static const char word[] = "auto";
    size_t n = strlen(word);
    if (strncmp(list, word, n) == 0 && (list[n] == ',' || list[n] == '\0')) {
        column[0] = text[0] = '\0';
        *period = 0.0;
        return list + n + (list[n] == ',');
    }
    if (*list == '"') {
        list = list_take_quoted(list, column);
        list = list && *list == ':' ? list + 1 : NULL;
    } else
        list = take_plain(list, column);
    return list ? take_period(list, text, period) : NULL;
}
