#include "report.h"

#include "talk.h"

#include <math.h>

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_numbers(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_number(values[i]));
    return list;
}

json_t *json_count(size_t value)
{
    return json_integer((json_int_t)value);
}

int json_print(const arguments *given, FILE *file, json_t *value)
{
    if (!value)
        return failure(given, "out of memory");
    int failed = json_dumpf(value, file, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    fputc('\n', file);
    json_decref(value);
    return failed ? failure(given, "the result cannot be written") : EXIT_DONE;
}
