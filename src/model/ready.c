/* What prediction needs beyond the model file, made when first needed and then
 * shared by all threads that predict with the model. */
#include "model/model.h"

#include "base/memory.h"
#include "experts/base.h"

#include <pthread.h>
#include <string.h>

typedef struct base_entry {
    struct base_entry *next;
    size_t *experts, count, base_expert; /* what it was made for */
    parts rows;
    committee committee;
} base_entry;

typedef struct attachment {
    struct attachment *next;
    const attachment_kind *kind; /* what it was made for ... */
    size_t number;               /* ...                      */
    size_t place;                /* others of the kind that were there before */
    void *made;
} attachment;

struct model_cache {
    quorum_model *owner;        /* whose graph is learned when first needed; who looks at it ... */
    pthread_mutex_t graph_lock; /* ... holds this for a moment, who learns it ...             */
    pthread_mutex_t learning;   /* ... this all the time                                      */
    pthread_mutex_t lock;       /* for all that follows */
    int ready;                  /* the committee has its rows ...           */
    int asked;                  /* ... and has its factors, if they fit     */
    parts held;                 /* what experts hold, when they overlap     */
    committee committee;
    base_entry *bases;
    attachment *attachments;
    points own;           /* the index's rows, when experts overlap   */
    neighbour_index *few; /* of many rows, for the first queries ...  */
    size_t few_asked;     /* ... so many                              */
    neighbour_index *index;
    points mine;    /* this process's rows, where it has not all, ... */
    size_t *number; /* ... their numbers and the index over them   */
    neighbour_index *my_index;
    near_holdings scattered;
    double kept; /* bytes of factors */
    scratch_shelf scratch;
};

enum {
    MANY_ROWS = 100000, /* from here on a search tree takes long to make, ... */
    FEW_QUERIES = 512   /* ... longer than so many queries without it         */
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
    parts_free(&b->rows);
    mem_free(b->experts);
    mem_free(b);
}

static void attachment_free(attachment *a)
{
    if (a && a->made)
        a->kind->release(a->made);
    mem_free(a);
}

/* All processes have a search or none. */
static void forget_index(neighbour_index **index)
{
    neighbour_index_free(*index);
    *index = NULL;
}

static void forget_mine(model_cache *c)
{
    forget_index(&c->my_index);
    points_free(&c->mine);
    mem_free(c->number);
    c->number = NULL;
}

