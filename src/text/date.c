/* Dates and times from text (date.h).  Days are counted from 1970-01-01 by the rule of the Gregorian
 * calendar, with years that begin in March, so that the leap day is the last:
 *
 *   days = 365 y + y/4 - y/100 + y/400 + (153 m + 2)/5 + d - 1 - 719468,   m = 0 in March */
#include "text/date.h"

#include "base/plain.h"

#include <math.h>
#include <string.h>

enum { MINUTE = 60, HOUR = 3600, DAY = 86400, FRACTION_DIGITS = 15 };

/* A text taken apart. */
typedef struct {
    int part[3], digits[3]; /* of the date, as they stand; no digits of a month's name */
    int named;              /* which of them is one; -1: none      */
    char mark;
    double clock; /* seconds of the day */
    int zoned, east /* seconds */;
} pieces;

static int is_digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

/* Up to `most` digits; returns how many. */
static int take_digits(const char **p, const char *end, int most, int *value)
{
    int n = 0;
    for (*value = 0; n < most && is_digit(*p, end); n++)
        *value = 10 * *value + (*(*p)++ - '0');
    return n;
}

static int take_mark(const char **p, const char *end, char mark)
{
    int found = *p < end && **p == mark;
    *p += found;
    return found;
}

static int take_word(const char **p, const char *end, const char *word)
{
    size_t n = strlen(word);
    int found = (size_t)(end - *p) >= n && plain_compare_start(*p, word, n) == 0;
    *p += found ? n : 0;
    return found;
}

/* The number of a month's name, or of its first three letters; 0: it is none. */
static int take_month(const char **p, const char *end)
{
    static const char *const names[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
    for (int m = 0; m < 12; m++)
        if (end - *p >= 3 && plain_compare_start(*p, names[m], 3) == 0) {
            *p += 3;
            take_word(p, end, names[m] + 3);
            return m + 1;
        }
    return 0;
}

/* A number, or a month's name where there is none yet; 0: it is neither. */
static int take_part(const char **p, const char *end, int i, pieces *out)
{
    out->digits[i] = take_digits(p, end, 4, &out->part[i]);
    if (out->digits[i] > 0)
        return 1;
    if (i == 2 || out->named >= 0)
        return 0;
    out->named = i;
    out->part[i] = take_month(p, end);
    return out->part[i] > 0;
}

/* 12-31-2020: three numbers and a mark twice; or Jan 31, 2020. */
static int take_date(const char **p, const char *end, pieces *out)
{
    for (int i = 0; i < 3; i++) {
        if (!take_part(p, end, i, out))
            return 0;
        if (i == 0 && *p < end && strchr("-/. ", **p))
            out->mark = **p;
        if (i == 1 && out->named == 0 && out->mark == ' ')
            take_mark(p, end, ',');
        if (i < 2 && (!out->mark || !take_mark(p, end, out->mark)))
            return 0;
    }
    return !is_digit(*p, end) && (out->mark != ' ' || out->named >= 0);
}

/* .25 or ,25 behind seconds; 0: a mark without digits. */
static int take_fraction(const char **p, const char *end, double *seconds)
{
    double value = 0.0, unit = 1.0;
    if (*p == end || (**p != '.' && **p != ','))
        return 1;
    (*p)++;
    if (!is_digit(*p, end))
        return 0;
    for (int n = 0; is_digit(*p, end); n++, (*p)++)
        if (n < FRACTION_DIGITS) {
            value = 10.0 * value + (**p - '0');
            unit *= 10.0;
        }
    *seconds += value / unit;
    return 1;
}

static void pass_blanks(const char **p, const char *end)
{
    while (*p < end && **p == ' ')
        (*p)++;
}

/* AM and PM make hours 1 to 12 those of the day; 0: no such hour. */
static int take_half(const char **p, const char *end, int *hour)
{
    const char *from = *p;
    pass_blanks(p, end);
    int morning = take_word(p, end, "AM"), evening = !morning && take_word(p, end, "PM");
    if (!morning && !evening) {
        *p = from;
        return *hour <= 23;
    }
    if (*hour < 1 || *hour > 12)
        return 0;
    *hour = *hour % 12 + 12 * evening;
    return 1;
}

static int take_clock(const char **p, const char *end, pieces *out)
{
    int hour, minute, whole = 0;
    double seconds = 0.0;
    int n = take_digits(p, end, 2, &hour);
    if (n == 0 || !take_mark(p, end, ':') || take_digits(p, end, 2, &minute) != 2)
        return 0;
    if (take_mark(p, end, ':')) {
        if (take_digits(p, end, 2, &whole) != 2 || !take_fraction(p, end, &seconds))
            return 0;
    }
    if (!take_half(p, end, &hour) || minute > 59 || whole > 60)
        return 0;
    out->clock = hour * HOUR + minute * MINUTE + whole + seconds;
    return 1;
}

static int take_zone(const char **p, const char *end, pieces *out)
{
    int hours, minutes = 0;
    pass_blanks(p, end);
    if (*p == end)
        return 1;
    out->zoned = 1;
    if (take_word(p, end, "UTC") || take_word(p, end, "Z"))
        return 1;
    int west = take_mark(p, end, '-');
    if ((!west && !take_mark(p, end, '+')) || take_digits(p, end, 2, &hours) != 2)
        return 0;
    int marked = take_mark(p, end, ':');
    int n = take_digits(p, end, 2, &minutes);
    if ((n != 0 || marked) && n != 2)
        return 0;
    out->east = (west ? -1 : 1) * (hours * HOUR + minutes * MINUTE);
    return hours <= 15 && minutes <= 59;
}

static int take_apart(const char *p, const char *end, pieces *out)
{
    *out = (pieces){.mark = '\0', .named = -1};
    if (!take_date(&p, end, out))
        return 0;
    if (p == end)
        return 1;
    if (!take_word(&p, end, "T")) {
        const char *from = p;
        pass_blanks(&p, end);
        if (p == from)
            return 0;
    }
    return take_clock(&p, end, out) && take_zone(&p, end, out) && p == end;
}

/* ---- Orders ---- */

typedef struct {
    int year, month, day;
} day_of_calendar;

static day_of_calendar day_in_order(const pieces *t, int order)
{
    const int *n = t->part;
    return order == DATE_YMD   ? (day_of_calendar){n[0], n[1], n[2]}
           : order == DATE_DMY ? (day_of_calendar){n[2], n[1], n[0]}
                               : (day_of_calendar){n[2], n[0], n[1]};
}

static int is_in_calendar(day_of_calendar d)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int leap = (d.year % 4 == 0 && d.year % 100 != 0) || d.year % 400 == 0;
    return d.year >= 1 && d.month >= 1 && d.month <= 12 && d.day >= 1 &&
           d.day <= days[d.month - 1] + (leap && d.month == 2);
}

