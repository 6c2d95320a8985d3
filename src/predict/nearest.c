/* The GP on each query's m nearest rows (docs/methods.md, "Nearest rows"):
 *
 *   gamma = C^-1 k*,   mean = gamma' y,   explained = gamma' k*    m numbers per query */
#include "predict/nearest.h"

#include "base/memory.h"
#include "gp/neighbourhood.h"
#include "team/work.h"

#include <math.h>
#include <string.h>

quorum_status neighbourhoods_new(size_t b, size_t real, size_t m, spread_rule how, int with_gamma,
                                 size_t width, neighbourhoods *out)
{
    neighbourhoods n = {.b = b, .real = real, .m = m, .width = width, .how = how};
    NEW_ARRAY(n.row, b * m);
    NEW_ARRAY(n.mean, b);
    NEW_ARRAY(n.explained, b);
    NEW_ARRAY(n.spread, b);
    NEW_ARRAY(n.noise, b);
    if (with_gamma)
        NEW_ARRAY(n.gamma, b * m);
    if (width > 0)
        NEW_ARRAY(n.lift, b * width);
    *out = n;
    if (n.row && n.mean && n.explained && n.spread && n.noise && (n.gamma || !with_gamma) &&
        (n.lift || width == 0))
        return QUORUM_OK;
    neighbourhoods_free(out);
    return failure(QUORUM_E_MEMORY, "out of memory for %zu neighbours of %zu queries", m, b);
}

void neighbourhoods_free(neighbourhoods *n)
{
    mem_free(n->row);
    mem_free(n->gamma);
    mem_free(n->lift);
    mem_free(n->mean);
    mem_free(n->explained);
    mem_free(n->spread);
    mem_free(n->noise);
    mem_free(n->slopes.mean);
    mem_free(n->slopes.explained);
    mem_free(n->slopes.spread);
    mem_free(n->slopes.doubt);
    mem_free(n->other);
    *n = (neighbourhoods){0};
}

/* What the last query has in a table of m numbers per query, of `width` bytes each, goes to the
 * padding behind it. */
static void repeat_last(const neighbourhoods *n, void *table, size_t width)
{
    size_t bytes = n->m * width;
    char *padding = (char *)table + n->real * bytes;
    for (size_t q = n->real; q < n->b; q++, padding += bytes)
        memcpy(padding, (char *)table + (n->real - 1) * bytes, bytes);
}

/* ---- Their rows ---- */

typedef struct {
    const committee *c;
    neighbourhoods *n;
} finding;

/* Of rows by number, nearest first, to columns, nearest last. */
static quorum_status keep_rows(void *context, size_t q, int worker)
{
    const finding *f = context;
    size_t m = f->n->m, *row = f->n->row + q * m;
    (void)worker;
    for (size_t i = 0; f->c->parts.home && i < m; i++)
        row[i] = f->c->parts.home[row[i]];
    reverse_rows(m, row);
    if (q + 1 == f->n->real)
        repeat_last(f->n, f->n->row, sizeof *row);
    return QUORUM_OK;
}

quorum_status neighbourhoods_find(quorum_status ready, const committee *c,
                                  const neighbour_index *index, const points *Q, int threads,
                                  neighbourhoods *n)
{
    finding f = {.c = c, .n = n};
    points queries = points_view(Q, 0, n->real);
    if (ready >= 0)
        ready = neighbour_search_mine(index, &queries, n->m, threads, n->row, NULL);
    return team_map(ready, 1, n->real, keep_rows, &f, NULL, 0);
}

/* ---- Their posteriors ---- */

/* A worker's space. */
typedef struct {
    points X;      /* m: the neighbourhood       */
    row_set rows;  /* m: of which only some processes need the inputs */
    double *gamma; /* m */
    double *slope; /* 7 D + 2 */
    neighbourhood_space own;
} nearest_space;

typedef struct {
    const committee *c;
    const points *Q;
    neighbourhoods *n;
    int workers;
    nearest_space *space; /* workers */
} nearest_job;

static void space_free(nearest_space *w)
{
    points_free(&w->X);
    rows_free(&w->rows);
    mem_free(w->gamma);
    mem_free(w->slope);
    neighbourhood_space_free(&w->own);
}

static quorum_status space_new(size_t m, int local_noise, const row_set *like, nearest_space *w)
{
    TRY(points_new(m, like->D, &w->X));
    TRY(neighbourhood_space_new(m, local_noise, &w->own));
    if (!NEW_ARRAY(w->gamma, m) || !NEW_ARRAY(w->slope, 7 * like->D + 2))
        return failure(QUORUM_E_MEMORY, "out of memory for a neighbourhood of %zu rows", m);
    return rows_new(like, m, &w->rows);
}

static void job_free(nearest_job *j)
{
    for (int w = 0; j->space && w < j->workers; w++)
        space_free(&j->space[w]);
    mem_free(j->space);
}

