/* Several targets of one table: a fit of each, as if the others were not there, or with share=theta by what a
 * fit to all together has learned (docs/methods.md, "Several targets"). */
#include "fit/fitting.h"

#include "base/memory.h"
#include "targets/combined.h"
#include "targets/several.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- The table of one of them ---- */

/* The place without those of the other targets. */
static size_t place_without(const quorum_data *d, size_t t, size_t place)
{
    size_t before = 0;
    for (size_t u = 0; u < d->targets; u++)
        before += u != t && d->target_place[u] < place;
    return place - before;
}

/* names (inputs + 1) has room for the names. */
static quorum_data table_of(const quorum_data *d, size_t t, char **names)
{
    quorum_data one = *d;
    one.y = d->target_y[t];
    one.weight_place = place_without(d, t, d->weight_place);
    one.noise_place = place_without(d, t, d->noise_place);
    one.target = place_without(d, t, d->target_place[t]);
    size_t before = (size_t)(d->weight && one.weight_place < one.target) +
                    (size_t)(d->noise_std && one.noise_place < one.target);
    one.target -= before;
    if (d->names) {
        memcpy(names, d->names, d->inputs * sizeof *names);
        names[d->inputs] = t == 0 ? d->names[d->inputs] : d->target_name[t];
        one.names = names;
    }
    return one;
}

static quorum_status check_targets(const quorum_data *d)
{
    size_t most = d->inputs + d->targets + 1;
    if (d->targets > MOST_TARGETS)
        return failure(QUORUM_E_ARGUMENT, "%zu targets, and %d are the most", d->targets,
                       MOST_TARGETS);
    if (d->offset || !d->target_y || !d->target_place || (d->names && !d->target_name))
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_fit_data: several targets have y, places and names "
                       "each, and no offset");
    for (size_t t = 0; t < d->targets; t++)
        if (!d->target_y[t] || d->target_place[t] > most ||
            (d->names && t > 0 && !d->target_name[t]))
            return failure(
                QUORUM_E_ARGUMENT,
                "quorum_fit_data: target %zu has no y or name, or its place is out of range",
                t + 1);
    return QUORUM_OK;
}

/* Names of targets differ from each other: from those of inputs each fit sees to it. */
static quorum_status check_names(const quorum_data *d)
{
    for (size_t t = 0; d->names && t < d->targets; t++)
        for (size_t u = 1; u < t; u++)
            if (strcmp(d->target_name[t], d->target_name[u]) == 0)
                return failure(QUORUM_E_DATA, "two targets are named \"%.200s\"",
                               d->target_name[t]);
    for (size_t t = 1; d->names && t < d->targets; t++)
        if (strcmp(d->target_name[t], d->names[d->inputs]) == 0)
            return failure(QUORUM_E_DATA, "two targets are named \"%.200s\"", d->target_name[t]);
    return QUORUM_OK;
}

/* What each target has of its own is not shared. */
static quorum_status check_sharing(const quorum_data *d, const settings *s)
{
    for (size_t i = 0; d->levels && i < d->inputs; i++)
        if (d->levels[i] > 0)
            return failure(
                QUORUM_E_ARGUMENT,
                "share theta does not go with categories, whose levels have positions of "
                "each target's own: fit without it, or leave them out");
    if (d->noise_std)
        return failure(QUORUM_E_ARGUMENT,
                       "share theta does not go with noise-std, which is not the same "
                       "in every target's units");
    if (s->trend == TREND_LINEAR || s->trend == TREND_AUTO)
        return failure(QUORUM_E_ARGUMENT,
                       "share theta does not go with a linear trend, which is each "
                       "target's own: give trend constant or none");
    if (s->warp != WARP_NONE)
        return failure(QUORUM_E_ARGUMENT, "share theta does not go with warp log or auto: take the "
                                          "logarithm of such targets before");
    if (s->local_noise == LOCAL_NOISE_YES)
        return failure(QUORUM_E_ARGUMENT, "share theta does not go with local-noise yes, which is "
                                          "each target's own");
    if (s->missing == MISSING_IMPUTE)
        return failure(QUORUM_E_ARGUMENT, "share theta does not go with missing impute: what a "
                                          "missing cell costs is each target's own");
    if (s->calibrate == CALIBRATE_STRICT)
        return failure(QUORUM_E_ARGUMENT, "share theta does not go with calibrate strict: theta is "
                                          "learned from all rows");
    return QUORUM_OK;
}

