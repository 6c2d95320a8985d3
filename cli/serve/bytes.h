/* Bytes on their way: put in behind, taken out in front. */
#ifndef QUORUM_CLI_SERVE_BYTES_H
#define QUORUM_CLI_SERVE_BYTES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *room; /* capacity, of which [begin, end) are there */
    size_t begin, end, capacity;
} bytes;

/* Makes room for n more behind the end; false: out of memory. */
bool bytes_reserve(bytes *b, size_t n);
bool bytes_append(bytes *b, const char *from, size_t n);
void bytes_take(bytes *b, size_t n); /* the first n go */
size_t bytes_count(const bytes *b);
const char *bytes_front(const bytes *b);
void bytes_free(bytes *b);

#endif
