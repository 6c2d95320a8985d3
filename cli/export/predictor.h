/* A Gaussian process on the rows nearest to a query, in C99 with nothing but libm.
 *
 *   mean = k' C^-1 y,   var = s_f^2 - k' C^-1 k,   C = K + s_n^2 I     over the m nearest rows
 *
 * Distances, kernel and triangles are in units of length-scales and of the standardised target.
 * The noise may be that around the query, and the variance of y is multiplied by what the nearest
 * rows show when each is left out (docs/methods.md of quorum: "Local noise", "Spread").  Nothing
 * is allocated: all that changes is in a space of the caller's. */
#include <math.h>
#include <stddef.h>

/* Rows, of the nearest, that are left out in turn, and that noises are compared on. */
enum { QX_WIDE = 128, QX_NEAR = 32, QX_CLOSE = 8, QX_NOISES = 5 };

typedef struct {
    size_t rows, inputs, neighbours;
    int kernel;             /* 0: squared exponential; 1, 3, 5: Matern, twice its order          */
    int scales;             /* components, each reaching `reach` times as far as the one before  */
    double share, reach;    /* share of all but the first; 0: there is one                       */
    double signal, noise;   /* variances, of the standardised target                             */
    int local_noise;        /* whether the noise is that around the query                        */
    double spread;          /* rows that count as theta says; negative: the spread is not used   */
    double untested;        /* factor of variances that no row has tested ...                    */
    double surrounded;      /* ... and of those in gaps, with rows on both sides                 */
    double y_mean, y_scale; /* of the target, or of its logarithm                                */
    double scale;           /* calibration: of std                                               */
    double lower, upper;    /* ends of the interval, in standard deviations                      */
    int is_log;             /* the target is exp() of it ...                                     */
    double shift;           /* ... less this                                                     */
    const double *x_mean, *x_scale, *lengthscale; /* inputs                                      */
    const double *bend_at, *bend_width; /* inputs: bent where the width is above 0; NULL: none is */
    const double *rotation;             /* inputs x inputs, or NULL                    */
    const double *Z;                    /* rows x inputs, over the length-scales       */
    const double *y;                    /* rows, standardised                          */
    const double *middle;               /* parts x inputs: middles of the rows' parts  */
    size_t parts;
} qx_model;

typedef struct {
    double mean, std, lower, upper;
} qx_answer;

/* Numbers of the space for m neighbours of D inputs; and its whole numbers are m. */
#define QX_TRIANGLE(n) ((size_t)(n) * ((n) + 1) / 2)
#define QX_NUMBERS(m, D)                                                                           \
    (QX_TRIANGLE(m) + 3 * (size_t)(m) + 2 * (size_t)(D) + 2 * QX_TRIANGLE(QX_WIDE) +               \
     2 * (size_t)QX_WIDE)

/* Triangles have row i, of i + 1 numbers, at i (i + 1) / 2. */
typedef struct {
    double *C;                   /* m: K, then L with C = L L'    */
    double *k, *w;               /* m: L^-1 k, L^-1 y             */
    double *distance;            /* m: squared, the farthest first */
    double *z, *plain;           /* D: the query                  */
    double *block;               /* QX_WIDE: of the nearest rows  */
    double *inverse;             /* QX_WIDE: of a last block of L */
    double *surprise, *variance; /* QX_WIDE: z_i^2, v_i of the nearest rows */
    size_t *row;                 /* m                             */
} qx_space;

static qx_space qx_lay_out(const qx_model *m, double *numbers, size_t *places)
{
    qx_space s;
    size_t n = m->neighbours;
    s.C = numbers;
    s.k = s.C + QX_TRIANGLE(n);
    s.w = s.k + n;
    s.distance = s.w + n;
    s.z = s.distance + n;
    s.plain = s.z + m->inputs;
    s.block = s.plain + m->inputs;
    s.inverse = s.block + QX_TRIANGLE(QX_WIDE);
    s.surprise = s.inverse + QX_TRIANGLE(QX_WIDE);
    s.variance = s.surprise + QX_WIDE;
    s.row = places;
    return s;
}

