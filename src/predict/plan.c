/* One call's plan: the predictor, who answers, and how many queries at once. */
#include "predict/predictor.h"

#include "base/memory.h"
#include "linalg/blas.h"
#include "predict/block.h"
#include "predict/local.h"
#include "team/work.h"

#include <math.h>
#include <stdint.h>

enum { AUTO_MOST = 16 }; /* experts that local:auto seats at most */

static const double BLOCK_SHARE = 0.2;  /* of the memory option: a block                */
static const double FACTOR_SHARE = 0.2; /* factors made for a block when they are not kept */

static const predictor *const table[] = {&by_nearest, &by_experts, &by_npae,
                                         &by_groups,  &by_ggm,     &by_cells};

static const predictor *predictor_of(const rule *r)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i]->applies(r))
            return table[i];
    return NULL;
}

int plan_skips_variance(const plan *p)
{
    return p->s->mean_only && p->m->units.warp == WARP_NONE;
}

size_t plan_line_width(const plan *p)
{
    return p->m->units.line && !plan_skips_variance(p) ? p->m->rows.D + 1 : 0;
}

/* ---- Experts ---- */

int plan_is_local(const plan *p)
{
    return p->chosen.local > 0 || p->chosen.local_auto;
}

size_t plan_seats(const plan *p)
{
    size_t K = p->chosen.local_auto ? AUTO_MOST : p->chosen.local;
    return K > 0 && K < p->count ? K : p->count;
}

double plan_factor_bytes(const plan *p)
{
    return FACTOR_SHARE * p->memory;
}

double plan_seat_bytes(const plan *p, double rows)
{
    double candidates = plan_is_local(p) && !p->chosen.by_centre
                            ? assembly_query_bytes(local_candidates(plan_seats(p), p->count), 0.0)
                            : 0.0;
    return candidates + assembly_query_bytes(plan_seats(p) + 1, rows);
}

quorum_status plan_seat(quorum_status ready, const plan *p, assembly *a, size_t K, size_t n,
                        const neighbourhoods *near, size_t *unsure)
{
    *unsure = 0;
    if (p->chosen.by_centre && K < p->count)
        return seat_nearest(ready, a, p->experts, p->count, K, n, p->threads);
    if (plan_is_local(p) && K < p->count)
        return seat_local(ready, a, p->experts, p->count, K, n, near, plan_factor_bytes(p),
                          p->threads, unsure);
    if (ready >= 0)
        assembly_seat_all(a, p->experts, p->count);
    return ready;
}

/* Bytes of the largest factor that may be asked for. */
static double largest_factor(const plan *p)
{
    size_t most = 0;
    for (size_t i = 0; i < p->count; i++) {
        size_t m = part_size(&p->c->parts, p->experts[i]);
        most = m > most ? m : most;
    }
    return 8.0 * (double)most * (double)(most + 1);
}

/* One factor at a time is the least that memory has to hold. */
static quorum_status check_factors(const plan *p)
{
    double needed = largest_factor(p);
    if (needed < p->memory)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY,
                   "an expert's factor needs %.2f GB, more than memory (%.2f GB) allows: raise "
                   "memory, predict by method nearest, or fit more experts",
                   needed / 1e9, p->memory / 1e9);
}

/* GRBCM: the committee becomes the base (the most important expert's part when
 * experts were selected) and the joined experts, which are one more at most. */
static quorum_status take_base(plan *p, const size_t *ranking, int selected)
{
    size_t base = SIZE_MAX;
    for (size_t r = 0; selected && p->count > 1 && base == SIZE_MAX; r++)
        for (size_t i = 0; i < p->count; i++)
            if (p->experts[i] == ranking[r])
                base = ranking[r];
    TRY(model_base_committee(p->m, p->experts, p->count, base, p->s, p->progress, &p->c));
    p->count = p->c->parts.M;
    for (size_t i = 0; i < p->count; i++)
        p->experts[i] = i;
    return QUORUM_OK;
}