static quorum_status check_options(const quorum_data *d, const settings *s)
{
    if (s->share == SHARE_THETA)
        TRY(check_sharing(d, s));
    if (s->checkpoint[0] == '\0')
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT,
                   "checkpoint: it is of one fit, and several targets are several: "
                   "fit each by itself, or leave it off");
}

/* ---- One after another ---- */

typedef struct {
    const quorum_data *d;
    const quorum_options *options;
    char **names;
    quorum_model *m[MOST_TARGETS];
    quorum_model *shared; /* the fit to all together, or NULL */
    further_targets further;
    quorum_status event; /* the first that is not 0 ...      */
    char said[1024];     /* ... and what was said of all     */
} several;

/* A model without names calls its target y: of several they are y1, y2, ... */
typedef struct {
    quorum_model *m;
    size_t number;
} naming;

static quorum_status name_target(void *context)
{
    const naming *n = context;
    char **place = &n->m->columns.names[n->m->rows.D], made_up[32];
    snprintf(made_up, sizeof made_up, "y%zu", n->number);
    char *name = mem_copy_text(made_up);
    if (!name)
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    mem_free(*place);
    *place = name;
    return QUORUM_OK;
}

static void note_event(several *s, const char *name, quorum_status status)
{
    size_t used = strlen(s->said);
    if (status == QUORUM_OK)
        return;
    snprintf(s->said + used, sizeof s->said - used, "%starget %.100s: %s", used ? "; " : "", name,
             quorum_message());
    s->event = s->event == QUORUM_OK ? status : s->event;
}

enum { NAME = 120 };

static void take_name(const quorum_data *one, size_t t, char name[NAME])
{
    if (one->names)
        snprintf(name, NAME, "%.100s", one->names[one->inputs]);
    else
        snprintf(name, NAME, "%zu", t + 1);
}

static quorum_status fit_target(several *s, size_t t)
{
    quorum_data one = table_of(s->d, t, s->names);
    char name[NAME];
    take_name(&one, t, name);
    one.targets = s->shared ? 1 : one.targets; /* rows have all targets */
    shared_fit shared = {.model = s->shared,
                         .further = s->further.targets > 0 ? &s->further : NULL};
    further_targets_begin(&s->further, t);
    quorum_status status = fit_table(&one, s->options, s->shared ? &shared : NULL, &s->m[t]);
    if (status < 0)
        return failure_in(status, "target %s", name);
    note_event(s, name, status);
    naming n = {s->m[t], t + 1};
    return one.names ? QUORUM_OK : team_all(QUORUM_OK, name_target, &n);
}

/* ---- What they share ---- */

static quorum_status check_some(void *context, const row_range *range, int worker)
{
    (void)context, (void)worker;
    for (size_t i = 0; i < range->rows.n; i++)
        if (!isfinite(range->rows.y[i]))
            return failure(QUORUM_E_DATA, "row %zu: the target is %g: it must be finite",
                           range->first + i + 1, range->rows.y[i]);
    return QUORUM_OK;
}

