/* Shares of rows, and how far chance moves them. */
#ifndef QUORUM_CLI_BINOMIAL_H
#define QUORUM_CLI_BINOMIAL_H

#include <stddef.h>

/* The smallest share k / n such that Binomial(n, share) is at most k with this probability;
 * 0 < share < 1. */
double binomial_quantile(size_t n, double share, double probability);

#endif
