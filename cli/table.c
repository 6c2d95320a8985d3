/* Cells are kept until the end, when the width of each column is known. */
#include "table.h"

#include "io/plain_text.h"
#include "talk.h"
#include "wrap.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static char *next_cell(table *t)
{
    if (t->cells == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 128;
        void *grown = realloc(t->cell, capacity * sizeof *t->cell);
        if (!grown) {
            t->failed = true;
            return NULL;
        }
        t->cell = grown;
        t->capacity = capacity;
    }
    return t->cell[t->cells++];
}

void table_start(table *t, const char *align, const char *const *titles)
{
    memset(t, 0, sizeof *t);
    t->align = align;
    t->columns = strlen(align);
    for (size_t i = 0; i < t->columns; i++)
        table_add(t, "%s", titles[i]);
}

void table_add(table *t, const char *format, ...)
{
    char text[4 * CELL_SIZE], *cell = next_cell(t);
    if (!cell)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    plain_text_copy(cell, CELL_SIZE, text);
}

void table_add_real(table *t, double value)
{
    double size = fabs(value);
    if (!isfinite(value))
        table_add(t, "-");
    else
        table_add(t, size == 0.0 || (size >= 0.01 && size < 1e6) ? "%.4f" : "%.3g", value);
}

static size_t column_width(const table *t, size_t column)
{
    size_t width = 0;
    for (size_t i = column; i < t->cells; i += t->columns) {
        size_t w = display_width(t->cell[i]);
        width = w > width ? w : width;
    }
    return width;
}

/* Blanks are written only before something: no line ends with them. */
static void print_row(const table *t, FILE *file, const size_t *width, size_t first)
{
    size_t blanks = 0;
    for (size_t c = 0; c < t->columns && first + c < t->cells; c++) {
        const char *cell = t->cell[first + c];
        size_t pad = width[c] - display_width(cell);
        bool left = t->align[c] == 'l';
        if (*cell) {
            fprintf(file, "%*s%s", (int)(blanks + (left ? 0 : pad)), "", cell);
            blanks = left ? pad : 0;
        } else {
            blanks += pad;
        }
        blanks += 2;
    }
    fputc('\n', file);
}

static void print_rows(const table *t, FILE *file)
{
    size_t width[MAX_COLUMNS];
    for (size_t c = 0; c < t->columns && c < MAX_COLUMNS; c++)
        width[c] = column_width(t, c);
    for (size_t first = 0; first < t->cells; first += t->columns)
        print_row(t, file, width, first);
}

int table_finish(table *t, const arguments *given)
{
    int code = t->failed ? failure(given, "out of memory for the table") : EXIT_DONE;
    if (code == EXIT_DONE)
        print_rows(t, stdout);
    free(t->cell);
    memset(t, 0, sizeof *t);
    return code;
}
