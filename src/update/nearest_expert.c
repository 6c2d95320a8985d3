/* The expert that a new row joins: the one whose centre, the mean of its rows before the change, is nearest in
 * the metric that the rows were divided by (option partition-metric), ties to the lower number.  Where rows were
 * dealt at random a new one is too, by the model's seed and its number among all rows. */
#include "update/update.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "gp/points.h"
#include "update/fit_words.h"

#include <math.h>
#include <string.h>

enum { ROWS_AT_ONCE = 64 };

typedef struct {
    const change *c;
    double *centre; /* M x D: in the metric        */
    double *X;      /* new rows x D, likewise      */
    size_t *expert;
} seeking;

static void add_to_centres(const quorum_model *m, double *centre)
{
    size_t D = m->rows.D;
    memset(centre, 0, m->M * D * sizeof *centre);
    for (size_t e = 0; e < m->M; e++) {
        double *mean = centre + e * D, share = 1.0 / (double)(m->offset[e + 1] - m->offset[e]);
        for (size_t i = m->offset[e]; i < m->offset[e + 1]; i++)
            for (size_t d = 0; d < D; d++)
                mean[d] += m->rows.X[i * D + d] * share;
    }
}

static size_t nearest_centre(const seeking *s, const double *x)
{
    size_t D = s->c->m->rows.D, best = 0;
    double least = INFINITY;
    for (size_t e = 0; e < s->c->m->M; e++) {
        double distance = 0.0;
        for (size_t d = 0; d < D; d++) {
            double way = s->centre[e * D + d] - x[d];
            distance += way * way;
        }
        if (distance < least) {
            least = distance;
            best = e;
        }
    }
    return best;
}

static quorum_status seek_some(void *context, size_t item, int worker)
{
    const seeking *s = context;
    size_t first = item * ROWS_AT_ONCE, n = s->c->own.n, D = s->c->own.D;
    (void)worker;
    for (size_t i = first; i < n && i < first + ROWS_AT_ONCE; i++)
        s->expert[i] = nearest_centre(s, s->X + i * D);
    return QUORUM_OK;
}

static void apply_metric(const quorum_model *m, int learned, size_t n, double *X)
{
    if (learned)
        scale_inputs(n, m->rows.D, X, m->theta.lengthscale, X);
}

static quorum_status seek(seeking *s)
{
    const quorum_model *m = s->c->m;
    size_t D = m->rows.D, n = s->c->own.n;
    fit_words words;
    TRY(fit_words_read(m, &words));
    if (!NEW_ARRAY(s->centre, m->M * D) || !NEW_ARRAY(s->X, n * D))
        return failure(QUORUM_E_MEMORY, "out of memory for the experts of %zu new rows", n);
    add_to_centres(m, s->centre);
    memcpy(s->X, s->c->own.X, n * D * sizeof *s->X);
    apply_metric(m, words.metric == PARTITION_LEARNED, m->M, s->centre);
    apply_metric(m, words.metric == PARTITION_LEARNED, n, s->X);
    return parallel_for(options_threads(s->c->s), (n + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, seek_some,
                        s);
}

static void deal(const change *c, size_t *expert)
{
    const quorum_model *m = c->m;
    for (size_t i = 0; i < c->own.n; i++) {
        rng r = rng_seed(m->seed + m->rows.n + i, STREAM_RANDOM_PARTS);
        expert[i] = rng_below(&r, m->M);
    }
}

quorum_status change_find_experts(const change *c, size_t *expert)
{
    seeking s = {.c = c, .expert = expert};
    if (strcmp(c->m->partition->name, "random") == 0) {
        deal(c, expert);
        return QUORUM_OK;
    }
    quorum_status status = seek(&s);
    mem_free(s.centre);
    mem_free(s.X);
    return status;
}
