/* [sign] digits [. digits] [e exponent] -> the double that is nearest to it. */
#include "base/number.h"

#include <endian.h>
#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Three ways to w 10^q, each exact up to one rounding:
 *   w <= 2^53, |q| <= 22   one multiplication or division of exact doubles
 *   w <  2^64, |q| <= 27   128-bit integers, since 5^27 < 2^63
 *   anything else          strtod in the C locale */

enum { SAFE_DIGITS = 19, MAX_NUMERAL = 1000, MAX_EXPONENT = 100000, MANTISSA_BITS = 53 };
enum { DOUBLE_POWERS = 22, INTEGER_POWERS = 27 };

typedef unsigned __int128 wide;

typedef struct {
    uint64_t digits; /* w, when significant <= SAFE_DIGITS */
    int significant; /* digits after the leading zeros     */
    int exponent;    /* q                                  */
    int negative;
} decimal;

static const double power_of_ten[DOUBLE_POWERS + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const uint64_t power_of_five[INTEGER_POWERS + 1] = {1u,
                                                           5u,
                                                           25u,
                                                           125u,
                                                           625u,
                                                           3125u,
                                                           15625u,
                                                           78125u,
                                                           390625u,
                                                           1953125u,
                                                           9765625u,
                                                           48828125u,
                                                           244140625u,
                                                           1220703125u,
                                                           6103515625u,
                                                           30517578125u,
                                                           152587890625u,
                                                           762939453125u,
                                                           3814697265625u,
                                                           19073486328125u,
                                                           95367431640625u,
                                                           476837158203125u,
                                                           2384185791015625u,
                                                           11920928955078125u,
                                                           59604644775390625u,
                                                           298023223876953125u,
                                                           1490116119384765625u,
                                                           7450580596923828125u};

/* Eight bytes at once, the first in the lowest, each less '0': how many of the first are digits.  Only
 * of a digit is a byte below 10, which added to 0x76 leaves its top bit alone. */
static unsigned count_digits(uint64_t word)
{
    const uint64_t low = 0x7F7F7F7F7F7F7F7Fu;
    uint64_t others = (((word & low) + 0x7676767676767676u) | word) & ~low;
    return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/* The number of eight digits: pairs of them, then pairs of pairs, then of those. */
static uint64_t number_of_digits(uint64_t word)
{
    word = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FFu;
    word = (word * 100 + (word >> 16)) & 0x0000FFFF0000FFFFu;
    return (word * 10000 + (word >> 32)) & 0xFFFFFFFFu;
}

/* One at a time: as a rule there are few before the point. */
static const char *scan_digits(const char *p, const char *end, uint64_t *digits)
{
    uint64_t w = *digits;
    for (; p < end; p++) {
        unsigned digit = (unsigned)(unsigned char)*p - '0';
        if (digit > 9)
            break;
        w = 10 * w + digit;
    }
    *digits = w;
    return p;
}

/* Behind the point, where there may be any number of them: eight at once as long as there are. */
static const char *scan_fraction(const char *p, const char *end, uint64_t *digits)
{
    static const uint64_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    while (end - p >= 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        word = le64toh(word) ^ 0x3030303030303030u;
        unsigned count = count_digits(word);
        word = count > 0 ? word << (64 - 8 * count) : 0; /* zeros before them */
        *digits = *digits * power[count] + number_of_digits(word);
        p += count;
        if (count < 8)
            return p;
    }
    return scan_digits(p, end, digits);
}

/* e [+-] digits; without digits there is no exponent and p comes back. */
static const char *scan_exponent(const char *p, const char *end, int *exponent)
{
    const char *q = p + 1;
    int negative = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+'))
        q++;
    if (q == end || *q < '0' || *q > '9')
        return p;
    int e = 0;
    for (; q < end && *q >= '0' && *q <= '9'; q++)
        e = e < MAX_EXPONENT ? 10 * e + (*q - '0') : e;
    *exponent += negative ? -e : e;
    return q;
}

static int count_leading_zeros(const char *p, const char *end)
{
    int zeros = 0;
    for (; p < end && (*p == '0' || *p == '.'); p++)
        zeros += *p == '0';
    return zeros;
}

static const char *scan_decimal(const char *p, const char *end, decimal *d)
{
    *d = (decimal){.negative = p < end && *p == '-'};
    p += p < end && (*p == '-' || *p == '+');
    const char *first = p;
    p = scan_digits(p, end, &d->digits);
    long count = p - first;
    if (p < end && *p == '.') {
        const char *point = p;
        p = scan_fraction(p + 1, end, &d->digits);
        d->exponent = -(int)(p - point - 1);
        count += p - point - 1;
    }
    if (count == 0)
        return NULL;
    d->significant = (int)count;
    if (count > SAFE_DIGITS)
        d->significant -= count_leading_zeros(first, p);
    if (p < end && (*p == 'e' || *p == 'E'))
        p = scan_exponent(p, end, &d->exponent);
    return p - first <= MAX_NUMERAL ? p : NULL;
}

static int count_bits(wide n)
{
    uint64_t high = (uint64_t)(n >> 64);
    return high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)n);
}

