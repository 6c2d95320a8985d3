/* UTF-8, believed only after a look at every byte (RFC 3629). */
#ifndef QRM_IO_UTF8_H
#define QRM_IO_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at the front of [p, end), 1 to 4; 0 where there is none: a byte
 * that cannot begin one, a cut or overlong sequence, a surrogate, more than U+10FFFF. */
size_t utf8_length(const char *p, const char *end);

/* The first byte of [p, end) that is not UTF-8, or `end`. */
const char *utf8_find_fault(const char *p, const char *end);

/* Writes the character (no surrogate, up to U+10FFFF); returns its bytes. */
size_t utf8_encode(uint32_t character, char out[4]);

#endif
