/* The answers first: is it good, where is it bad, can the interval be trusted, what matters. */
#include "hyperparameters.h"
#include "io/plain_text.h"
#include "report/html.h"
#include "report/sections.h"

#include <math.h>
#include <string.h>

static const double IDLE = 0.01; /* a share below which an input hardly matters */
enum { NAMED = 5 };              /* of these                                    */

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

/* A sum of squares may be that of a few rows. */
static void say_dominant(FILE *file, const dominant_rows *d)
{
    if (d->count == 0)
        return;
    html_say(file, " %zu row%s make%s %.0f %% of the squared error: without %s it errs by %s",
             d->count, plural(d->count), d->count == 1 ? "s" : "", 100.0 * d->share,
             d->count == 1 ? "it" : "them", plain_number(d->rmse).text);
    if (isfinite(d->smse))
        html_say(file, " and explains %.1f %%", 100.0 * fmax(1.0 - d->smse, 0.0));
    html_text(file, ".");
}

static void say_good(FILE *file, const facts *f)
{
    double explained = 1.0 - f->scores.smse;
    ask(file, "Is it good?");
    if (f->rows.count < LEAST_ROWS)
        html_say(file,
                 "%zu row%s cannot tell. There it errs by %s (RMSE), where always saying the "
                 "training mean "
                 "errs by %s.",
                 f->rows.count, plural(f->rows.count), plain_number(f->scores.rmse).text,
                 plain_number(f->trivial.rmse).text);
    else if (isfinite(explained))
        html_say(file,
                 "%s: it explains %.1f %% of the variance of %s. Typically it errs by %s (RMSE), "
                 "where always saying the training mean errs by %s.",
                 praise(explained), 100.0 * fmax(explained, 0.0), target_label(&f->info).text,
                 plain_number(f->scores.rmse).text, plain_number(f->trivial.rmse).text);
    else
        html_say(file,
                 "Typically it errs by %s (RMSE), where always saying the training mean errs by "
                 "%s. The targets of "
                 "these rows do not vary.",
                 plain_number(f->scores.rmse).text, plain_number(f->trivial.rmse).text);
    say_dominant(file, &f->dominant);
    fputs("</dd>\n", file);
}

static void say_bad(FILE *file, const facts *f)
{
    size_t worst = 0;
    bool tells = false;
    for (size_t d = 0; d < f->info.columns; d++) {
        tells = tells || f->by_column[d].tells;
        if (f->by_column[d].excess > f->by_column[worst].excess)
            worst = d;
    }
    const grouping *by = &f->by_column[worst];
    ask(file, "Where is it bad?");
    if (by->excess > 1.2)
        html_say(file,
                 "Worst where %s is %s: there it errs by %s on %zu rows, %.1f times as much as "
                 "over all.",
                 input_name(&f->info, worst).text, by->group[by->worst].name,
                 plain_number(by->group[by->worst].scores.rmse).text,
                 by->group[by->worst].rows.count, by->excess);
    else if (tells)
        html_say(file, "Nowhere much more than elsewhere, along any column.");
    else
        html_say(file, "%zu row%s cannot tell: a group of them needs %d.", f->rows.count,
                 plural(f->rows.count), LEAST_ROWS);
    fputs("</dd>\n", file);
}

/* How far the group's coverage is from 95 %, if that is more than LITTLE and more than chance makes it in the worst of
 * a few hundred groups: 3.5 standard deviations; otherwise 0. */
static double clear_miss(const scored_group *g)
{
    double miss = g->scores.coverage - 0.95;
    double chance = 3.5 * sqrt(0.95 * 0.05 / (double)g->rows.count);
    return fabs(miss) > fmax(LITTLE, chance) ? miss : 0.0;
}

/* All rows together may hide that it is too narrow beside the data and too wide away from them, or the reverse. */
static void say_by_distance(FILE *file, const grouping *by)
{
    const scored_group *low = &by->group[0], *high = &by->group[0];
    for (size_t k = 1; k < by->count; k++) {
        low = by->group[k].scores.coverage < low->scores.coverage ? &by->group[k] : low;
        high = by->group[k].scores.coverage > high->scores.coverage ? &by->group[k] : high;
    }
    if (by->count > 1 && clear_miss(low) < 0.0)
        html_say(file,
                 " Of those whose nearest training row is %s length-scales away only %.1f %% are.",
                 low->name, 100.0 * low->scores.coverage);
    if (by->count > 1 && clear_miss(high) > 0.0)
        html_say(file, " Where it is %s length-scales away, %.1f %% are.", high->name,
                 100.0 * high->scores.coverage);
}

static void say_sure(FILE *file, const facts *f)
{
    static const char *const answer[] = {
        [COVERS] = "Yes",
        [A_LITTLE_NARROW] = "Yes, though it is a little narrow",
        [A_LITTLE_WIDE] = "Yes, though it is a little wide",
        [TOO_NARROW] = "No, it is too narrow",
        [TOO_WIDE] = "It is on the safe side, too wide",
        [TOO_FEW] = "So few rows cannot tell, though nothing is wrong",
    };
    coverage c = find_coverage(&f->rows);
    ask(file, "Can I trust the interval?");
    html_say(file,
             "%s: %.1f %% of the rows are inside their 95 %% interval; with an interval that is "
             "right, chance puts %.1f to %.1f %% of %zu row%s there.",
             answer[judge_coverage(&c)], 100.0 * c.share[LEVEL_95], 100.0 * c.low[LEVEL_95],
             100.0 * c.high[LEVEL_95], c.rows, plural(c.rows));
    if (f->rows.weighted)
        html_say(file, " (By their weights the %zu rows tell as much as that.)", f->rows.count);
    say_by_distance(file, &f->by_distance);
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
    if (s->about.inputs == 1) {
        html_say(file, "%s, the only input.", importance_name(s, 0).text);
        return;
    }
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

/* "Hardly anything depends on floor, time." */
static void say_idle(FILE *file, const importance_found *s)
{
    char text[400] = "", name[64];
    size_t used = 0, named = 0, idle = 0;
    for (size_t k = 0; k < s->about.inputs; k++) {
        const quorum_input_importance *i = &s->input[k];
        if (!(i->total.high < IDLE && i->first.low < IDLE))
            continue;
        idle++;
        if (named == NAMED)
            continue;
        name_text whole = importance_name(s, k);
        plain_text_copy(name, sizeof name, whole.text);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s", named++ ? ", " : "",
                                 name, strlen(whole.text) >= sizeof name ? "..." : "");
    }
    if (idle > named)
        snprintf(text + used, sizeof text - used, " and %zu more", idle - named);
    if (idle > 0)
        html_say(file, " Hardly anything depends on %s.", text);
}

static void say_matters(FILE *file, const facts *f)
{
    ask(file, "What matters?");
    if (f->shares.about.inputs > 0) {
        say_shares(file, &f->shares);
        say_idle(file, &f->shares);
    } else
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
        html_say(file, "All of this is measured on the %zu row%s of %s, the asked row%s%s.",
                 f->rows.count, plural(f->rows.count), f->test, plural(f->rows.count),
                 f->of_training ? "; what matters is of training rows" : "");
    else
        html_say(file,
                 "All of this is measured on left-out rows, the asked rows: %zu of the %zu "
                 "training rows were taken "
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