/* ---- Nearest rows ---- */

static int qx_is_bent(const qx_model *m, size_t d)
{
    return m->bend_width && m->bend_width[d] > 0.0;
}

/* z = R ((b(x) - mean) / scale) / l,   b(x) = asinh((x - at) / width) of inputs that are bent, otherwise x. */
static void qx_take_query(const qx_model *m, const double *x, qx_space *s)
{
    size_t D = m->inputs;
    for (size_t d = 0; d < D; d++)
        s->plain[d] =
            ((qx_is_bent(m, d) ? asinh((x[d] - m->bend_at[d]) / m->bend_width[d]) : x[d]) -
             m->x_mean[d]) /
            m->x_scale[d];
    for (size_t k = 0; k < D; k++) {
        double along = m->rotation ? 0.0 : s->plain[k];
        for (size_t d = 0; m->rotation && d < D; d++)
            along += m->rotation[k * D + d] * s->plain[d];
        s->z[k] = along / m->lengthscale[k];
    }
}

static double qx_square_distance(size_t D, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t d = 0; d < D; d++)
        sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

/* Whether place a of the heap is farther than place b; rows that are equally far go by their number. */
static int qx_is_farther(const qx_space *s, size_t a, size_t b)
{
    return s->distance[a] != s->distance[b] ? s->distance[a] > s->distance[b]
                                            : s->row[a] > s->row[b];
}

static void qx_swap(qx_space *s, size_t a, size_t b)
{
    double distance = s->distance[a];
    size_t row = s->row[a];
    s->distance[a] = s->distance[b];
    s->row[a] = s->row[b];
    s->distance[b] = distance;
    s->row[b] = row;
}

/* The farthest is on top of a heap of n. */
static void qx_sink(qx_space *s, size_t at, size_t n)
{
    for (;;) {
        size_t largest = at, left = 2 * at + 1;
        for (size_t child = left; child < left + 2 && child < n; child++)
            if (qx_is_farther(s, child, largest))
                largest = child;
        if (largest == at)
            return;
        qx_swap(s, at, largest);
        at = largest;
    }
}

/* The m nearest rows, the farthest first. */
static void qx_find_rows(const qx_model *m, qx_space *s)
{
    size_t n = m->neighbours, D = m->inputs;
    for (size_t i = 0; i < n; i++) {
        s->row[i] = i;
        s->distance[i] = qx_square_distance(D, m->Z + i * D, s->z);
    }
    for (size_t i = n / 2; i-- > 0;)
        qx_sink(s, i, n);
    for (size_t i = n; i < m->rows; i++) {
        double distance = qx_square_distance(D, m->Z + i * D, s->z);
        if (distance < s->distance[0]) {
            s->distance[0] = distance;
            s->row[0] = i;
            qx_sink(s, 0, n);
        }
    }
    for (size_t left = n; left > 1; left--) { /* ascending, then turned round */
        qx_swap(s, 0, left - 1);
        qx_sink(s, 0, left - 1);
    }
    for (size_t i = 0; i < n / 2; i++)
        qx_swap(s, i, n - 1 - i);
}

/* ---- The kernel ---- */

static double qx_component(int kernel, double square)
{
    double a = sqrt((kernel ? kernel : 1) * square);
    a = a < 1000.0 ? a : 1000.0;
    switch (kernel) {
    case 1: return exp(-a);
    case 3: return (1.0 + a) * exp(-a);
    case 5: return (1.0 + a + a * a / 3.0) * exp(-a);
    default: return exp(-0.5 * square);
    }
}

static double qx_covariance(const qx_model *m, double square)
{
    double sum = 0.0, left = m->signal;
    for (int j = 1; j < m->scales; j++) {
        sum += left * (1.0 - m->share) * qx_component(m->kernel, square);
        left *= m->share;
        square /= m->reach * m->reach;
    }
    return sum + left * qx_component(m->kernel, square);
}

static void qx_fill_covariances(const qx_model *m, qx_space *s)
{
    size_t D = m->inputs;
    double *C = s->C;
    for (size_t i = 0; i < m->neighbours; i++)
        for (size_t j = 0; j <= i; j++)
            *C++ =
                qx_covariance(m, qx_square_distance(D, m->Z + s->row[i] * D, m->Z + s->row[j] * D));
}

