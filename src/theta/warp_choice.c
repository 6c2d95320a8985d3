/* Whether the target is modelled as it is or by its logarithm (warp=auto).  It is tried where targets by
 * themselves, without any inputs, are more like a Gaussian's as logarithms, with standard deviations sd:
 *
 *   mean log N(w(y)) - w(y)  exceeds  mean log N(y)  by   log sd(y) - log sd(w) - mean w > WORTH_A_TRY
 *
 * by a first look and a quick round on both, and the same rows left out.  Densities are those of the
 * target itself:
 *
 *   log p(y) = log p(w(y)) + log w'(y),   w(y) = log(y + c):   log w'(y) = -w(y)
 *
 * of standardised numbers z = (w(y) - y_mean) / y_scale also -log y_scale.  The logarithm is taken where
 * the density is higher by more than chance and the mean of y has no larger squared errors, up to CHANCE standard
 * errors: relative errors can shrink while those of the largest targets grow.
 *
 * Everything is found anew afterwards: a fit by auto is that of the warp that it chose. */
#include "theta/finder.h"

#include "theta/line.h"
#include "gp/kernel.h"
#include "team/work.h"

#include <math.h>

static const double WORTH_A_TRY = 0.1; /* of log density a row */
static const double CHANCE = 1.0;      /* standard errors by which squared errors may be larger */

int count_warps(const quorum_model *m, const settings *s)
{
    return s->warp == WARP_AUTO && s->train == TRAIN_NEIGHBOURS && s->theta[0] == '\0' &&
           m->rows.n >= LEAST_SCORED && !m->columns.offset && !m->columns.has_errors;
}

typedef struct {
    finder *f;
    contender with, without; /* the logarithm */
    unit_change without_units, with_units;
} warp_trial;

static quorum_status trial_new(void *context)
{
    warp_trial *t = context;
    TRY(copy_theta(&t->f->m->theta, &t->without.theta));
    return copy_theta(&t->f->m->theta, &t->with.theta);
}

static void trial_free(warp_trial *t)
{
    contender_free(&t->with);
    contender_free(&t->without);
}

/* The kernel that is given, or one that does on most data. */
static const kernel *trial_kernel(const settings *s)
{
    const kernel *given = kernel_at(s->kernel);
    return given ? given : &kernel_matern32;
}

static double target_deviation(const unit_change *u)
{
    return u->target_scale > 0.0 ? u->target_scale : u->y_scale;
}

/* y - E y of a row that was left out, in standard deviations of the target. */
static double error_of_mean(const left_out_row *row, const unit_change *u)
{
    double w = u->y_mean + u->y_scale * row->y, mean, std;
    warp_moments(u, w - u->y_scale * row->error, u->y_scale * sqrt(row->variance + row->known),
                 &mean, &std);
    return (warp_back(u, w) - mean) / target_deviation(u);
}

static quorum_status try_target(finder *f, contender *c, unit_change *units)
{
    const unit_change *u = &f->m->units;
    TRY(first_look(f));
    set_theta(&c->theta, &f->m->theta);
    c->theta.kernel = trial_kernel(f->s);
    TRY(quick_round(f, &c->theta));
    c->level = -log(u->y_scale);
    if (u->warp == WARP_LOG) {
        c->level -= u->y_mean;
        c->slope = -u->y_scale;
    }
    *units = *u;
    return score_trial(f, c, 1.0);
}

/* The target anew, under the warp that is set. */
static quorum_status standardise_anew(const finder *f)
{
    row_set own = f->rows->held;
    return target_standardise(f->m, f->s, f->given, &own);
}

/* Without a trend no mean is taken off, and the targets' own densities are not compared.  Logarithms that differ
 * by no more than rounding are not worth it. */
static quorum_status look_at_targets(finder *f, int *worth)
{
    const unit_change *u = &f->m->units;
    double deviation = target_deviation(u);
    int possible;
    *worth = 0;
    TRY(warp_begin(f->m, f->given, &possible));
    if (!possible)
        return QUORUM_OK;
    quorum_status status = standardise_anew(f);
    *worth = status >= 0 && (f->s->trend == TREND_NONE ||
                             log(deviation) - log(u->y_scale) - u->y_mean > WORTH_A_TRY);
    warp_end(f->m);
    TRY(standardise_anew(f));
    return status == QUORUM_E_DATA ? QUORUM_OK : status;
}

/* How much larger the squared errors of the means of y are with the logarithm, d = e^2 - e'^2 a row on
 * average, of rows left out alone, in standard errors of that: sum w d / sqrt(sum w^2 (d - mean)^2). */
static double larger_errors(const warp_trial *t)
{
    const left_out_set *with = &t->with.at[0], *without = &t->without.at[0];
    double n = left_out_weights(with->rows, with->count), mean = 0.0, square = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < with->count; i++) {
            double a = error_of_mean(&with->rows[i], &t->with_units), w = with->rows[i].weight;
            double b = error_of_mean(&without->rows[i], &t->without_units), d = a * a - b * b;
            if (pass == 0)
                mean += w * d / n;
            else
                square += w * w * (d - mean) * (d - mean);
        }
    return mean * n / sqrt(square);
}

static int is_better(const warp_trial *t)
{
    return contender_beats(&t->with, &t->without) && larger_errors(t) <= CHANCE;
}

static quorum_status try_both(warp_trial *t, int *better)
{
    finder *f = t->f;
    TRY(try_target(f, &t->without, &t->without_units));
    TRY(warp_begin(f->m, f->given, NULL));
    TRY(standardise_anew(f));
    TRY(try_target(f, &t->with, &t->with_units));
    *better = is_better(t);
    return progress_report(f->p, "train", -1.0,
                           "the logarithm: log density a row %.4f, without %.4f: %s",
                           t->with.density, t->without.density, *better ? "kept" : "left");
}

static quorum_status choose_warp(finder *f)
{
    warp_trial t = {.f = f};
    int better = 0;
    quorum_status status = team_all(QUORUM_OK, trial_new, &t);
    if (status == QUORUM_OK)
        status = try_both(&t, &better);
    trial_free(&t);
    if (status < 0 && status != QUORUM_E_NUMERIC) /* which is merely a bad trial */
        return status;
    if (better)
        return QUORUM_OK;
    warp_end(f->m);
    return standardise_anew(f);
}

quorum_status find_warp(finder *f)
{
    int worth;
    const kernel *wanted = f->m->theta.kernel;
    TRY(look_at_targets(f, &worth));
    if (!worth)
        return QUORUM_OK;
    TRY(choose_warp(f));
    f->m->theta.kernel = wanted;
    f->searches = WARP_SEARCHES;
    return QUORUM_OK;
}
