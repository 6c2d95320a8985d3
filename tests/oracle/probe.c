/* Shows the library's inner numbers to the oracle tests.
 *
 *     oracle_probe WHAT IN.npz OUT.npz
 *
 * reads the named arrays of IN.npz, calls the internal functions and writes
 * their raw results to OUT.npz.  C matrices are column-major with one column a
 * point, which is NumPy's row-major with one row a point: X (n x D) and gamma
 * (b x m) need no transposing on either side. */
#include "predict/joint.h"
#include "aggregate/npae.h"
#include "aggregate/rule.h"
#include "base/memory.h"
#include "base/random.h"
#include "archive/npz.h"
#include "partition/partition.h"
#include "train/train.h"
#include "gp/covariance.h"
#include "graph/expert_graph.h"
#include "linalg/normal.h"
#include "linalg/vexp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static npz_reader *in;
static npz_writer *out;

static void check(quorum_status status)
{
    if (status >= 0)
        return;
    fprintf(stderr, "oracle_probe: %s: %s\n", quorum_status_name(status), quorum_message());
    exit(1);
}

static double *doubles(const char *name, int ndim, size_t *shape)
{
    double *data;
    check(npz_get_doubles(in, name, ndim, shape, &data));
    return data;
}

/* An array of integers as size_t; NULL when there is none of that name. */
static size_t *sizes(const char *name, size_t *count)
{
    int64_t *data;
    if (!npz_has(in, name))
        return NULL;
    check(npz_get_int64(in, name, 1, count, &data));
    size_t *copy = malloc((*count + 1) * sizeof *copy);
    for (size_t i = 0; copy && i < *count; i++)
        copy[i] = (size_t)data[i];
    mem_free(data);
    return copy;
}

static size_t number(const char *name)
{
    int64_t *data;
    check(npz_get_int64(in, name, 0, NULL, &data));
    return (size_t)*data;
}

/* Room for a result, zeroed and already promised to OUT.npz. */
static double *result(const char *name, size_t rows, size_t columns)
{
    size_t shape[] = {rows, columns};
    double *data = calloc(rows * columns + 1, sizeof *data);
    check(npz_add_doubles(out, name, columns ? 2 : 1, shape, data));
    return data;
}

static double *vector(const char *name, size_t n)
{
    size_t shape[] = {n};
    double *data = calloc(n + 1, sizeof *data);
    check(npz_add_doubles(out, name, 1, shape, data));
    return data;
}

/* ---- gp: X y offset [row] theta(D+2, or D+4) kernel threads Q --------------------------- */

typedef struct {
    hyper theta;
    parts rows;
    points Q;
    size_t *all; /* M: 0, 1, .. */
    int threads;
} problem;

static problem read_problem(void)
{
    problem p = {0};
    size_t shape[2], count;
    double *X = doubles("X", 2, shape);
    p.theta.D = shape[1];
    p.rows.rows = rows_view_of(shape[0], shape[1], X, doubles("y", 1, &count));
    p.rows.offset = sizes("offset", &count);
    p.rows.M = count - 1;
    p.rows.row = sizes("row", &count);
    p.theta.lengthscale = doubles("theta", 1, shape);
    p.theta.signal = p.theta.lengthscale[p.theta.D];
    p.theta.noise = p.theta.lengthscale[p.theta.D + 1];
    p.theta.kernel = kernel_at((int)number("kernel"));
    if (p.theta.kernel->component) {
        p.theta.share = p.theta.lengthscale[p.theta.D + 2];
        p.theta.reach = p.theta.lengthscale[p.theta.D + 3];
    }
    p.threads = (int)number("threads");
    double *Q = doubles("Q", 2, shape);
    check(points_new(shape[0], p.rows.rows.D, &p.Q));
    points_scale(&p.Q, shape[0], Q, NULL, p.theta.lengthscale);
    p.all = malloc(p.rows.M * sizeof *p.all);
    for (size_t e = 0; p.all && e < p.rows.M; e++)
        p.all[e] = e;
    return p;
}

/* self, slopes (lower triangles) and cross of expert 0's rows. */
static void show_kernel(const problem *p)
{
    size_t m = part_size(&p->rows, 0);
    points Z;
    check(points_new(m, p->rows.rows.D, &Z));
    points_scale(&Z, m, p->rows.rows.X, NULL, p->theta.lengthscale);
    double *self = result("self", m, m);
    pair_slopes slopes = {.slope = result("slopes", m, m)};
    check(covariance_self(&p->theta, &Z, self, &slopes, p->threads));
    covariance_cross(&p->theta, &Z, &p->Q, result("cross", p->Q.n, m), m);
    points_free(&Z);
}

static void show_likelihood(const problem *p)
{
    size_t M = p->rows.M, P = theta_length(p->theta.kernel, p->rows.rows.D);
    double *value = vector("nlml", M), *gradient = result("gradient", M, P);
    double *total = vector("total", 1), *slope = vector("total_gradient", P);
    likelihood_space ws;
    check(likelihood_space_new(largest_part(&p->rows), p->rows.rows.D, p->theta.kernel, &ws));
    for (size_t e = 0; e < M; e++) {
        row_set data = part_rows(&p->rows, e);
        check(negative_log_likelihood(&p->theta, &data, &ws, p->threads, value + e,
                                      gradient + e * P));
    }
    likelihood_space_free(&ws);
    training_options options = {.threads = p->threads, .memory = 1e12};
    check(total_likelihood(&p->rows, p->all, M, &options, &p->theta, total, slope));
}

