/* How many digits tell values from each other that differ by little of their size, as years do, or a billion
 * and something. */
#ifndef QUORUM_CLI_DIGITS_H
#define QUORUM_CLI_DIGITS_H

enum { MOST_DIGITS = 15 };

/* Significant digits of a value among values that spread so far: down to a hundredth of the spread's first digit,
 * `least` in any case. */
int digits_among(double value, double spread, int least);

#endif
