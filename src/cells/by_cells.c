/* Method cells: each query is predicted by the expert of the cell that it lies in (cell_expert.h).
 * Queries of a cell are asked together, and a query's answer depends on that query alone:
 *
 *   mean = k*' C^-1 y,   var = s_f^2 - k*' C^-1 k*,   times the spread, and of a linear trend u' V u */
#include "cells/cell_store.h"

#include "base/memory.h"
#include "near/ranked.h"
#include "predict/predictor.h"
#include "team/work.h"

#include <math.h>

static const double ROUNDING = 1e-14;  /* of s_f^2: not worth counting            */
static const double KEPT_SHARE = 0.25; /* of memory: kept experts, half of that for those of another
                                          size that come second, and so on         */

static int is_cells(const rule *r)
{
    return r->kind == TAKES_CELLS;
}

/* ---- The plan ---- */

typedef struct {
    cell_source source;
    size_t m;
    int threads;
} store_request;

static quorum_status make_store(void *context, void **out)
{
    const store_request *r = context;
    cell_store *store = NULL;
    quorum_status status = cell_store_new(&r->source, r->m, r->threads, &store);
    *out = store;
    return status;
}

static void free_store(void *store)
{
    cell_store_free(store);
}

static const attachment_kind CELLS = {make_store, free_store};

static double expert_bytes(const plan *p)
{
    size_t D = p->m->rows.D;
    return cell_expert_bytes(p->neighbours, D, p->m->units.line ? D + 1 : 0);
}

/* One expert at a time is the least that memory has to hold. */
static quorum_status check_memory(const plan *p)
{
    double needed = expert_bytes(p);
    if (needed < p->memory)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY,
                   "a cell's expert of %zu rows needs %.2f GB, more than memory (%.2f GB) allows: "
                   "raise memory, or give fewer neighbours",
                   p->neighbours, needed / 1e9, p->memory / 1e9);
}

/* Each of them may have an expert in hand that is not kept. */
static int workers_for(const plan *p, size_t cells)
{
    double fit = (1.0 - KEPT_SHARE) * p->memory / expert_bytes(p);
    int workers = parallel_workers(p->threads, cells);
    return fit < (double)workers ? (fit > 1.0 ? (int)fit : 1) : workers;
}

/* Room for the experts of the place-th size that this model was asked for. */
static double room_for(const plan *p)
{
    return KEPT_SHARE * p->memory * exp2(-(double)p->cells_place);
}

static quorum_status plan_cells(plan *p, const double *X, size_t n)
{
    const quorum_model *m = p->m;
    store_request r = {.m = p->neighbours, .threads = p->threads};
    void *store;
    (void)X;
    (void)n;
    if (p->with_slopes)
        return failure(QUORUM_E_ARGUMENT, "method cells has no gradients: use nearest, or npae");
    TRY(check_memory(p));
    TRY(model_hold_all(m));
    TRY(model_rows(m, &p->c));
    TRY(plan_neighbours(p));
    TRY(model_points(m, &r.source.Z)); /* there already: the search is over them */
    r.source.theta = &m->theta;
    r.source.rows = &m->rows;
    r.source.index = p->index;
    r.source.width = m->units.line ? m->rows.D + 1 : 0;
    TRY(model_attachment(m, &CELLS, r.m, &r, &store, &p->cells_place));
    p->cells = store;
    return QUORUM_OK;
}

static double query_bytes(const plan *p)
{
    return 8.0 * (10.0 + (double)plan_line_width(p));
}

static size_t block_most(const plan *p)
{
    (void)p;
    return BLOCK_MOST;
}

/* ---- Queries by cells ---- */

/* order[i] = {cell, query} of the first n queries, cell after cell; cell (n) is room. */
static quorum_status sort_by_cell(const plan *p, const points *Q, size_t n, size_t *cell,
                                  ranked *order)
{
    points queries = points_view(Q, 0, n);
    TRY(cell_map_find(cell_store_map(p->cells), &queries, p->threads, cell));
    for (size_t q = 0; q < n; q++)
        order[q] = (ranked){(double)cell[q], q};
    ranked_sort(order, n);
    return QUORUM_OK;
}

static quorum_status order_by_cells(const plan *p, const points *Q, size_t *order)
{
    ranked *sorted;
    if (!NEW_ARRAY(sorted, Q->n))
        return failure(QUORUM_E_MEMORY, "out of memory for ordering %zu queries", Q->n);
    quorum_status status = sort_by_cell(p, Q, Q->n, order, sorted);
    for (size_t i = 0; i < Q->n; i++)
        order[i] = status < 0 ? i : sorted[i].row;
    mem_free(sorted);
    return status;
}

/* A block's queries, cell after cell, and what their experts say of them in that order. */
typedef struct {
    const plan *p;
    const points *Q;
    size_t n, width;
    ranked *sorted; /* n                                                 */
    size_t *query;  /* n                                                 */
    size_t groups;  /* cells that have queries                           */
    size_t *cell;   /* groups                                            */
    size_t *start;  /* groups + 1: where their queries start in `query`   */
    cell_answers said;
    int workers;
    cell_space *space; /* workers */
} cell_job;

