/* How the answer of export/predictor.h changes along a direction: forward differentiation, line by line,
 * after qx_find has filled the space.  The rows that a query is predicted from and its noise are held fixed.
 *
 *   dz = R (dx / scale) / l,   dk_i = 2 k'(s_i) (z - z_i)' dz,   dmean = alpha' dk,   dvar = -2 gamma' dk
 *   alpha = C^-1 y,   gamma = C^-1 k
 *
 * and through the spread, whose weights are rho_i^2 = (k_i / s_f^2)^2. */

/* m numbers each, of the caller. */
typedef struct {
    double *alpha, *gamma;
} qx_weights;

/* v = L^-T v. */
static void qx_solve_back(size_t n, const double *L, double *v)
{
    for (size_t i = n; i-- > 0;) {
        const double *row = L + QX_TRIANGLE(i);
        v[i] /= row[i];
        for (size_t k = 0; k < i; k++)
            v[k] -= row[k] * v[i];
    }
}

/* Once a query. */
static void qx_weigh(const qx_model *m, const qx_space *s, qx_weights *out)
{
    for (size_t i = 0; i < m->neighbours; i++) {
        out->alpha[i] = s->w[i];
        out->gamma[i] = s->k[i];
    }
    qx_solve_back(m->neighbours, s->C, out->alpha);
    qx_solve_back(m->neighbours, s->C, out->gamma);
}

/* d/ds of a component; of the first Matern, which has a kink at a row, 0 there. */
static double qx_component_slope(int kernel, double square)
{
    double a = sqrt((kernel ? kernel : 1) * square);
    a = a < 1000.0 ? a : 1000.0;
    switch (kernel) {
    case 1: return a > 0.0 ? -0.5 * exp(-a) / a : 0.0;
    case 3: return -1.5 * exp(-a);
    case 5: return -5.0 / 6.0 * (1.0 + a) * exp(-a);
    default: return -0.5 * exp(-0.5 * square);
    }
}

static double qx_covariance_slope(const qx_model *m, double square)
{
    double wide = m->reach * m->reach, sum = 0.0, left = m->signal;
    for (int j = 1; j < m->scales; j++) {
        sum += left * (1.0 - m->share) * qx_component_slope(m->kernel, square);
        left *= m->share / wide;
        square /= wide;
    }
    return sum + left * qx_component_slope(m->kernel, square);
}

/* What changes, of qx_found. */
typedef struct {
    double mean, left;
    qx_sums sums;
} qx_change;

/* One row, i of the neighbours from the farthest on, whose covariance k changes by dk. */
static void qx_add_row(const qx_model *m, const qx_space *s, const qx_weights *w, size_t i,
                       double dk, qx_change *out)
{
    static const size_t most[3] = {QX_WIDE, QX_NEAR, QX_CLOSE};
    size_t n = m->neighbours, place = n - 1 - i, q = n < QX_WIDE ? n : QX_WIDE;
    out->mean += w->alpha[i] * dk;
    out->left -= 2.0 * w->gamma[i] * dk;
    if (place >= q)
        return;
    double drho2 = 2.0 * qx_covariance(m, s->distance[i]) * dk / (m->signal * m->signal);
    for (int c = 0; c < 3; c++)
        if (place < most[c]) {
            out->sums.weight[c] += drho2;
            out->sums.surprise[c] += drho2 * s->surprise[q - 1 - place];
        }
    if (place < QX_NEAR)
        out->sums.tested += drho2 * s->variance[q - 1 - place];
}

