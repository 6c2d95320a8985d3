/* Z = g(U), U standard normal, g straight between points (u_k, z_k) and beyond them as between the
 * last two:
 *
 *   quantile     g(Phi^-1(p))
 *   density      phi(u) / g'(u),  u = g^-1(z)
 *   CRPS at z    sum over pieces of g' (int Phi^2 below g^-1(z) + int (1 - Phi)^2 above it)
 *   E max(0, Z - z)  sum over pieces of g' int (1 - Phi) above g^-1(z),  int_u^inf = phi - u (1 - Phi)
 *
 * with int_-inf^u Phi^2 = u Phi^2 + 2 Phi phi - Phi(sqrt(2) u) / sqrt(pi).  */
#include "linalg/bent_normal.h"

#include "linalg/normal.h"

#include <assert.h>
#include <math.h>

const double bent_tails[BENT_TAILS] = {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25};

enum { TAIL_POINTS = 6 };                 /* beyond the quantiles, on either side           */
static const double TAIL_GROWTH = 2.0;    /* of the slope from one of them to the next      */
static const double LEAST_OF_BODY = 0.05; /* least slope, of that between the quartiles     */
static const double LEAST_OF_WIDE = 0.01; /* and of the next one that is not 0              */

/* ---- Making one ---- */

/* The smallest slope that g may have: ties make it no step, which has no density. */
static double least_slope(size_t n, const double *u, const double *z)
{
    size_t inner = n / 2 - 1;
    double body = (z[n - 1 - inner] - z[inner]) / (u[n - 1 - inner] - u[inner]);
    for (size_t k = inner; k-- > 0;) {
        double wide = (z[n - 1 - k] - z[k]) / (u[n - 1 - k] - u[k]);
        if (wide > 0.0)
            return fmax(LEAST_OF_BODY * body, LEAST_OF_WIDE * wide);
    }
    return body > 0.0 ? LEAST_OF_BODY * body : LEAST_OF_WIDE;
}

/* Points are moved outwards from the middle one until every slope is at least this. */
static void keep_rising(size_t n, const double *u, double *z, double least)
{
    size_t middle = n / 2;
    for (size_t k = middle + 1; k < n; k++)
        z[k] = fmax(z[k], z[k - 1] + least * (u[k] - u[k - 1]));
    for (size_t k = middle; k-- > 0;)
        z[k] = fmin(z[k], z[k + 1] - least * (u[k + 1] - u[k]));
}

/* Beyond the quantiles, which few rows say anything of, the slope is at least that of the Gaussian
 * through the middle and the last of them, and grows: errors have heavier tails more often than
 * lighter ones, and a far one must not cost the square of its distance. */
static void add_tails(quorum_distribution *d)
{
    size_t n = d->points, middle = TAIL_POINTS + n / 2, last = TAIL_POINTS + n - 1;
    double *u = d->u, *z = d->z;
    for (size_t k = n; k-- > 0;) {
        u[k + TAIL_POINTS] = u[k];
        z[k + TAIL_POINTS] = z[k];
    }
    double below =
        fmax((z[TAIL_POINTS + 1] - z[TAIL_POINTS]) / (u[TAIL_POINTS + 1] - u[TAIL_POINTS]),
             (z[middle] - z[TAIL_POINTS]) / (u[middle] - u[TAIL_POINTS]));
    double above = fmax((z[last] - z[last - 1]) / (u[last] - u[last - 1]),
                        (z[last] - z[middle]) / (u[last] - u[middle]));
    for (size_t k = 0; k < TAIL_POINTS; k++) {
        size_t low = TAIL_POINTS - k, high = last + k;
        u[low - 1] = u[low] - 1.0;
        z[low - 1] = z[low] - below;
        u[high + 1] = u[high] + 1.0;
        z[high + 1] = z[high] + above;
        below *= TAIL_GROWTH;
        above *= TAIL_GROWTH;
    }
    d->points = last + 1 + TAIL_POINTS;
}

void bent_normal_through(size_t count, const double *tail, const double *lower, const double *upper,
                         double middle, quorum_distribution *out)
{
    size_t n = 2 * count + 1;
    assert(count > 0 && n + 2 * TAIL_POINTS <= QUORUM_MOST_POINTS);
    for (size_t k = 0; k < count; k++) {
        out->u[k] = normal_quantile(tail[k]);
        out->u[n - 1 - k] = -out->u[k];
        out->z[k] = lower[k];
        out->z[n - 1 - k] = upper[k];
    }
    out->u[count] = 0.0;
    out->z[count] = middle;
    out->points = n;
    keep_rising(n, out->u, out->z, least_slope(n, out->u, out->z));
    add_tails(out);
}

