/* Dates as text: forms and seconds, lists of periods, inputs made of columns, and memory that runs out
 * anywhere between a file with dates and a prediction. */
#include "encode/made.h"
#include "quorum.h"
#include "support.h"
#include "text/date.h"
#include "text/list.h"

#include <time.h>
#include <unistd.h>

static date_form look(const char *text)
{
    return date_look(text, text + strlen(text));
}

static double seconds(const char *text, int order)
{
    date_form form = look(text);
    form.orders &= order;
    assert_int_not_equal(form.orders, 0);
    return date_seconds(text, text + strlen(text), form);
}

/* Every day of four centuries, by the C library. */
static void days_are_those_of_the_calendar(void **state)
{
    (void)state;
    int days = 0;
    for (time_t t = -(time_t)200 * 365 * 86400; t < (time_t)200 * 365 * 86400; t += 86400) {
        struct tm day;
        char text[3][32];
        gmtime_r(&t, &day);
        strftime(text[0], sizeof text[0], "%Y-%m-%d", &day);
        strftime(text[1], sizeof text[1], "%d/%m/%Y 23:59:60", &day);
        strftime(text[2], sizeof text[2], "%m-%d-%Y 01:02", &day);
        assert_true(seconds(text[0], DATE_YMD) == (double)t);
        assert_true(seconds(text[1], DATE_DMY) == (double)t + 86400);
        assert_true(seconds(text[2], DATE_MDY) == (double)t + 3720);
        assert_int_equal(look(text[1]).orders == (DATE_DMY | DATE_MDY), day.tm_mday <= 12);
        days++;
    }
    assert_int_equal(days, 400 * 365);
}

static void times_and_zones(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } good[] = {{"1970-01-01", 0},
                {"1970-01-01T00:00:00Z", 0},
                {"1970-1-1 0:00", 0},
                {"1970-01-01t12:30:15.25", 45015.25},
                {"1970-01-01 12:30:15,25", 45015.25},
                {"1970-01-01   12:30", 45000},
                {"1970-01-01 12:30 PM", 45000},
                {"1970-01-01 12:30 am", 1800},
                {"1970-01-01 11:00:01PM", 82801},
                {"1970-01-01T00:00+01:00", -3600},
                {"1970-01-01T00:00-0130", 5400},
                {"1970-01-01T00:00 +02", -7200},
                {"1970-01-01 00:00:00 UTC", 0},
                {"2020-02-29T00:00:00.000001Z", 1582934400.000001},
                {"2000/02/29", 951782400},
                {"29.02.2000", 951782400},
                {"29-Feb-2000", 951782400},
                {"29 FEBRUARY 2000 00:00", 951782400},
                {"feb 29, 2000", 951782400},
                {"February 29 2000 12:00 AM", 951782400},
                {"29/feb/2000", 951782400},
                {"29.Feb.2000", 951782400},
                {"2000-Feb-29T00:00Z", 951782400},
                {"0001-01-01", -62135596800},
                {"9999-12-31 23:59:59", 253402300799}};
    static const char *const bad[] = {"",
                                      "1970",
                                      "1970-01",
                                      "1970-13-01",
                                      "1970-00-01",
                                      "1970-02-29",
                                      "2100-02-29",
                                      "0000-01-01",
                                      "70-01-01",
                                      "1970-01-01T",
                                      "1970-01-01 ",
                                      "1970-01/01",
                                      "31.31.2020",
                                      "12.31.2020",
                                      "1970-01-01 24:00",
                                      "1970-01-01 12",
                                      "1970-01-01 1:2",
                                      "1970-01-01 12:60",
                                      "1970-01-01 12:00:61",
                                      "1970-01-01 13:00 PM",
                                      "1970-01-01 0:00 AM",
                                      "1970-01-01 12:00:00.",
                                      "1970-01-01Z",
                                      "1970-01-01T00:00+1",
                                      "1970-01-01T00:00+01:",
                                      "1970-01-01T00:00+99:00",
                                      "1970-01-01x",
                                      "1970-01-01T00:00Zx",
                                      "19700101",
                                      "1-1-1",
                                      "10000-01-01",
                                      "1970--01-01",
                                      "-1970-01-01",
                                      "a",
                                      "01 02 2020",
                                      "30-Feb-2000",
                                      "29-Feb-00",
                                      "29-Fe-2000",
                                      "29-Febr-2000",
                                      "29 Feb, 2000",
                                      "Feb 2000",
                                      "Feb-Mar-2000",
                                      "29-02-Feb",
                                      "Feb 29,2000",
                                      "2000 29 Feb",
                                      "May"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (seconds(good[i].text, DATE_ORDERS) != good[i].seconds)
            fail_msg("%s: %.17g", good[i].text, seconds(good[i].text, DATE_ORDERS));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (look(bad[i]).orders != 0)
            fail_msg("%s is a date", bad[i]);
    assert_true(look("1970-01-01T00:00Z").zoned && !look("1970-01-01T00:00").zoned);
}

