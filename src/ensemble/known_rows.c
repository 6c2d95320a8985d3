/* Experts at rows whose targets are known: the rows that the expert graph is learned from.  Who holds a row is
 * asked for it from its other rows, so that nobody has seen the target that it is held against:
 *
 *   (mean, explained) of expert e at row i, or at row i left out of expert e      M x n
 *   u, g of each (graph/latent_target.h)                                           n x M
 *   Omega, by EM */
#include "ensemble/known_rows.h"

#include "base/memory.h"
#include "gp/noise.h"
#include "graph/latent_target.h"
#include "team/work.h"

#include <pthread.h>
#include <stdint.h>

typedef struct {
    const committee *c;
    graph_options o;
    size_t M, n, wide; /* experts; rows, and with padding                       */
    size_t *column;    /* rows of the model: the first n are taken (columns of the committee) */
    points Q;          /* wide                                                  */
    question *asked;   /* M                                                     */
    double *mean, *explained; /* M x wide                                              */
    size_t *own, *at; /* of all experts: rows that they hold, and which of the n these are */
    size_t *first;    /* M + 1: where an expert's begin, padded                */
    double *left_mean, *left; /* the answers there                                     */
    double *u, *g, *y, *noise;
    double *omega;
} known_rows;

static void known_rows_free(known_rows *k)
{
    points_free(&k->Q);
    mem_free(k->column);
    mem_free(k->asked);
    mem_free(k->mean);
    mem_free(k->own);
    mem_free(k->first);
    mem_free(k->left_mean);
    mem_free(k->u);
    mem_free(k->omega);
}

static quorum_status no_room(const known_rows *k)
{
    return failure(QUORUM_E_MEMORY, "out of memory for %zu experts at %zu rows", k->M, k->n);
}

/* Who holds which of the rows; padding repeats an expert's first row. */
static size_t list_own(const known_rows *k, size_t *own, size_t *at)
{
    size_t filled = 0;
    for (size_t e = 0; e < k->M; e++) {
        k->first[e] = filled;
        for (size_t i = 0; i < k->n; i++) {
            size_t column = column_in_part(&k->c->parts, e, k->column[i]);
            if (column == SIZE_MAX)
                continue;
            if (own) {
                own[filled] = column - k->c->parts.offset[e];
                at[filled] = i;
            }
            filled++;
        }
        for (; (filled - k->first[e]) % QUERY_MULTIPLE != 0; filled++)
            if (own) {
                own[filled] = 0;
                at[filled] = SIZE_MAX;
            }
    }
    k->first[k->M] = filled;
    return filled;
}

static quorum_status draw(known_rows *k, const quorum_model *m)
{
    const parts *p = &k->c->parts;
    NEW_ARRAY(k->column, m->rows.n);
    NEW_ARRAY(k->asked, k->M);
    NEW_ARRAY(k->first, k->M + 1);
    if (!k->column || !k->asked || !k->first)
        return no_room(k);
    k->n = model_reference_rows(m, k->column);
    k->wide = padded_queries(k->n);
    for (size_t i = 0; p->home && i < k->n; i++)
        k->column[i] = p->home[k->column[i]];
    size_t held = list_own(k, NULL, NULL);
    NEW_ARRAY(k->own, 2 * held + 1);
    NEW_ARRAY(k->mean, 2 * k->M * k->wide);
    NEW_ARRAY(k->left_mean, 2 * held + 1);
    NEW_ARRAY(k->u, 2 * (k->M + 1) * k->n);
    NEW_ARRAY(k->omega, k->M * k->M);
    if (!k->own || !k->mean || !k->left_mean || !k->u || !k->omega)
        return no_room(k);
    k->at = k->own + held;
    k->explained = k->mean + k->M * k->wide;
    k->left = k->left_mean + held;
    k->g = k->u + k->M * k->n;
    k->y = k->g + k->M * k->n;
    k->noise = k->y + k->n;
    list_own(k, k->own, k->at);
    return points_new(k->wide, p->rows.D, &k->Q);
}

/* The points themselves; padding repeats the first. */
static void place_points(known_rows *k)
{
    for (size_t i = 0; i < k->wide; i++) {
        points to = points_view(&k->Q, i, 1);
        points_gather(&k->c->Z, &k->column[i < k->n ? i : 0], 1, &to);
    }
}

