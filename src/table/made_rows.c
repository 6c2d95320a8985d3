/* Training rows with made inputs (made_rows.h). */
#include "table/made_rows.h"

#include "base/memory.h"

#include <string.h>

void made_rows_free(made_rows *m)
{
    for (size_t k = 0; m->made_names && k < m->made.count; k++)
        mem_free(m->made_names[k]);
    mem_free(m->made_names);
    made_free(&m->made);
    mem_free(m->X);
    mem_free(m->names);
    mem_free(m->levels);
    mem_free(m->level);
    *m = (made_rows){0};
}

typedef struct {
    const scattered_rows *given;
    const made_request *asked;
    category_names categories;
    const hole_rule *holes;
    made_rows *out;
} making;

static quorum_status fail_memory(const making *k)
{
    return failure(QUORUM_E_MEMORY, "out of memory for %zu rows of %zu inputs", k->given->held.n,
                   k->asked->columns + k->out->made.count);
}

/* Those of the columns, those that are made, and the target's. */
static quorum_status join_names(const making *k)
{
    made_rows *m = k->out;
    size_t columns = k->asked->columns, count = m->made.count;
    if (!k->asked->names)
        return QUORUM_OK;
    if (!NEW_ARRAY(m->names, columns + count + 1))
        return fail_memory(k);
    for (size_t d = 0; d < columns; d++)
        m->names[d] = k->asked->names[d];
    for (size_t d = 0; d < count; d++)
        m->names[columns + d] = m->made_names[d];
    m->names[columns + count] = k->asked->names[columns];
    return QUORUM_OK;
}

/* What is made is a number. */
static quorum_status join_categories(const making *k)
{
    made_rows *m = k->out;
    size_t columns = k->asked->columns, inputs = columns + m->made.count;
    if (!k->categories.levels)
        return QUORUM_OK;
    if (!NEW_ZEROED(m->levels, inputs) || !NEW_ZEROED(m->level, inputs))
        return fail_memory(k);
    memcpy(m->levels, k->categories.levels, columns * sizeof *m->levels);
    for (size_t d = 0; k->categories.names && d < columns; d++)
        m->level[d] = k->categories.names[d];
    m->categories = (category_names){m->levels, m->level};
    return QUORUM_OK;
}

static quorum_status join_inputs(void *context)
{
    const making *k = context;
    made_rows *m = k->out;
    const row_set *held = &k->given->held;
    size_t inputs = k->asked->columns + m->made.count;
    TRY(join_names(k));
    TRY(join_categories(k));
    if (!NEW_ARRAY(m->X, held->n * inputs))
        return fail_memory(k);
    made_apply(&m->made, held->n, held->X, m->X);
    for (size_t i = 0; i < held->n; i++)
        holes_fill(k->holes, &m->made, m->X + i * inputs, NULL);
    m->rows = *k->given;
    m->rows.held.X = m->X;
    m->rows.held.D = inputs;
    return QUORUM_OK;
}

static int asks_for_nothing(const made_request *asked)
{
    return asked->periodic[0] == '\0' && asked->lonlat[0] == '\0' && !asked->has_holes &&
           !(asked->apart && asked->levels);
}

quorum_status check_given(const scattered_rows *given)
{
    return given->held.X && given->n > 0 && given->held.D > 0
               ? QUORUM_OK
               : failure(QUORUM_E_ARGUMENT, "fit needs at least one row and one input");
}

quorum_status make_rows(const scattered_rows *given, const made_request *asked,
                        category_names categories, const hole_rule *holes, made_rows *out)
{
    making k = {given, asked, categories, holes, out};
    *out = (made_rows){0};
    if (asks_for_nothing(asked))
        return QUORUM_OK;
    TRY(made_choose(check_given(given), given, asked, &out->made, &out->made_names));
    return out->made.count > 0 ? team_all(QUORUM_OK, join_inputs, &k) : QUORUM_OK;
}