/* ---- Triangles ---- */

/* L in the place of C; whether C is positive definite. */
static int qx_factorise(size_t n, double *C)
{
    for (size_t i = 0; i < n; i++) {
        double *row = C + QX_TRIANGLE(i);
        for (size_t j = 0; j <= i; j++) {
            const double *other = C + QX_TRIANGLE(j);
            double sum = row[j];
            for (size_t k = 0; k < j; k++)
                sum -= row[k] * other[k];
            if (j < i)
                row[j] = sum / other[j];
            else if (sum > 0.0)
                row[j] = sqrt(sum);
            else
                return 0;
        }
    }
    return 1;
}

/* v = L^-1 v. */
static void qx_solve(size_t n, const double *L, double *v)
{
    for (size_t i = 0; i < n; i++) {
        const double *row = L + QX_TRIANGLE(i);
        for (size_t k = 0; k < i; k++)
            v[i] -= row[k] * v[k];
        v[i] /= row[i];
    }
}

/* The inverse (q) of the last block T of L (n). */
static void qx_invert_last(size_t n, size_t q, const double *L, double *inverse)
{
    size_t first = n - q;
    for (size_t i = 0; i < q; i++) {
        const double *T = L + QX_TRIANGLE(first + i) + first;
        double *row = inverse + QX_TRIANGLE(i);
        for (size_t j = 0; j < i; j++) {
            double sum = 0.0;
            for (size_t k = j; k < i; k++)
                sum += T[k] * inverse[QX_TRIANGLE(k) + j];
            row[j] = -sum / T[i];
        }
        row[i] = 1.0 / T[i];
    }
}

/* The last q of n rows, each left out: z_i^2 = alpha_i^2 / (C^-1)_ii and v_i = 1 / (C^-1)_ii,
 * alpha = T^-T w, of w = L^-1 y the last. */
static void qx_leave_out(size_t n, size_t q, const double *L, const double *w, qx_space *s)
{
    qx_invert_last(n, q, L, s->inverse);
    for (size_t j = 0; j < q; j++) {
        double alpha = 0.0, precision = 0.0;
        for (size_t i = j; i < q; i++) {
            double t = s->inverse[QX_TRIANGLE(i) + j];
            alpha += t * w[n - q + i];
            precision += t * t;
        }
        s->surprise[j] = alpha * alpha / precision;
        s->variance[j] = 1.0 / precision;
    }
}

/* ---- The noise around the query ---- */

/* The nearest r rows with this noise: sums over the nearest q, each left out; whether there are any. */
static int qx_try_noise(const qx_model *m, double noise, size_t r, size_t q, qx_space *s,
                        double *surprise, double *log_variance)
{
    size_t first = m->neighbours - r;
    double *w = s->w;
    for (size_t i = 0; i < r; i++) {
        const double *from = s->C + QX_TRIANGLE(first + i) + first;
        double *to = s->block + QX_TRIANGLE(i);
        for (size_t j = 0; j <= i; j++)
            to[j] = from[j];
        to[i] += noise;
        w[i] = m->y[s->row[first + i]];
    }
    if (!qx_factorise(r, s->block))
        return 0;
    qx_solve(r, s->block, w);
    qx_leave_out(r, q, s->block, w, s);
    *surprise = *log_variance = 0.0;
    for (size_t i = 0; i < q; i++) {
        *surprise += s->surprise[i];
        *log_variance += log(s->variance[i]);
    }
    return 1;
}

/* Of the noises 1, 4, .. times theta's the one under which the nearest rows, left out, have the
 * highest density; log_level: by how much variances are larger with it. */
