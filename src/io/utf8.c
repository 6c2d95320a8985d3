/* UTF-8 by the table of well-formed sequences (RFC 3629; Unicode, table 3-7). */
#include "io/utf8.h"

/* The second byte's range says no to overlong forms (E0, F0), surrogates (ED) and
 * characters beyond U+10FFFF (F4); all later bytes are 80 .. BF. */
static int second_fits(unsigned char first, unsigned char second)
{
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high;
}

static size_t length_by_first(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4)
        return 0;
    return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

size_t utf8_length(const char *p, const char *end)
{
    if (p >= end)
        return 0;
    const unsigned char *byte = (const unsigned char *)p;
    size_t length = length_by_first(byte[0]);
    if (length > (size_t)(end - p) || (length > 1 && !second_fits(byte[0], byte[1])))
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((byte[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

const char *utf8_find_fault(const char *p, const char *end)
{
    while (p < end) {
        size_t length = utf8_length(p, end);
        if (length == 0)
            return p;
        p += length;
    }
    return end;
}

size_t utf8_encode(uint32_t character, char out[4])
{
    static const unsigned char first_bits[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3F));
    out[0] = (char)(length == 1 ? character : first_bits[length] | character);
    return length;
}
