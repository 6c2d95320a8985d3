/* Cells are kept until the end, when the width of each column is known. */
#include "table.h"

#include "io/plain_text.h"
#include "talk.h"
#include "terminal.h"
#include "wrap.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
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

/* The first column, and those from `first` to `last`: a part that fits the terminal. */
typedef struct {
    size_t first, last;
    size_t width[MAX_COLUMNS];
} table_part;

/* A cell, cut where its column is narrower; the end of one that was cut is two points. */
static void print_cell(const char *cell, size_t width, FILE *file)
{
    size_t shown = display_width(cell), bytes = 0, points = shown > width ? 2 : 0;
    size_t room = shown > width ? width - points : shown;
    for (size_t count = 0; cell[bytes] && (count < room || (cell[bytes] & 0xC0) == 0x80); bytes++)
        count += (cell[bytes] & 0xC0) != 0x80;
    fprintf(file, "%.*s%.*s", (int)bytes, cell, (int)points, "..");
}

/* Blanks are written only before something: no line ends with them. */
static void print_row(const table *t, FILE *file, const table_part *part, size_t row)
{
    size_t blanks = 0;
    for (size_t c = 0; c < t->columns && row + c < t->cells; c++) {
        const char *cell = t->cell[row + c];
        size_t wide = display_width(cell);
        size_t pad = part->width[c] > wide ? part->width[c] - wide : 0;
        bool left = t->align[c] == 'l';
        if (c > 0 && (c < part->first || c > part->last))
            continue;
        if (*cell) {
            fprintf(file, "%*s", (int)(blanks + (left ? 0 : pad)), "");
            print_cell(cell, part->width[c], file);
            blanks = left ? pad : 0;
        } else {
            blanks += pad;
        }
        blanks += 2;
    }
    fputc('\n', file);
}

static void print_part(const table *t, FILE *file, const table_part *part)
{
    fputs(ink_begin(file, INK_HEAD), file);
    print_row(t, file, part, 0);
    fputs(ink_end(file), file);
    for (size_t row = t->columns; row < t->cells; row += t->columns)
        print_row(t, file, part, row);
}

/* The last column that fits beside the first, from `first` on, one in any case. */
static size_t last_that_fits(const table *t, const table_part *part, size_t first, size_t room)
{
    size_t last = first, used = part->width[0] + 2 + part->width[first];
    while (last + 1 < t->columns && used + 2 + part->width[last + 1] <= room)
        used += 2 + part->width[++last];
    return last;
}

/* On a terminal that is too narrow, part below part, each with the first column, which takes half of
 * the width at most. */
static void print_rows(const table *t, FILE *file)
{
    table_part part;
    int terminal = terminal_width(file);
    size_t room = terminal > 0 ? (size_t)terminal : SIZE_MAX, all = 0;
    for (size_t c = 0; c < t->columns && c < MAX_COLUMNS; c++) {
        part.width[c] = column_width(t, c);
        all += part.width[c] + (c > 0 ? 2 : 0);
    }
    if (all > room && part.width[0] > room / 2)
        part.width[0] = room / 2;
    for (part.first = t->columns > 1 ? 1 : 0; part.first < t->columns; part.first = part.last + 1) {
        part.last = all > room ? last_that_fits(t, &part, part.first, room) : t->columns - 1;
        if (part.first > 1)
            fputc('\n', file);
        print_part(t, file, &part);
    }
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
