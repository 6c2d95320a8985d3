/* Whether the target is modelled as it is or by its logarithm (warp=auto): a first look and a quick
 * round on both, and the same rows left out.
 *
 * Densities are those of the target itself:
 *
 *   log p(y) = log p(w(y)) + log w'(y),   w(y) = log(y + c):   log w'(y) = -w(y)
 *
 * of standardised numbers z = (w(y) - y_mean) / y_scale also -log y_scale.  Everything is found anew
 * afterwards: a fit by auto is that of the warp that it chose. */
#include "theta/finder.h"

#include "theta/line.h"
#include "gp/kernel.h"
#include "team/work.h"

#include <math.h>

int count_warps(const quorum_model *m, const settings *s)
{
    return s->warp == WARP_AUTO && s->train == TRAIN_NEIGHBOURS && s->theta[0] == '\0' &&
           m->rows.n >= LEAST_SCORED && !m->columns.offset && !m->columns.has_errors;
}

typedef struct {
    finder *f;
    contender with, without; /* the logarithm */
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

static quorum_status try_target(finder *f, contender *c)
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
    return score_trial(f, c, 1.0);
}

/* The target anew, under the warp that is set. */
static quorum_status standardise_anew(const finder *f)
{
    row_set own = f->rows->held;
    return target_standardise(f->m, f->s, f->given, &own);
}

static quorum_status try_log(warp_trial *t, int *better)
{
    finder *f = t->f;
    int possible;
    TRY(try_target(f, &t->without));
    TRY(warp_begin(f->m, f->given, &possible));
    if (!possible)
        return QUORUM_OK;
    TRY(standardise_anew(f));
    TRY(try_target(f, &t->with));
    *better = contender_beats(&t->with, &t->without);
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
        status = try_log(&t, &better);
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
    if (count_warps(f->m, f->s) == 0)
        return QUORUM_OK;
    int end = f->searches + WARP_SEARCHES;
    const kernel *wanted = f->m->theta.kernel;
    TRY(choose_warp(f));
    f->m->theta.kernel = wanted;
    f->searches = end;
    return f->s->trend == TREND_LINEAR ? line_begin(f->m, f->given, f->rows) : QUORUM_OK;
}