void bent_normal_divide(quorum_distribution *d, double scale)
{
    for (size_t k = 0; k < d->points; k++)
        d->z[k] /= scale;
}

/* ---- Using it ---- */

static double slope(const quorum_distribution *d, size_t piece)
{
    return (d->z[piece + 1] - d->z[piece]) / (d->u[piece + 1] - d->u[piece]);
}

/* The piece, from its first point to the next, that holds x or is continued there. */
static size_t piece_of(const quorum_distribution *d, const double *places, double x)
{
    size_t k = 0;
    while (k + 2 < d->points && x > places[k + 1])
        k++;
    return k;
}

double bent_normal_at(const quorum_distribution *d, double u)
{
    if (d->points < 2)
        return u;
    size_t k = piece_of(d, d->u, u);
    return d->z[k] + (u - d->u[k]) * slope(d, k);
}

double bent_normal_score(const quorum_distribution *d, double z)
{
    if (d->points < 2)
        return z;
    size_t k = piece_of(d, d->z, z);
    return d->u[k] + (z - d->z[k]) / slope(d, k);
}

double bent_log_density(const quorum_distribution *d, double z)
{
    double u = bent_normal_score(d, z);
    double bend = d->points < 2 ? 1.0 : slope(d, piece_of(d, d->z, z));
    return -0.5 * u * u - 0.5 * log(2.0 * M_PI) - log(bend);
}

/* int_u^inf (1 - Phi), and by symmetry int_-inf^u Phi = tail_above(-u). */
static double tail_above(double u)
{
    return fmax(normal_density(u) - u * normal_probability(-u), 0.0);
}

double bent_normal_excess(const quorum_distribution *d, double z)
{
    size_t n = d->points;
    if (n < 2)
        return tail_above(z);
    double from = bent_normal_score(d, z), sum = 0.0;
    for (size_t k = piece_of(d, d->z, z); k + 1 < n; k++) {
        double to = k + 2 < n ? tail_above(d->u[k + 1]) : 0.0;
        sum += slope(d, k) * (tail_above(from) - to);
        from = d->u[k + 1];
    }
    return sum;
}

double bent_normal_shortfall(const quorum_distribution *d, double z)
{
    if (d->points < 2)
        return tail_above(-z);
    double from = bent_normal_score(d, z), sum = 0.0;
    for (size_t k = piece_of(d, d->z, z) + 1; k-- > 0;) {
        double to = k > 0 ? tail_above(-d->u[k]) : 0.0;
        sum += slope(d, k) * (tail_above(-from) - to);
        from = d->u[k];
    }
    return sum;
}

/* int_-inf^u Phi^2, and by symmetry int_u^inf (1 - Phi)^2 = squares_below(-u). */
static double squares_below(double u)
{
    double P = normal_probability(u);
    return u * P * P + 2.0 * P * normal_density(u) - normal_probability(M_SQRT2 * u) / sqrt(M_PI);
}

void bent_scores_prepare(const quorum_distribution *d, bent_scores *s)
{
    size_t n = d->points;
    s->d = d;
    if (n < 2)
        return;
    s->below[0] = slope(d, 0) * squares_below(d->u[0]);
    for (size_t k = 1; k < n; k++)
        s->below[k] = s->below[k - 1] +
                      slope(d, k - 1) * (squares_below(d->u[k]) - squares_below(d->u[k - 1]));
    s->above[n - 1] = slope(d, n - 2) * squares_below(-d->u[n - 1]);
    for (size_t k = n - 1; k-- > 0;)
        s->above[k] =
            s->above[k + 1] + slope(d, k) * (squares_below(-d->u[k]) - squares_below(-d->u[k + 1]));
}

double bent_scores_crps(const bent_scores *s, double z)
{
    const quorum_distribution *d = s->d;
    if (d->points < 2)
        return z * (2.0 * normal_probability(z) - 1.0) + 2.0 * normal_density(z) - 1.0 / sqrt(M_PI);
    size_t k = piece_of(d, d->z, z);
    double u = bent_normal_score(d, z), bend = slope(d, k);
    return s->below[k] + bend * (squares_below(u) - squares_below(d->u[k])) + s->above[k + 1] +
           bend * (squares_below(-u) - squares_below(-d->u[k + 1]));
}
