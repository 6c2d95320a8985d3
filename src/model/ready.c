/* What prediction needs beyond the model file, made when first needed and then
 * shared by all threads that predict with the model. */
#include "model/model.h"

#include "base/memory.h"
#include "experts/base.h"
#include "team/team.h"

#include <pthread.h>
#include <string.h>

typedef struct base_entry {
    struct base_entry *next;
    size_t *experts, count, base_expert; /* what it was made for */
    augmented_parts rows;
    committee committee;
} base_entry;

struct model_cache {
    quorum_model *owner;        /* whose graph is learned when first needed; who looks at it ... */
    pthread_mutex_t graph_lock; /* ... holds this for a moment, who learns it ...             */
    pthread_mutex_t learning;   /* ... this all the time                                      */
    pthread_mutex_t lock;       /* for all that follows */
    int ready;                  /* the committee has its rows ...           */
    int asked;                  /* ... and has its factors, if they fit     */
    held_parts held;            /* what experts hold, when they overlap     */
    committee committee;
    base_entry *bases;
    points own; /* the index's rows, when experts overlap   */
    neighbour_index *index;
    points mine;    /* this rank's rows, where it has not all, ... */
    size_t *number; /* ... their numbers and the index over them   */
    neighbour_index *my_index;
    near_holdings holdings;
    double kept; /* bytes of factors */
    scratch_shelf scratch;
};

static const double SHARE_OF_MEMORY = 0.5; /* that kept factors may take ...          */
static const double SHARE_OF_ONE = 0.8;    /* ... where one expert is all that is asked */

model_cache *model_cache_new(quorum_model *owner)
{
    model_cache *c;
    if (!NEW_ZEROED(c, 1))
        return NULL;
    c->owner = owner;
    pthread_mutex_init(&c->graph_lock, NULL);
    pthread_mutex_init(&c->learning, NULL);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static void base_entry_free(base_entry *b)
{
    if (!b)
        return;
    committee_free(&b->committee);
    augmented_parts_free(&b->rows);
    mem_free(b->experts);
    mem_free(b);
}

void model_cache_free(model_cache *c)
{
    if (!c)
        return;
    neighbour_index_free(c->index);
    points_free(&c->own);
    neighbour_index_free(c->my_index);
    points_free(&c->mine);
    mem_free(c->number);
    committee_free(&c->committee);
    held_parts_free(&c->held);
    for (base_entry *b = c->bases, *next; b; b = next) {
        next = b->next;
        base_entry_free(b);
    }
    scratch_shelf_free(&c->scratch);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->learning);
    pthread_mutex_destroy(&c->graph_lock);
    mem_free(c);
}

scratch_shelf *model_scratch(const quorum_model *m)
{
    return &m->cache->scratch;
}

/* The rows as experts hold them. */
static quorum_status hold_rows(const quorum_model *m, parts *out)
{
    held_parts *held = &m->cache->held;
    *out = model_parts(m);
    if (!m->extra.offset)
        return QUORUM_OK;
    if (!held->X)
        TRY(held_parts_new(out, &m->extra, held));
    *out = held->parts;
    return QUORUM_OK;
}

/* Factors are kept if there is room for them. */
static quorum_status keep_factors(model_cache *cache, const settings *s, const progress *p,
                                  committee *c)
{
    double share = c->parts.M == 1 ? SHARE_OF_ONE : SHARE_OF_MEMORY;
    double room = share * options_memory(s) - cache->kept;
    TRY(committee_keep_factors(c, room, options_threads(s), p));
    if (c->factors)
        cache->kept += committee_factor_bytes(c);
    return QUORUM_OK;
}

/* The committee, without factors. */
static quorum_status gather_committee(const quorum_model *m)
{
    model_cache *cache = m->cache;
    parts rows;
    if (cache->ready)
        return QUORUM_OK;
    TRY(hold_rows(m, &rows));
    TRY(committee_new(&rows, &m->theta, 0.0, 1, NULL, &cache->committee));
    cache->ready = 1;
    return QUORUM_OK;
}

