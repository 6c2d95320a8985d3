/* Whether the noise is the same everywhere or each neighbourhood's own (gp/local_noise.h): what
 * predicts rows better that are left out in turn, each from as many nearest rows as matter for that,
 * with the spread that suits it. */
#include "theta/finder.h"

#include "team/work.h"

#include <math.h>

enum {
    NOISE_ROWS = 1000,      /* left out in turn to compare the two ...          */
    GLANCE_ROWS = 250,      /* ... but first so many, which may rule one out    */
    LEAST_NOISE_ROWS = 200, /* ... and so many at least                         */
    NOISE_GIVEN = 256       /* nearest rows of each                             */
};
static const double NOISE_BYTES = 64e6; /* that these rows and their neighbours may take */

static const char *const NAMES[] = {"constant", "local"};

/* How many rows are left out. */
static double count_left_out(const finder *f)
{
    double each = 8.0 * (NOISE_GIVEN + 1.0) * ((double)f->m->rows.D + 1.0);
    return fmin(NOISE_ROWS, NOISE_BYTES / each);
}

static int may_compare(const finder *f)
{
    return f->s->local_noise != LOCAL_NOISE_NO && f->s->share == SHARE_NONE &&
           f->s->theta[0] == '\0' && f->s->train == TRAIN_NEIGHBOURS &&
           f->m->rows.n > 2 * (size_t)OWN_NEIGHBOURS && count_left_out(f) >= LEAST_NOISE_ROWS;
}

/* The model's theta, once with each noise that may be: from `first` on.  Where they do as well the
 * first is taken: that is what their nlml says. */
enum { CONSTANT, LOCAL, NOISES };
typedef struct {
    const quorum_model *m;
    int first;
    contender all[NOISES];
} two_noises;

static quorum_status copy_twice(void *context)
{
    two_noises *t = context;
    for (int k = t->first; k < NOISES; k++) {
        t->all[k] = (contender){.number = k, .local_noise = k == LOCAL, .nlml = k};
        t->all[k].V = t->m->units.line ? t->m->units.line_covariance : NULL;
        TRY(copy_theta(&t->m->theta, &t->all[k].theta));
    }
    return QUORUM_OK;
}

static quorum_status score_both(finder *f, const vecchia_parts *v, double prior, two_noises *t)
{
    for (int k = t->first; k < NOISES; k++) {
        TRY(contender_predict(QUORUM_OK, &t->all[k], 0, v, options_threads(f->s)));
        contender_score(&t->all[k], prior);
        TRY(progress_report(f->p, "train", -1.0, "%s noise: log density a row %.4f, error %.4f",
                            NAMES[k], t->all[k].density, sqrt(t->all[k].error)));
    }
    return QUORUM_OK;
}

static quorum_status compare_by(finder *f, double rows, int learns, two_noises *t)
{
    vecchia_parts v;
    vecchia_problem problem = neighbour_problem(f, &f->m->theta, rows);
    problem.block = 1;
    problem.given = NOISE_GIVEN;
    problem.others = 1;
    TRY(vecchia_parts_new(&problem, &v));
    quorum_status status = score_both(f, &v, learns ? 0.0 : f->m->spread, t);
    vecchia_parts_free(&v);
    return status;
}

/* A glance is enough to leave the noise constant. */
static quorum_status compare_noises(finder *f, int learns, two_noises *t)
{
    double rows = count_left_out(f);
    if (t->first == CONSTANT && rows > 2 * GLANCE_ROWS) {
        TRY(compare_by(f, GLANCE_ROWS, learns, t));
        if (contender_is_behind(&t->all[LOCAL], &t->all[CONSTANT]))
            return QUORUM_OK;
    }
    return compare_by(f, rows, learns, t);
}

static void keep_noise(quorum_model *m, const contender *best)
{
    m->local_noise = best->local_noise;
    if (m->local_noise)
        m->spread = best->prior;
}

quorum_status learn_noise(finder *f, int learns)
{
    f->m->local_noise = f->s->local_noise == LOCAL_NOISE_YES;
    if (!may_compare(f))
        return QUORUM_OK;
    two_noises t = {.m = f->m, .first = f->m->local_noise ? LOCAL : CONSTANT};
    contender *list[] = {&t.all[CONSTANT], &t.all[LOCAL]}, **first = list + t.first;
    quorum_status status = team_all(QUORUM_OK, copy_twice, &t);
    if (status == QUORUM_OK)
        status = compare_noises(f, learns, &t);
    if (status == QUORUM_OK) {
        contender_best_first(first, NOISES - t.first);
        keep_noise(f->m, *first);
    }
    for (int k = 0; k < NOISES; k++)
        contender_free(&t.all[k]);
    return status;
}