static double qx_noise_around(const qx_model *m, qx_space *s, double *log_level)
{
    size_t r = m->neighbours < QX_WIDE ? m->neighbours : QX_WIDE, q = (r + 1) / 2;
    double best = m->noise, noise = m->noise, highest = 0.0, expected = 0.0;
    int found = 0;
    *log_level = 0.0;
    for (int k = 0; k < QX_NOISES; k++, noise *= 4.0) {
        double surprise, log_variance;
        if (!qx_try_noise(m, noise, r, q, s, &surprise, &log_variance))
            continue;
        double mean = log_variance / (double)q;
        if (!found)
            expected = mean;
        double level = (exp(expected - mean) + surprise) / (1.0 + (double)q);
        double density = -0.5 * (log_variance + (double)q * log(level) + surprise / level);
        if (!found || density > highest) {
            highest = density;
            best = noise;
            *log_level = expected - mean;
        }
        found = 1;
    }
    return best;
}

/* ---- The spread ---- */

/* Sums over the nearest rows, weighted by rho^2 = (k / s_f^2)^2. */
typedef struct {
    double weight[3], surprise[3]; /* of QX_WIDE, QX_NEAR, QX_CLOSE rows */
    double tested;                 /* of QX_NEAR rows                    */
} qx_sums;

/* k (m) as it is before L^-1. */
static qx_sums qx_look_around(const qx_model *m, const double *rho2, size_t q, const qx_space *s)
{
    static const size_t most[3] = {QX_WIDE, QX_NEAR, QX_CLOSE};
    qx_sums sums = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, 0.0};
    (void)m;
    for (size_t i = 0; i < q; i++) {
        size_t place = q - 1 - i; /* from the nearest on */
        for (int c = 0; c < 3; c++)
            if (place < most[c]) {
                sums.weight[c] += rho2[i];
                sums.surprise[c] += rho2[i] * s->surprise[i];
            }
        if (place < QX_NEAR)
            sums.tested += rho2[i] * s->variance[i];
    }
    return sums;
}

/* What rows show is weighed against theta, what nearer ones do against that. */
static double qx_shown(const qx_model *m, const qx_sums *sums, double log_level)
{
    double s = exp(log_level);
    if (m->spread < 0.0)
        return s;
    for (int c = 0; c < 3; c++) {
        double prior = c == 0 ? 1.0 : m->spread;
        s = (prior * s + sums->surprise[c]) / (prior + sums->weight[c]);
    }
    return s;
}

/* Whether z lies within 60 degrees of the direction from the query that is
 * opposite to that of the nearest row. */
static int qx_has_opposite(const qx_model *m, const double *x, const double *near, const double *z)
{
    double product = 0.0, there = 0.0, here = 0.0;
    for (size_t d = 0; d < m->inputs; d++) {
        product += (z[d] - x[d]) * (near[d] - x[d]);
        there += (z[d] - x[d]) * (z[d] - x[d]);
        here += (near[d] - x[d]) * (near[d] - x[d]);
    }
    return product < -0.5 * sqrt(there) * sqrt(here);
}

/* Whether a query lies between its rows, nearest last, or the middles of parts of all rows. */
static int qx_is_in_gap(const qx_model *m, const qx_space *s)
{
    size_t D = m->inputs;
    const double *near = m->Z + s->row[m->neighbours - 1] * D;
    int found = 0;
    for (size_t i = 0; !found && i < m->neighbours; i++)
        found = qx_has_opposite(m, s->z, near, m->Z + s->row[i] * D);
    for (size_t e = 0; !found && e < m->parts; e++)
        found = qx_has_opposite(m, s->z, near, m->middle + e * D);
    return found;
}

/* u: of a query in a gap times the root of what the rows around show. */
static double qx_beyond(const qx_model *m, int is_gap, double s, double log_level)
{
    return is_gap && m->surrounded > 0.0 ? m->surrounded * sqrt(s * exp(-log_level)) : m->untested;
}

/* s^a (u r)^(1 - a): what multiplies `variance`, that of y. */
static double qx_spread(const qx_model *m, const qx_sums *sums, double log_level, double excess,
                        double variance, int is_gap)
{
    double s = qx_shown(m, sums, log_level), weight = sums->weight[1], t = 0.0;
    if (weight >= 1e-280)
        t = fmin(2.0 * sums->tested / (weight * variance), 1.0);
    double a = t * t * (excess != 0.0 ? fmin(weight, 1.0) : 1.0);
    double u = qx_beyond(m, is_gap, s, log_level);
    double beyond = u * (excess != 0.0 ? 1.0 - excess / variance : 1.0);
    return a < 1.0 ? pow(s, a) * pow(beyond, 1.0 - a) : s;
}

