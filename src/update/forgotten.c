/* Rows that go: those that are named, and those before a window of the last ones.  The rows that stay are
 * numbered anew in their order, as if a fit had been given them alone. */
#include "update/update.h"

#include "base/memory.h"

enum { LEAST_ROWS = 2 };

/* place (n): of row number i, where it stands in the model. */
static quorum_status find_places(const quorum_model *m, size_t *place)
{
    size_t n = m->rows.n;
    for (size_t i = 0; i < n; i++)
        place[i] = n;
    for (size_t i = 0; i < n; i++) {
        if (m->row[i] >= n || place[m->row[i]] != n)
            return failure(QUORUM_E_FORMAT,
                           "the model's rows are not numbered from 0 on: none can be forgotten");
        place[m->row[i]] = i;
    }
    return QUORUM_OK;
}

static quorum_status forget_named(change *c, const size_t *place)
{
    size_t n = c->m->rows.n;
    for (size_t k = 0; k < c->forget.rows; k++) {
        size_t row = c->forget.row[k];
        if (row >= n)
            return failure(QUORUM_E_ARGUMENT, "row %zu cannot be forgotten: the model has %zu rows",
                           row + 1, n);
        c->report.removed += !c->gone[place[row]];
        c->gone[place[row]] = 1;
    }
    return QUORUM_OK;
}

/* The first ones go until the window holds what stays and what comes. */
static void forget_first(change *c, const size_t *place)
{
    size_t n = c->m->rows.n, window = c->forget.window, coming = c->own.n;
    c->late = coming > window ? coming - window : 0;
    for (size_t i = 0; i < n && n - c->report.removed + coming - c->late > window; i++)
        if (!c->gone[place[i]]) {
            c->gone[place[i]] = 1;
            c->report.removed++;
        }
}

static void number_anew(change *c, const size_t *place)
{
    size_t next = 0;
    for (size_t i = 0; i < c->m->rows.n; i++)
        if (!c->gone[place[i]])
            c->number[place[i]] = next++;
}

static quorum_status forget_rows(change *c, size_t *place)
{
    TRY(find_places(c->m, place));
    TRY(forget_named(c, place));
    if (c->forget.window > 0)
        forget_first(c, place);
    number_anew(c, place);
    return QUORUM_OK;
}

static quorum_status check_rest(const change *c)
{
    size_t rest = c->m->rows.n - c->report.removed + c->own.n - c->late;
    if (rest >= LEAST_ROWS)
        return QUORUM_OK;
    return failure(QUORUM_E_DATA, "%zu row%s would stay, and a model needs %d: forget fewer", rest,
                   rest == 1 ? "" : "s", LEAST_ROWS);
}

quorum_status change_forget_rows(change *c)
{
    size_t n = c->m->rows.n, *place = NULL;
    if (c->forget.rows == 0 && c->forget.window == 0)
        return QUORUM_OK;
    quorum_status status = QUORUM_OK;
    if (NEW_ARRAY(place, n) && NEW_ZEROED(c->gone, n) && NEW_ARRAY(c->number, n))
        status = forget_rows(c, place);
    else
        status = failure(QUORUM_E_MEMORY, "out of memory for forgetting rows of %zu", n);
    mem_free(place);
    return status < 0 ? status : check_rest(c);
}
