/* The library inside a program that has set a locale of its own: German with decimal commas, and
 * Turkish, where I is not a large i.  The locales are made here, by localedef. */
#include "base/plain.h"
#include "base/text_buffer.h"
#include "archive/json.h"
#include "data/reader.h"
#include "options/options.h"
#include "support.h"

#include <ctype.h>
#include <locale.h>
#include <unistd.h>

static char directory[] = "/tmp/quorum-locale-XXXXXX";

static int make_locale(const char *name)
{
    char command[256];
    snprintf(command, sizeof command, "localedef -i %s -f UTF-8 %s/%s.UTF-8 >/dev/null 2>&1", name,
             directory, name);
    return system(command);
}

static int make_locales(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    if (make_locale("de_DE") != 0 || make_locale("tr_TR") != 0)
        print_message("skipped: localedef cannot make de_DE and tr_TR (install the package "
                      "locales)\n");
    return setenv("LOCPATH", directory, 1);
}

static int remove_locales(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static void enter(const char *name)
{
    if (!setlocale(LC_ALL, name))
        skip();
}

static int leave(void **state)
{
    (void)state;
    return setlocale(LC_ALL, "C") ? 0 : -1;
}

static void the_locale_is_what_it_should_be(void **state)
{
    (void)state;
    char text[32];
    enter("de_DE.UTF-8");
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");
    enter("tr_TR.UTF-8");
    assert_int_equal(tolower('I'), 'I'); /* and strcasecmp goes by that, but for a sanitizer's */
}

static void options_are_read_with_a_point(void **state)
{
    (void)state;
    static const char *const good[][2] = {{"interval", "0.9"},      {"tolerance", "1.5e-3"},
                                          {"lambda", "rel:0.25"},   {"spread", "2.5"},
                                          {"select", "graph:0.75"}, {"memory", "1.5G"}};
    static const char *const bad[][2] = {
        {"interval", "0,9"}, {"lambda", "rel:0,25"}, {"spread", "2,5"}, {"select", "graph:0,75"}};
    enter("de_DE.UTF-8");
    quorum_options *o = quorum_options_new();
    assert_non_null(o);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_ok(quorum_options_set(o, good[i][0], good[i][1]));
    assert_true(options_values(o)->interval == 0.9 && options_values(o)->tolerance == 1.5e-3);
    assert_true(options_values(o)->memory == 1.5 * 1024 * 1024 * 1024);
    assert_true(options_spread(options_values(o)) == 2.5);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(quorum_options_set(o, bad[i][0], bad[i][1]), QUORUM_E_ARGUMENT);
    double theta[4];
    size_t count;
    assert_ok(parse_numbers("0.5,1.25,2", theta, 4, &count));
    assert_true(count == 3 && theta[0] == 0.5 && theta[1] == 1.25 && theta[2] == 2.0);
    quorum_options_free(o);
}

static void defaults_without_options_are_the_same(void **state)
{
    (void)state;
    enter("de_DE.UTF-8");
    assert_true(options_values(NULL)->interval == 0.95 && options_values(NULL)->tolerance == 1e-6);
}

static void messages_have_points(void **state)
{
    (void)state;
    enter("de_DE.UTF-8");
    quorum_options *o = quorum_options_new();
    assert_int_equal(quorum_options_set(o, "interval", "7"), QUORUM_E_ARGUMENT);
    assert_says("0.001 to 0.999999");
    assert_int_equal(failure_in(QUORUM_E_DATA, "at %g", 2.5), QUORUM_E_DATA);
    assert_says("at 2.5: option interval");
    char after[16];
    snprintf(after, sizeof after, "%.1f", 0.5); /* the program's locale is as it was */
    assert_string_equal(after, "0,5");
    quorum_options_free(o);
}

static int keep_detail(void *user, const char *stage, double fraction, const char *text)
{
    (void)stage;
    (void)fraction;
    snprintf(user, 64, "%s", text);
    return 0;
}

static void progress_has_points(void **state)
{
    (void)state;
    char detail[64] = "";
    progress p = {.callback = keep_detail, .user = detail};
    enter("de_DE.UTF-8");
    assert_ok(progress_report(&p, "train", 0.5, "nlml %.2f", -1.25));
    assert_string_equal(detail, "nlml -1.25");
}

static void turkish_letters_do_not_matter(void **state)
{
    (void)state;
    enter("tr_TR.UTF-8");
    quorum_options *o = quorum_options_new();
    assert_non_null(o);
    assert_ok(quorum_options_set(o, "memory", "1GIB"));
    assert_true(options_values(o)->memory == 1024.0 * 1024.0 * 1024.0);
    assert_int_equal(plain_compare("INFINITY", "infinity"), 0);
    assert_int_equal(plain_compare_start("INFORM", "info", 4), 0);
    quorum_options_free(o);
}

/* Fit, save, load and predict, in the present locale. */
static void work(const char *path, double mean[5], char text[64])
{
    double x[300], y[300], at[5] = {0.1, 0.3, 0.5, 0.7, 0.9};
    quorum_demo_data(300, 0.0, 1.0, 0.1, 1, x, y);
    quorum_options *o = quorum_options_new();
    assert_non_null(o);
    quorum_model *m = NULL, *again = NULL;
    assert_ok(quorum_options_set(o, "theta", "0.25,1.5,0.0125"));
    assert_ok(quorum_options_set(o, "experts", "3"));
    assert_ok(quorum_fit(x, y, 300, 1, NULL, o, &m));
    assert_ok(quorum_save(m, path));
    assert_ok(quorum_load(path, &again));
    assert_ok(quorum_predict(again, at, 5, o, &(quorum_prediction){.mean = mean}, NULL));
    quorum_info info;
    assert_ok(quorum_inspect(again, &info));
    assert_close(info.lengthscale[0], 0.25, 1e-12);
    assert_close(info.noise_variance, 0.0125, 1e-12);
    const char *theta = strstr(info.options, "0.25,1.5,0.0125");
    snprintf(text, 64, "%.15s", theta ? theta : "");
    quorum_model_free(m);
    quorum_model_free(again);
    quorum_options_free(o);
}

/* The same bits, and either locale reads the other's model. */
static void a_whole_job_gives_the_same_bits(void **state)
{
    (void)state;
    char path[64], here[64], there[64];
    double mean[5], german[5], read[5], at[5] = {0.1, 0.3, 0.5, 0.7, 0.9};
    snprintf(path, sizeof path, "%s/m.npz", directory);
    enter("de_DE.UTF-8");
    work(path, german, there);
    assert_non_null(setlocale(LC_ALL, "C"));
    quorum_model *m = NULL;
    assert_ok(quorum_load(path, &m));
    assert_ok(quorum_predict(m, at, 5, NULL, &(quorum_prediction){.mean = read}, NULL));
    quorum_model_free(m);
    work(path, mean, here);
    assert_memory_equal(mean, german, sizeof mean);
    assert_memory_equal(mean, read, sizeof mean);
    assert_string_equal(here, there);
    enter("de_DE.UTF-8");
    assert_ok(quorum_load(path, &m));
    quorum_model_free(m);
}

static void tables_are_read_the_same(void **state)
{
    (void)state;
    static const double want[] = {0.5, 1.5, 1e-30, 2.25, 3.5, 1.5e300};
    static const char *const locales[] = {"C", "de_DE.UTF-8", "tr_TR.UTF-8"};
    char path[64];
    snprintf(path, sizeof path, "%s/t.csv", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a,y\n0.5,1.5\n1e-30,2.25\n3.5,1.5e300\nINF,1\n", file);
    fclose(file);
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++) {
        enter(locales[i]);
        quorum_data *data = NULL;
        quorum_options *o = quorum_options_new();
        assert_int_equal(quorum_data_read(path, o, &data), QUORUM_E_DATA);
        assert_says("non-finite");
        assert_ok(quorum_options_set(o, "missing", "drop"));
        assert_ok(quorum_data_read(path, o, &data));
        assert_int_equal(data->rows, 3);
        for (size_t k = 0; k < 3; k++)
            assert_true(data->X[k] == want[2 * k] && data->y[k] == want[2 * k + 1]);
        quorum_data_free(data);
        quorum_options_free(o);
    }
}

static void json_has_points(void **state)
{
    (void)state;
    text_buffer b = {0};
    json_writer w = json_writer_to(text_buffer_put, &b, 0);
    json_tree t;
    enter("de_DE.UTF-8");
    json_put_number(&w, 0.1234567890123456789);
    assert_int_equal(json_finish(&w), JSON_WRITTEN);
    assert_non_null(strstr(b.text, "0.123"));
    assert_ok(json_parse(b.text, b.used, &t));
    assert_true(json_as_number(t.root, 0.0) == 0.1234567890123456789);
    json_free(&t);
    assert_ok(json_parse("1.5000000000000000000000000000001e-3", 36, &t)); /* the slow way */
    assert_true(json_as_number(t.root, 0.0) == 0.0015);
    json_free(&t);
    text_buffer_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_locale_is_what_it_should_be, leave),
        cmocka_unit_test_teardown(defaults_without_options_are_the_same, leave),
        cmocka_unit_test_teardown(options_are_read_with_a_point, leave),
        cmocka_unit_test_teardown(messages_have_points, leave),
        cmocka_unit_test_teardown(progress_has_points, leave),
        cmocka_unit_test_teardown(turkish_letters_do_not_matter, leave),
        cmocka_unit_test_teardown(a_whole_job_gives_the_same_bits, leave),
        cmocka_unit_test_teardown(tables_are_read_the_same, leave),
        cmocka_unit_test_teardown(json_has_points, leave),
    };
    return cmocka_run_group_tests(tests, make_locales, remove_locales);
}