/* ---- The answer ---- */

/* Of mean and deviation of the target, or of its logarithm. */
static void qx_write(const qx_model *m, double mu, double std, qx_answer *out)
{
    out->mean = mu;
    out->std = std;
    out->lower = mu + m->lower * std;
    out->upper = mu + m->upper * std;
    if (m->is_log) {
        double s = fmin(std, m->y_scale), centre = exp(mu + 0.5 * s * s);
        out->mean = centre - m->shift;
        out->std = centre * sqrt(expm1(s * s));
        out->lower = exp(out->lower) - m->shift;
        out->upper = exp(out->upper) - m->shift;
    }
}

/* k and y through L^-1; rho2 (q) of the nearest, before that. */
static void qx_solve_sides(const qx_model *m, size_t q, qx_space *s, double *rho2)
{
    size_t n = m->neighbours;
    for (size_t i = 0; i < n; i++) {
        s->k[i] = qx_covariance(m, s->distance[i]);
        s->w[i] = m->y[s->row[i]];
    }
    for (size_t i = 0; i < q; i++) {
        double rho = s->k[n - q + i] / m->signal;
        rho2[i] = rho * rho;
    }
    qx_solve(n, s->C, s->k);
    qx_solve(n, s->C, s->w);
}

/* What is found at a query, in units of the standardised target. */
typedef struct {
    double noise, log_level; /* around it                                */
    double mean, left;       /* of f: left of s_f^2                      */
    int is_gap;              /* whether rows lie on both sides           */
    double factor;           /* of the variance left + noise             */
    qx_sums sums;
} qx_found;

/* 0, or 1 where the covariances of the nearest rows are not positive definite, or x is not finite. */
static int qx_find(const qx_model *m, const double *x, qx_space *s, qx_found *out)
{
    size_t n = m->neighbours, q = n < QX_WIDE ? n : QX_WIDE;
    double explained = 0.0, rho2[QX_WIDE];
    for (size_t d = 0; d < m->inputs; d++)
        if (!(x[d] - x[d] == 0.0))
            return 1;
    qx_take_query(m, x, s);
    qx_find_rows(m, s);
    qx_fill_covariances(m, s);
    out->noise = m->noise;
    out->log_level = out->mean = 0.0;
    if (m->local_noise)
        out->noise = qx_noise_around(m, s, &out->log_level);
    for (size_t i = 0; i < n; i++)
        s->C[QX_TRIANGLE(i) + i] += out->noise;
    if (!qx_factorise(n, s->C))
        return 1;
    qx_solve_sides(m, q, s, rho2);
    for (size_t i = 0; i < n; i++) {
        out->mean += s->k[i] * s->w[i];
        explained += s->k[i] * s->k[i];
    }
    qx_leave_out(n, q, s->C, s->w, s);
    out->sums = qx_look_around(m, rho2, q, s);
    out->left = fmax(m->signal - explained, 0.0);
    out->is_gap = qx_is_in_gap(m, s);
    out->factor = qx_spread(m, &out->sums, out->log_level, out->noise - m->noise,
                            out->left + out->noise, out->is_gap);
    if (explained <= 1e-13 * m->signal) { /* rows that say nothing */
        out->mean = 0.0;
        out->left = m->signal;
    }
    return 0;
}

/* Mean and deviation of the target, or of its logarithm. */
static double qx_centre(const qx_model *m, const qx_found *f)
{
    return m->y_mean + m->y_scale * f->mean;
}

static double qx_deviation(const qx_model *m, const qx_found *f)
{
    return m->scale * m->y_scale * sqrt(f->factor * (f->left + f->noise));
}

static void qx_tell(const qx_model *m, const qx_found *f, qx_answer *out)
{
    qx_write(m, qx_centre(m, f), qx_deviation(m, f), out);
}
