/* Text from elsewhere made fit for a terminal. */
#include "io/plain_text.h"

#include "io/utf8.h"

#include <string.h>

enum { LONGEST = 12 /* bytes of a character as it is shown: \xNN for each of three */ };

/* What turns the direction of writing round: U+202A .. U+202E and U+2066 .. U+2069, which are
 * E2 80 AA .. AE and E2 81 A6 .. A9. */
static int turns_round(const unsigned char *p)
{
    return p[0] == 0xE2 && ((p[1] == 0x80 && p[2] >= 0xAA && p[2] <= 0xAE) ||
                            (p[1] == 0x81 && p[2] >= 0xA6 && p[2] <= 0xA9));
}

/* C1 in UTF-8 is C2 80 .. C2 9F. */
static int is_control(const unsigned char *p, size_t length)
{
    if (length == 1)
        return p[0] < 0x20 || p[0] == 0x7F;
    return (length == 2 && p[0] == 0xC2 && p[1] < 0xA0) || (length == 3 && turns_round(p));
}

static size_t escape_byte(char *out, unsigned char byte)
{
    static const char digit[] = "0123456789abcdef";
    const char text[] = {'\\', 'x', digit[byte >> 4], digit[byte & 15]};
    memcpy(out, text, sizeof text);
    return sizeof text;
}

/* The next character as it is shown; returns the bytes written. */
static size_t show_character(char out[LONGEST], const char *p, size_t length)
{
    if (length > 0 && !is_control((const unsigned char *)p, length)) {
        memcpy(out, p, length);
        return length;
    }
    size_t used = 0;
    for (size_t i = 0; i < (length ? length : 1); i++)
        used += escape_byte(out + used, (unsigned char)p[i]);
    return used;
}

size_t plain_text_copy(char *out, size_t size, const char *text)
{
    const char *p = text, *end = text + strlen(text);
    size_t used = 0;
    while (p < end) {
        char shown[LONGEST];
        size_t length = utf8_length(p, end), room = show_character(shown, p, length);
        if (used + room >= size)
            break;
        memcpy(out + used, shown, room);
        used += room;
        p += length ? length : 1;
    }
    out[used] = '\0';
    return (size_t)(p - text);
}
