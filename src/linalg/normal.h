/* The standard normal distribution. */
#ifndef QRM_LINALG_NORMAL_H
#define QRM_LINALG_NORMAL_H

double normal_density(double z);
double normal_probability(double z);        /* P(Z <= z)           */
double normal_quantile(double probability); /* its inverse, 0 < p < 1 */

#endif
