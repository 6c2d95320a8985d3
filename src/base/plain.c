/* What C leaves to the program's locale, done in the C locale. */
#include "base/plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

locale_t plain_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double plain_real(const char *text, char **end)
{
    return strtod_l(text, end, plain_locale());
}

unsigned long long plain_count(const char *text, char **end)
{
    return strtoull_l(text, end, 10, plain_locale());
}

long long plain_integer(const char *text, char **end)
{
    return strtoll_l(text, end, 10, plain_locale());
}

int plain_compare(const char *a, const char *b)
{
    return strcasecmp_l(a, b, plain_locale());
}

int plain_compare_start(const char *a, const char *b, size_t length)
{
    return strncasecmp_l(a, b, length, plain_locale());
}

/* There is no vsnprintf_l: this thread's locale is changed for the moment. */
void plain_print(char *out, size_t size, const char *format, va_list args)
{
    locale_t before = uselocale(plain_locale());
    vsnprintf(out, size, format, args);
    uselocale(before);
}