static void forms_in_words(void **state)
{
    (void)state;
    char text[DATE_FORM_ROOM];
    date_form_text(look("31/12/2020"), text);
    assert_string_equal(text, "dd/mm/yyyy");
    date_form_text(look("12-31-2020 11:00Z"), text);
    assert_string_equal(text, "mm-dd-yyyy zone");
    date_form_text(look("Jan 3, 2020 11:00Z"), text);
    assert_string_equal(text, "mon dd yyyy zone");
    static const char *const dates[] = {"2020-1-31",   "2020/Jan/31", "31.01.2020",  "31-Jan-2020",
                                        "31 May 2020", "1/31/2020",   "Jan 31, 2020"};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        date_form is = look(dates[i]), back;
        date_form_text(is, text);
        back = date_form_parse(text);
        assert_true(back.orders == is.orders && back.mark == is.mark && back.named == is.named);
    }
    assert_int_equal(date_form_parse("dd mm yyyy").orders, 0);
    assert_int_equal(date_common(look("03-Jan-2020"), look("03-01-2020")).orders, 0);
    date_form_text(look("12-31-2020 11:00Z"), text);
    date_form form = date_form_parse(text);
    assert_true(form.orders == DATE_MDY && form.mark == '-' && form.zoned);
    assert_int_equal(date_form_parse("yyyy-mm").orders, 0);
    assert_int_equal(date_common(look("2020-01-01"), look("2020/01/01")).orders, 0);
    assert_int_equal(date_common(look("01/02/2020"), look("13/02/2020")).orders, DATE_DMY);
}

/* ---- Lists ---- */

