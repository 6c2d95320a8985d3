/* Bytes of texts that are not to be shown or not UTF-8: control characters, Windows-1252. */
#include "text/text.h"
#include "io/utf8.h"

/* Of 80 to 9F; 0 where Windows-1252 has nothing.  All others are those of Latin-1. */
static const unsigned short windows[32] = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

/* In stretches whose counts fit a byte, which is how processors count many at once. */
size_t text_count(char byte, const char *p, const char *end)
{
    enum { STRETCH = 255 };
    size_t n = 0;
    while (p < end) {
        int stretch = end - p < STRETCH ? (int)(end - p) : STRETCH;
        unsigned char here = 0;
        for (int i = 0; i < stretch; i++)
            here = (unsigned char)(here + (p[i] == byte));
        n += here;
        p += stretch;
    }
    return n;
}

const char *utf8_find_control(const char *p, const char *end)
{
    for (; p < end; p++) {
        unsigned char b = (unsigned char)*p;
        if (b < 0x20 || b == 0x7F)
            return p;
        if (b == 0xC2 && p + 1 < end && (unsigned char)p[1] < 0xA0)
            return p;
    }
    return NULL;
}

size_t windows_to_utf8(char byte, char out[4])
{
    uint32_t code = (unsigned char)byte;
    if (code >= 0x80 && code < 0xA0)
        code = windows[code - 0x80];
    return code == 0 && byte != '\0' ? 0 : utf8_encode(code, out);
}