void model_cache_free(model_cache *c)
{
    if (!c)
        return;
    for (attachment *a = c->attachments, *next; a; a = next) {
        next = a->next;
        attachment_free(a);
    }
    forget_index(&c->few);
    forget_index(&c->index);
    points_free(&c->own);
    forget_mine(c);
    committee_free(&c->committee);
    parts_free(&c->held);
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

static quorum_status copy_overlapping(void *model)
{
    const quorum_model *m = model;
    parts own = model_parts(m);
    return held_parts_new(&own, &m->extra, &m->cache->held);
}

/* The rows as experts hold them. */
static quorum_status hold_rows(const quorum_model *m, parts *out)
{
    parts *held = &m->cache->held;
    *out = model_parts(m);
    if (!m->extra.offset)
        return QUORUM_OK;
    if (!held->offset) {
        quorum_status status = team_all(QUORUM_OK, copy_overlapping, (void *)m);
        if (status < 0)
            parts_free(held); /* all processes have it or none */
        TRY(status);
    }
    *out = *held;
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
static quorum_status gather_committee(const quorum_model *m, const settings *s)
{
    model_cache *cache = m->cache;
    parts rows;
    if (cache->ready)
        return QUORUM_OK;
    TRY(hold_rows(m, &rows));
    TRY(committee_gather(&rows, &m->theta, options_threads(s), &cache->committee));
    cache->ready = 1;
    return QUORUM_OK;
}

quorum_status model_rows(const quorum_model *m, const settings *s, const committee **out)
{
    pthread_mutex_lock(&m->cache->lock);
    quorum_status status = gather_committee(m, s);
    if (status == QUORUM_OK && model_is_whole(m))
        committee_scale_held(&m->cache->committee);
    pthread_mutex_unlock(&m->cache->lock);
    *out = &m->cache->committee;
    return status;
}

quorum_status model_turn_rows(const quorum_model *m, const settings *s)
{
    const committee *c;
    TRY(model_rows(m, s, &c));
    pthread_mutex_lock(&m->cache->lock);
    quorum_status status = committee_turn(&m->cache->committee, options_threads(s));
    pthread_mutex_unlock(&m->cache->lock);
    return status;
}

quorum_status model_committee(const quorum_model *m, const settings *s, const progress *p,
                              const committee **out)
{
    model_cache *cache = m->cache;
    pthread_mutex_lock(&cache->lock);
    quorum_status status = gather_committee(m, s);
    if (status == QUORUM_OK)
        committee_scale_held(&cache->committee);
    if (status == QUORUM_OK)
        status = committee_turn(&cache->committee, options_threads(s));
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
        TRY(points_new(m->rows.n, m->rows.D, own));
        points_scale(own, m->rows.n, m->rows.X, NULL, m->theta.lengthscale);
    }
    *out = own;
    return QUORUM_OK;
}

typedef struct {
    const quorum_model *m;
    const settings *s;
    const committee *c;
    neighbour_index **index; /* the one that is wanted */
} search;

static quorum_status prepare_search(void *context)
{
    const search *k = context;
    const points *Z;
    int threads = options_threads(k->s);
    TRY(different_points(k->m, k->c, &Z));
    return k->index == &k->m->cache->few ? neighbour_index_for_few(Z, threads, k->index)
                                         : neighbour_index_new(Z, threads, k->index);
}

/* Of many rows the first queries make do with less than a tree. */
static neighbour_index **choose_index(const quorum_model *m, size_t queries)
{
    model_cache *cache = m->cache;
    if (cache->index || m->rows.n < MANY_ROWS || queries > FEW_QUERIES - cache->few_asked)
        return &cache->index;
    cache->few_asked += queries;
    return &cache->few;
}

quorum_status model_neighbour_index(const quorum_model *m, size_t queries, const settings *s,
                                    const neighbour_index **out)
{
    model_cache *cache = m->cache;
    search k = {.m = m, .s = s};
    TRY(model_rows(m, s, &k.c));
    quorum_status status = QUORUM_OK;
    pthread_mutex_lock(&cache->lock);
    k.index = choose_index(m, queries);
    if (!*k.index)
        status = team_all(QUORUM_OK, prepare_search, &k);
    if (status < 0)
        forget_index(k.index);
    *out = *k.index;
    pthread_mutex_unlock(&cache->lock);
    return status;
}

/* ---- Where each process searches among the rows of its own experts ---- */

static quorum_status room_for_mine(const quorum_model *m)
{
    points *own = &m->cache->mine;
    size_t count = 0;
    for (size_t e = 0; e < m->M; e++)
        count += holdings_is_mine(&m->held, e) ? m->offset[e + 1] - m->offset[e] : 0;
    *own = (points){.n = count, .D = m->rows.D, .stride = count};
    NEW_ARRAY(own->Z, count * m->rows.D);
    NEW_ARRAY(own->norm, count);
    NEW_ARRAY(m->cache->number, count);
    if (own->Z && own->norm && m->cache->number)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for searching %zu rows", count);
}

/* Scaled, for the search alone: it never asks for T. */
static void scale_mine(const quorum_model *m)
{
    size_t at = 0;
    for (size_t e = 0; e < m->M; e++) {
        size_t first = m->offset[e], rows = m->offset[e + 1] - first;
        if (!holdings_is_mine(&m->held, e))
            continue;
        points here = points_view(&m->cache->mine, at, rows);
        points_scale(&here, rows, m->rows.X + first * m->rows.D, NULL, m->theta.lengthscale);
        for (size_t i = 0; i < rows; i++)
            m->cache->number[at++] = first + i;
    }
}

static quorum_status prepare_mine(void *context)
{
    const search *k = context;
    model_cache *cache = k->m->cache;
    TRY(room_for_mine(k->m));
    scale_mine(k->m);
    if (cache->mine.n > 0)
        TRY(neighbour_index_new(&cache->mine, options_threads(k->s), &cache->my_index));
    cache->scattered =
        (near_holdings){.index = cache->my_index, .number = cache->number, .rows = &k->m->rows};
    return QUORUM_OK;
}

quorum_status model_near_holdings(const quorum_model *m, const settings *s,
                                  const near_holdings **out)
{
    model_cache *cache = m->cache;
    search k = {.m = m, .s = s};
    quorum_status status = QUORUM_OK;
    pthread_mutex_lock(&cache->lock);
    if (!cache->number) {
        status = team_all(QUORUM_OK, prepare_mine, &k);
        if (status < 0)
            forget_mine(cache);
    }
    pthread_mutex_unlock(&cache->lock);
    *out = &cache->scattered;
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

typedef struct {
    const quorum_model *m;
    const parts *rows;
    const size_t *experts;
    size_t count, base_expert;
    base_entry *made;
} base_request;

static quorum_status prepare_base(void *context)
{
    base_request *r = context;
    base_entry *b;
    if (!NEW_ZEROED(b, 1))
        return failure(QUORUM_E_MEMORY, "out of memory for the base expert");
    r->made = b;
    if (!NEW_ARRAY(b->experts, r->count))
        return failure(QUORUM_E_MEMORY, "out of memory for the base expert");
    memcpy(b->experts, r->experts, r->count * sizeof *b->experts);
    b->count = r->count;
    b->base_expert = r->base_expert;
    return augment_parts(r->rows, b->experts, b->count, b->base_expert, r->m->seed, &b->rows);
}

static base_entry *keep_base(model_cache *c, base_entry *b)
{
    b->next = c->bases;
    c->bases = b;
    return b;
}

static quorum_status make_base(base_request *r, const settings *s, const progress *p)
{
    const quorum_model *m = r->m;
    parts rows;
    TRY(hold_rows(m, &rows));
    r->rows = &rows;
    TRY(team_all(QUORUM_OK, prepare_base, r));
    base_entry *b = r->made;
    TRY(committee_new(&b->rows, &m->theta, 0.0, 1, NULL, &b->committee));
    return keep_factors(m->cache, s, p, &b->committee);
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
        base_request r = {.m = m, .experts = experts, .count = count, .base_expert = base_expert};
        status = make_base(&r, s, p);
        if (status < 0)
            base_entry_free(r.made);
        else
            b = keep_base(cache, r.made);
    }
    pthread_mutex_unlock(&cache->lock);
    if (b)
        *out = &b->committee;
    return status;
}

/* ---- What later rooms keep ---- */

quorum_status model_points(const quorum_model *m, const points **out)
{
    pthread_mutex_lock(&m->cache->lock);
    quorum_status status = different_points(m, &m->cache->committee, out);
    pthread_mutex_unlock(&m->cache->lock);
    return status;
}

typedef struct {
    const attachment_kind *kind;
    size_t number;
    void *context;
    attachment *made;
} attachment_request;

static quorum_status prepare_attachment(void *context)
{
    attachment_request *r = context;
    if (!NEW_ZEROED(r->made, 1))
        return failure(QUORUM_E_MEMORY, "out of memory for the model");
    *r->made = (attachment){.kind = r->kind, .number = r->number};
    return r->kind->make(r->context, &r->made->made);
}

/* The one of this kind and number, or NULL; *count: all of this kind. */
static attachment *find_attachment(const model_cache *c, const attachment_kind *kind, size_t number,
                                   size_t *count)
{
    attachment *found = NULL;
    *count = 0;
    for (attachment *a = c->attachments; a; a = a->next) {
        *count += a->kind == kind;
        if (a->kind == kind && a->number == number)
            found = a;
    }
    return found;
}

quorum_status model_attachment(const quorum_model *m, const attachment_kind *kind, size_t number,
                               void *context, void **out, size_t *place)
{
    model_cache *cache = m->cache;
    quorum_status status = QUORUM_OK;
    size_t others;
    pthread_mutex_lock(&cache->lock);
    attachment *a = find_attachment(cache, kind, number, &others);
    if (!a) {
        attachment_request r = {.kind = kind, .number = number, .context = context};
        status = team_all(QUORUM_OK, prepare_attachment, &r);
        if (status < 0) {
            attachment_free(r.made);
        } else {
            a = r.made;
            a->place = others;
            a->next = cache->attachments;
            cache->attachments = a;
        }
    }
    pthread_mutex_unlock(&cache->lock);
    *out = a ? a->made : NULL;
    *place = a ? a->place : 0;
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
    learned_graph old = {owner->learned.graph, owner->learned.reference, owner->learned.references};
    owner->learned.graph = g->graph;
    owner->learned.reference = g->reference;
    owner->learned.references = g->references;
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
    if (!m->learned.graph.ranking) {
        status = model_learn_own_graph(m, s, p, &fresh);
        if (status == QUORUM_OK)
            model_take_graph(m, &fresh);
    }
    pthread_mutex_unlock(&m->cache->learning);
    *out = &m->learned.graph;
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
