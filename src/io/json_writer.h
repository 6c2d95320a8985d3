/* JSON as it is made: nothing is allocated, everything goes to a sink at once.
 *
 *     json_writer w = json_writer_to(sink, context, 2);
 *     json_begin_object(&w);
 *     json_key(&w, "rows");
 *     json_put_count(&w, n);
 *     json_end(&w);
 *     if (json_finish(&w) != JSON_WRITTEN) ...
 *
 * The first error stays: what follows it writes nothing, and json_finish tells it.  Numbers are the
 * same in every locale and read back exactly; what is not a finite number is null. */
#ifndef QRM_IO_JSON_WRITER_H
#define QRM_IO_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes n bytes; anything but 0 is a failure. */
typedef int (*json_sink)(void *context, const char *bytes, size_t n);

enum { JSON_MOST_NESTING = 64 };

typedef enum {
    JSON_WRITTEN = 0,
    JSON_NOT_TAKEN, /* the sink failed                                      */
    JSON_NOT_UTF8,  /* a text is not UTF-8, or NULL                         */
    JSON_MISUSED    /* a value without its key, an end too many, ...: a bug */
} json_error;

typedef struct {
    json_sink sink;
    void *context;
    unsigned indent; /* blanks a level; 0: all on one line, without blanks */
    json_error error;
    unsigned depth;
    char closing[JSON_MOST_NESTING]; /* '}' or ']'                       */
    bool has_member[JSON_MOST_NESTING + 1];
    char after_key;
} json_writer;

json_writer json_writer_to(json_sink sink, void *context, unsigned indent);

void json_begin_object(json_writer *w);
void json_begin_list(json_writer *w);
void json_end(json_writer *w); /* of the object or list begun last */

/* Before each value of an object. */
void json_key(json_writer *w, const char *key);

void json_put_text(json_writer *w, const char *text);
void json_put_joined(json_writer *w, const char *first, const char *second); /* one text */
void json_put_integer(json_writer *w, int64_t value);
void json_put_count(json_writer *w, size_t value);
void json_put_number(json_writer *w, double value); /* 17 digits */
void json_put_flag(json_writer *w, int value);      /* true, false */
void json_put_null(json_writer *w);

void json_put_numbers(json_writer *w, const double *values, size_t count); /* a list */

/* To be called when one whole value has been written. */
json_error json_finish(json_writer *w);

#endif
