/* The positions of levels: their effects on the target or its logarithm (matched_pairs.h), from all rows
 * or from many of them, spread evenly (rows_sample). */
#include "base/memory.h"
#include "encode/earned.h"
#include "encode/matched_pairs.h"
#include "rows/scaling.h"

#include <math.h>

const double PRIOR_ROWS = 10.0;

enum {
    PLACES = 30 /* of positions */
};

/* The rows that positions are learned from. */
typedef struct {
    encoding *e;
    const double *shift; /* of the logarithm, or NULL: the target as it is */
    row_set rows;        /* inputs and target become standardised here      */
    double *mean;        /* inputs + 1: of each column of them, the target last */
    double *scale;       /* inputs + 1                                      */
    char *constant;
    double *b;    /* the unknowns of the pairs */
    char *earned; /* inputs: 0 of a category that tells nothing */
} sample;

static void sample_free(sample *s)
{
    rows_free(&s->rows);
    mem_free(s->mean);
    mem_free(s->scale);
    mem_free(s->constant);
    mem_free(s->b);
    mem_free(s->earned);
}

/* y -> log(y + shift), or y - offset. */
static void take_target(const sample *s)
{
    const row_set *r = &s->rows;
    for (size_t i = 0; i < r->n; i++)
        if (s->shift)
            r->y[i] = log(r->y[i] + *s->shift);
        else if (r->offset)
            r->y[i] -= r->offset[i];
}

/* Numbers of the sample, and its target; levels stay as they are. */
static quorum_status standardise(sample *s)
{
    row_set *r = &s->rows;
    size_t D = r->D;
    NEW_ARRAY(s->mean, D + 1);
    NEW_ARRAY(s->scale, D + 1);
    NEW_ARRAY(s->constant, D + 1);
    if (!s->mean || !s->scale || !s->constant)
        return failure(QUORUM_E_MEMORY, "out of memory for %zu inputs", D);
    take_target(s);
    row_set target = rows_view_of(r->n, 1, r->y, NULL);
    target.weight = r->weight;
    scattered_rows inputs = rows_whole(r), targets = rows_whole(&target);
    TRY(scaling_learn(QUORUM_OK, &inputs, s->mean, s->scale, s->constant));
    TRY(scaling_learn(QUORUM_OK, &targets, s->mean + D, s->scale + D, s->constant + D));
    for (size_t d = 0; d < D; d++)
        if (s->e->of[d].levels > 0) {
            s->mean[d] = 0.0;
            s->scale[d] = 1.0;
        }
    scaling_apply(r->n, D, r->X, s->mean, s->scale, r->X);
    scaling_apply(r->n, 1, r->y, s->mean + D, s->scale + D, r->y);
    return QUORUM_OK;
}

/* To PLACES binary places: sums are rounded by the order of the levels, and names give that. */
static double to_places(double x)
{
    return ldexp(nearbyint(ldexp(x, PLACES)), -PLACES);
}

static quorum_status solve_pairs(sample *s, const matched_pairs *p)
{
    encoding *e = s->e;
    if (!NEW_ARRAY(s->b, p->first[e->inputs]) || !NEW_ARRAY(s->earned, e->inputs))
        return failure(QUORUM_E_MEMORY, "out of memory for the effects of levels");
    TRY(matched_pairs_solve(p, s->b));
    TRY(encoding_earned(e, &s->rows, s->earned));
    for (size_t d = 0; d < e->inputs; d++) {
        int has_none = e->of[d].apart || !s->earned[d];
        for (size_t l = 0; l < e->of[d].levels; l++)
            e->of[d].position[l] = has_none ? 0.0 : to_places(s->b[p->first[d] + l]);
    }
    encoding_settle(e);
    return QUORUM_OK;
}

static quorum_status learn_from_sample(void *context)
{
    sample *s = context;
    matched_pairs pairs;
    TRY(standardise(s));
    quorum_status status = matched_pairs_new(s->e, &s->rows, &pairs);
    if (status >= 0)
        status = solve_pairs(s, &pairs);
    matched_pairs_free(&pairs);
    return status;
}

static int has_positions(const encoding *e)
{
    for (size_t d = 0; d < e->inputs; d++)
        if (e->of[d].levels > 0 && !e->of[d].apart)
            return 1;
    return 0;
}

quorum_status encoding_learn(quorum_status ready, const scattered_rows *rows, const double *shift,
                             encoding *e)
{
    sample s = {.e = e, .shift = shift};
    if (!has_positions(e))
        return ready;
    quorum_status status = rows_sample(ready, rows, &s.rows);
    status = team_all(status, learn_from_sample, &s);
    sample_free(&s);
    return status;
}
