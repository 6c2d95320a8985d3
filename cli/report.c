/* What --json prints: the members of a report, and its end, with every write checked. */
#include "report.h"

#include "talk.h"

#include <errno.h>
#include <string.h>

static int put_to_file(void *file, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, file) == n ? 0 : 1;
}

json_writer json_to_file(FILE *file)
{
    errno = 0; /* until a write fails, which may be long before the end */
    return json_writer_to(put_to_file, file, 2);
}

void json_member_text(json_writer *w, const char *key, const char *text)
{
    json_key(w, key);
    json_put_text(w, text);
}

void json_member_number(json_writer *w, const char *key, double value)
{
    json_key(w, key);
    json_put_number(w, value);
}

void json_member_count(json_writer *w, const char *key, size_t value)
{
    json_key(w, key);
    json_put_count(w, value);
}

void json_member_flag(json_writer *w, const char *key, bool value)
{
    json_key(w, key);
    json_put_flag(w, value);
}

void json_member_numbers(json_writer *w, const char *key, const double *values, size_t count)
{
    json_key(w, key);
    json_put_numbers(w, values, count);
}

/* Flushed here, so that a full disk is found while it can be said of what. */
static bool end_line(FILE *file)
{
    return fputc('\n', file) != EOF && fflush(file) == 0 && !ferror(file);
}

int json_report(json_writer *w, const arguments *given)
{
    json_error error = json_finish(w);
    if (error == JSON_NOT_UTF8)
        return failure(given, "the JSON cannot be written: a text is not UTF-8");
    if (error == JSON_MISUSED)
        return failure(given, "the JSON cannot be written: it is not complete");
    if (error != JSON_WRITTEN || !end_line(w->context))
        return failure(given, "the JSON cannot be written%s%s%s",
                       w->context == stdout ? " to standard output" : "", errno ? ": " : "",
                       errno ? strerror(errno) : "");
    return EXIT_DONE;
}