static void lists_of_names_and_periods(void **state)
{
    (void)state;
    char name[64], unit[PERIOD_ROOM];
    double period;
    const char *p = list_take("\"a,\"\"b\",c", name);
    assert_string_equal(name, "a,\"b");
    assert_string_equal(p, "c");
    assert_null(list_take("\"a", name));
    assert_null(list_take("\"a\"b", name));
    p = period_next("auto,a:b:week,\"c,d\":24.5", name, unit, &period);
    assert_string_equal(name, "");
    p = period_next(p, name, unit, &period);
    assert_string_equal(name, "a:b");
    assert_string_equal(unit, "week");
    assert_true(period == 7 * 86400.0);
    p = period_next(p, name, unit, &period);
    assert_string_equal(name, "c,d");
    assert_string_equal(unit, "24.5");
    assert_true(period == 24.5 && *p == '\0');
    static const char *const bad[] = {"a",     "a:",    ":week", "a:0",    "a:-1", "a:month",
                                      "a:inf", "a:nan", "\"a:1", "\"a\"1", "a:1 ", ",a:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (period_next(bad[i], name, unit, &period))
            fail_msg("%s is a list of periods", bad[i]);
}

/* ---- Inputs ---- */

static void made_inputs_by_their_formulas(void **state)
{
    (void)state;
    made_input of[] = {{.column = 1, .kind = MADE_SIN, .period = 24.0},
                       {.column = 1, .kind = MADE_COS, .period = 24.0}};
    made_inputs m = {.columns = 2, .count = 2, .of = of};
    const double T[] = {1, 6, 7.5, 24e6 + 3, 2, -6};
    double X[12];
    made_apply(&m, 3, T, X);
    const double wanted[] = {1, 6, 1, 0, 7.5, 24e6 + 3, sqrt(0.5), sqrt(0.5), 2, -6, -1, 0};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_close(X[i], wanted[i], 1e-15);
}

/* There and back, and the chain rule against differences. */
static void places_and_degrees(void **state)
{
    (void)state;
    made_input of[] = {{.column = 2, .kind = MADE_X, .other = 0},
                       {.column = 2, .kind = MADE_Y, .other = 0},
                       {.column = 2, .kind = MADE_Z, .other = 0}};
    made_inputs m = {.columns = 3, .count = 3, .of = of};
    assert_int_equal(made_place(&m), 3);
    assert_true(made_hides(&m, 0) && !made_hides(&m, 1) && made_hides(&m, 2));
    for (double lat = -90.0; lat <= 90.0; lat += 22.5)
        for (double lon = 0.0; lon < 360.0; lon += 33.0) {
            const double T[] = {lat, 7, lon}, h = 1e-6;
            double X[6], low[6], high[6], g[6] = {0, 0, 0, 0.3, -2.0, 1.1};
            made_apply(&m, 1, T, X);
            assert_true(X[0] == 0.0 && X[1] == 7.0 && X[2] == 0.0);
            assert_close(X[3] * X[3] + X[4] * X[4] + X[5] * X[5], 1.0, 1e-15);
            made_slopes(&m, X, g);
            for (size_t d = 0; d < 3; d += 2) {
                double below[] = {lat, 7, lon}, above[] = {lat, 7, lon}, slope = 0.0;
                below[d] -= h;
                above[d] += h;
                made_apply(&m, 1, below, low);
                made_apply(&m, 1, above, high);
                for (size_t k = 3; k < 6; k++)
                    slope += g[k] * (high[k] - low[k]) / (2.0 * h);
                assert_close(g[d], slope, 1e-8);
            }
            made_degrees(&m, X);
            assert_close(X[0], lat, 1e-12);
            assert_close(X[2], lon, 1e-10);
        }
}

static void places_outside_are_refused(void **state)
{
    (void)state;
    made_input of[] = {{.column = 0, .kind = MADE_X, .other = 1}};
    made_inputs m = {.columns = 2, .count = 1, .of = of};
    char *names[] = {"east", "north"};
    const double good[][2] = {{-180, 90}, {360, -90}, {NAN, 3}}, bad[][2] = {{-181, 0}, {3, 91}};
    for (size_t i = 0; i < 3; i++)
        assert_ok(made_check(&m, good[i], "query", 1, names));
    assert_int_equal(made_check(&m, bad[0], "query", 8, names), QUORUM_E_DATA);
    assert_string_equal(quorum_message(),
                        "query 8: east is -181, and longitudes are from -180 to 360 degrees");
    assert_int_equal(made_check(&m, bad[1], "row", 9, names), QUORUM_E_DATA);
    assert_string_equal(quorum_message(),
                        "row 9: north is 91, and latitudes are from -90 to 90 degrees");
}

/* ---- Memory ---- */

static void write_table(void)
{
    FILE *f = fopen("t.csv", "w");
    assert_non_null(f);
    fputs("day,x,y\n", f);
    for (int i = 0; i < 60; i++)
        fprintf(f, "%02d/%02d/2020 %02d:00,%d,%g\n", 1 + i / 28, 1 + i % 28, i * 7 % 24, i * i % 7,
                sin(i / 7.0));
    assert_int_equal(fclose(f), 0);
}

static quorum_status predict_saved(const quorum_options *o, double mean[2])
{
    quorum_model *model = NULL;
    quorum_stream *stream = NULL;
    double X[2 * 6];
    size_t rows = 0;
    quorum_prediction out = {.mean = mean};
    quorum_status status = quorum_load("m.npz", &model);
    if (status >= 0)
        status = quorum_stream_open("t.csv", model, 0, o, &stream);
    if (status >= 0)
        status = quorum_stream_next(stream, 2, X, NULL, &rows);
    if (status >= 0)
        status = quorum_predict(model, X, rows, o, &out, NULL);
    quorum_stream_close(stream);
    quorum_model_free(model);
    return status;
}

static quorum_status go_all_the_way(const quorum_options *o, double mean[2])
{
    quorum_data *data = NULL;
    quorum_model *model = NULL;
    quorum_status status = quorum_data_read("t.csv", o, &data);
    if (status >= 0)
        status = quorum_fit_data(data, o, &model);
    if (status >= 0)
        status = quorum_save(model, "m.npz");
    quorum_data_free(data);
    quorum_model_free(model);
    return status < 0 ? status : predict_saved(o, mean);
}

static void memory_that_runs_out(void **state)
{
    (void)state;
    double mean[2], wanted[2];
    quorum_options *o = quorum_options_new();
    assert_ok(quorum_options_set(o, "theta", "1,1,1,1,1,1,1,0.1"));
    assert_ok(quorum_options_set(o, "kernel", "se"));
    assert_ok(quorum_options_set(o, "experts", "1"));
    assert_ok(quorum_options_set(o, "threads", "1"));
    assert_ok(quorum_options_set(o, "periodic", "auto"));
    write_table();
    assert_ok(go_all_the_way(o, wanted));
    for (long n = 1;; n++) {
        mem_fail_at(n);
        quorum_status status = go_all_the_way(o, mean);
        long asked = mem_allocations();
        mem_fail_at(0);
        if (status >= 0)
            assert_memory_equal(mean, wanted, sizeof mean);
        else
            assert_int_equal(status, QUORUM_E_MEMORY);
        if (asked < n) {
            assert_true(status >= 0 && n > 100);
            break;
        }
    }
    quorum_options_free(o);
}

static int enter_directory(void **state)
{
    static char name[] = "/tmp/quorum-dates-XXXXXX";
    (void)state;
    return mkdtemp(name) && chdir(name) == 0 ? 0 : -1;
}

static int leave_directory(void **state)
{
    char here[256];
    (void)state;
    (void)remove("t.csv");
    (void)remove("m.npz");
    return getcwd(here, sizeof here) && chdir("/") == 0 && rmdir(here) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_are_those_of_the_calendar),
        cmocka_unit_test(times_and_zones),
        cmocka_unit_test(forms_in_words),
        cmocka_unit_test(lists_of_names_and_periods),
        cmocka_unit_test(made_inputs_by_their_formulas),
        cmocka_unit_test(places_and_degrees),
        cmocka_unit_test(places_outside_are_refused),
        cmocka_unit_test(memory_that_runs_out),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
