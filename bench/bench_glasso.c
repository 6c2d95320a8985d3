/* The graphical lasso on covariances of GP experts:
 *
 *     bench_glasso [--csv FILE] [--matrices DIRECTORY] [--tolerance T] [--largest P]
 *
 * Each expert is a GP on its own part of a data set; S is the covariance of
 * their means at 1,000 inputs.  "local": parts of a 2-D set by position, some
 * repeated exactly; "random": parts of an 8-D set by chance, so that all experts
 * resemble each other.  lambda = ratio max_{i != j} |S_ij|.  With --matrices,
 * every S is also written as raw doubles, DIRECTORY/<kind>_<p>.bin. */
#include "base/parallel.h"
#include "base/random.h"
#include "graph/graph_covariance.h"
#include "graph/glasso.h"
#include "linalg/blas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE = 1000, ROWS = 16, MAX_INPUTS = 8 };

typedef struct {
    const char *name;
    size_t inputs;
    double length;
    int by_position;
} kind;

static const kind KINDS[] = {{"local", 2, 0.2, 1}, {"random", 8, 1.0, 0}};
static const size_t SIZES[] = {70, 150, 300, 600};
static const double RATIOS[] = {0.1, 0.01};

static void *room(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

static double kernel(const kind *k, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t d = 0; d < k->inputs; d++)
        sum += (a[d] - b[d]) * (a[d] - b[d]);
    return exp(-0.5 * sum / (k->length * k->length));
}

static double target(const kind *k, const double *x, rng *r)
{
    double f = sin(6.0 * x[0]) * cos(5.0 * x[1]);
    for (size_t d = 2; d < k->inputs; d++)
        f += 0.3 * sin(3.0 * x[d] + (double)d);
    return f + 0.1 * rng_normal(r);
}

/* ROWS rows of an expert: round its own centre, or anywhere. */
static void draw_part(const kind *k, size_t p, rng *r, double *x, double *y)
{
    double centre[MAX_INPUTS], width = k->by_position ? 1.0 / sqrt((double)p) : 1.0;
    for (size_t d = 0; d < k->inputs; d++)
        centre[d] = k->by_position ? rng_uniform(r) : 0.5;
    for (size_t t = 0; t < ROWS; t++) {
        for (size_t d = 0; d < k->inputs; d++)
            x[t * k->inputs + d] = centre[d] + width * (rng_uniform(r) - 0.5);
        y[t] = target(k, x + t * k->inputs, r);
    }
}

/* mean (REFERENCE) = K(reference, x) (K(x, x) + 0.05 I)^-1 y, centred. */
static void expert_mean(const kind *k, const double *reference, const double *x, double *y,
                        double *mean)
{
    double K[ROWS * ROWS], average = 0.0;
    for (size_t a = 0; a < ROWS; a++)
        for (size_t b = 0; b < ROWS; b++)
            K[a + b * ROWS] =
                kernel(k, x + a * k->inputs, x + b * k->inputs) + (a == b ? 0.05 : 0.0);
    blas_cholesky(ROWS, K, ROWS);
    blas_solve_lower(ROWS, 1, K, ROWS, y, ROWS);
    blas_solve_lower_transposed(ROWS, 1, K, ROWS, y, ROWS);
    for (size_t q = 0; q < REFERENCE; q++) {
        mean[q] = 0.0;
        for (size_t t = 0; t < ROWS; t++)
            mean[q] += y[t] * kernel(k, reference + q * k->inputs, x + t * k->inputs);
        average += mean[q] / REFERENCE;
    }
    for (size_t q = 0; q < REFERENCE; q++)
        mean[q] -= average;
}

static double *make_covariance(const kind *k, size_t p)
{
    rng r = rng_seed(p, k->inputs);
    double *reference = room(REFERENCE * k->inputs, sizeof *reference);
    double *means = room(REFERENCE * p, sizeof *means), *S = room(p * p, sizeof *S);
    double x[ROWS * MAX_INPUTS], y[ROWS];
    for (size_t q = 0; q < REFERENCE * k->inputs; q++)
        reference[q] = rng_uniform(&r);
    for (size_t i = 0; i < p; i++) {
        draw_part(k, p, &r, x, y);
        expert_mean(k, reference, x, y, means + i * REFERENCE);
        if (k->by_position && i % 50 == 49)
            memcpy(means + i * REFERENCE, means, REFERENCE * sizeof *means);
    }
    blas_gram_lower(p, REFERENCE, 1.0 / REFERENCE, means, REFERENCE, 0.0, S, p);
    for (size_t j = 0; j < p; j++)
        for (size_t i = j; i < p; i++)
            S[j + i * p] = S[i + j * p];
    free(reference);
    free(means);
    return S;
}

static void write_matrix(const char *directory, const kind *k, size_t p, const double *S)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s_%zu.bin", directory, k->name, p);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(S, sizeof *S, p * p, file) != p * p) {
        perror(path);
        exit(1);
    }
    fclose(file);
}

static void run(const kind *k, size_t p, const double *S, double tolerance, FILE *csv)
{
    double *omega = room(p * p, sizeof *omega), largest = largest_covariance(p, S);
    for (size_t t = 0; t < sizeof RATIOS / sizeof *RATIOS; t++) {
        glasso_options o = glasso_defaults(RATIOS[t] * largest);
        glasso_result r = {0};
        o.tolerance = tolerance;
        double start = wall_seconds();
        quorum_status status = glasso(p, S, &o, omega, &r);
        double seconds = wall_seconds() - start;
        printf("%-7s %4zu %6g %8zu %9.3f %16.8f %9.2g %5d%s\n", k->name, p, RATIOS[t], r.edges,
               seconds, r.objective, r.gap, r.iterations, status < 0 ? quorum_message() : "");
        if (csv)
            fprintf(csv, "%s,%zu,%g,%.17g,%zu,%.4f,%.12g,%.3g,%d\n", k->name, p, RATIOS[t],
                    o.lambda, r.edges, seconds, r.objective, r.gap, r.iterations);
    }
    free(omega);
}

/* The word after `name`, or NULL. */
static const char *option(int count, char **words, const char *name)
{
    for (int i = 1; i + 1 < count; i++)
        if (strcmp(words[i], name) == 0)
            return words[i + 1];
    return NULL;
}

int main(int count, char **words)
{
    const char *path = option(count, words, "--csv"), *to = option(count, words, "--matrices");
    const char *tolerance = option(count, words, "--tolerance");
    const char *largest = option(count, words, "--largest");
    FILE *csv = path ? fopen(path, "w") : NULL;
    if (path && !csv) {
        perror(path);
        return 1;
    }
    if (csv)
        fprintf(csv, "kind,p,ratio,lambda,edges,seconds,objective,gap,iterations\n");
    printf("kind       p  ratio    edges   seconds        objective       gap sweeps\n");
    for (size_t t = 0; t < sizeof SIZES / sizeof *SIZES; t++)
        for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++) {
            if (largest && SIZES[t] > strtoul(largest, NULL, 10))
                continue;
            double *S = make_covariance(&KINDS[k], SIZES[t]);
            if (to)
                write_matrix(to, &KINDS[k], SIZES[t], S);
            run(&KINDS[k], SIZES[t], S, tolerance ? strtod(tolerance, NULL) : 1e-6, csv);
            free(S);
        }
    if (csv && fclose(csv) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}
