/* Cells that are passed on as text: one block of text, in which they stand row by row, each with its
 * final zero, and where each begins (start, rows x count). */
#include "data/kept.h"
#include "base/memory.h"
#include "base/plain.h"
#include "text/text.h"
#include "io/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { FIRST_ROWS = 256, FIRST_TEXT = 1 << 12, MOST_TEXT = 1 << 25, NUMBER_SIZE = 32 };

/* Of the memory, what the texts of a chunk may take before it ends. */
static const double TEXT_SHARE = 1.0 / 32;

static quorum_status fail_memory(void)
{
    return failure(QUORUM_E_MEMORY, "out of memory for the columns that are kept");
}

quorum_status kept_cells_choose(kept_cells *k, const size_t *columns, size_t count)
{
    kept_cells_free(k);
    if (!NEW_ARRAY(k->columns, count))
        return fail_memory();
    if (count > 0)
        memcpy(k->columns, columns, count * sizeof *columns);
    k->count = count;
    k->wanted = 1;
    return QUORUM_OK;
}

void kept_cells_clear(kept_cells *k)
{
    k->rows = k->used = 0;
}

void kept_cells_free(kept_cells *k)
{
    mem_free(k->columns);
    mem_free(k->number);
    mem_free(k->start);
    mem_free(k->text);
    *k = (kept_cells){0};
}

int kept_cells_is_full(const kept_cells *k, double memory)
{
    size_t bytes = k->used + k->rows * (k->count + 1) * sizeof *k->start;
    return k->rows > 0 && (bytes >= MOST_TEXT || (double)bytes >= TEXT_SHARE * memory);
}

/* ---- Room ---- */

static quorum_status room_for_row(kept_cells *k)
{
    if (k->rows < k->room)
        return QUORUM_OK;
    size_t room = k->room ? 2 * k->room : FIRST_ROWS;
    size_t *number = mem_grow(k->number, k->rows, room, sizeof *number);
    if (!number)
        return fail_memory();
    k->number = number;
    size_t *start = mem_grow(k->start, k->rows * k->count, room * k->count, sizeof *start);
    if (!start)
        return fail_memory();
    k->start = start;
    k->room = room;
    return QUORUM_OK;
}

static quorum_status room_for_text(kept_cells *k, size_t bytes)
{
    size_t capacity = k->capacity ? k->capacity : FIRST_TEXT;
    while (capacity - k->used < bytes)
        capacity *= 2;
    if (capacity == k->capacity)
        return QUORUM_OK;
    char *larger = mem_grow(k->text, k->used, capacity, 1);
    if (!larger)
        return fail_memory();
    k->text = larger;
    k->capacity = capacity;
    return QUORUM_OK;
}

/* ---- Cells ---- */

/* A byte of Windows-1252; the five that stand for nothing are the control characters of Latin-1. */
static size_t convert(char byte, char out[4])
{
    size_t size = windows_to_utf8(byte, out);
    return size > 0 ? size : utf8_encode((unsigned char)byte, out);
}

/* Appends the bytes of a cell; in a quoted one "" stands for ". */
static void append_cell(kept_cells *k, const cell *c, int windows)
{
    char *to = k->text + k->used;
    for (const char *p = c->begin; p < c->end; p++) {
        char other[4];
        size_t size = windows ? convert(*p, other) : 1;
        memcpy(to, windows ? other : p, size);
        to += size;
        if (c->quoted && *p == '"' && p + 1 < c->end && p[1] == '"')
            p++;
    }
    *to++ = '\0';
    k->used = (size_t)(to - k->text);
}

static quorum_status add_cell(kept_cells *k, const cell *c, int windows, size_t *start)
{
    int other = windows || utf8_find_fault(c->begin, c->end) != c->end;
    size_t length = (size_t)(c->end - c->begin);
    TRY(room_for_text(k, length * (other ? MOST_UTF8 : 1) + 1));
    k->converted |= other && !windows;
    *start = k->used;
    append_cell(k, c, other);
    return QUORUM_OK;
}

/* The cell without the carriage return of the line's end. */
static cell cell_of(const record *r, size_t column)
{
    cell c = {.begin = ""};
    c.end = c.begin;
    if (column < r->count && column < r->capacity)
        c = r->cells[column];
    if (column + 1 == r->count && !c.quoted && c.end > c.begin && c.end[-1] == '\r')
        c.end--;
    return c;
}

quorum_status kept_cells_add_record(kept_cells *k, size_t number, const record *r, int windows)
{
    if (!k->wanted)
        return QUORUM_OK;
    TRY(room_for_row(k));
    for (size_t i = 0; i < k->count; i++) {
        cell c = cell_of(r, k->columns[i]);
        TRY(add_cell(k, &c, windows, &k->start[k->rows * k->count + i]));
    }
    k->number[k->rows++] = number;
    return QUORUM_OK;
}

/* In the C locale. */
static void print_number(char *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print_number(char *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    plain_print(out, NUMBER_SIZE, format, args);
    va_end(args);
}

quorum_status kept_cells_add_numbers(kept_cells *k, size_t number, const double *values)
{
    if (!k->wanted)
        return QUORUM_OK;
    TRY(room_for_row(k));
    for (size_t i = 0; i < k->count; i++) {
        TRY(room_for_text(k, NUMBER_SIZE));
        char *to = k->text + k->used;
        to[0] = '\0';
        if (!isnan(values[i]))
            print_number(to, "%.17g", values[i]);
        k->start[k->rows * k->count + i] = k->used;
        k->used += strlen(to) + 1;
    }
    k->number[k->rows++] = number;
    return QUORUM_OK;
}

const char *kept_cells_at(const kept_cells *k, size_t row, size_t column)
{
    return k->text + k->start[row * k->count + column];
}