/* Whether this process is ready to ask; job_free in any case. */
static quorum_status job_new(quorum_status ready, const committee *c, const points *Q,
                             neighbourhoods *n, int threads, nearest_job *j)
{
    *j = (nearest_job){.c = c, .Q = Q, .n = n, .workers = parallel_workers(threads, n->real)};
    TRY(ready);
    if (!NEW_ZEROED(j->space, (size_t)j->workers))
        return failure(QUORUM_E_MEMORY, "out of memory for the neighbourhoods of %zu queries",
                       n->b);
    for (int w = 0; w < j->workers; w++)
        TRY(space_new(n->m, n->how.local_noise, &c->parts.rows, &j->space[w]));
    return QUORUM_OK;
}

/* The neighbourhood of query q, nearest last, from the committee's rows. */
static void take_neighbourhood(const nearest_job *j, size_t q, nearest_space *w)
{
    const committee *c = j->c;
    const size_t *row = j->n->row + q * j->n->m;
    points_gather(&c->Z, row, j->n->m, &w->X);
    rows_take_fields(&c->parts.rows, row, j->n->m, &w->rows);
}

/* lift (D + 1) = sum_i gamma_i (1, x_i), x = z l. */
static void lift_line(const points *X, const double *lengthscale, const double *gamma, double *lift)
{
    size_t D = X->D;
    memset(lift, 0, (D + 1) * sizeof *lift);
    for (size_t i = 0; i < X->n; i++) {
        lift[0] += gamma[i];
        for (size_t d = 0; d < D; d++)
            lift[d + 1] += gamma[i] * X->Z[i * D + d];
    }
    for (size_t d = 0; d < D; d++)
        lift[d + 1] *= lengthscale[d];
}

/* Whether the query lies in a gap: rows of its neighbourhood, nearest last, are all on one side of a wide one, and
 * the middles of the experts' are not. */
static int is_surrounded(const nearest_job *j, const points *query, const neighbourhood *own,
                         const points *X)
{
    const committee *c = j->c;
    query_sides sides = {.D = X->D,
                         .x = query->Z,
                         .nearest = X->Z + (X->n - 1) * X->D,
                         .rows = X->Z,
                         .row_count = X->n,
                         .centres = c->centre,
                         .centre_count = c->parts.M};
    return lies_in_gap(&sides, own->around,
                       variance_left(c->theta.signal, own->explained, own->noise));
}

/* Means and spreads of further targets, by the factor that is there. */
static void ask_others(const nearest_job *j, size_t q, const points *query, int in_gap,
                       nearest_space *w)
{
    const neighbourhoods *n = j->n;
    const size_t *row = n->row + q * n->m;
    for (size_t k = 0; k < n->others; k++) {
        const near_target *t = &n->other[k];
        neighbourhood own;
        for (size_t i = 0; i < n->m; i++)
            w->rows.y[i] = t->y[row[i]];
        neighbourhood_of_other_targets(&j->c->theta, &w->X, &w->rows, query, &w->own, &own);
        own.around.is_surrounded = in_gap;
        t->mean[q] = own.mean;
        t->spread[q] = spread_factor(t->how, own.around,
                                     variance_left(j->c->theta.signal, own.explained, own.noise));
    }
}

/* The posterior at query q from the neighbourhood in w. */
static quorum_status ask_neighbourhood(nearest_job *j, size_t q, nearest_space *w)
{
    neighbourhoods *n = j->n;
    points query = points_view(j->Q, q, 1);
    double *gamma = n->gamma ? n->gamma + q * n->m : n->lift ? w->gamma : NULL;
    neighbourhood own;
    TRY(neighbourhood_posterior(&j->c->theta, &w->X, &w->rows, &query, &w->own, gamma, &own));
    if (n->lift)
        lift_line(&w->X, j->c->theta.lengthscale, gamma, n->lift + q * n->width);
    own.around.is_surrounded = is_surrounded(j, &query, &own, &w->X);
    n->mean[q] = own.mean;
    n->explained[q] = own.explained;
    n->noise[q] = own.noise;
    n->spread[q] = spread_factor(n->how, own.around,
                                 variance_left(j->c->theta.signal, own.explained, own.noise));
    if (n->slopes.mean)
        neighbourhoods_find_slopes(&j->c->theta, &w->X, &query, &own, &w->own, w->slope, q, n);
    if (n->gamma && q + 1 == n->real)
        repeat_last(n, n->gamma, sizeof *gamma);
    ask_others(j, q, &query, own.around.is_surrounded, w);
    return QUORUM_OK;
}

static quorum_status one_query(void *context, size_t q, int worker)
{
    nearest_job *j = context;
    take_neighbourhood(j, q, &j->space[worker]);
    return ask_neighbourhood(j, q, &j->space[worker]);
}