/* All experts at every table. */
static void show_posteriors(const problem *p, assembly *a)
{
    size_t M = p->rows.M, b = p->Q.n;
    double *gammas = vector("gamma", p->rows.rows.n * b);
    assembly_seat_all(a, p->all, M);
    check(assembly_ask(QUORUM_OK, a, 1, 1, 1e12, p->threads));
    memcpy(result("mean", M, b), a->mean, M * b * sizeof *a->mean);
    memcpy(result("explained", M, b), a->explained, M * b * sizeof *a->explained);
    memcpy(gammas, a->gammas, p->rows.rows.n * b * sizeof *gammas);
}

static void show_npae(const problem *p, const assembly *a)
{
    size_t M = p->rows.M, b = p->Q.n;
    npae_result r = {.mean = vector("npae_mean", b),
                     .var = vector("npae_var", b),
                     .weights = result("npae_weights", M, b),
                     .real = b};
    double *pairs = result("pairs", M * (M - 1) / 2, b);
    check(npae_pairs(a, p->threads, pairs));
    check(npae_solve(a, pairs, p->threads, &r));
    double *events = vector("npae_events", 3);
    events[0] = (double)r.clamped;
    events[1] = (double)r.jittered;
    events[2] = (double)r.pseudo_inverses;
    check(joint_covariance(a, r.weights, NULL, p->threads, result("joint", b, b)));
}

static void show_gp(void)
{
    problem p = read_problem();
    committee c;
    assembly a;
    show_kernel(&p);
    show_likelihood(&p);
    check(committee_new(&p.rows, &p.theta, number("keep") ? 1e12 : 0.0, p.threads, NULL, &c));
    check(assembly_new(&c, &p.Q, p.rows.M, &a));
    show_posteriors(&p, &a);
    show_npae(&p, &a);
}

/* ---- rules: mean var (p x b) prior(1) -> NAME_mean NAME_var NAME_fallbacks ------ */

static void show_rules(void)
{
    size_t shape[2];
    opinions o = {.mean = doubles("mean", 2, shape), .var = doubles("var", 2, shape)};
    o.p = shape[0];
    o.b = shape[1];
    o.prior = *doubles("prior", 1, shape);
    for (int i = 0; i < rule_count(); i++) {
        const rule *r = rule_at(i);
        char name[3][64];
        if (!r->combine)
            continue;
        snprintf(name[0], sizeof *name, "%s_mean", r->name);
        snprintf(name[1], sizeof *name, "%s_var", r->name);
        snprintf(name[2], sizeof *name, "%s_fallbacks", r->name);
        consensus c = {.real = o.b, .mean = vector(name[0], o.b), .var = vector(name[1], o.b)};
        r->combine(&o, &c);
        *vector(name[2], 1) = (double)c.fallbacks;
    }
}

/* ---- graph: means (M x count) precision instead -> S importance ranking --------- */

static void show_graph(void)
{
    size_t shape[2];
    double *means = doubles("means", 2, shape);
    size_t M = shape[0], count = shape[1];
    check(covariance_of_means(M, count, count, means, result("S", M, M)));
    expert_graph g;
    check(expert_graph_new(M, &g));
    memcpy(g.precision, doubles("precision", 2, shape), M * M * sizeof *g.precision);
    check(expert_graph_rank(M, &g, doubles("instead", 1, shape)));
    double *importance = vector("importance", M), *ranking = vector("ranking", M);
    for (size_t i = 0; i < M; i++) {
        importance[i] = g.importance[i];
        ranking[i] = (double)g.ranking[i];
    }
    expert_graph_free(&g);
}

/* ---- partition: X parts seed threads -> kmeans .. communication (labels) --------- */

static void show_partitions(void)
{
    size_t shape[2];
    double *X = doubles("X", 2, shape);
    row_set all = rows_view_of(shape[0], shape[1], X, NULL);
    scattered_rows rows = rows_scattered(all.n, &all);
    partition_problem p = {.rows = &rows};
    p.parts = number("parts");
    p.seed = number("seed");
    p.threads = (int)number("threads");
    progress silent = {0};
    p.progress = &silent;
    size_t *label = malloc(rows.n * sizeof *label);
    for (int i = 0; label && i < partition_count(); i++) {
        double *shown = vector(partition_at(i)->name, rows.n);
        check(partition_at(i)->split(QUORUM_OK, &p, label));
        for (size_t r = 0; r < rows.n; r++)
            shown[r] = (double)label[r];
    }
    free(label);
}

/* ---- functions: x p bounds seed stream -> exp quantile draws --------------------- */

static void show_functions(void)
{
    size_t n, m, k;
    double *x = doubles("x", 1, &n), *p = doubles("p", 1, &m);
    double *e = vector("exp", n), *z = vector("quantile", m);
    for (size_t i = 0; i < n; i++)
        e[i] = exp_nonpositive(x[i]);
    for (size_t i = 0; i < m; i++)
        z[i] = normal_quantile(p[i]);
    size_t *bounds = sizes("bounds", &k);
    rng r = rng_seed(number("seed"), number("stream"));
    double *draws = vector("draws", k);
    for (size_t i = 0; i < k; i++)
        draws[i] = (double)rng_below(&r, bounds[i]);
}

/* One request a process: the system takes back what it used, so the leak checker that
 * comes with the address sanitizer has nothing to say here. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "detect_leaks=0";
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*show)(void);
    } requests[] = {{"gp", show_gp},
                    {"rules", show_rules},
                    {"graph", show_graph},
                    {"partition", show_partitions},
                    {"functions", show_functions}};
    if (argc != 4) {
        fprintf(stderr, "usage: oracle_probe WHAT IN.npz OUT.npz\n");
        return 2;
    }
    check(npz_open(argv[2], &in));
    out = npz_writer_new();
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        if (strcmp(argv[1], requests[i].name) == 0)
            requests[i].show();
    check(npz_writer_save(out, argv[3]));
    npz_writer_free(out);
    npz_close(in);
    return 0;
}
