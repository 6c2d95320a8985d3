/* Decimal numbers from text: independent of the locale and correctly rounded. */
#ifndef QRM_BASE_NUMBER_H
#define QRM_BASE_NUMBER_H

#include <locale.h>

/* Reads [+-] digits [. digits] [e [+-] digits] from the front of [p, end).
 * Returns where it ends, or NULL when no number is there.  A number too large
 * for a double gives infinity, one too small zero or a subnormal.  `c_locale`
 * is newlocale(LC_ALL_MASK, "C", 0), needed only for unusual numbers.
 * Numerals longer than 1000 characters are not numbers. */
const char *number_parse(const char *p, const char *end, locale_t c_locale, double *value);

#endif
