/* A block that moves what is left to its front, and doubles where that does not help. */
#include "serve/bytes.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4096 };

size_t bytes_count(const bytes *b)
{
    return b->end - b->begin;
}

const char *bytes_front(const bytes *b)
{
    return b->room + b->begin;
}

static void move_to_front(bytes *b)
{
    if (b->begin > 0)
        memmove(b->room, b->room + b->begin, bytes_count(b));
    b->end -= b->begin;
    b->begin = 0;
}

bool bytes_reserve(bytes *b, size_t n)
{
    if (b->capacity - b->end >= n)
        return true;
    if (b->room)
        move_to_front(b);
    size_t capacity = b->capacity ? b->capacity : FIRST_ROOM;
    while (capacity - b->end < n)
        capacity *= 2;
    if (capacity == b->capacity)
        return true;
    char *grown = realloc(b->room, capacity);
    if (!grown)
        return false;
    b->room = grown;
    b->capacity = capacity;
    return true;
}

bool bytes_append(bytes *b, const char *from, size_t n)
{
    if (!bytes_reserve(b, n))
        return false;
    memcpy(b->room + b->end, from, n);
    b->end += n;
    return true;
}

void bytes_take(bytes *b, size_t n)
{
    b->begin += n;
    if (b->begin == b->end)
        b->begin = b->end = 0;
}

void bytes_free(bytes *b)
{
    free(b->room);
    *b = (bytes){0};
}