static quorum_status combine(const several *s, double *z)
{
    const quorum_data *d = s->d;
    size_t which = d->targets;
    char name[NAME];
    quorum_status status = QUORUM_OK;
    for (size_t t = 0; t < d->targets && status >= 0; t++) {
        row_set own = rows_view_of(rows_share(d->rows), d->inputs, d->X, d->target_y[t]);
        scattered_rows rows = rows_scattered(d->rows, &own);
        which = t;
        status = rows_map(QUORUM_OK, &rows, 1, check_some, NULL, NULL, 0);
        rows.held.weight = d->weight;
        if (status >= 0 && t + 1 == d->targets)
            status = targets_combine(&rows, d->target_y, d->targets, z, &which);
    }
    if (status >= 0 || which == d->targets)
        return status;
    quorum_data one = table_of(d, which, s->names);
    take_name(&one, which, name);
    return failure_in(status, "target %s", name);
}

/* The fit to the sum of the standardised targets: nothing but what it has learned is kept. */
static quorum_status fit_combined(several *s, double *z)
{
    quorum_data one = table_of(s->d, 0, s->names);
    quorum_options o = *s->options;
    o.values.calibrate = CALIBRATE_NO;
    o.values.graph = GRAPH_AUTO;
    o.values.overlap = 0.0;
    one.y = z;
    one.targets = 1;
    quorum_status status = fit_table(&one, &o, NULL, &s->shared);
    s->event = status;
    if (status > 0)
        snprintf(s->said, sizeof s->said, "all targets together: %s", quorum_message());
    return status;
}

static quorum_status room_for_sum(void *context)
{
    double **z = context;
    return *z ? QUORUM_OK : failure(QUORUM_E_MEMORY, "out of memory for the sum of the targets");
}

static quorum_status learn_shared(several *s)
{
    double *z;
    if (options_values(s->options)->share != SHARE_THETA)
        return QUORUM_OK;
    NEW_ARRAY(z, rows_share(s->d->rows));
    quorum_status status = team_all(QUORUM_OK, room_for_sum, &z);
    if (status >= 0)
        status = combine(s, z);
    if (status >= 0)
        status = fit_combined(s, z);
    mem_free(z);
    return status >= 0 && team_is_alone()
               ? further_targets_new(s->d->targets - 1, s->d->rows, &s->further)
               : status;
}

/* The first target's seconds have those of what all share. */
static void count_seconds(const several *s)
{
    model_history *h = &s->m[0]->history;
    if (!s->shared)
        return;
    h->seconds_train += s->shared->history.seconds_train;
    h->seconds_total += s->shared->history.seconds_total;
}

static quorum_status join(void *context)
{
    several *s = context;
    return several_join(s->m, s->d->targets, s->d->target_place, s->shared != NULL);
}

static quorum_status fit_all(several *s)
{
    TRY(learn_shared(s));
    for (size_t t = 0; t < s->d->targets; t++)
        TRY(fit_target(s, t));
    count_seconds(s);
    return team_all(QUORUM_OK, join, s);
}

static quorum_status fit_several(const quorum_data *d, const quorum_options *options,
                                 quorum_model **model)
{
    several s = {.d = d, .options = options};
    TRY(check_targets(d));
    TRY(check_names(d));
    TRY(check_options(d, options_values(options)));
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(s.names, d->inputs + 1))
        status = failure(QUORUM_E_MEMORY, "out of memory for column names");
    else
        status = fit_all(&s);
    mem_free(s.names);
    quorum_model_free(s.shared);
    further_targets_free(&s.further);
    for (size_t t = 0; status < 0 && t < d->targets; t++)
        quorum_model_free(s.m[t]);
    if (status < 0)
        return status;
    *model = s.m[0];
    return s.event == QUORUM_OK ? QUORUM_OK : failure(s.event, "%s", s.said);
}

quorum_status quorum_fit_data(const quorum_data *data, const quorum_options *options,
                              quorum_model **model)
{
    if (!data || !model)
        return failure(QUORUM_E_ARGUMENT, "quorum_fit_data: data and model must not be NULL");
    *model = NULL;
    return data->targets > 1 ? fit_several(data, options, model)
                             : fit_table(data, options, NULL, model);
}
