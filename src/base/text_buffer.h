/* Text that grows at its end, in memory of base/memory.h. */
#ifndef QRM_BASE_TEXT_BUFFER_H
#define QRM_BASE_TEXT_BUFFER_H

#include <stddef.h>

typedef struct {
    char *text; /* ends with a zero; NULL: nothing has been added */
    size_t used, capacity;
} text_buffer;

/* Appends n bytes to the text_buffer `buffer`: the sink of a JSON writer.  Returns 0, or 1 when
 * out of memory; what is there stays. */
int text_buffer_put(void *buffer, const char *bytes, size_t n);

/* Gives the text away; NULL when nothing has been added. */
char *text_buffer_take(text_buffer *b);
void text_buffer_free(text_buffer *b);

#endif
