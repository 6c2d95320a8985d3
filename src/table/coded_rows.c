/* Categories on the way into a fit: levels' numbers are checked, their positions learned, and the fit
 * goes on with rows of plain numbers, as if the positions had been in the table. */
#include "table/coded_rows.h"

#include "base/memory.h"

void coded_rows_free(coded_rows *c)
{
    encoding_free(&c->encoding);
    mem_free(c->X);
    *c = (coded_rows){0};
}

static quorum_status check_some(void *context, const row_range *range, int worker)
{
    const encoding *e = context;
    (void)worker;
    for (size_t i = 0; i < range->rows.n; i++)
        for (size_t d = 0; d < e->inputs; d++) {
            double x = range->rows.X[i * e->inputs + d];
            if (e->of[d].levels > 0 && !category_has(&e->of[d], x))
                return failure(QUORUM_E_DATA,
                               "row %zu, input %zu is %g: it is a category of %zu levels, which "
                               "are numbered from 0",
                               range->first + i + 1, d + 1, x, e->of[d].levels);
        }
    return QUORUM_OK;
}

static quorum_status make_room(const scattered_rows *given, const category_names *names,
                               coded_rows *c)
{
    size_t D = given->held.D;
    TRY(encoding_new(D, names->levels, names->names, &c->encoding));
    if (!NEW_ARRAY(c->X, given->held.n * D))
        return failure(QUORUM_E_MEMORY, "out of memory for encoding %zu rows", given->n);
    return QUORUM_OK;
}

quorum_status code_rows(quorum_status ready, const scattered_rows *given,
                        const category_names *names, const made_inputs *made,
                        const encoding *learned, const double *shift, coded_rows *c)
{
    encoding *e = &c->encoding;
    if (ready >= 0)
        ready = make_room(given, names, c);
    TRY(rows_map(ready, given, 1, check_some, e, NULL, 0));
    if (made)
        encoding_stand_apart(e, made);
    if (learned)
        encoding_take_positions(learned, e);
    else
        TRY(encoding_learn(QUORUM_OK, given, shift, e));
    encoding_apply(e, given->held.n, given->held.X, c->X);
    c->given = c->rows = *given;
    c->rows.held.X = c->X;
    return QUORUM_OK;
}

quorum_status code_again(const double *shift, coded_rows *c)
{
    const row_set *given = &c->given.held;
    TRY(encoding_learn(QUORUM_OK, &c->given, shift, &c->encoding));
    encoding_apply(&c->encoding, given->n, given->X, c->X);
    return QUORUM_OK;
}
