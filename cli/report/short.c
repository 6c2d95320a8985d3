/* The answers first: is it good, where is it bad, can the interval be trusted, what matters. */
#include "hyperparameters.h"
#include "report/html.h"
#include "report/sections.h"

#include <math.h>

void begin_section(FILE *file, const char *id, const char *title)
{
    fprintf(file, "<section id=\"%s\">\n<h2>", id);
    html_text(file, title);
    fputs("</h2>\n", file);
}

static void ask(FILE *file, const char *question)
{
    fputs("<dt>", file);
    html_text(file, question);
    fputs("</dt>\n<dd>", file);
}

/* By the share of the target's variance that is explained. */
static const char *praise(double explained)
{
    return explained >= 0.9   ? "Very good"
           : explained >= 0.5 ? "Useful"
           : explained > 0.05 ? "Weak"
                              : "No better than the mean";
}

static void say_good(FILE *file, const facts *f)
{
    double explained = 1.0 - f->scores.smse;
    ask(file, "Is it good?");
    if (isfinite(explained))
        html_say(file,
                 "%s: it explains %.1f %% of the variance of %s. Typically it errs by %s (RMSE), "
                 "where always saying the training mean errs by %s.",
                 praise(explained), 100.0 * fmax(explained, 0.0), target_label(&f->info).text,
                 plain_number(f->scores.rmse).text, plain_number(f->trivial.rmse).text);
    else
        html_say(file, "Typically it errs by %s (RMSE). The targets of these rows do not vary.",
                 plain_number(f->scores.rmse).text);
    fputs("</dd>\n", file);
}

static void say_bad(FILE *file, const facts *f)
{
    size_t worst = 0;
    for (size_t d = 1; d < f->info.columns; d++)
        if (f->by_column[d].excess > f->by_column[worst].excess)
            worst = d;
    const grouping *by = &f->by_column[worst];
    ask(file, "Where is it bad?");
    if (by->excess > 1.2)
        html_say(file,
                 "Worst where %s is %s: there it errs by %s on %zu rows, %.1f times as much as "
                 "over all.",
                 input_name(&f->info, worst).text, by->group[by->worst].name,
                 plain_number(by->group[by->worst].scores.rmse).text,
                 by->group[by->worst].rows.count, by->excess);
    else
        html_say(file, "Nowhere much more than elsewhere, along any column.");
    fputs("</dd>\n", file);
}

static void say_sure(FILE *file, const facts *f)
{
    static const char *const answer[] = {
        [COVERS] = "Yes",
        [A_LITTLE_NARROW] = "Yes, though it is a little narrow",
        [A_LITTLE_WIDE] = "Yes, though it is a little wide",
        [TOO_NARROW] = "No, it is too narrow",
        [TOO_WIDE] = "It is on the safe side, too wide",
    };
    coverage c = find_coverage(&f->rows);
    ask(file, "Can I trust the interval?");
    html_say(file,
             "%s: %.1f %% of the rows are inside their 95 %% interval; with an interval that is "
             "right, chance puts %.1f to %.1f %% of %zu rows there.",
             answer[judge_coverage(&c)], 100.0 * c.share[LEVEL_95], 100.0 * c.low[LEVEL_95],
             100.0 * c.high[LEVEL_95], f->rows.count);
    fputs("</dd>\n", file);
}

/* Where rows are too few to say what the prediction depends on. */
static void say_bends(FILE *file, const facts *f)
{
    size_t best = f->info.inputs;
    for (size_t d = 0; d < f->info.inputs; d++)
        if (!is_level(&f->info, d) &&
            (best == f->info.inputs ||
             inverse_lengthscale_share(&f->info, d) > inverse_lengthscale_share(&f->info, best)))
            best = d;
    html_say(file,
             "The prediction bends most quickly along %s. That is not yet importance: a "
             "straight line bends nowhere, however steep it is.",
             input_name(&f->info, best).text);
}

/* The input that tells most by itself, and the one that the others tell least of. */
static void say_shares(FILE *file, const importance_found *s)
{
    size_t first = 0; /* total: they are in that order */
    for (size_t k = 1; k < s->about.inputs; k++)
        if (s->input[k].first.value > s->input[first].first.value)
            first = k;
    html_say(file, "By itself %s tells most: %.0f %% of what varies in the predictions.",
             importance_name(s, first).text, 100.0 * fmax(s->input[first].first.value, 0.0));
    double open = 100.0 * fmax(s->input[0].total.value, 0.0);
    if (first == 0)
        html_say(file, " It is also what the others tell least of: without it %.0f %% is open.",
                 open);
    else
        html_say(file, " What the others do not tell is most in %s: without it %.0f %% is open.",
                 importance_name(s, 0).text, open);
}

static void say_matters(FILE *file, const facts *f)
{
    ask(file, "What matters?");
    if (f->shares.about.inputs > 0)
        say_shares(file, &f->shares);
    else
        say_bends(file, f);
    fputs("</dd>\n", file);
}

int write_short(FILE *file, const facts *f)
{
    begin_section(file, "short", "In short");
    fputs("<dl class=\"answers\">\n", file);
    say_good(file, f);
    say_bad(file, f);
    say_sure(file, f);
    say_matters(file, f);
    fputs("</dl>\n<p>", file);
    if (f->test)
        html_say(file, "All of this is measured on the %zu rows of %s.", f->rows.count, f->test);
    else
        html_say(
            file,
            "All of this is measured on left-out rows: %zu of the %zu training rows were taken "
            "out of the model, which was then asked about them. How the model was tuned had "
            "seen them, so figures can be a little too good; --test with rows of your own is "
            "the honest measure.",
            f->rows.count, f->info.rows);
    if (f->rows.count > f->shown_count)
        html_say(file,
                 " Charts of single rows show %zu of them, chosen by a fixed rule that "
                 "favours none; all figures, groups and tables are of all.",
                 f->shown_count);
    fputs("</p>\n</section>\n", file);
    return EXIT_DONE;
}
