#include "options/options.h"
#include "support.h"

static void the_table_is_complete(void **state)
{
    (void)state;
    quorum_options *o = quorum_options_new();
    assert_non_null(o);
    for (int i = 0; i < quorum_option_count(); i++) {
        const quorum_option_info *info = quorum_option_at(i);
        assert_true(info->name[0] && strlen(info->help) > 10 && info->used_by[0]);
        /* every default is a value that can be set */
        assert_ok(quorum_options_set(o, info->name, info->default_value));
        assert_string_equal(quorum_options_get(o, info->name), info->default_value);
    }
    assert_null(quorum_option_at(-1));
    assert_null(quorum_option_at(quorum_option_count()));
    quorum_options_free(o);
}

static void values_are_checked(void **state)
{
    (void)state;
    static const char *const bad[][3] = {
        {"experts", "0", "outside its range"},
        {"experts", "2.5", "whole number"},
        {"experts", "many", "whole number"},
        {"experts", "", "whole number"},
        {"kernel", "rbf", "se|matern12"},
        {"train", "vecchia", "neighbours|parts|random|subset"},
        {"metric", "input", "auto|ard|linear"},
        {"partition-metric", "raw", "learned|input"},
        {"train-rows", "0", "outside its range"},
        {"partition", "kmean", "kmeans|kdtree|random|communication"},
        {"overlap", "-0.5", "outside its range"},
        {"overlap", "half", "number"},
        {"tolerance", "nan", "number"},
        {"tolerance", "2", "outside its range"},
        {"memory", "4X", "800M or 4G"},
        {"memory", "1", "outside its range"},
        {"latent", "maybe", "true or false"},
        {"calibrate", "maybe", "not one of false|true|strict"},
        {"interval-shape", "round", "not one of auto|symmetric"},
        {"method", "npaee", "the methods are auto, nearest, cells, npae"},
        {"method", "nearest*", "nearest asks no experts"},
        {"method", "auto*", "is not known"},
        {"select", "graph:200", "(0, 1], as in graph:0.8"},
        {"select", "graph:80", "(0, 1]; did you mean graph:0.8?"},
        {"select", "worst:2.5+local:4", "did you mean worst:0.025?"},
        {"interval", "95", "outside its range, 0.001 to 0.999999; did you mean 0.95?"},
        {"interval", "99.9", "did you mean 0.999?"},
        {"interval", "950", "0.001 to 0.999999"},
        {"neighbours", "-3", "whole number"},
        {"spread", "-1", "positive number, none or auto"},
        {"lambda", "-1", "number >= 0"},
        {"lambda", "rel:", "number >= 0"},
        {"interval", "1", "outside its range"},
        {"decimal", ";", "auto|point|comma|.|,"},
        {"thousands", "", "comma, point, space"},
        {"thousands", ",,", "comma, point, space"},
        {"thousands", "x", "comma, point, space"},
        {"comment", "", "single character such as # or %"},
        {"comment", "a", "single character such as # or %"},
        {"comment", "1", "single character such as # or %"},
        {"comment", "\"", "single character such as # or %"},
        {"comment", "//", "single character such as # or %"},
        {"no-such-option", "1", "no option called"},
    };
    quorum_options *o = quorum_options_new();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(quorum_options_set(o, bad[i][0], bad[i][1]), QUORUM_E_ARGUMENT);
        assert_says(bad[i][2]);
        assert_says(bad[i][0]);
    }
    assert_string_equal(quorum_options_get(o, "kernel"), "auto"); /* what was there stays */
    assert_int_equal(quorum_options_set(NULL, "kernel", "se"), QUORUM_E_ARGUMENT);
    assert_int_equal(quorum_options_set(o, NULL, "se"), QUORUM_E_ARGUMENT);
    quorum_options_free(o);
}

static void marks_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        char mark;
    } good[] = {{"none", 0},    {"comma", ','}, {",", ','},           {"point", '.'},
                {"space", ' '}, {" ", ' '},     {"apostrophe", '\''}, {"underscore", '_'}};
    quorum_options *o = quorum_options_new();
    assert_int_equal(options_thousands(options_values(o)), 0);
    assert_int_equal(options_comment(options_values(o)), 0);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_ok(quorum_options_set(o, "thousands", good[i].text));
        assert_int_equal(options_thousands(options_values(o)), good[i].mark);
    }
    assert_ok(quorum_options_set(o, "comment", "#"));
    assert_int_equal(options_comment(options_values(o)), '#');
    quorum_options_free(o);
}

static void values_are_understood(void **state)
{
    (void)state;
    quorum_options *o = quorum_options_new();
    const settings *s = options_values(o);
    assert_ok(quorum_options_set(o, "memory", "1.5G"));
    assert_close(s->memory, 1.5 * 1024 * 1024 * 1024, 1e-15);
    assert_ok(quorum_options_set(o, "memory", "800MiB"));
    assert_close(s->memory, 800.0 * 1024 * 1024, 1e-15);
    assert_ok(quorum_options_set(o, "expert_size", "250")); /* '_' for '-' */
    assert_true(s->expert_size == 250.0);
    assert_ok(quorum_options_set(o, "kernel", "matern52"));
    assert_string_equal(kernel_at(s->kernel)->name, "matern52");
    assert_ok(quorum_options_set(o, "latent", "Yes"));
    assert_int_equal(s->latent, 1);
    assert_ok(quorum_options_set(o, "calibrate", "yes"));
    assert_int_equal(s->calibrate, CALIBRATE_YES);
    assert_ok(quorum_options_set(o, "calibrate", "strict"));
    assert_int_equal(s->calibrate, CALIBRATE_STRICT);
    assert_ok(quorum_options_set(o, "calibrate", "off"));
    assert_int_equal(s->calibrate, CALIBRATE_NO);
    assert_ok(quorum_options_set(o, "experts", "auto"));
    assert_true(s->experts == 0.0);
    quorum_options_free(o);
}

