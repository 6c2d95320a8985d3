/* quorum compare: two models and test data in; which is better, by how much, and is it chance. */
#include "arguments.h"
#include "bootstrap.h"
#include "breakdown.h"
#include "command.h"
#include "events.h"
#include "report.h"
#include "output.h"
#include "progress.h"
#include "rows.h"
#include "table.h"
#include "talk.h"
#include "targets.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { A, B, SIDES };
static const char *const letter[SIDES] = {"A", "B"};

/* The losses that are compared: the smaller the better. */
enum { SQUARED, NLPD, CRPS, LOSSES };
static const struct {
    const char *name, *key;
    bool relative; /* a change is a share: of a logarithm that would say nothing */
} losses[LOSSES] = {
    {"squared error", "squared_error", true}, {"NLPD", "nlpd", false}, {"CRPS", "crps", true}};

typedef struct {
    chosen_targets targets;
    quorum_model *model;
    quorum_info info;
    row_block rows;
    const char *method; /* that predicted */
} side;

typedef struct {
    side side[SIDES];
    breakdown rows; /* way A and way B; one group without --by */
    bool has_by;
    progress progress;
    loss_pair *pairs; /* of one group's rows */
} work;

/* ---- Predicting ---- */

static int load_side(side *s, const arguments *given, int which)
{
    arguments of = *given;
    of.operands[0] = given->operands[which];
    int code = chosen_load_one(&s->targets, &of);
    if (code != EXIT_DONE)
        return code;
    s->model = s->targets.model[0];
    quorum_status status = quorum_inspect(s->model, &s->info);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

static int open_side(work *w, int which, const arguments *given)
{
    side *s = &w->side[which];
    bool with_key = which == A && w->has_by && !w->rows.by_distance;
    quorum_stream_request wanted = {
        .with_target = true, .column = with_key ? w->rows.by : NULL, .keep = ""};
    quorum_status status =
        rows_open_with(&s->rows, given->operands[2], s->model, &wanted, 2, given);
    return status < 0 ? library_failure(given, status) : EXIT_DONE;
}

static int check_targets(const work *w, const arguments *given)
{
    const char *a = name_of_target(w->side[A].model), *b = name_of_target(w->side[B].model);
    if (a && b && strcmp(a, b) != 0)
        return failure(given, "A predicts %s and B predicts %s: models of one target are compared",
                       shown(a).text, shown(b).text);
    return EXIT_DONE;
}

/* Why the side has left the row out; "": it is not known. */
static const char *why_left_out(const side *s, size_t row)
{
    for (size_t i = 0; quorum_stream_dropped_row(s->rows.stream, i) > 0; i++)
        if (quorum_stream_dropped_row(s->rows.stream, i) == row)
            return quorum_stream_why_dropped(s->rows.stream, i);
    return "";
}

static int fail_by_row(const work *w, size_t row, int with, int without, const arguments *given)
{
    const char *why = why_left_out(&w->side[without], row);
    if (!why[0])
        return failure(given,
                       "%s: the models do not leave out the same rows: row %zu is predicted by %s "
                       "alone; give a file without missing cells",
                       given->operands[2], row, letter[with]);
    return failure(given,
                   "%s: the models do not leave out the same rows: row %zu is predicted by %s "
                   "alone; %s leaves it out (%s): give a file without such rows",
                   given->operands[2], row, letter[with], letter[without], why);
}

/* Both have read the same rows of the file. */
static int check_rows(const work *w, const arguments *given)
{
    const row_block *a = &w->side[A].rows, *b = &w->side[B].rows;
    size_t i = 0;
    while (i < a->count && i < b->count && a->kept.number[i] == b->kept.number[i])
        i++;
    if (i == a->count && i == b->count)
        return EXIT_DONE;
    size_t in_a = i < a->count ? a->kept.number[i] : SIZE_MAX;
    size_t in_b = i < b->count ? b->kept.number[i] : SIZE_MAX;
    return in_a < in_b ? fail_by_row(w, in_a, A, B, given) : fail_by_row(w, in_b, B, A, given);
}

static int predict_side(work *w, int which, const arguments *given)
{
    side *s = &w->side[which];
    quorum_report report = {0};
    quorum_prediction out = {.mean = s->rows.result[0],
                             .std = s->rows.result[1],
                             .offset = s->rows.offset,
                             .noise_std = s->rows.noise};
    quorum_distribution z;
    breakdown_ask(&w->rows, (size_t)which, &out);
    progress_task(&w->progress, "%s, rows from %zu", letter[which], w->rows.rows + 1);
    quorum_status status =
        quorum_predict(s->model, s->rows.X, s->rows.count, given->options, &out, &report);
    progress_clear(&w->progress);
    if (status >= 0)
        status = quorum_distribution_of(s->model, given->options, &z);
    if (status < 0)
        return library_failure(given, status);
    breakdown_keep(&w->rows, (size_t)which, s->rows.count, &out, &z);
    if (report.calibration_unused && !s->method)
        note_calibration(given, which == A ? "A: this prediction is" : "B: this prediction is",
                         s->model);
    s->method = report.method;
    return EXIT_DONE;
}

/* The rows that were just read, by both; without --by they are alike. */
static int predict_rows(work *w, const arguments *given)
{
    const row_block *a = &w->side[A].rows;
    w->rows.weighted = a->weights != NULL;
    int code = check_rows(w, given);
    if (code == EXIT_DONE)
        code = breakdown_reserve(&w->rows, given, a->count);
    for (int k = A; code == EXIT_DONE && k < SIDES; k++)
        code = predict_side(w, k, given);
    if (code != EXIT_DONE)
        return code;
    for (size_t i = 0; i < a->count && !w->has_by; i++)
        w->rows.key[w->rows.rows + i] = 0.0;
    breakdown_take(&w->rows, a->count, a->column, a->y, a->weights);
    return EXIT_DONE;
}

static size_t block_rows(const work *w, const arguments *given)
{
    size_t a = quorum_block_rows(w->side[A].model, given->options);
    size_t b = quorum_block_rows(w->side[B].model, given->options);
    size_t smaller = a < b ? a : b;
    return smaller ? smaller : 1;
}

static int predict_all(work *w, const arguments *given)
{
    size_t limit = rows_limit(block_rows(w, given), given);
    int code = EXIT_DONE;
    bool more = true;
    while (code == EXIT_DONE && more) {
        for (int k = A; code == EXIT_DONE && k < SIDES; k++)
            code = rows_next(&w->side[k].rows, limit, given);
        more = w->side[A].rows.count > 0 || w->side[B].rows.count > 0;
        if (code == EXIT_DONE && more)
            code = predict_rows(w, given);
    }
    if (code == EXIT_DONE && w->rows.rows == 0)
        return failure(given, "%s: has no rows to compare on", given->operands[2]);
    return code == EXIT_DONE ? breakdown_group(&w->rows, given) : code;
}

/* ---- Losses ---- */

static double loss_of(const work *w, int which, size_t i, int loss)
{
    const predicted_rows *p = &w->rows.way[which];
    double error = w->rows.y[i] - p->mean[i];
    quorum_scores one = {0};
    quorum_metrics m;
    if (loss == SQUARED)
        return error * error;
    quorum_scores_add_model(&one, &w->side[which].info, 1, &w->rows.y[i], &p->mean[i], &p->std[i],
                            &p->z);
    quorum_scores_finish(&one, &m);
    return loss == NLPD ? m.nlpd : m.crps;
}

static int change_in(work *w, const row_group *g, int loss, const arguments *given,
                     loss_change *out)
{
    for (size_t k = 0; k < g->count; k++) {
        size_t i = w->rows.order[g->first + k];
        w->pairs[k] = (loss_pair){.a = loss_of(w, A, i, loss),
                                  .b = loss_of(w, B, i, loss),
                                  .weight = w->rows.weighted ? w->rows.weight[i] : 1.0};
    }
    return bootstrap_change(w->pairs, g->count, losses[loss].relative, out)
               ? EXIT_DONE
               : failure(given, "out of memory for comparing");
}

/* All rows as one group. */
static row_group everything(const work *w)
{
    return (row_group){.count = w->rows.rows};
}

/* ---- Telling ---- */

static const char *verdict(const loss_change *c)
{
    if (c->low == 0.0 && c->high == 0.0)
        return "the same";
    return c->high < 0.0 ? "B is better" : c->low > 0.0 ? "A is better" : "may be chance";
}

static void add_change(table *t, const loss_change *c, int loss)
{
    if (losses[loss].relative) {
        table_add(t, "%+.1f %%", 100.0 * c->change);
        table_add(t, "%+.1f to %+.1f", 100.0 * c->low, 100.0 * c->high);
    } else {
        table_add(t, "%+.4f", c->change);
        table_add(t, "%+.4f to %+.4f", c->low, c->high);
    }
    table_add(t, "%s", verdict(c));
}

/* Each model by itself. */
static int print_models(const work *w, const arguments *given)
{
    static const char *const titles[] = {"",    "model", "method", "SMSE", "MSLL",
                                         "MAE", "RMSE",  "CRPS",   "95 %", "width"};
    table t;
    table_start(&t, "lllrrrrrrr", titles);
    for (int k = A; k < SIDES; k++) {
        const predicted_rows *p = &w->rows.way[k];
        row_group all = everything(w);
        quorum_scores sums = {0};
        quorum_metrics m;
        quorum_scores_add_weighted(&sums, &w->side[k].info, w->rows.rows, w->rows.y, p->mean,
                                   p->std, &p->z, w->rows.weighted ? w->rows.weight : NULL);
        quorum_scores_finish(&sums, &m);
        group_scores s = breakdown_scores(&w->rows, (size_t)k, &all, &w->side[k].info);
        table_add(&t, "%s", letter[k]);
        table_add(&t, "%s", given->operands[k]);
        table_add(&t, "%s", w->side[k].method ? w->side[k].method : "");
        const double values[] = {m.smse, m.msll, m.mae, m.rmse, m.crps};
        for (int j = 0; j < 5; j++)
            table_add_real(&t, values[j]);
        table_add(&t, "%.1f", 100.0 * s.coverage);
        table_add_real(&t, s.width);
    }
    return table_finish(&t, given);
}

static int print_changes(work *w, const arguments *given)
{
    static const char *const titles[] = {"from A to B", "A", "B", "change", "95 % of draws", ""};
    row_group all = everything(w);
    int code = EXIT_DONE;
    table t;
    table_start(&t, "lrrrrl", titles);
    for (int k = 0; code == EXIT_DONE && k < LOSSES; k++) {
        loss_change c = {0};
        code = change_in(w, &all, k, given, &c);
        table_add(&t, "%s", losses[k].name);
        table_add_real(&t, c.a);
        table_add_real(&t, c.b);
        add_change(&t, &c, k);
    }
    printf("\n");
    int told = table_finish(&t, given);
    return code == EXIT_DONE ? told : code;
}

/* Where: by squared error and by density, group by group. */
static int print_groups(work *w, const arguments *given)
{
    shown_text by = shown(w->rows.by);
    const char *titles[] = {by.text, "rows", "squared error", "95 % of draws",
                            "",      "NLPD", "95 % of draws", ""};
    int code = EXIT_DONE;
    table t;
    table_start(&t, "lrrrlrrl", titles);
    for (size_t g = 0; code == EXIT_DONE && g < w->rows.groups; g++) {
        const row_group *group = &w->rows.group[g];
        char name[CELL_SIZE];
        group_name(&w->rows, group, name, sizeof name);
        table_add(&t, "%s", name);
        table_add(&t, "%zu", group->count);
        for (int k = SQUARED; k <= NLPD; k++) {
            loss_change c = {0};
            if (code == EXIT_DONE)
                code = change_in(w, group, k, given, &c);
            add_change(&t, &c, k);
        }
    }
    printf("\n");
    int told = table_finish(&t, given);
    return code == EXIT_DONE ? told : code;
}

static void put_change(json_writer *j, const loss_change *c, int loss)
{
    json_key(j, losses[loss].key);
    json_begin_object(j);
    json_member_number(j, "a", c->a);
    json_member_number(j, "b", c->b);
    json_member_number(j, losses[loss].relative ? "relative_change" : "change", c->change);
    json_member_number(j, "low", c->low);
    json_member_number(j, "high", c->high);
    json_member_text(j, "better", c->high < 0.0 ? "B" : c->low > 0.0 ? "A" : "");
    json_end(j);
}

static int put_group(work *w, json_writer *j, const row_group *g, const arguments *given)
{
    int code = EXIT_DONE;
    json_member_count(j, "rows", g->count);
    for (int k = 0; code == EXIT_DONE && k < LOSSES; k++) {
        loss_change c = {0};
        code = change_in(w, g, k, given, &c);
        put_change(j, &c, k);
    }
    return code;
}

static int print_as_json(work *w, const arguments *given)
{
    json_writer j = json_to_file(stdout);
    row_group all = everything(w);
    json_begin_object(&j);
    int code = put_group(w, &j, &all, given);
    if (w->has_by) {
        json_member_text(&j, "by", w->rows.by);
        json_key(&j, "groups");
        json_begin_list(&j);
        for (size_t g = 0; code == EXIT_DONE && g < w->rows.groups; g++) {
            json_begin_object(&j);
            char name[CELL_SIZE];
            group_name(&w->rows, &w->rows.group[g], name, sizeof name);
            json_member_text(&j, "name", name);
            json_member_number(&j, "low", w->rows.group[g].low);
            json_member_number(&j, "high", w->rows.group[g].high);
            code = put_group(w, &j, &w->rows.group[g], given);
            json_end(&j);
        }
        json_end(&j);
    }
    json_end(&j);
    return code == EXIT_DONE ? json_report(&j, given) : code;
}

/* Both leave out the same. */
static void note_dropped(const work *w, const arguments *given)
{
    const quorum_stream *stream = w->side[A].rows.stream;
    size_t dropped = quorum_stream_dropped(stream);
    if (dropped)
        note(given, "%zu row%s with missing cells left out: %s", dropped, plural(dropped),
             dropped_rows(stream).text);
}

static int tell(work *w, const arguments *given)
{
    note_dropped(w, given);
    w->pairs = malloc(w->rows.rows * sizeof *w->pairs);
    if (!w->pairs)
        return failure(given, "out of memory for %zu test rows", w->rows.rows);
    if (argument_value(given, "json"))
        return print_as_json(w, given);
    int code = print_models(w, given);
    if (code == EXIT_DONE)
        code = print_changes(w, given);
    if (code == EXIT_DONE && w->has_by)
        code = print_groups(w, given);
    return code;
}

static int compare(work *w, const arguments *given)
{
    const char *by = argument_value(given, "by");
    int code = EXIT_DONE;
    if (strcmp(given->operands[2], "-") == 0)
        return usage_error(given->command, "standard input can be read once: give a file");
    w->has_by = by != NULL;
    code = breakdown_start(&w->rows, given, by ? by : "", SIDES);
    for (int k = A; code == EXIT_DONE && k < SIDES; k++)
        code = load_side(&w->side[k], given, k);
    if (code == EXIT_DONE)
        code = check_targets(w, given);
    for (int k = A; code == EXIT_DONE && k < SIDES; k++)
        code = open_side(w, k, given);
    breakdown_name_keys(&w->rows, &w->side[A].info,
                        quorum_stream_column_place(w->side[A].rows.stream));
    if (code == EXIT_DONE)
        code = predict_all(w, given);
    return code == EXIT_DONE ? tell(w, given) : code;
}

static int run_compare(const arguments *given)
{
    work w = {0};
    detail_settings(given);
    progress_start(&w.progress, given);
    int code = compare(&w, given);
    progress_clear(&w.progress);
    for (int k = A; k < SIDES; k++) {
        rows_close(&w.side[k].rows);
        chosen_free(&w.side[k].targets);
    }
    breakdown_free(&w.rows);
    free(w.pairs);
    return code;
}

static const operand operands[] = {
    {"A", "A model file written by 'quorum fit'."},
    {"B", "Another one, of the same target; its inputs may be others."},
    {"TEST", "Test data with the target's column: csv, csv.gz, npy or npz."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"by", 0, "KEY", NULL, NULL,
     "Also compare in groups of rows, about a tenth of them each: by 'distance', to the nearest "
     "training row of A in length-scales, or by a column of TEST, which need not be an input "
     "(name, or number from 1). Up to ten different values are a group each; of a category with "
     "more levels the nine that most rows have are, and the others one. Rows without a value are "
     "one more, '(no value)'."},
    {"json", 0, NULL, NULL, NULL, "Print the comparison as JSON."},
    TARGET_FLAG_ONE,
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command compare_command = {
    .name = "compare",
    .summary = "say which of two models is better, and whether it may be chance",
    .usage = "A B TEST [--by KEY] [options]",
    .description =
        "Predicts TEST with both models and prints the scores of each, and how much squared error, "
        "NLPD (minus the log density of the target) and CRPS change from A to B. Rows are then "
        "drawn again, with replacement, 2,000 times: where 95 % of the draws have a change of the "
        "same sign, one model is called better; otherwise the difference may be chance. That is "
        "about new rows of the same kind as TEST, not about models fitted to other data.",
    .option_names =
        "weights noise-std header missing decimal thousands comment query method select "
        "neighbours space graph-on interval-shape calibration threads memory",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum compare old.npz new.npz test.csv\n"
                "  quorum compare with.npz without.npz test.csv --by distance\n"
                "  quorum compare a.npz b.npz test.csv --by city --json\n",
    .lists_methods = true,
    .run = run_compare,
};
