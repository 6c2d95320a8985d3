/* A cell as csv wants it (RFC 4180). */
#include "cells.h"

#include <stdbool.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool needs_quotes(const char *text)
{
    size_t n = strlen(text);
    return n > 0 && (strpbrk(text, ",\"\r\n") || is_blank(text[0]) || is_blank(text[n - 1]));
}

void cell_write(const char *prefix, const char *text, FILE *file)
{
    bool quoted = needs_quotes(text);
    fprintf(file, "%s%s", quoted ? "\"" : "", prefix);
    if (!quoted) {
        fputs(text, file);
        return;
    }
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

const char *cell_take(const char *line, char *text)
{
    bool quoted = *line == '"';
    const char *p = line + quoted;
    for (; *p && (quoted || *p != ','); p++) {
        if (quoted && *p == '"' && *++p != '"')
            break;
        *text++ = *p;
    }
    *text = '\0';
    return *p == ',' ? p + 1 : NULL;
}
