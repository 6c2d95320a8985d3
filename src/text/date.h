/* Dates and times as text, and as seconds since 1970-01-01 00:00 UTC.
 *
 *   date   yyyy-mm-dd, dd.mm.yyyy, dd/mm/yyyy, mm/dd/yyyy: day and month of one or two digits, the
 *          mark - / or . twice the same; with points the day comes first.  The month may be its English
 *          name or three letters of it, the mark then a blank too: 3-Jan-2021, January 3, 2021
 *   time   T or blanks, hh:mm[:ss[.fraction]], [AM or PM]
 *   zone   Z, UTC, +hh, +hhmm or +hh:mm, only behind a time; without one it is UTC
 *
 * All cells of a column have one form: order, mark, whether months have names and there is a zone.  Days are those of
 * the Gregorian calendar from year 1 to 9999; a double tells microseconds apart from 1698 to 2242. */
#ifndef QRM_TEXT_DATE_H
#define QRM_TEXT_DATE_H

#include <stddef.h>

/* Orders that a text can be read in; a set of them is their sum. */
enum { DATE_YMD = 1, DATE_DMY = 2, DATE_MDY = 4, DATE_ORDERS = 7 };

typedef struct {
    int orders; /* 0: no date */
    char mark;
    char zoned;
    char named; /* months by name */
} date_form;

/* The form of the text [p, end) that has no blanks around it, with all orders that it can have. */
date_form date_look(const char *p, const char *end);

/* The seconds of a text that has this form, whose first order is taken. */
double date_seconds(const char *p, const char *end, date_form form);

/* What both forms can be: no orders where there is nothing. */
date_form date_common(date_form a, date_form b);

/* The first order of a set alone. */
date_form date_decide(date_form form);

/* A form of one order in words, "dd/mm/yyyy" or "dd/mon/yyyy", with " zone" behind it where there is one;
 * and back, no orders where the text is none. */
enum { DATE_FORM_ROOM = 20 };
void date_form_text(date_form form, char out[DATE_FORM_ROOM]);
date_form date_form_parse(const char *text);

#endif
