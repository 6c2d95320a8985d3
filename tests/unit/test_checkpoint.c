/* experts/checkpoint: what was evaluated is not evaluated again. */
#include "support.h"

#include "train/checkpoint.h"

#include <unistd.h>

static const char *const path = "test_checkpoint.npz";
static const char fit[] = "version: 1\ndata: 7\n";
enum { P = 3 };
static const double first[P] = {1.0, -0.0, 1e-300}, second[P] = {2.0, 0.5, 3.0};

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

/* Records two evaluations, the second a failure without gradient. */
static void record_two(void)
{
    checkpoint *c;
    double gradient[P] = {0.1, 0.2, 0.3};
    assert_ok(checkpoint_open(path, fit, P, &c));
    evaluation e = {.parameters = P, .value = M_PI, .gradient = gradient};
    assert_ok(checkpoint_record(c, first, &e));
    e = (evaluation){.status = QUORUM_E_NUMERIC, .value = HUGE_VAL};
    assert_ok(checkpoint_record(c, second, &e));
    checkpoint_close(c);
}

static void what_was_recorded_is_recalled(void **state)
{
    (void)state;
    checkpoint *c;
    double gradient[P] = {0};
    int known;
    record_two();
    assert_ok(checkpoint_open(path, fit, P, &c));
    evaluation e = {.parameters = P, .gradient = gradient};
    assert_ok(checkpoint_recall(c, first, &e, &known));
    assert_true(known);
    assert_int_equal(e.status, QUORUM_OK);
    assert_true(e.value == M_PI && gradient[0] == 0.1 && gradient[2] == 0.3);
    e = (evaluation){0};
    assert_ok(checkpoint_recall(c, second, &e, &known));
    assert_int_equal(e.status, QUORUM_E_NUMERIC);
    assert_ok(checkpoint_recall(c, second, &e, &known));
    assert_false(known);
    assert_ok(checkpoint_record(c, first, &e)); /* and goes on */
    checkpoint_close(c);
}

static void another_question_is_refused(void **state)
{
    (void)state;
    checkpoint *c;
    double gradient[P], positive[P] = {1.0, 0.0, 1e-300};
    int known;
    record_two();
    assert_ok(checkpoint_open(path, fit, P, &c));
    evaluation e = {.parameters = P, .gradient = gradient};
    assert_int_equal(checkpoint_recall(c, positive, &e, &known), QUORUM_E_FORMAT);
    e.gradient = NULL;
    assert_int_equal(checkpoint_recall(c, first, &e, &known), QUORUM_E_FORMAT);
    checkpoint_close(c);
}

static void refused(const char *as, size_t parameters, const char *word)
{
    checkpoint *c;
    assert_int_equal(checkpoint_open(path, as, parameters, &c), QUORUM_E_FORMAT);
    assert_null(c);
    assert_non_null(strstr(quorum_message(), word));
    assert_non_null(strstr(quorum_message(), "give checkpoint another name"));
}

static void another_fit_is_refused(void **state)
{
    (void)state;
    record_two();
    refused("version: 1\ndata: 8\n", P, "not the same data");
    refused("version: 2\ndata: 7\n", P, "not the same version");
    refused("version: 1\n", P, "more than this version");
    refused("version: 1\ndata: 7\noptions: 1\n", P, "not the same options");
    refused(fit, P + 1, "damaged");
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    char bytes[4096];
    record_two();
    FILE *f = fopen(path, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t at = 0; at < size; at++) { /* cut anywhere */
        f = fopen(path, "wb");
        fwrite(bytes, 1, at, f);
        fclose(f);
        refused(fit, P, "remove it");
    }
    for (size_t at = 0; at < size; at += 3) { /* a wrong byte anywhere: refused, or not seen */
        checkpoint *c;
        bytes[at] ^= 0x41;
        f = fopen(path, "wb");
        fwrite(bytes, 1, size, f);
        fclose(f);
        bytes[at] ^= 0x41;
        quorum_status status = checkpoint_open(path, fit, P, &c);
        assert_true(status == QUORUM_OK || status == QUORUM_E_FORMAT);
        checkpoint_close(c);
    }
}

static void a_file_that_cannot_be_written_is_said_early(void **state)
{
    (void)state;
    checkpoint *c;
    assert_int_equal(checkpoint_open("no/such/directory/c.npz", fit, P, &c), QUORUM_E_FILE);
    assert_null(c);
}

static void nothing_is_remembered_without_one(void **state)
{
    (void)state;
    evaluation e = {0};
    int known = 1;
    assert_ok(checkpoint_recall(NULL, first, &e, &known));
    assert_false(known);
    assert_ok(checkpoint_record(NULL, first, &e));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    record_two();
    for (long n = 1;; n++) {
        checkpoint *c = NULL;
        mem_fail_at(n);
        quorum_status status = checkpoint_open(path, fit, P, &c);
        long asked = mem_allocations();
        mem_fail_at(0);
        checkpoint_close(c);
        if (status == QUORUM_OK && asked < n)
            break;
        assert_true(status == QUORUM_OK || status == QUORUM_E_MEMORY || status == QUORUM_E_FORMAT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_was_recorded_is_recalled, remove_file),
        cmocka_unit_test_teardown(another_question_is_refused, remove_file),
        cmocka_unit_test_teardown(another_fit_is_refused, remove_file),
        cmocka_unit_test_teardown(damaged_files_are_refused, remove_file),
        cmocka_unit_test(a_file_that_cannot_be_written_is_said_early),
        cmocka_unit_test(nothing_is_remembered_without_one),
        cmocka_unit_test_teardown(every_allocation_may_fail, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
