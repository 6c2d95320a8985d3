/* Numbers with decimal commas and with digits in groups of three: 1.234.567,8 */
#ifndef QRM_TEXT_NOTATION_H
#define QRM_TEXT_NOTATION_H

#include <locale.h>
#include <stddef.h>

typedef struct {
    char decimal;   /* '.' or ','                                                       */
    char thousands; /* between groups of three digits: ',' '.' '_', ' ' for a blank of any
                       width, '\'' for either apostrophe; 0: digits are not grouped     */
} notation;

/* Whether all of [p, end) is a number in this notation; *value is set only then.  Groups must be
 * of three digits, and the first does not begin with a zero. */
int notation_read(notation n, const char *p, const char *end, locale_t c_locale, double *value);

/* "1.5 with --decimal comma", or "236.3 with --decimal comma and 236300 with --thousands comma":
 * what the text is in other notations; empty when it is a number in none. */
void notation_suggest(const char *p, const char *end, locale_t c_locale, char *out, size_t size);

/* A mark by its name (comma) or itself; 0: neither. */
char notation_mark(const char *text);

#endif