/* (n + something in (0,1) when `sticky`) 2^exponent to the nearest double, ties
 * to even.  n has more than 53 bits; the result is a normal number. */
static double round_to_double(wide n, int sticky, int exponent)
{
    int drop = count_bits(n) - MANTISSA_BITS;
    uint64_t kept = (uint64_t)(n >> drop);
    wide rest = n & (((wide)1 << drop) - 1);
    wide half = (wide)1 << (drop - 1);
    if (rest > half || (rest == half && (sticky || (kept & 1))))
        kept++;
    uint64_t bits = (uint64_t)(exponent + drop + 1023) << 52; /* 2^(exponent + drop) */
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return (double)kept * scale;
}

/* w 5^q 2^q */
static double multiply_exactly(uint64_t w, int q)
{
    return round_to_double((wide)w * power_of_five[q], 0, q);
}

/* w / 5^k 2^-k, by a quotient of 63 or 64 bits and whether there is a remainder. */
static double divide_exactly(uint64_t w, int k)
{
    int shift_w = __builtin_clzll(w);
    int shift_d = __builtin_clzll(power_of_five[k]);
    wide numerator = (wide)(w << shift_w) << 63;
    uint64_t divisor = power_of_five[k] << shift_d;
    uint64_t quotient = (uint64_t)(numerator / divisor);
    int remainder = (wide)quotient * divisor != numerator;
    return round_to_double(quotient, remainder, shift_d - shift_w - k - 63);
}

static double parse_slowly(const char *p, const char *end, locale_t c_locale)
{
    char text[MAX_NUMERAL + 2]; /* a sign and the final zero */
    size_t n = (size_t)(end - p);
    memcpy(text, p, n);
    text[n] = '\0';
    return strtod_l(text, NULL, c_locale);
}

const char *number_parse(const char *p, const char *end, locale_t c_locale, double *value)
{
    static const double signs[] = {1.0, -1.0};
    decimal d;
    const char *stop = scan_decimal(p, end, &d);
    if (!stop)
        return NULL;
    int q = d.exponent;
    double magnitude;
    if (d.significant > SAFE_DIGITS || q < -INTEGER_POWERS || q > INTEGER_POWERS) {
        *value = parse_slowly(p, stop, c_locale);
        return stop;
    }
    if (d.digits <= (1ull << MANTISSA_BITS) && q >= -DOUBLE_POWERS && q <= DOUBLE_POWERS &&
        FLT_EVAL_METHOD == 0)
        magnitude =
            q < 0 ? (double)d.digits / power_of_ten[-q] : (double)d.digits * power_of_ten[q];
    else if (d.digits == 0)
        magnitude = 0.0;
    else
        magnitude = q < 0 ? divide_exactly(d.digits, -q) : multiply_exactly(d.digits, q);
    *value = signs[d.negative] * magnitude; /* exactly, and no branch: signs cannot be foreseen */
    return stop;
}