/* dx (inputs) in the data's units; `dz` and `plain` are room for inputs numbers each. */
static qx_change qx_change_along(const qx_model *m, const double *dx, const qx_space *s,
                                 const qx_weights *w, double *dz, double *plain)
{
    qx_change out = {0.0, 0.0, {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, 0.0}};
    size_t D = m->inputs;
    for (size_t d = 0; d < D; d++)
        plain[d] =
            dx[d] / m->x_scale[d] /
            (qx_is_bent(m, d) ? m->bend_width[d] * cosh(m->x_mean[d] + m->x_scale[d] * s->plain[d])
                              : 1.0);
    for (size_t k = 0; k < D; k++) {
        double along = m->rotation ? 0.0 : plain[k];
        for (size_t d = 0; m->rotation && d < D; d++)
            along += m->rotation[k * D + d] * plain[d];
        dz[k] = along / m->lengthscale[k];
    }
    for (size_t i = 0; i < m->neighbours; i++) {
        const double *row = m->Z + s->row[i] * D;
        double towards = 0.0;
        for (size_t d = 0; d < D; d++)
            towards += (s->z[d] - row[d]) * dz[d];
        qx_add_row(m, s, w, i, 2.0 * qx_covariance_slope(m, s->distance[i]) * towards, &out);
    }
    return out;
}

/* ds of s = qx_shown, which is computed along. */
static double qx_shown_slope(const qx_model *m, const qx_found *f, const qx_change *d, double *s)
{
    double ds = 0.0;
    *s = exp(f->log_level);
    for (int c = 0; c < 3 && m->spread >= 0.0; c++) {
        double prior = c == 0 ? 1.0 : m->spread, sum = prior + f->sums.weight[c];
        *s = (prior * *s + f->sums.surprise[c]) / sum;
        ds = (prior * ds + d->sums.surprise[c] - *s * d->sums.weight[c]) / sum;
    }
    return ds;
}

/* df of f = s^a b^(1 - a), the factor of the variance V = left + noise: qx_spread. */
static double qx_factor_slope(const qx_model *m, const qx_found *f, const qx_change *d)
{
    double s, ds = qx_shown_slope(m, f, d, &s), V = f->left + f->noise, dV = d->left;
    double weight = f->sums.weight[1], dweight = d->sums.weight[1], excess = f->noise - m->noise;
    double t = 0.0, dt = 0.0, near = 1.0, dnear = 0.0;
    double b = qx_beyond(m, f->is_gap, s, f->log_level),
           db = f->is_gap && m->surrounded > 0.0 ? 0.5 * b * ds / s : 0.0;
    if (weight >= 1e-280) {
        t = 2.0 * f->sums.tested / (weight * V);
        dt = 2.0 * d->sums.tested / (weight * V) - t * (dweight / weight + dV / V);
    }
    if (t >= 1.0) {
        t = 1.0;
        dt = 0.0;
    }
    if (excess != 0.0) {
        near = fmin(weight, 1.0);
        dnear = weight < 1.0 ? dweight : 0.0;
        db = db * (1.0 - excess / V) + b * excess / (V * V) * dV;
        b *= 1.0 - excess / V;
    }
    double a = t * t * near, da = 2.0 * t * dt * near + t * t * dnear;
    if (a >= 1.0)
        return ds;
    return f->factor * (da * (log(s) - log(b)) + a * ds / s + (1.0 - a) * db / b);
}

/* Of mean, std, lower and upper: qx_write. */
static void qx_write_slopes(const qx_model *m, double mu, double std, double dmu, double dstd,
                            qx_answer *out)
{
    out->mean = dmu;
    out->std = dstd;
    out->lower = dmu + m->lower * dstd;
    out->upper = dmu + m->upper * dstd;
    if (m->is_log) {
        double s = fmin(std, m->y_scale), ds = s < std ? 0.0 : dstd;
        double centre = exp(mu + 0.5 * s * s), root = sqrt(expm1(s * s));
        double rise = centre * (dmu + s * ds);
        double more = root > 0.0 ? centre * exp(s * s) * s / root : centre;
        out->mean = rise;
        out->std = rise * root + more * ds;
        out->lower *= exp(mu + m->lower * std);
        out->upper *= exp(mu + m->upper * std);
    }
}

/* The derivatives of the answer along dx. */
static void qx_slope(const qx_model *m, const qx_found *f, const qx_change *d, qx_answer *out)
{
    double V = f->left + f->noise, std = qx_deviation(m, f);
    double dvar = qx_factor_slope(m, f, d) * V + f->factor * d->left;
    double unit = m->scale * m->y_scale;
    qx_write_slopes(m, qx_centre(m, f), std, m->y_scale * d->mean,
                    std > 0.0 ? unit * unit * dvar / (2.0 * std) : 0.0, out);
}
