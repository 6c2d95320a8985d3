/* The last message of each thread, and the names of status codes. */
#include "base/status.h"

#include "base/plain.h"
#include "io/plain_text.h"

#include <stdarg.h>
#include <stdio.h>

/* Messages quote names and cells of files: control characters do not get through. */
enum { MESSAGE_SIZE = 1024 };
static _Thread_local char message[MESSAGE_SIZE] = "no error";

void set_message(const char *format, ...)
{
    char text[MESSAGE_SIZE]; /* an argument may point into the present message */
    va_list args;
    va_start(args, format);
    plain_print(text, sizeof text, format, args);
    va_end(args);
    plain_text_copy(message, sizeof message, text);
}

void prefix_message(const char *format, ...)
{
    char where[MESSAGE_SIZE], text[2 * MESSAGE_SIZE + 2];
    va_list args;
    va_start(args, format);
    plain_print(where, sizeof where, format, args);
    va_end(args);
    snprintf(text, sizeof text, "%s: %s", where, message);
    plain_text_copy(message, sizeof message, text);
}

const char *quorum_message(void)
{
    return message;
}

const char *quorum_status_name(quorum_status status)
{
    switch (status) {
    case QUORUM_OK: return "ok";
    case QUORUM_E_ARGUMENT: return "argument";
    case QUORUM_E_MEMORY: return "memory";
    case QUORUM_E_FILE: return "file";
    case QUORUM_E_FORMAT: return "format";
    case QUORUM_E_DATA: return "data";
    case QUORUM_E_NUMERIC: return "numeric";
    case QUORUM_E_CANCELLED: return "cancelled";
    case QUORUM_E_INTERNAL: return "internal";
    case QUORUM_AT_BOUND: return "at-bound";
    case QUORUM_NO_SIGNAL: return "no-signal";
    }
    return "unknown";
}