static void job_free(cell_job *j)
{
    for (int w = 0; j->space && w < j->workers; w++)
        cell_space_free(&j->space[w]);
    mem_free(j->space);
    mem_free(j->sorted);
    mem_free(j->query);
    mem_free(j->cell);
    mem_free(j->start);
    mem_free(j->said.mean);
    mem_free(j->said.explained);
    mem_free(j->said.spread);
    mem_free(j->said.lift);
}

static quorum_status group_queries(cell_job *j)
{
    TRY(sort_by_cell(j->p, j->Q, j->n, j->query, j->sorted));
    for (size_t i = 0; i < j->n; i++) {
        size_t cell = (size_t)j->sorted[i].key;
        j->query[i] = j->sorted[i].row;
        if (i == 0 || cell != j->cell[j->groups - 1]) {
            j->cell[j->groups] = cell;
            j->start[j->groups++] = i;
        }
    }
    j->start[j->groups] = j->n;
    return QUORUM_OK;
}

static quorum_status make_answers(cell_job *j)
{
    int with_variance = !plan_skips_variance(j->p);
    NEW_ARRAY(j->said.mean, j->n);
    if (with_variance) {
        NEW_ARRAY(j->said.explained, j->n);
        NEW_ARRAY(j->said.spread, j->n);
    }
    if (j->width > 0)
        NEW_ARRAY(j->said.lift, j->n * j->width);
    if (j->said.mean && (!with_variance || (j->said.explained && j->said.spread)) &&
        (j->width == 0 || j->said.lift))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for %zu queries", j->n);
}

static quorum_status job_new(const plan *p, const points *Q, size_t n, cell_job *j)
{
    *j = (cell_job){.p = p, .Q = Q, .n = n, .width = plan_line_width(p), .workers = 1};
    NEW_ARRAY(j->sorted, n);
    NEW_ARRAY(j->query, n);
    NEW_ARRAY(j->cell, n);
    NEW_ARRAY(j->start, n + 1);
    if (!j->sorted || !j->query || !j->cell || !j->start)
        return failure(QUORUM_E_MEMORY, "out of memory for %zu queries", n);
    TRY(make_answers(j));
    TRY(group_queries(j));
    j->workers = workers_for(p, j->groups);
    if (!NEW_ZEROED(j->space, (size_t)j->workers))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu queries", n);
    for (int w = 0; w < j->workers; w++)
        TRY(cell_space_new(p->neighbours, Q->D, &j->space[w]));
    return QUORUM_OK;
}

static quorum_status ask_cell(void *context, size_t item, int worker)
{
    cell_job *j = context;
    cell_store *store = j->p->cells;
    size_t first = j->start[item], count = j->start[item + 1] - first;
    const cell_expert *e;
    cell_answers here = {.mean = j->said.mean + first,
                         .explained = j->said.explained ? j->said.explained + first : NULL,
                         .spread = j->said.spread ? j->said.spread + first : NULL,
                         .lift = j->said.lift ? j->said.lift + first * j->width : NULL};
    TRY(cell_store_take(store, j->cell[item], room_for(j->p), &e));
    cell_expert_ask(cell_store_source(store), e, j->Q, j->query + first, count, j->p->spread,
                    &j->space[worker], &here);
    cell_store_release(store, j->cell[item], e);
    return QUORUM_OK;
}

/* ---- Answers ---- */

static size_t list_answers(const cell_job *j, team_result *out)
{
    double *const answers[] = {j->said.mean, j->said.explained, j->said.spread, j->said.lift};
    size_t count = 0;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i])
            out[count++] = (team_result){.data = answers[i],
                                         .width = (answers[i] == j->said.lift ? j->width : 1) *
                                                  sizeof *answers[i],
                                         .start = j->start};
    return count;
}

/* What was said of the i-th query in the order of cells. */
static void take_answer(const cell_job *j, size_t i, block_space *w, tally *t)
{
    const quorum_model *m = j->p->m;
    size_t q = j->query[i];
    w->mean[q] = j->said.mean[i];
    w->var[q] = 0.0;
    if (!j->said.explained)
        return;
    double var = m->theta.signal - j->said.explained[i];
    t->events.clamped += var < -ROUNDING * m->theta.signal;
    w->var[q] = fmax(var, 0.0);
    w->spread[q] = j->said.spread[i];
    if (j->said.lift) {
        double *lift = j->said.lift + i * j->width;
        w->doubt[q] = model_line_doubt(m, w->X + q * m->rows.D, lift, lift);
    }
}

static quorum_status answer_cells(const plan *p, size_t n, block_space *w, tally *t)
{
    cell_job j;
    team_result answers[4];
    quorum_status ready = job_new(p, &w->Q, n, &j);
    size_t count = ready >= 0 ? list_answers(&j, answers) : 0;
    quorum_status status = team_map(ready, j.workers, j.groups, ask_cell, &j, answers, count);
    for (size_t i = 0; status == QUORUM_OK && i < n; i++)
        take_answer(&j, i, w, t);
    job_free(&j);
    return status;
}

const predictor by_cells = {.name = "cells",
                            .applies = is_cells,
                            .plan = plan_cells,
                            .query_bytes = query_bytes,
                            .block_most = block_most,
                            .order = order_by_cells,
                            .answer = answer_cells};
