/* Effects of levels on rows that they were not learned from (earned.h). */
#include "encode/earned.h"

#include "base/memory.h"
#include "encode/matched_pairs.h"

#include <string.h>

enum {
    FEW_LEVELS = 8, /* so many follow the noise of their rows too little to matter */
    LEAST_ROWS = 50 /* of which halves are made                                    */
};

typedef struct {
    row_set rows;
    matched_pairs pairs;
    double *b; /* the unknowns of its pairs */
} half;

static void half_free(half *h)
{
    matched_pairs_free(&h->pairs);
    rows_free(&h->rows);
    mem_free(h->b);
}

/* Every second row from `first` on. */
static quorum_status take_half(const row_set *rows, size_t first, half *h)
{
    size_t n = (rows->n - first + 1) / 2, *which;
    TRY(rows_new(rows, n, &h->rows));
    if (!NEW_ARRAY(which, n))
        return failure(QUORUM_E_MEMORY, "out of memory for half of %zu rows", rows->n);
    for (size_t i = 0; i < n; i++)
        which[i] = first + 2 * i;
    rows_take(rows, which, n, &h->rows);
    mem_free(which);
    return QUORUM_OK;
}

static quorum_status half_new(const encoding *e, const row_set *rows, size_t first, half *h)
{
    TRY(take_half(rows, first, h));
    TRY(matched_pairs_new(e, &h->rows, &h->pairs));
    if (!NEW_ARRAY(h->b, h->pairs.first[e->inputs]))
        return failure(QUORUM_E_MEMORY, "out of memory for the effects of levels");
    return matched_pairs_solve(&h->pairs, h->b);
}

static quorum_status judge(const encoding *e, const row_set *rows, half *two, char *earned)
{
    double *gain;
    TRY(half_new(e, rows, 0, &two[0]));
    TRY(half_new(e, rows, 1, &two[1]));
    if (!NEW_ZEROED(gain, e->inputs))
        return failure(QUORUM_E_MEMORY, "out of memory for the gains of %zu inputs", e->inputs);
    matched_pairs_gain(&two[0].pairs, two[1].b, gain);
    matched_pairs_gain(&two[1].pairs, two[0].b, gain);
    for (size_t d = 0; d < e->inputs; d++)
        earned[d] = e->of[d].levels <= FEW_LEVELS || gain[d] > 0.0;
    mem_free(gain);
    return QUORUM_OK;
}

quorum_status encoding_earned(const encoding *e, const row_set *rows, char *earned)
{
    half two[2] = {{.b = NULL}, {.b = NULL}};
    int many = 0;
    memset(earned, 1, e->inputs);
    for (size_t d = 0; d < e->inputs; d++)
        many |= e->of[d].levels > FEW_LEVELS;
    if (!many || rows->n < LEAST_ROWS)
        return QUORUM_OK;
    quorum_status status = judge(e, rows, two, earned);
    half_free(&two[0]);
    half_free(&two[1]);
    return status;
}
