/* What a model makes when it is first asked: of many rows few queries are searched without the tree that many
 * queries are worth, with the same numbers. */
#include "model/model.h"
#include "support.h"

enum { N = 100000, D = 2, B = 600, FIRST = 40 };

static quorum_model *fit_many(const quorum_options *o)
{
    quorum_model *m = NULL;
    double *X = random_normals((size_t)N * D, 1), *y = smooth_targets(X, N, D, 0.1);
    assert_ok(quorum_fit(X, y, N, D, NULL, o, &m));
    mem_free(X);
    mem_free(y);
    return m;
}

static quorum_options *made_options(void)
{
    quorum_options *o = quorum_options_new();
    assert_ok(quorum_options_set(o, "theta", "1,1,0.1"));
    assert_ok(quorum_options_set(o, "kernel", "matern32"));
    assert_ok(quorum_options_set(o, "partition", "kdtree"));
    assert_ok(quorum_options_set(o, "method", "nearest"));
    assert_ok(quorum_options_set(o, "neighbours", "16"));
    return o;
}

static void test_few_queries_have_an_index_of_their_own(void **state)
{
    quorum_options *o = made_options();
    quorum_model *m = fit_many(o);
    const settings *s = options_values(o);
    const neighbour_index *few, *more, *all, *again;
    (void)state;
    assert_ok(model_neighbour_index(m, FIRST, s, &few));
    assert_ok(model_neighbour_index(m, FIRST, s, &more));
    assert_ok(model_neighbour_index(m, B, s, &all));
    assert_ok(model_neighbour_index(m, 1, s, &again));
    assert_ptr_equal(few, more);
    assert_ptr_not_equal(few, all);
    assert_ptr_equal(all, again);
    quorum_model_free(m);
    quorum_options_free(o);
}

/* One query after another, first without the tree and then with it. */
static void test_queries_do_not_see_which_index_it_was(void **state)
{
    quorum_options *o = made_options();
    quorum_model *m = fit_many(o);
    double *Q = random_normals((size_t)B * D, 3), mean[B], std[B], one_mean[B], one_std[B];
    (void)state;
    for (size_t i = 0; i < B; i++) {
        quorum_prediction one = {.mean = &one_mean[i], .std = &one_std[i]};
        assert_ok(quorum_predict(m, Q + i * D, 1, o, &one, NULL));
    }
    quorum_prediction out = {.mean = mean, .std = std};
    assert_ok(quorum_predict(m, Q, B, o, &out, NULL));
    assert_memory_equal(mean, one_mean, sizeof mean);
    assert_memory_equal(std, one_std, sizeof std);
    mem_free(Q);
    quorum_model_free(m);
    quorum_options_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_queries_have_an_index_of_their_own),
        cmocka_unit_test(test_queries_do_not_see_which_index_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
