/* The metric: directions in the inputs along which the target changes most stand for the inputs
 * (train/directions.h), as long as rows left out are predicted better by them.
 *
 *   z -> E' z,   s(z, z') = sum_k (E' (z - z'))_k^2 / l_k^2
 *
 * Any metric that is linear in the inputs is a rotation and length-scales. */
#include "theta/finder.h"

#include "base/memory.h"
#include "linalg/blas.h"
#include "team/work.h"
#include "train/directions.h"

#include <math.h>
#include <string.h>

enum { MOST_TURNS = 3 };

/* Constant inputs stay as they are, and those that share a length-scale: directions would each have their
 * own. */
static int stays(const quorum_model *m, size_t d)
{
    int shares = m->same && m->same[d] != d;
    for (size_t k = d + 1; m->same && k < m->rows.D; k++)
        shares |= m->same[k] == d;
    return m->units.constant[d] || shares;
}

static size_t count_turning(const quorum_model *m)
{
    size_t count = 0;
    for (size_t d = 0; d < m->rows.D; d++)
        count += !stays(m, d);
    return count;
}

int count_turns(const quorum_model *m, const settings *s)
{
    int may = s->metric != METRIC_ARD && s->train == TRAIN_NEIGHBOURS && count_turning(m) > 1 &&
              m->rows.D <= MOST_DIRECTIONS && m->rows.n >= LEAST_SCORED;
    return may ? MOST_TURNS : 0;
}

int count_metric_searches(const quorum_model *m, const settings *s, int contenders)
{
    int turns = count_turns(m, s);
    return turns > 0 ? turns + contenders - 1 : 0;
}

/* One turn: what stays of it, and what it needs. */
typedef struct {
    finder *f;
    contender *before;
    double *E;        /* D x D: new directions ...   */
    double *rotation; /* ... as those of the inputs  */
    contender fresh;  /* after it                    */
} turning;

static quorum_status turning_new(void *context)
{
    turning *t = context;
    size_t D = t->f->m->rows.D;
    NEW_ARRAY(t->E, D * D);
    NEW_ARRAY(t->rotation, D * D);
    if (!t->E || !t->rotation)
        return failure(QUORUM_E_MEMORY, "out of memory for %zu directions", D);
    return copy_contenders(&t->before, 1, &t->fresh);
}

static void turning_free(turning *t)
{
    mem_free(t->E);
    mem_free(t->rotation);
    contender_free(&t->fresh);
}

/* The directions of change of the prediction, E, and as directions of the inputs: R E,
 * R being the rotation so far. */
static quorum_status find_directions(turning *t)
{
    const finder *f = t->f;
    const unit_change *u = &f->m->units;
    const hyper *theta = &t->before->theta;
    size_t D = theta->D;
    double change[MOST_DIRECTIONS];
    char stay[MOST_DIRECTIONS];
    vecchia_parts v;
    for (size_t d = 0; d < D; d++)
        stay[d] = (char)stays(f->m, d);
    TRY(left_out_parts(t->f, theta, &v));
    quorum_status status = directions_find(&v, theta, stay, options_threads(f->s), t->E, change);
    vecchia_parts_free(&v);
    TRY(status);
    if (u->rotation)
        blas_gemm('N', 'N', D, D, D, 1.0, u->rotation, D, t->E, D, 0.0, t->rotation, D);
    else
        memcpy(t->rotation, t->E, D * D * sizeof *t->E);
    return QUORUM_OK;
}

void turn_rows(const finder *f, double *rotation)
{
    f->m->units.rotation = rotation;
    model_standardise(f->m, f->rows->held.n, f->given->held.X, f->rows->held.X);
}

/* Length-scales along the directions E that measure what those before did:
 * 1 / l'_k^2 = sum_d E_dk^2 / l_d^2. */
static void turn_lengthscales(hyper *theta, const double *E)
{
    double old[MOST_DIRECTIONS];
    memcpy(old, theta->lengthscale, theta->D * sizeof *old);
    for (size_t k = 0; k < theta->D; k++) {
        double sum = 0.0;
        for (size_t d = 0; d < theta->D; d++)
            sum += E[k * theta->D + d] * E[k * theta->D + d] / (old[d] * old[d]);
        theta->lengthscale[k] = 1.0 / sqrt(sum);
    }
}

/* A quick round along the new directions. */
static quorum_status try_directions(turning *t)
{
    TRY(find_directions(t));
    turn_rows(t->f, t->rotation);
    turn_lengthscales(&t->fresh.theta, t->E);
    return quick_round_and_score(t->f, &t->fresh);
}

/* Whether rows left out say that the turn helps.  Where a glance leaves doubt both are looked at closely,
 * each with the rows along its own directions. */
static quorum_status compare_turn(turning *t, double *old, int *better)
{
    contender *before = t->before, *fresh = &t->fresh;
    if (!contender_is_behind(before, fresh) && !contender_is_behind(fresh, before)) {
        turn_rows(t->f, old);
        TRY(look_closely(t->f, before));
        turn_rows(t->f, t->rotation);
        TRY(look_closely(t->f, fresh));
    }
    *better = contender_beats(fresh, before);
    return QUORUM_OK;
}

/* Turns the rows once, for the first of the list; *better: rows left out say that it helps, and it stays,
 * with the length-scales of the others turned too. */
static quorum_status turn_once(finder *f, contender **list, int count, int *better)
{
    turning t = {.f = f, .before = list[0]};
    double *old = f->m->units.rotation;
    int is_wanted = !old && f->s->metric == METRIC_LINEAR;
    quorum_status status = team_all(QUORUM_OK, turning_new, &t);
    *better = 0;
    if (status == QUORUM_OK)
        status = try_directions(&t);
    if (status == QUORUM_OK && is_wanted)
        *better = 1;
    else if (status == QUORUM_OK)
        status = compare_turn(&t, old, better);
    if (*better) {
        swap_contenders(list[0], &t.fresh);
        for (int k = 1; k < count; k++)
            turn_lengthscales(&list[k]->theta, t.E);
        t.rotation = old;
    } else if (f->m->units.rotation != old) {
        turn_rows(f, old);
    }
    turning_free(&t);
    return status == QUORUM_E_NUMERIC ? QUORUM_OK : status; /* merely bad directions */
}

/* The best one finds the directions; the others have a quick round along them at the end. */
quorum_status find_metric(finder *f, contender **list, int count)
{
    int turns = count_turns(f->m, f->s), better = 1, turned = 0;
    int end = f->searches + count_metric_searches(f->m, f->s, count);
    for (int k = 0; k < turns && better; k++) {
        TRY(turn_once(f, list, count, &better));
        turned |= better;
    }
    for (int k = 1; turned && k < count; k++)
        TRY(quick_round_and_score(f, list[k]));
    if (turned)
        TRY(best_first(f, list, count));
    f->searches = end;
    return QUORUM_OK;
}
