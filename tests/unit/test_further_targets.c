/* Targets that share rows and theta: what left_out_predict finds of all of them at once is, bit for bit, what it
 * finds of each alone, and is heard only by those whom it is about. */
#include "rows/scattered.h"
#include "support.h"
#include "train/further_targets.h"

enum { N = 400, D = 3, TARGETS = 3, LEFT_OUT = 60, GIVEN = 40 };

typedef struct {
    double *X, *y, *weight, lengthscale[D]; /* y: TARGETS x N */
    hyper theta;
    further_targets further;
} setting;

static int set_up(void **state)
{
    setting *s = mem_alloc_zero(1, sizeof *s);
    s->X = random_normals((size_t)N * D, 1);
    s->y = random_normals((size_t)TARGETS * N, 2);
    s->weight = random_normals(N, 3);
    for (size_t i = 0; i < N; i++)
        s->weight[i] = 0.5 + fabs(s->weight[i]);
    for (size_t d = 0; d < D; d++)
        s->lengthscale[d] = 0.7 + (double)d;
    s->theta = (hyper){
        .kernel = kernel_at(1), .D = D, .lengthscale = s->lengthscale, .signal = 1.2, .noise = 0.1};
    assert_ok(further_targets_new(TARGETS - 1, N, &s->further));
    memcpy(s->further.y, s->y + N, (size_t)(TARGETS - 1) * N * sizeof *s->y);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    setting *s = *state;
    further_targets_free(&s->further);
    mem_free(s->X);
    mem_free(s->y);
    mem_free(s->weight);
    mem_free(s);
    return 0;
}

/* Rows of target t left out, alone or as one of those that share; most: neighbours, 0: all. */
static void leave_out(setting *s, size_t t, size_t most, int shared, left_out_row *out)
{
    row_set own = rows_view_of(N, D, s->X, s->y + t * N);
    vecchia_parts v;
    own.weight = s->weight;
    if (shared)
        further_targets_mark(&s->further, &own);
    scattered_rows rows = rows_scattered(N, &own);
    vecchia_problem problem = {.rows = &rows,
                               .lengthscale = s->lengthscale,
                               .block = 1,
                               .given = GIVEN,
                               .targets = LEFT_OUT,
                               .others = 1,
                               .seed = 1,
                               .threads = 2};
    left_out_how how = {.most = most, .threads = 2};
    assert_ok(vecchia_parts_new(&problem, &v));
    assert_int_equal(v.parts.M, LEFT_OUT);
    assert_ok(left_out_predict(QUORUM_OK, &v, &s->theta, &how, out));
    vecchia_parts_free(&v);
}

/* To the bit; structures have bytes between their members that nobody sets. */
static void assert_same_row(const left_out_row *a, const left_out_row *b)
{
    assert_true(a->error == b->error && a->y == b->y && a->variance == b->variance);
    assert_true(a->known == b->known && a->weight == b->weight);
    assert_memory_equal(&a->around, &b->around, offsetof(surroundings, is_surrounded));
    assert_int_equal(a->around.is_surrounded, b->around.is_surrounded);
}

static void test_all_are_found_at_once(void **state)
{
    setting *s = *state;
    left_out_row alone[LEFT_OUT], together[LEFT_OUT];
    static const size_t most[] = {0, 10};
    for (size_t t = 0; t < TARGETS; t++) {
        further_targets_begin(&s->further, t);
        for (size_t k = 0; k < 2; k++) {
            leave_out(s, t, most[k], 1, together);
            leave_out(s, t, most[k], 0, alone);
            for (size_t i = 0; i < LEFT_OUT; i++)
                assert_same_row(&alone[i], &together[i]);
        }
        assert_int_equal(s->further.heard, t == 0 ? 0 : 2);
    }
    assert_int_equal(s->further.answered, 2);
}

/* Another question than the first target's, or other rows, are answered by themselves. */
static void test_other_questions_are_not_answered(void **state)
{
    setting *s = *state;
    left_out_row alone[LEFT_OUT], together[LEFT_OUT];
    memset(alone, 0, sizeof alone);
    memset(together, 0, sizeof together);
    leave_out(s, 0, 0, 1, together);
    further_targets_begin(&s->further, 1);
    leave_out(s, 1, 10, 1, together);
    leave_out(s, 1, 10, 0, alone);
    assert_memory_equal(alone, together, sizeof alone);
    leave_out(s, 2, 0, 1, together);
    leave_out(s, 2, 0, 0, alone);
    assert_memory_equal(alone, together, sizeof alone);
    assert_int_equal(s->further.heard, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_are_found_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_questions_are_not_answered, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
