/* Texts of files: bytes counted, control characters, and Windows-1252 (with it Latin-1) as UTF-8. */
#ifndef QRM_TEXT_TEXT_H
#define QRM_TEXT_TEXT_H

#include <stddef.h>

enum { MOST_UTF8 = 3 /* bytes of a Windows-1252 character in UTF-8 */ };

/* How many bytes of a text are this one. */
size_t text_count(char byte, const char *p, const char *end);

/* The first control character of a UTF-8 text (U+0000 to 1F, 7F to 9F), or NULL. */
const char *utf8_find_control(const char *p, const char *end);

/* A byte of Windows-1252 as UTF-8; returns the bytes written, 0 where it stands for nothing. */
size_t windows_to_utf8(char byte, char out[4]);

#endif
