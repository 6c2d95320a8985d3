/* Text in a block that doubles when it is full, with a zero behind its end. */
#include "base/text_buffer.h"

#include "base/memory.h"

#include <stdint.h>
#include <string.h>

enum { FIRST_CAPACITY = 1024 };

/* Room for n bytes more and the final zero, by doubling. */
static int reserve(text_buffer *b, size_t n)
{
    if (n < b->capacity - b->used)
        return 0;
    if (n > SIZE_MAX / 4 || b->capacity > SIZE_MAX / 4)
        return 1;
    size_t capacity = b->capacity ? 2 * b->capacity : FIRST_CAPACITY;
    while (capacity <= b->used + n)
        capacity *= 2;
    char *grown = mem_grow(b->text, b->used, capacity, 1);
    if (!grown)
        return 1;
    b->text = grown;
    b->capacity = capacity;
    return 0;
}

int text_buffer_put(void *buffer, const char *bytes, size_t n)
{
    text_buffer *b = buffer;
    if (reserve(b, n) != 0)
        return 1;
    memcpy(b->text + b->used, bytes, n);
    b->used += n;
    b->text[b->used] = '\0';
    return 0;
}

char *text_buffer_take(text_buffer *b)
{
    char *text = b->text;
    *b = (text_buffer){0};
    return text;
}

void text_buffer_free(text_buffer *b)
{
    mem_free(b->text);
    *b = (text_buffer){0};
}
