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
    augmented_parts rows;
    committee committee;
} base_entry;

struct model_cache {
    pthread_mutex_t lock;
    int ready;
    committee committee;
    base_entry *bases;
    neighbour_index *index;
    double kept; /* bytes of factors */
};

static const double SHARE_OF_MEMORY = 0.5; /* that kept factors may take */

model_cache *model_cache_new(void)
{
    model_cache *c;
    if (NEW_ZEROED(c, 1))
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
    committee_free(&c->committee);
    for (base_entry *b = c->bases, *next; b; b = next) {
        next = b->next;
        base_entry_free(b);
    }
    pthread_mutex_destroy(&c->lock);
    mem_free(c);
}

/* A committee whose factors are kept if there is room for them. */
static quorum_status make_committee(const quorum_model *m, const parts *rows, const settings *s,
                                    const progress *p, committee *out)
{
    model_cache *cache = m->cache;
    double room = SHARE_OF_MEMORY * options_memory(s) - cache->kept;
    TRY(committee_new(rows, &m->theta, room, options_threads(s), p, out));
    if (out->factors)
        cache->kept += committee_factor_bytes(rows);
    return QUORUM_OK;
}

quorum_status model_committee(const quorum_model *m, const settings *s, const progress *p,
                              const committee **out)
{
    model_cache *cache = m->cache;
    quorum_status status = QUORUM_OK;
    pthread_mutex_lock(&cache->lock);
    if (!cache->ready) {
        parts rows = model_parts(m);
        status = make_committee(m, &rows, s, p, &cache->committee);
        cache->ready = status == QUORUM_OK;
    }
    pthread_mutex_unlock(&cache->lock);
    *out = &cache->committee;
    return status;
}

quorum_status model_neighbour_index(const quorum_model *m, const settings *s, const progress *p,
                                    const neighbour_index **out)
{
    model_cache *cache = m->cache;
    const committee *c;
    TRY(model_committee(m, s, p, &c));
    quorum_status status = QUORUM_OK;
    pthread_mutex_lock(&cache->lock);
    if (!cache->index)
        status = neighbour_index_new(&c->Z, options_threads(s), &cache->index);
    pthread_mutex_unlock(&cache->lock);
    *out = cache->index;
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
    parts rows = model_parts(m);
    TRY_OR_DONE(augment_parts(&rows, experts, count, base_expert, m->seed, &b->rows));
    TRY_OR_DONE(make_committee(m, &b->rows.parts, s, p, &b->committee));
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
