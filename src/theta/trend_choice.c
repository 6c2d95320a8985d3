/* Whether predictions return to a mean or to a line (trend=auto): one more quick round, of the best
 * kernel, on what a line leaves, and the same rows left out again.
 *
 *   y -> y - f(x)' beta,   beta by least squares (theta/line.c)
 *
 * Among rows neither matters.  Rows are left out with so many of their nearest ones that what is
 * returned to shows, also where there are too few rows for the gaps of train/contender.h; and each
 * is predicted as if the line had been found without it. */
#include "theta/finder.h"

#include "theta/line.h"
#include "team/work.h"

enum {
    NEAR_ROWS = 2000, /* left out alone, ...                                 */
    FAR_ROWS = 1000,  /* ... and with many of their nearest rows             */
    TRIAL_GIVEN = 96, /* predicted from so many of the others                */
    SMALL_SHARE = 16, /* a small gap has one row in so many at most ...      */
    WIDE_SHARE = 6,   /* ... and a wide one                                  */
    ROWS_PER_SLOPE = 20
};

int count_trials(const quorum_model *m, const settings *s)
{
    return s->trend == TREND_AUTO && s->train == TRAIN_NEIGHBOURS && m->rows.D <= MOST_DIRECTIONS &&
           m->rows.n >= LEAST_SCORED && m->rows.n >= ROWS_PER_SLOPE * (model_varying(m) + 1);
}

/* ---- Scores ---- */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t gap_of(const finder *f, int distance)
{
    size_t share = distance == 1 ? SMALL_SHARE : WIDE_SHARE;
    return distance == 0 ? 0 : smaller(distance_skip(distance), f->m->rows.n / share);
}

static quorum_status score_at(finder *f, contender *c, int distance)
{
    vecchia_problem problem = neighbour_problem(f, &c->theta, distance ? FAR_ROWS : NEAR_ROWS);
    vecchia_parts v;
    problem.block = 1;
    problem.given = TRIAL_GIVEN;
    problem.skip = gap_of(f, distance);
    problem.others = 1;
    TRY(vecchia_parts_new(&problem, &v));
    quorum_status status = contender_predict(QUORUM_OK, c, distance, &v, problem.threads);
    vecchia_parts_free(&v);
    return status;
}

quorum_status score_trial(finder *f, contender *c, double unit)
{
    for (int l = 0; l < DISTANCES; l++)
        TRY(score_at(f, c, l));
    contender_change_units(c, unit);
    contender_score(c, f->m->spread);
    return QUORUM_OK;
}

/* ---- The trial ---- */

typedef struct {
    finder *f;
    const hyper *from;
    contender with, without; /* a line */
    double y_scale;          /* before it */
} trial;

static quorum_status trial_new(void *context)
{
    trial *t = context;
    TRY(copy_theta(t->from, &t->without.theta));
    return copy_theta(t->from, &t->with.theta);
}

static void trial_free(trial *t)
{
    contender_free(&t->with);
    contender_free(&t->without);
}

/* y was divided by `unit` more than before. */
static void theta_to_units(hyper *theta, double unit)
{
    theta->signal /= unit * unit;
    theta->noise /= unit * unit;
}

static double unit_of(const trial *t)
{
    return t->f->m->units.y_scale / t->y_scale;
}

static quorum_status try_line(trial *t, int *better)
{
    finder *f = t->f;
    quorum_model *m = f->m;
    TRY(score_trial(f, &t->without, 1.0));
    TRY(line_begin(m, f->given, f->rows));
    theta_to_units(&t->with.theta, unit_of(t));
    TRY(quick_round(f, &t->with.theta));
    TRY(line_by_theta(m, f->s, &t->with.theta, f->given, f->rows));
    t->with.V = m->units.line_covariance;
    TRY(score_trial(f, &t->with, unit_of(t)));
    *better = contender_beats(&t->with, &t->without);
    return progress_report(f->p, "train", -1.0, "a line: log density a row %.4f, without %.4f: %s",
                           t->with.density, t->without.density, *better ? "kept" : "left");
}

/* All contenders go on about the line. */
static quorum_status follow_line(const trial *t, contender **list, int count)
{
    set_theta(&list[0]->theta, &t->with.theta);
    for (int k = 1; k < count; k++)
        theta_to_units(&list[k]->theta, unit_of(t));
    for (int k = 0; k < count; k++)
        TRY(quick_round_and_score(t->f, list[k]));
    return best_first(t->f, list, count);
}

static void take_back(const trial *t)
{
    if (t->f->m->units.line)
        line_take_back(t->f->m, t->y_scale, t->f->given, t->f->rows);
}

static quorum_status find_line(finder *f, contender **list, int count)
{
    trial t = {.f = f, .from = &list[0]->theta, .y_scale = f->m->units.y_scale};
    double mean = f->m->units.target_mean, scale = f->m->units.target_scale;
    int better = 0;
    quorum_status status = team_all(QUORUM_OK, trial_new, &t);
    if (status == QUORUM_OK)
        status = try_line(&t, &better);
    if (status == QUORUM_OK && better)
        status = follow_line(&t, list, count);
    if (!better) {
        take_back(&t);
        f->m->units.target_mean = mean;
        f->m->units.target_scale = scale;
    }
    trial_free(&t);
    return status == QUORUM_E_NUMERIC && !better ? QUORUM_OK : status; /* merely a bad line */
}

quorum_status find_trend(finder *f, contender **list, int count)
{
    int end = f->searches + count_trials(f->m, f->s) * count;
    if (count_trials(f->m, f->s) == 0)
        return QUORUM_OK;
    TRY(find_line(f, list, count));
    f->searches = end;
    return QUORUM_OK;
}