static void a_star_selects_by_the_graph(void **state)
{
    (void)state;
    quorum_options *o = quorum_options_new();
    const rule *method;
    selection chosen;
    size_t near;
    assert_ok(quorum_options_set(o, "method", "rbcm*"));
    assert_ok(options_method(options_values(o), 5, &method, &chosen, &near));
    assert_ptr_equal(method, &rule_rbcm);
    assert_true(chosen.kind == SELECT_MOST && chosen.share == 0.8);
    assert_ok(quorum_options_set(o, "select", "graph:0.5")); /* said by hand: stays */
    assert_ok(options_method(options_values(o), 5, &method, &chosen, &near));
    assert_true(chosen.share == 0.5 && near == 0);
    quorum_options_free(o);
}

/* What method, select and neighbours mean for a model of so many experts. */
static void methods_mean_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *method, *select, *neighbours;
        size_t experts;
        const rule *rule;
        const char *means; /* the selection */
        size_t rows;
    } words[] = {
        {"auto", "auto", "auto", 5, &rule_nearest, "none", 512},
        {"auto", "auto", "17", 5, &rule_nearest, "none", 17},
        {"auto", "auto", "0", 5, &rule_npae, "local:4", 0}, /* somebody has to be asked */
        {"auto", "local:2", "auto", 5, &rule_npae, "local:2", 0},
        {"auto", "all", "32", 5, &rule_npae, "all", 32},
        {"auto", "graph:0.5", "auto", 1, &rule_npae, "graph:0.5", 0},
        {"auto", "none", "auto", 5, &rule_nearest, "none", 512}, /* as it was once called */
        {"auto", "none", "17", 1, &rule_nearest, "none", 17},
        {"npae", "none", "17", 5, &rule_nearest, "none", 17},
        {"auto", "auto", "auto", 1, &rule_npae, "all", 0}, /* the exact GP */
        {"auto", "auto", "0", 1, &rule_npae, "all", 0},
        {"auto", "auto", "64", 1, &rule_nearest, "none", 64},
        {"nearest", "auto", "auto", 5, &rule_nearest, "none", 512},
        {"nearest", "none", "9", 1, &rule_nearest, "none", 9},
        {"cells", "auto", "auto", 5, &rule_cells, "none", CELL_NEIGHBOURS},
        {"cells", "auto", "70", 1, &rule_cells, "none", 70},
        {"npae", "auto", "auto", 5, &rule_npae, "all", 0},
        {"npae", "auto", "64", 5, &rule_npae, "all", 64},
        {"npae", "auto", "0", 5, &rule_npae, "all", 0},
        {"npae", "local:4", "64", 5, &rule_npae, "local:4", 64},
        {"npae*", "auto", "auto", 5, &rule_npae, "graph:0.8", 0},
        {"rbcm", "auto", "auto", 5, &rule_rbcm, "all", 0},
    };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        quorum_options *o = quorum_options_new();
        const rule *method;
        selection chosen;
        size_t near;
        assert_ok(quorum_options_set(o, "method", words[k].method));
        assert_ok(quorum_options_set(o, "select", words[k].select));
        assert_ok(quorum_options_set(o, "neighbours", words[k].neighbours));
        const settings *s = options_values(o);
        assert_ok(options_method(s, words[k].experts, &method, &chosen, &near));
        assert_ptr_equal(method, words[k].rule);
        assert_string_equal(options_select(s, words[k].experts), words[k].means);
        assert_int_equal(near, words[k].rows);
        quorum_options_free(o);
    }
}

static void lambda_has_three_forms(void **state)
{
    (void)state;
    lambda_kind kind;
    double value;
    assert_ok(parse_lambda("0.1", &kind, &value));
    assert_true(kind == LAMBDA_ABSOLUTE && value == 0.1);
    assert_ok(parse_lambda("rel:0.25", &kind, &value));
    assert_true(kind == LAMBDA_RELATIVE && value == 0.25);
    assert_ok(parse_lambda("ebic", &kind, &value));
    assert_int_equal(kind, LAMBDA_EBIC);
}

static void lists_of_numbers_are_read(void **state)
{
    (void)state;
    double x[3];
    size_t n;
    assert_ok(parse_numbers("1, 2.5e-1 3", x, 3, &n));
    assert_true(n == 3 && x[1] == 0.25 && x[2] == 3.0);
    assert_ok(parse_numbers("", x, 3, &n));
    assert_int_equal(n, 0);
    assert_int_equal(parse_numbers("1,2,3,4", x, 3, &n), QUORUM_E_ARGUMENT);
    assert_int_equal(parse_numbers("1,two", x, 3, &n), QUORUM_E_ARGUMENT);
}

static void creation_survives_failing_allocations(void **state)
{
    (void)state;
    quorum_options *o = NULL;
    for (long n = 1; !o; n++) {
        mem_fail_at(n);
        o = quorum_options_new();
        mem_fail_at(0);
        assert_true(n < 200);
    }
    quorum_options_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_complete),
        cmocka_unit_test(values_are_checked),
        cmocka_unit_test(marks_are_understood),
        cmocka_unit_test(values_are_understood),
        cmocka_unit_test(a_star_selects_by_the_graph),
        cmocka_unit_test(methods_mean_what_they_say),
        cmocka_unit_test(lambda_has_three_forms),
        cmocka_unit_test(lists_of_numbers_are_read),
        cmocka_unit_test(creation_survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
