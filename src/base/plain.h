/* Numbers and letters as the C locale has them, whatever locale the program around the library has
 * set: "0.1" is a number where the decimal point is a comma, and "I" is a large "i" in Turkish. */
#ifndef QRM_BASE_PLAIN_H
#define QRM_BASE_PLAIN_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

/* The C locale.  It is static in the C library: this cannot fail and nothing is to be freed. */
locale_t plain_locale(void);

/* strtod, strtoull, strtoll (base 10), strcasecmp and strncasecmp. */
double plain_real(const char *text, char **end);
unsigned long long plain_count(const char *text, char **end);
long long plain_integer(const char *text, char **end);
int plain_compare(const char *a, const char *b);
int plain_compare_start(const char *a, const char *b, size_t length);

/* vsnprintf. */
void plain_print(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

#endif
