/* The two ways of the last round, with scales of blocks' own and without: both are scored, and the
 * model has the better one. */
#include "gp/kernel.h"
#include "support.h"

#include <math.h>
#include <stdio.h>

enum { N = 800, D = 2, MOST = 16 };

typedef struct {
    int count;
    char kernel[MOST][16];
    double density[MOST], error[MOST];
} scores;

/* What is told once is told again while the work after it takes long. */
static int is_repeated(const scores *s)
{
    int k = s->count;
    return k > 0 && strcmp(s->kernel[k], s->kernel[k - 1]) == 0 &&
           s->density[k] == s->density[k - 1] && s->error[k] == s->error[k - 1];
}

/* Every score that is told, in order. */
static int listen(void *user, const char *stage, double fraction, const char *message)
{
    scores *s = user;
    (void)stage, (void)fraction;
    if (s->count < MOST &&
        sscanf(message, "kernel %15[^:]: log density a row %lf, error %lf", s->kernel[s->count],
               &s->density[s->count], &s->error[s->count]) == 3)
        s->count += !is_repeated(s);
    return 0;
}

/* Calm on one side, wild on the other. */
static void make_rows(double waves, double *X, double *y)
{
    rng r = rng_seed(11, 3);
    for (size_t i = 0; i < N; i++) {
        X[i * D] = rng_normal(&r);
        X[i * D + 1] = rng_normal(&r);
        double x = X[i * D + 1], noise = 0.02 * rng_normal(&r);
        y[i] = (X[i * D] > 0.0 ? sin(waves * x) : 0.1 * sin(x)) + noise;
    }
}

static void fit_and_listen(double waves, const char *spread, scores *s, double *kept)
{
    double *X = mem_alloc((size_t)N * D, sizeof *X), *y = mem_alloc(N, sizeof *y);
    quorum_options *o = quorum_options_new();
    quorum_model *m = NULL;
    quorum_info info;
    make_rows(waves, X, y);
    *s = (scores){0};
    assert_ok(quorum_options_set(o, "metric", "ard"));
    assert_ok(quorum_options_set(o, "spread", spread));
    assert_ok(quorum_options_set(o, "max-evaluations", "40"));
    quorum_options_set_progress(o, listen, s);
    assert_ok(quorum_fit(X, y, N, D, NULL, o, &m));
    assert_ok(quorum_inspect(m, &info));
    for (size_t k = 0; k < info.kernels; k++)
        if (strcmp(info.kernel_names[k], info.kernel) == 0)
            *kept = info.kernel_scores[k];
    quorum_model_free(m);
    quorum_options_free(o);
    mem_free(X);
    mem_free(y);
}

/* Quick rounds of all kernels but three scales, two of which are behind others here; last rounds of two
 * kernels, and one more of the better of these: the places of its two scores. */
static void find_both(const scores *s, int *with, int *without)
{
    int kernels = kernel_candidates() - 1;
    assert_int_equal(s->count, kernels + 3);
    *without = kernels + 2;
    *with = strcmp(s->kernel[kernels], s->kernel[*without]) == 0 ? kernels : kernels + 1;
    assert_string_equal(s->kernel[*with], s->kernel[*without]);
}

/* Its density is higher by more than chance, though its error is larger. */
static void the_denser_way_stays(void **state)
{
    (void)state;
    scores s;
    double kept = NAN;
    int with, without;
    fit_and_listen(5.5, "auto", &s, &kept);
    find_both(&s, &with, &without);
    assert_true(s.density[without] > s.density[with] + 0.02);
    assert_true(s.error[without] > s.error[with]);
    assert_close(kept, s.density[without], 1e-4);
}

/* Their densities differ by no more than chance: the smaller error decides. */
static void of_two_as_dense_the_more_accurate_stays(void **state)
{
    (void)state;
    scores s;
    double kept = NAN;
    int with, without;
    fit_and_listen(3.0, "auto", &s, &kept);
    find_both(&s, &with, &without);
    assert_true(fabs(s.density[without] - s.density[with]) < 0.05);
    assert_true(s.error[with] < 0.9 * s.error[without]);
    assert_close(kept, s.density[with], 1e-4);
}

/* Here two scales may be the best, and three are looked at. */
static void without_spread_there_is_one_way(void **state)
{
    (void)state;
    scores s;
    double kept;
    fit_and_listen(2.0, "none", &s, &kept);
    assert_int_equal(s.count, kernel_candidates() + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_denser_way_stays),
        cmocka_unit_test(of_two_as_dense_the_more_accurate_stays),
        cmocka_unit_test(without_spread_there_is_one_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
