/* Columns of dates and their forms (docs/data.md, "Dates and times"). */
#include "dates.h"

#include "hyperparameters.h"
#include "talk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const double LATEST = 1e12; /* seconds */

void date_shown(double seconds, char *text, size_t size)
{
    struct tm day;
    time_t whole = (time_t)fmax(-LATEST, fmin(LATEST, floor(seconds)));
    bool is_date = fabs(seconds) < LATEST && gmtime_r(&whole, &day) != NULL;
    bool is_midnight = is_date && day.tm_hour == 0 && day.tm_min == 0 && day.tm_sec == 0;
    size_t written = !is_date      ? 0
                     : is_midnight ? strftime(text, size, "%Y-%m-%d", &day)
                                   : strftime(text, size, "%Y-%m-%d %H:%M", &day);
    if (written == 0)
        snprintf(text, size, "%.5g", seconds);
}

/* "when (dd/mm/yyyy), due (yyyy-mm-dd)", as far as it fits. */
static void list_dates(char *const *names, const char *const *date, size_t columns, char out[400])
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t d = 0; d < columns; d++) {
        char made_up[32];
        if (!date[d])
            continue;
        if (used + 120 > 400) {
            snprintf(out + used, 400 - used, ", ...");
            return;
        }
        snprintf(made_up, sizeof made_up, "x%zu", d + 1);
        used += (size_t)snprintf(out + used, 400 - used, "%s%.60s (%s)", used ? ", " : "",
                                 shown(names ? names[d] : made_up).text, date[d]);
    }
}

void note_dates(const arguments *given, const quorum_data *data)
{
    char list[400];
    if (!data->date)
        return;
    list_dates(data->names, (const char *const *)data->date, data->inputs, list);
    note(given, "read as dates, in seconds: %s; --dates says otherwise", list);
}

void print_dates(const quorum_info *info)
{
    char list[400];
    if (!info->date)
        return;
    list_dates((char *const *)info->names, info->date, info->columns, list);
    printf("dates       %s, in seconds since 1970-01-01 UTC\n", list);
}

void put_date_forms(json_writer *w, const quorum_info *info)
{
    if (!info->date)
        return;
    json_key(w, "dates");
    json_begin_list(w);
    for (size_t d = 0; d < info->columns; d++) {
        if (!info->date[d])
            continue;
        json_begin_object(w);
        json_member_text(w, "input", info->names[d]);
        json_member_text(w, "form", info->date[d]);
        json_end(w);
    }
    json_end(w);
}
