/* Breaks lines at blanks; width is counted in characters, not bytes. */
#include "wrap.h"

#include <string.h>

static size_t width_of(const char *text, size_t bytes)
{
    size_t width = 0;
    for (size_t i = 0; i < bytes; i++)
        width += ((unsigned char)text[i] & 0xC0) != 0x80; /* continuation bytes take no room */
    return width;
}

size_t display_width(const char *text)
{
    return width_of(text, strlen(text));
}

static size_t move_to(FILE *file, size_t column, size_t indent)
{
    if (column > indent) {
        fputc('\n', file);
        column = 0;
    }
    fprintf(file, "%*s", (int)(indent - column), "");
    return indent;
}

/* Blanks between words stay as they are, but none at the end of a line. */
void print_wrapped(FILE *file, const char *text, size_t column, size_t indent)
{
    size_t blanks = 0;
    column = move_to(file, column, indent);
    while (*text) {
        size_t bytes = strcspn(text, " \n");
        size_t width = width_of(text, bytes);
        if (bytes > 0 && column > indent && column + blanks + width > PAGE_WIDTH)
            column = move_to(file, PAGE_WIDTH, indent);
        if (bytes > 0 && column > indent) {
            fprintf(file, "%*s", (int)blanks, "");
            column += blanks;
        }
        fwrite(text, 1, bytes, file);
        column += width;
        blanks = bytes > 0 ? 1 : blanks + 1;
        text += bytes;
        if (*text == '\n')
            column = move_to(file, PAGE_WIDTH, indent);
        text += *text != '\0';
    }
    fputc('\n', file);
}
