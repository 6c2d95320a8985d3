/* quorum_update: new rows are predicted, then taken; old ones are forgotten.
 *
 *   rows -> units of the model -> predicted by it -> drift -> joined with the rest -> calibration learns
 *
 * for every target, and only then are all put in the place of what was there. */
#include "update/update.h"

#include "base/memory.h"
#include "targets/several.h"
#include "team/work.h"

#include <string.h>

static void change_free(change *c)
{
    rows_free(&c->asked);
    rows_free(&c->own);
    mem_free(c->gone);
    mem_free(c->number);
    mem_free(c->z);
    mem_free(c->weight);
    change_free_next(c);
}

/* What the change of one target is made of; the model is not touched. */
static quorum_status prepare(change *c)
{
    const progress *p = options_progress(c->options);
    TRY(change_take_rows(c));
    TRY(change_forget_rows(c));
    TRY(progress_report(p, "update", 0.2, "%zu new rows are predicted", c->asked.n));
    TRY(change_score(c));
    TRY(change_watch_drift(c));
    TRY(progress_report(p, "update", 0.8, "%zu rows join %zu", c->own.n, c->m->rows.n));
    TRY(change_join_rows(c));
    return change_calibrate(c);
}

/* Nothing fails from here on. */
static void commit(change *c)
{
    quorum_model old = *c->m;
    *c->m = c->next;
    c->next = old;
}

/* ---- Several targets ---- */

/* Where targets share rows and theta, every new row has all of them. */
static quorum_status check_same_rows(const change *a, const change *b)
{
    size_t numbers = a->given.rows * a->m->rows.D;
    if (a->given.rows != b->given.rows || a->own.n != b->own.n ||
        (numbers > 0 && memcmp(a->given.X, b->given.X, numbers * sizeof(double)) != 0) ||
        (a->own.n > 0 && memcmp(a->own.X, b->own.X, a->own.n * a->own.D * sizeof(double)) != 0))
        return failure(QUORUM_E_DATA,
                       "the model's targets share their rows (share theta): every new "
                       "row needs all of them");
    return QUORUM_OK;
}

static quorum_status check_numbers(const change *c, size_t count)
{
    for (size_t t = 1; t < count; t++)
        if (c[0].forget.rows > 0 && c[t].m->rows.n != c[0].m->rows.n)
            return failure(QUORUM_E_ARGUMENT,
                           "the model's targets have different rows: a window can be kept of them, "
                           "but rows cannot be forgotten by number");
    return QUORUM_OK;
}

static quorum_status prepare_all(change *c, size_t count, int shared)
{
    TRY(check_numbers(c, count));
    for (size_t t = 0; t < count; t++) {
        quorum_status status = prepare(&c[t]);
        if (status < 0)
            return count > 1
                       ? failure_in(status, "target %.100s", c[t].m->columns.names[c[t].m->rows.D])
                       : status;
        if (shared && t > 0)
            TRY(check_same_rows(&c[0], &c[t]));
    }
    return QUORUM_OK;
}

/* ---- The call ---- */

static void begin(change *c, quorum_model *m, const quorum_new_rows *rows,
                  const quorum_forgetting *forget, const quorum_options *options)
{
    *c = (change){.m = m, .options = options, .s = options_values(options)};
    if (rows)
        c->given = *rows;
    if (forget)
        c->forget = *forget;
}

static quorum_status check_call(const quorum_model *m, const quorum_new_rows *rows,
                                const quorum_forgetting *forget)
{
    if (!m || (!rows && !forget) || (forget && forget->rows > 0 && !forget->row))
        return failure(QUORUM_E_ARGUMENT,
                       "quorum_update: there is a model, and rows to add or to forget");
    if (!team_is_alone())
        return failure(QUORUM_E_ARGUMENT,
                       "a model is updated by one process: use quorum instead of quorum-mpi");
    return QUORUM_OK;
}

static quorum_status update_watched(change *c, size_t count, int shared,
                                    const quorum_options *options)
{
    progress_watch watch;
    options_watch(options, "update", &watch);
    quorum_status status = prepare_all(c, count, shared);
    progress_watch_end(&watch);
    return status;
}

quorum_status quorum_update(quorum_model *m, const quorum_new_rows *rows,
                            const quorum_forgetting *forget, const quorum_options *options,
                            quorum_update_report *report)
{
    TRY(check_call(m, rows, forget));
    size_t count = quorum_model_targets(m);
    change *c;
    if (!NEW_ZEROED(c, count))
        return failure(QUORUM_E_MEMORY, "out of memory for the targets");
    for (size_t t = 0; t < count; t++)
        begin(&c[t], quorum_model_target(m, t), rows ? &rows[t] : NULL, forget, options);
    quorum_status status = update_watched(c, count, m->further.shared, options);
    for (size_t t = 0; t < count; t++) {
        if (status >= 0)
            commit(&c[t]);
        if (status >= 0 && report)
            report[t] = c[t].report;
        change_free(&c[t]);
    }
    mem_free(c);
    return status < 0 ? status : QUORUM_OK;
}