quorum_status model_rows(const quorum_model *m, const committee **out)
{
    pthread_mutex_lock(&m->cache->lock);
    quorum_status status = gather_committee(m);
    if (status == QUORUM_OK && model_is_whole(m))
        committee_scale_held(&m->cache->committee);
    pthread_mutex_unlock(&m->cache->lock);
    *out = &m->cache->committee;
    return status;
}

quorum_status model_committee(const quorum_model *m, const settings *s, const progress *p,
                              const committee **out)
{
    model_cache *cache = m->cache;
    pthread_mutex_lock(&cache->lock);
    quorum_status status = gather_committee(m);
    if (status == QUORUM_OK)
        committee_scale_held(&cache->committee);
    if (status == QUORUM_OK && !cache->asked) {
        status = keep_factors(cache, s, p, &cache->committee);
        cache->asked = status == QUORUM_OK;
    }
    pthread_mutex_unlock(&cache->lock);
    *out = &cache->committee;
    return status;
}

/* Every row once, scaled: the committee's own points unless experts overlap. */
static quorum_status different_points(const quorum_model *m, const committee *c, const points **out)
{
    points *own = &m->cache->own;
    *out = &c->Z;
    if (!m->extra.offset)
        return QUORUM_OK;
    if (!own->Z) {
        TRY(points_new(m->n, m->D, own));
        points_scale(own, m->n, m->X, NULL, m->theta.lengthscale);
    }
    *out = own;
    return QUORUM_OK;
}

quorum_status model_neighbour_index(const quorum_model *m, const settings *s,
                                    const neighbour_index **out)
{
    model_cache *cache = m->cache;
    const committee *c;
    const points *Z;
    TRY(model_rows(m, &c));
    quorum_status status = QUORUM_OK;
    pthread_mutex_lock(&cache->lock);
    if (!cache->index) {
        status = different_points(m, c, &Z);
        if (status == QUORUM_OK)
            status = neighbour_index_new(Z, options_threads(s), &cache->index);
    }
    pthread_mutex_unlock(&cache->lock);
    *out = cache->index;
    return status;
}

/* Rows of this rank's experts, scaled, for the search alone. */
static quorum_status scale_mine(const quorum_model *m)
{
    points *own = &m->cache->mine;
    size_t D = m->D, at = 0, count = 0;
    for (size_t e = 0; e < m->M; e++)
        count += m->owner[e] == team_rank() ? m->offset[e + 1] - m->offset[e] : 0;
    *own = (points){.n = count, .D = D, .stride = count};
    NEW_ARRAY(own->Z, count * D);
    NEW_ARRAY(own->norm, count);
    NEW_ARRAY(m->cache->number, count);
    if (!own->Z || !own->norm || !m->cache->number)
        return failure(QUORUM_E_MEMORY, "out of memory for searching %zu rows", count);
    for (size_t e = 0; e < m->M; e++)
        for (size_t i = m->offset[e]; m->owner[e] == team_rank() && i < m->offset[e + 1]; i++) {
            double norm = 0.0;
            for (size_t d = 0; d < D; d++) {
                double z = bring_in(m->X[i * D + d] / m->theta.lengthscale[d]);
                own->Z[at * D + d] = z;
                norm += z * z;
            }
            own->norm[at] = norm;
            m->cache->number[at++] = i;
        }
    return QUORUM_OK;
}

quorum_status model_near_holdings(const quorum_model *m, const settings *s,
                                  const near_holdings **out)
{
    model_cache *cache = m->cache;
    quorum_status status = QUORUM_OK;
    pthread_mutex_lock(&cache->lock);
    if (!cache->number) {
        status = scale_mine(m);
        if (status == QUORUM_OK && cache->mine.n > 0)
            status = neighbour_index_new(&cache->mine, options_threads(s), &cache->my_index);
        cache->holdings = (near_holdings){
            .index = cache->my_index, .number = cache->number, .X = m->X, .y = m->y};
        status = team_agree(status);
    }
    pthread_mutex_unlock(&cache->lock);
    *out = &cache->holdings;
    return status;
}