/* What all processes have heard of the last query goes to the padding too. */
static void fill_padding(neighbourhoods *n)
{
    size_t last = n->real - 1;
    for (size_t q = n->real; q < n->b; q++) {
        n->mean[q] = n->mean[last];
        n->explained[q] = n->explained[last];
        n->spread[q] = n->spread[last];
        n->noise[q] = n->noise[last];
        if (n->lift)
            memcpy(n->lift + q * n->width, n->lift + last * n->width, n->width * sizeof *n->lift);
    }
}

enum { ANSWERS = 9 }; /* numbers per query that go to all processes, lift and slopes */

static size_t list_answers(const neighbourhoods *n, size_t D, team_result *out)
{
    double *answers[] = {n->mean, n->explained, n->spread, n->noise};
    size_t count = sizeof answers / sizeof *answers;
    for (size_t i = 0; i < count; i++)
        out[i] = (team_result){.data = answers[i], .width = sizeof *answers[i]};
    if (n->width > 0)
        out[count++] = (team_result){.data = n->lift, .width = n->width * sizeof *n->lift};
    double *const slopes[] = {n->slopes.mean, n->slopes.explained, n->slopes.spread,
                              n->slopes.doubt};
    for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++)
        if (slopes[i])
            out[count++] = (team_result){.data = slopes[i], .width = D * sizeof *slopes[i]};
    return count;
}

quorum_status neighbourhoods_ask(quorum_status ready, const committee *c, const points *Q,
                                 int threads, neighbourhoods *n)
{
    nearest_job j;
    team_result answers[ANSWERS];
    size_t count = list_answers(n, Q->D, answers);
    ready = job_new(ready, c, Q, n, threads, &j);
    quorum_status status = team_map(ready, j.workers, n->real, one_query, &j, answers, count);
    if (status == QUORUM_OK)
        fill_padding(n);
    job_free(&j);
    return status;
}

/* ---- Each process has some of the rows ---- */

/* expert[q]: the one whose centre is nearest to query q. */
typedef struct {
    const committee *c;
    const points *Q;
    size_t *expert; /* Q->n                    */
} claims;

static quorum_status find_expert(void *context, size_t q, int worker)
{
    const claims *f = context;
    size_t D = f->Q->D;
    const double *z = f->Q->Z + q * D;
    double least = INFINITY;
    (void)worker;
    f->expert[q] = 0;
    for (size_t e = 0; e < f->c->parts.M; e++) {
        double s = 0.0;
        for (size_t d = 0; d < D; d++) {
            double x = f->c->centre[e * D + d] - z[d];
            s += x * x;
        }
        if (s < least) {
            least = s;
            f->expert[q] = e;
        }
    }
    return QUORUM_OK;
}

quorum_status claim_by_centre(quorum_status ready, const committee *c, const points *Q, int threads,
                              char *claimed)
{
    claims f = {.c = c, .Q = Q};
    if (ready >= 0 && !NEW_ARRAY(f.expert, Q->n))
        ready = failure(QUORUM_E_MEMORY, "out of memory for %zu queries", Q->n);
    team_result experts = {.data = f.expert, .width = sizeof *f.expert};
    quorum_status status = team_map(ready, threads, Q->n, find_expert, &f, &experts, 1);
    for (size_t q = 0; claimed && status >= 0 && q < Q->n; q++)
        claimed[q] = (char)committee_is_mine(c, f.expert[q]);
    mem_free(f.expert);
    return status;
}

static quorum_status scattered_query(void *context, size_t q, const near_found *found, int worker)
{
    nearest_job *j = context;
    nearest_space *w = &j->space[worker];
    size_t m = j->n->m, width = row_width(&w->rows);
    for (size_t i = 0; i < m; i++) {
        const near_row *row = &found->row[m - 1 - i];
        row_unpack(found->rows + row->tag * width, &w->rows, i);
        j->n->row[q * m + i] = row->number;
    }
    if (q + 1 == j->n->real)
        repeat_last(j->n, j->n->row, sizeof *j->n->row);
    points_scale(&w->X, m, w->rows.X, NULL, j->c->theta.lengthscale);
    return ask_neighbourhood(j, q, w);
}

quorum_status neighbourhoods_ask_scattered(quorum_status ready, const committee *c,
                                           const near_holdings *held, const points *Q, int threads,
                                           neighbourhoods *n)
{
    nearest_job j;
    char *claimed = NULL;
    team_result answers[ANSWERS];
    points queries = points_view(Q, 0, n->real);
    size_t count = list_answers(n, Q->D, answers);
    ready = job_new(ready, c, Q, n, threads, &j);
    if (ready >= 0 && !NEW_ARRAY(claimed, n->real))
        ready = failure(QUORUM_E_MEMORY, "out of memory for %zu queries", n->real);
    quorum_status status = claim_by_centre(ready, c, &queries, threads, claimed);
    near_question asked = {&queries, claimed, n->m, j.workers};
    if (status == QUORUM_OK)
        status = near_ask(QUORUM_OK, held, &asked, scattered_query, &j, answers, count);
    if (status == QUORUM_OK)
        fill_padding(n);
    job_free(&j);
    mem_free(claimed);
    return status;
}
