/* Counts of numerical events, summed over chunks of rows, and the notes made of them. */
#include "events.h"

#include "hyperparameters.h"
#include "talk.h"

#include <stdio.h>
#include <string.h>

void add_events(quorum_report *total, const quorum_report *r, size_t rows)
{
    total->experts_used += r->experts_used * (double)rows;
    total->prior_fallbacks += r->prior_fallbacks;
    total->clamped += r->clamped;
    total->jittered += r->jittered;
    total->pseudo_inverses += r->pseudo_inverses;
    total->unsure += r->unsure;
    total->off_constants += r->off_constants;
    total->outside += r->outside;
    total->unseen += r->unseen;
    total->filled += r->filled;
    total->filled_anew += r->filled_anew;
    total->seconds += r->seconds;
    total->calibrated = r->calibrated;
    total->calibration_unused = r->calibration_unused;
    total->method = r->method;
}

void note_calibration(const arguments *given, const char *what, const quorum_model *model)
{
    quorum_info info;
    if (quorum_inspect(model, &info) >= 0 && info.calibration_for)
        note(given,
             "%s not calibrated: this model's calibration is for new observations by %s; for "
             "others 'quorum fit --calibrate' takes --method, --select, --neighbours and --space, "
             "and --calibration off leaves it out",
             what, info.calibration_for);
}

/* "3 systems needed jitter" */
static void append_count(char *text, size_t size, size_t count, const char *noun, const char *what)
{
    size_t used = strlen(text);
    if (count && used < size)
        snprintf(text + used, size - used, "%s%zu %s%s %s", used ? ", " : "", count, noun,
                 plural(count), what);
}

/* The bound is crude, so this is for those who want to know. */
static void say_unsure(const arguments *given, const char *name, size_t unsure, size_t rows)
{
    if (unsure > 0)
        detail(given,
               "%s: at %zu of %zu queries another expert might explain more: raise K in local:K",
               name, unsure, rows);
}

void note_events(const arguments *given, const char *name, const quorum_report *r, size_t rows)
{
    char text[320] = "";
    append_count(text, sizeof text, r->prior_fallbacks, "prediction", "fell back to the prior");
    append_count(text, sizeof text, r->clamped, "variance", "had to be clamped");
    append_count(text, sizeof text, r->jittered, "system", "needed jitter");
    append_count(text, sizeof text, r->pseudo_inverses, "system", "needed a pseudo-inverse");
    if (text[0])
        note(given, "%s: %s", name, text);
    say_unsure(given, name, r->unsure, rows);
}

void note_off_constants(const arguments *given, const quorum_model *model, const quorum_report *r)
{
    quorum_info info;
    if (r->off_constants == 0 || quorum_inspect(model, &info) < 0)
        return;
    note(given,
         "%zu row%s with another value of a constant input (%s) than the training data: it has no "
         "effect, since nothing could be learned about it",
         r->off_constants, plural(r->off_constants), constant_names(&info).text);
}

void note_filled(const arguments *given, const quorum_report *r)
{
    if (r->filled > 0)
        note(given,
             "%zu row%s with missing cells filled: intervals are wider there by what the cells "
             "would "
             "have told",
             r->filled, plural(r->filled));
    if (r->filled_anew > 0)
        note(given,
             "%zu of them in a column that has all its cells in the training data: what is usual "
             "where it is missing is not known",
             r->filled_anew);
}

void note_unseen(const arguments *given, const quorum_report *r)
{
    if (r->unseen > 0)
        note(given,
             "%zu row%s with a level that was not in the training data: predicted as one more of "
             "its kind, with the variance that this leaves; --unseen error refuses them",
             r->unseen, plural(r->unseen));
}

bool has_graph(const quorum_model *model)
{
    quorum_info info;
    return quorum_inspect(model, &info) >= 0 && info.ranking;
}

void note_learned_graph(const arguments *given, const quorum_model *model, bool had_graph)
{
    quorum_info info;
    if (!had_graph && quorum_inspect(model, &info) >= 0 && info.graph_trouble)
        note(given, "the expert graph is only approximate: %s", info.graph_trouble);
}

void note_outside(const arguments *given, const quorum_report *r, size_t rows)
{
    if (2 * r->outside > rows)
        note(given,
             "%zu of %zu queries are outside the data: more than 90 %% of the prior variance is "
             "left "
             "there (--novelty), and predictions are little more than the trend",
             r->outside, rows);
}