static quorum_status choose_experts(plan *p, const double *X, size_t n)
{
    const size_t *ranking;
    expert_graph fresh = {0};
    quorum_status status = QUORUM_OK;
    if (selection_is_by_rank(&p->chosen) && p->s->graph_on == GRAPH_ON_TEST) {
        TRY(model_graph_on(p->m, X, n, p->s, p->progress, &fresh));
        ranking = fresh.ranking;
    } else {
        TRY(model_ranking(p->m, &p->chosen, p->s, p->progress, &ranking));
    }
    TRY_OR_DONE(selection_members(&p->chosen, p->m->M, ranking, p->experts, &p->count));
    p->used = p->count;
    if (p->rule->kind == TAKES_BASE)
        TRY_OR_DONE(take_base(p, ranking, p->count < p->m->M));
done:
    expert_graph_free(&fresh);
    return status;
}

quorum_status plan_experts(plan *p, const double *X, size_t n)
{
    TRY(model_committee(p->m, p->s, p->progress, &p->c));
    TRY(choose_experts(p, X, n));
    p->mean_only = plan_skips_variance(p) && p->count == 1 && p->neighbours == 0 &&
                   p->rule->trusts_one && !p->with_slopes;
    return check_factors(p);
}

/* ---- Neighbours ---- */

quorum_status plan_neighbours(plan *p, size_t queries)
{
    if (model_is_whole(p->m))
        return model_neighbour_index(p->m, queries, p->s, &p->index);
    return model_near_holdings(p->m, p->s, &p->held);
}

/* ---- The whole ---- */

static quorum_status follow_recipe(plan *p)
{
    recipe r;
    TRY(model_recipe(p->m, p->s, &r));
    TRY(model_check_recipe(p->m, &r));
    p->rule = r.rule;
    p->chosen = r.chosen;
    p->neighbours = r.neighbours;
    p->how = predictor_of(r.rule);
    return QUORUM_OK;
}

/* Queries of a block: as many as memory allows, up to what speed can use. */
static size_t block_size(const plan *p, size_t queries)
{
    size_t most = p->how->block_most(p), b;
    double each = 8.0 * (4.0 * (double)p->m->rows.D + 8.0) + p->how->query_bytes(p);
    if (p->with_slopes)
        each += 8.0 * (8.0 + 2.0 * (double)plan_seats(p)) * (double)p->m->rows.D;
    double room = p->memory - largest_factor(p);
    double fit = fmin(BLOCK_SHARE * p->memory, room) / each;
    b = fit < (double)most ? (size_t)fit : most;
    b = b / QUERY_MULTIPLE * QUERY_MULTIPLE;
    if (b < QUERY_MULTIPLE)
        b = QUERY_MULTIPLE;
    return b < padded_queries(queries) ? b : padded_queries(queries);
}

/* All that one process alone can find out: whether its BLAS is sound, and whether there is room to
 * list the model's experts and a base, and groups of them. */
static quorum_status prepare(void *context)
{
    plan *p = context;
    TRY(blas_check());
    if (!NEW_ARRAY(p->experts, 2 * (p->m->M + 1)))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", p->m->M);
    p->first = p->experts + p->m->M + 1;
    return QUORUM_OK;
}

quorum_status plan_make(const quorum_model *m, const quorum_options *options, int with_slopes,
                        const double *X, size_t n, plan *p)
{
    *p = (plan){.m = m,
                .s = options_values(options),
                .progress = options_progress(options),
                .with_slopes = with_slopes};
    TRY(team_all(QUORUM_OK, prepare, p));
    p->threads = options_threads(p->s);
    p->memory = options_memory(p->s);
    p->spread = model_spread_with(m, p->s);
    TRY(follow_recipe(p));
    TRY(p->how->plan(p, X, n));
    p->block = block_size(p, n);
    return QUORUM_OK;
}