static quorum_status ask_all(quorum_status ready, known_rows *k)
{
    for (size_t e = 0; ready >= 0 && e < k->M; e++)
        k->asked[e] = (question){.expert = e,
                                 .b = k->wide,
                                 .mean = k->mean + e * k->wide,
                                 .explained = k->explained + e * k->wide};
    return committee_answer(ready, k->c, k->asked, k->M, &k->Q, k->o.budget, k->o.threads);
}

static quorum_status ask_left_out(known_rows *k)
{
    size_t count = 0;
    for (size_t e = 0; e < k->M; e++)
        if (k->first[e + 1] > k->first[e])
            k->asked[count++] = (question){.expert = e,
                                           .b = k->first[e + 1] - k->first[e],
                                           .own = k->own + k->first[e],
                                           .mean = k->left_mean + k->first[e],
                                           .explained = k->left + k->first[e]};
    TRY(committee_answer(QUORUM_OK, k->c, k->asked, count, &k->Q, k->o.budget, k->o.threads));
    for (size_t e = 0; e < k->M; e++)
        for (size_t a = k->first[e]; a < k->first[e + 1]; a++)
            if (k->at[a] != SIZE_MAX) {
                k->mean[e * k->wide + k->at[a]] = k->left_mean[a];
                k->explained[e * k->wide + k->at[a]] = k->left[a];
            }
    return QUORUM_OK;
}

static quorum_status learn(void *context)
{
    known_rows *k = context;
    const hyper *theta = &k->c->theta;
    const row_set *rows = &k->c->parts.rows;
    latent_rows known = {.M = k->M,
                         .n = k->n,
                         .u = k->u,
                         .g = k->g,
                         .y = k->y,
                         .noise = k->noise,
                         .signal = theta->signal};
    for (size_t i = 0; i < k->n; i++) {
        k->y[i] = rows->y[k->column[i]];
        k->noise[i] = noise_of(theta, rows, k->column[i]);
        for (size_t e = 0; e < k->M; e++)
            stand_expert(k->mean[e * k->wide + i], k->explained[e * k->wide + i], theta->signal,
                         &k->u[i * k->M + e], &k->g[i * k->M + e]);
    }
    return latent_target_learn(&known, &k->o, k->omega, NULL);
}

/* ---- Kept with the model ---- */

typedef struct {
    pthread_mutex_t lock;
    double *omega; /* M x M; NULL: not learned yet */
} kept_omega;

static quorum_status make_kept(void *context, void **out)
{
    (void)context;
    kept_omega *kept;
    if (!NEW_ZEROED(kept, 1))
        return failure(QUORUM_E_MEMORY, "out of memory for the model");
    pthread_mutex_init(&kept->lock, NULL);
    *out = kept;
    return QUORUM_OK;
}

static void free_kept(void *made)
{
    kept_omega *kept = made;
    if (!kept)
        return;
    pthread_mutex_destroy(&kept->lock);
    mem_free(kept->omega);
    mem_free(kept);
}

static const attachment_kind OMEGA = {make_kept, free_kept};

static quorum_status learn_omega(const quorum_model *m, const settings *s, const progress *p,
                                 double **omega)
{
    static const double SHARE = 0.2; /* of memory, that factors made for it may take */
    known_rows k = {.M = m->M, .o = m->graph_how};
    k.o.budget = SHARE * options_memory(s);
    k.o.threads = options_threads(s);
    quorum_status status = QUORUM_OK;
    TRY_OR_DONE(model_committee(m, s, p, &k.c));
    quorum_status ready = draw(&k, m);
    if (ready >= 0)
        place_points(&k);
    TRY_OR_DONE(ask_all(ready, &k));
    TRY_OR_DONE(ask_left_out(&k));
    TRY_OR_DONE(team_all(QUORUM_OK, learn, &k));
    *omega = k.omega;
    k.omega = NULL;
done:
    known_rows_free(&k);
    return status;
}

quorum_status model_omega(const quorum_model *m, const settings *s, const progress *p,
                          const double **omega)
{
    void *found;
    size_t place;
    TRY(model_attachment(m, &OMEGA, 0, NULL, &found, &place));
    kept_omega *kept = found;
    pthread_mutex_lock(&kept->lock);
    quorum_status status = kept->omega ? QUORUM_OK : learn_omega(m, s, p, &kept->omega);
    pthread_mutex_unlock(&kept->lock);
    *omega = kept->omega;
    return status;
}