/* Years have four digits, days and months one or two, and a name is the month's. */
static int has_digits_of(const pieces *t, int order)
{
    int year = order == DATE_YMD ? 0 : 2, month = order == DATE_MDY ? 0 : 1;
    return t->digits[year] == 4 && t->digits[2 - year] <= 2 && t->digits[1] <= 2 &&
           (t->named < 0 || t->named == month);
}

date_form date_look(const char *p, const char *end)
{
    pieces t;
    date_form form = {0};
    if (!take_apart(p, end, &t))
        return form;
    for (int order = DATE_YMD; order <= DATE_MDY; order *= 2)
        if (has_digits_of(&t, order) && is_in_calendar(day_in_order(&t, order)) &&
            !(order == DATE_MDY && t.mark == '.'))
            form.orders |= order;
    form.mark = t.mark;
    form.zoned = (char)t.zoned;
    form.named = t.named >= 0;
    return form;
}

date_form date_common(date_form a, date_form b)
{
    int alike = a.mark == b.mark && a.zoned == b.zoned && a.named == b.named;
    a.orders &= alike ? b.orders : 0;
    return a;
}

date_form date_decide(date_form form)
{
    form.orders &= -form.orders;
    return form;
}

static double days_since_1970(day_of_calendar d)
{
    int early = d.month <= 2, y = d.year - early, m = d.month + (early ? 9 : -3);
    int leap_days = y / 4 - y / 100 + y / 400, months = (153 * m + 2) / 5;
    return 365 * y + leap_days + months + d.day - 1 - 719468;
}

double date_seconds(const char *p, const char *end, date_form form)
{
    pieces t;
    if (!take_apart(p, end, &t))
        return NAN;
    day_of_calendar d = day_in_order(&t, date_decide(form).orders);
    return days_since_1970(d) * DAY - t.east + t.clock;
}

/* ---- Forms in words ---- */

void date_form_text(date_form form, char out[DATE_FORM_ROOM])
{
    static const char *const parts[3][3] = {
        {"yyyy", "mm", "dd"}, {"dd", "mm", "yyyy"}, {"mm", "dd", "yyyy"}};
    int row = date_decide(form).orders / 2; /* 1, 2, 4 */
    size_t used = 0;
    for (int i = 0; i < 3; i++) {
        const char *part = form.named && parts[row][i][0] == 'm' ? "mon" : parts[row][i];
        for (const char *c = part; *c; c++)
            out[used++] = *c;
        if (i < 2)
            out[used++] = form.mark;
    }
    memcpy(out + used, form.zoned ? " zone" : "", form.zoned ? 6 : 1);
}

date_form date_form_parse(const char *text)
{
    static const int orders[] = {DATE_YMD, DATE_DMY, DATE_MDY};
    for (int i = 0; i < 3 * 4 * 2 * 2; i++) {
        char known[DATE_FORM_ROOM];
        date_form form = {.orders = orders[i / 16], .mark = "-/. "[i / 4 % 4]};
        form.zoned = i / 2 % 2 == 1;
        form.named = i % 2 == 1;
        date_form_text(form, known);
        if ((form.named || form.mark != ' ') && strcmp(known, text) == 0)
            return form;
    }
    return (date_form){0};
}
