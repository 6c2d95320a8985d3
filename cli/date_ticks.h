/* Round times of the calendar, for axes of dates. */
#ifndef QUORUM_CLI_DATE_TICKS_H
#define QUORUM_CLI_DATE_TICKS_H

#include <stdbool.h>
#include <stddef.h>

enum { MOST_DATE_TICKS = 64 };

typedef struct {
    double at; /* seconds since 1970-01-01 UTC        */
    char text[24];
} date_tick;

/* Those between two times, at a step that divides them into about `parts`; returns how many.  brief: days are
 * without their year. */
size_t date_ticks(double from, double to, int parts, bool brief, date_tick out[MOST_DATE_TICKS]);

#endif