static base_entry *find_base(model_cache *c, const size_t *experts, size_t count,
                             size_t base_expert)
{
    for (base_entry *b = c->bases; b; b = b->next)
        if (b->count == count && b->base_expert == base_expert &&
            memcmp(b->experts, experts, count * sizeof *experts) == 0)
            return b;
    return NULL;
}

static quorum_status make_base(const quorum_model *m, const size_t *experts, size_t count,
                               size_t base_expert, const settings *s, const progress *p,
                               base_entry **out)
{
    base_entry *b = NULL;
    quorum_status status = QUORUM_OK;
    if (!NEW_ZEROED(b, 1) || !NEW_ARRAY(b->experts, count)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for the base expert");
        goto done;
    }
    memcpy(b->experts, experts, count * sizeof *experts);
    b->count = count;
    b->base_expert = base_expert;
    parts rows;
    TRY_OR_DONE(hold_rows(m, &rows));
    TRY_OR_DONE(augment_parts(&rows, experts, count, base_expert, m->seed, &b->rows));
    TRY_OR_DONE(committee_new(&b->rows.parts, &m->theta, 0.0, 1, NULL, &b->committee));
    TRY_OR_DONE(keep_factors(m->cache, s, p, &b->committee));
done:
    if (status < 0) {
        base_entry_free(b);
        b = NULL;
    }
    *out = b;
    return status;
}

quorum_status model_base_committee(const quorum_model *m, const size_t *experts, size_t count,
                                   size_t base_expert, const settings *s, const progress *p,
                                   const committee **out)
{
    model_cache *cache = m->cache;
    quorum_status status = QUORUM_OK;
    *out = NULL;
    pthread_mutex_lock(&cache->lock);
    base_entry *b = find_base(cache, experts, count, base_expert);
    if (!b) {
        status = make_base(m, experts, count, base_expert, s, p, &b);
        if (b) {
            b->next = cache->bases;
            cache->bases = b;
        }
    }
    pthread_mutex_unlock(&cache->lock);
    if (b)
        *out = &b->committee;
    return status;
}

/* ---- The graph ---- */

quorum_model model_now(const quorum_model *m)
{
    pthread_mutex_lock(&m->cache->graph_lock);
    quorum_model now = *m;
    pthread_mutex_unlock(&m->cache->graph_lock);
    return now;
}

void model_take_graph(const quorum_model *m, learned_graph *g)
{
    quorum_model *owner = m->cache->owner;
    pthread_mutex_lock(&m->cache->graph_lock);
    learned_graph old = {owner->graph, owner->reference, owner->references};
    owner->graph = g->graph;
    owner->reference = g->reference;
    owner->references = g->references;
    pthread_mutex_unlock(&m->cache->graph_lock);
    learned_graph_free(&old);
    *g = (learned_graph){0};
}

quorum_status model_graph(const quorum_model *m, const settings *s, const progress *p,
                          const expert_graph **out)
{
    learned_graph fresh = {0};
    quorum_status status = QUORUM_OK;
    pthread_mutex_lock(&m->cache->learning);
    if (!m->graph.ranking) {
        status = model_learn_own_graph(m, s, p, &fresh);
        if (status == QUORUM_OK)
            model_take_graph(m, &fresh);
    }
    pthread_mutex_unlock(&m->cache->learning);
    *out = &m->graph;
    return status;
}

quorum_status model_ranking(const quorum_model *m, const selection *chosen, const settings *s,
                            const progress *p, const size_t **ranking)
{
    const expert_graph *g;
    *ranking = NULL;
    if (!selection_is_by_rank(chosen) || selection_count(chosen, m->M) == m->M)
        return QUORUM_OK;
    TRY(model_graph(m, s, p, &g));
    TRY(expert_graph_check(g));
    *ranking = g->ranking;
    return QUORUM_OK;
}
