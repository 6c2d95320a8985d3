/* A zip archive in memory, for mutators that change members of an .npz and put sizes and
 * checksums right again.  It shares no code with the reader that it is to test. */
#ifndef QRM_TESTS_FUZZ_ARCHIVE_H
#define QRM_TESTS_FUZZ_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

enum { MOST_MEMBERS = 32, NAME_ROOM = 64 };

typedef struct {
    char name[NAME_ROOM];
    uint8_t *data; /* unpacked */
    size_t size;
    int deflated; /* how it is stored */
} member;

typedef struct {
    member of[MOST_MEMBERS];
    size_t count;
} archive;

/* 1, or 0 when the bytes are no plain zip archive of at most MOST_MEMBERS members; either
 * way the caller frees it with archive_free. */
int archive_read(const uint8_t *bytes, size_t size, archive *a);

/* The number of bytes written, or 0 when they are more than `room`. */
size_t archive_write(const archive *a, uint8_t *out, size_t room);
void archive_free(archive *a);

/* Replaces a member's contents by a copy. */
void member_set(member *m, const uint8_t *data, size_t size);

/* One change of an archive of arrays and texts: a number, an array's header or length, a
 * text, the list of members, or how one is stored. */
void archive_mutate(archive *a, uint64_t seed);

#endif
