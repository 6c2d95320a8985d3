/* The GP on each query's m nearest rows (docs/methods.md, "Nearest rows"):
 *
 *   gamma = C^-1 k*,   mean = gamma' y,   explained = gamma' k*    m numbers per query */
#include "predict/nearest.h"

#include "base/memory.h"
#include "gp/neighbourhood.h"
#include "team/team.h"

#include <math.h>
#include <string.h>

enum { HANDFUL = 256 }; /* queries of a rank whose rows come from other ranks at a time */

quorum_status neighbourhoods_new(size_t b, size_t real, size_t m, double prior, int with_gamma,
                                 neighbourhoods *out)
{
    neighbourhoods n = {.b = b, .real = real, .m = m, .prior = prior};
    NEW_ARRAY(n.row, b * m);
    NEW_ARRAY(n.mean, b);
    NEW_ARRAY(n.explained, b);
    NEW_ARRAY(n.spread, b);
    if (with_gamma)
        NEW_ARRAY(n.gamma, b * m);
    *out = n;
    if (n.row && n.mean && n.explained && n.spread && (n.gamma || !with_gamma))
        return QUORUM_OK;
    neighbourhoods_free(out);
    return failure(QUORUM_E_MEMORY, "out of memory for %zu neighbours of %zu queries", m, b);
}

void neighbourhoods_free(neighbourhoods *n)
{
    mem_free(n->row);
    mem_free(n->gamma);
    mem_free(n->mean);
    mem_free(n->explained);
    mem_free(n->spread);
    *n = (neighbourhoods){0};
}

/* Whether the last query, which the padding repeats, is this rank's. */
static int has_last(const neighbourhoods *n)
{
    team_slice mine = my_slice(n->real, 1);
    return mine.count > 0 && mine.first + mine.count == n->real;
}

quorum_status neighbourhoods_find(const committee *c, const neighbour_index *index, const points *Q,
                                  int threads, neighbourhoods *n)
{
    team_slice mine = my_slice(n->real, 1);
    points queries = points_view(Q, mine.first, mine.count);
    size_t *row = n->row + mine.first * n->m;
    quorum_status status = QUORUM_OK;
    if (mine.count > 0)
        status = neighbour_search(index, &queries, n->m, threads, row, NULL);
    TRY(team_agree(status));
    for (size_t i = 0; c->parts.home && i < mine.count * n->m; i++)
        row[i] = c->parts.home[row[i]];
    for (size_t q = 0; q < mine.count; q++)
        reverse_rows(n->m, row + q * n->m); /* nearest last */
    for (size_t q = n->real; has_last(n) && q < n->b; q++)
        memcpy(n->row + q * n->m, n->row + (n->real - 1) * n->m, n->m * sizeof *n->row);
    return QUORUM_OK;
}

/* A worker's space. */
typedef struct {
    points X;     /* m: the neighbourhood       */
    double *rows; /* D x m: before it is scaled */
    double *y;    /* m                          */
    neighbourhood_space own;
} nearest_space;

typedef struct {
    const committee *c;
    const points *Q;
    neighbourhoods *n;
    int workers;
    nearest_space *space;  /* workers */
    const near_rows *near; /* rows that came from other ranks; NULL: the committee has them */
    const size_t *list;    /* of them: the queries' numbers                              */
} nearest_job;

static void space_free(nearest_space *w)
{
    points_free(&w->X);
    mem_free(w->rows);
    mem_free(w->y);
    neighbourhood_space_free(&w->own);
}

static quorum_status space_new(size_t m, size_t D, nearest_space *w)
{
    TRY(points_new(m, D, &w->X));
    TRY(neighbourhood_space_new(m, &w->own));
    if (NEW_ARRAY(w->y, m) && NEW_ARRAY(w->rows, m * D))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for a neighbourhood of %zu rows", m);
}

static void job_free(nearest_job *j)
{
    for (int w = 0; j->space && w < j->workers; w++)
        space_free(&j->space[w]);
    mem_free(j->space);
}

/* All ranks agree on whether there is room. */
static quorum_status job_new(const committee *c, const points *Q, neighbourhoods *n, int threads,
                             nearest_job *j)
{
    quorum_status status = QUORUM_OK;
    *j = (nearest_job){.c = c, .Q = Q, .n = n, .workers = parallel_workers(threads, n->real)};
    if (!NEW_ZEROED(j->space, (size_t)j->workers))
        status =
            failure(QUORUM_E_MEMORY, "out of memory for the neighbourhoods of %zu queries", n->b);
    for (int w = 0; status == QUORUM_OK && w < j->workers; w++)
        status = space_new(n->m, c->parts.D, &j->space[w]);
    return team_agree(status);
}

/* The neighbourhood of query q, nearest last, from the committee's rows. */
static void take_neighbourhood(const nearest_job *j, size_t q, nearest_space *w)
{
    const committee *c = j->c;
    const size_t *row = j->n->row + q * j->n->m;
    points_gather(&c->Z, row, j->n->m, &w->X);
    for (size_t i = 0; i < j->n->m; i++)
        w->y[i] = c->parts.y[row[i]];
}

/* The posterior at query q from the neighbourhood in w. */
static quorum_status ask_neighbourhood(nearest_job *j, size_t q, nearest_space *w)
{
    neighbourhoods *n = j->n;
    points query = points_view(j->Q, q, 1);
    double *gamma = n->gamma ? n->gamma + q * n->m : NULL;
    neighbourhood own;
    TRY(neighbourhood_posterior(&j->c->theta, &w->X, w->y, &query, &w->own, gamma, &own));
    n->mean[q] = own.mean;
    n->explained[q] = own.explained;
    n->spread[q] = spread_factor(n->prior, own.weight, own.surprise);
    return QUORUM_OK;
}

static quorum_status one_query(void *context, size_t q, int worker)
{
    nearest_job *j = context;
    take_neighbourhood(j, q, &j->space[worker]);
    return ask_neighbourhood(j, q, &j->space[worker]);
}

/* What was found at the last query goes to the padding behind it. */
static void fill_padding(neighbourhoods *n)
{
    size_t last = n->real - 1;
    for (size_t q = n->real; q < n->b; q++) {
        n->mean[q] = n->mean[last];
        n->explained[q] = n->explained[last];
        n->spread[q] = n->spread[last];
        if (n->gamma && has_last(n))
            memcpy(n->gamma + q * n->m, n->gamma + last * n->m, n->m * sizeof *n->gamma);
    }
}

/* Each rank has asked at its slice of the queries. */
static void share_answers(neighbourhoods *n)
{
    team_share_slices(n->mean, sizeof *n->mean, n->real, 1);
    team_share_slices(n->explained, sizeof *n->explained, n->real, 1);
    team_share_slices(n->spread, sizeof *n->spread, n->real, 1);
    fill_padding(n);
}

quorum_status neighbourhoods_ask(const committee *c, const points *Q, int threads,
                                 neighbourhoods *n)
{
    nearest_job j;
    quorum_status status = job_new(c, Q, n, threads, &j);
    if (status == QUORUM_OK)
        status = team_for(j.workers, n->real, one_query, &j);
    if (status == QUORUM_OK)
        share_answers(n);
    job_free(&j);
    return status;
}

/* ---- Each rank has some of the rows ---- */

/* first[q]: the rank that owns the expert whose centre is nearest to query q. */
typedef struct {
    const committee *c;
    const points *Q;
    int *first; /* Q->n */
} first_ranks;

static quorum_status find_first_rank(void *context, size_t q, int worker)
{
    const first_ranks *f = context;
    size_t D = f->Q->D, nearest = 0;
    const double *z = f->Q->Z + q * D;
    double least = INFINITY;
    (void)worker;
    for (size_t e = 0; e < f->c->parts.M; e++) {
        double s = 0.0;
        for (size_t d = 0; d < D; d++) {
            double x = f->c->centre[e * D + d] - z[d];
            s += x * x;
        }
        if (s < least) {
            least = s;
            nearest = e;
        }
    }
    f->first[q] = committee_owner(f->c, nearest);
    return QUORUM_OK;
}

/* Some queries of every rank's slice. */
typedef struct {
    size_t count;
    size_t *list;      /* their numbers */
    int *first, *home; /* of each       */
    points Q;
} handful;

static void handful_free(handful *h)
{
    points_free(&h->Q);
    mem_free(h->list);
    mem_free(h->first);
    mem_free(h->home);
}

static quorum_status handful_new(size_t D, handful *h)
{
    size_t most = (size_t)HANDFUL * (size_t)team_size();
    *h = (handful){0};
    TRY(points_new(most, D, &h->Q));
    if (NEW_ARRAY(h->list, most) && NEW_ARRAY(h->first, most) && NEW_ARRAY(h->home, most))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for %zu queries", most);
}

/* Those from `at` on in each slice; 0: no rank has any. */
static size_t take_handful(const points *Q, size_t real, size_t at, const int *first, handful *h)
{
    h->count = 0;
    for (int r = 0; r < team_size(); r++) {
        team_slice s = slice_of(real, 1, r, team_size());
        for (size_t i = at; i < s.count && i < at + HANDFUL; i++) {
            h->list[h->count] = s.first + i;
            h->first[h->count] = first[s.first + i];
            h->home[h->count++] = r;
        }
    }
    points_gather(Q, h->list, h->count, &h->Q);
    return h->count;
}

static quorum_status scattered_query(void *context, size_t item, int worker)
{
    nearest_job *j = context;
    const near_row *row = j->near->nearest + item * j->n->m;
    nearest_space *w = &j->space[worker];
    size_t m = j->n->m, D = j->Q->D, q = j->list[j->near->query[item]];
    for (size_t i = 0; i < m; i++) {
        const double *from = j->near->rows + row[m - 1 - i].tag * (D + 1);
        memcpy(w->rows + i * D, from, D * sizeof *from);
        w->y[i] = from[D];
        j->n->row[q * m + i] = row[m - 1 - i].number;
    }
    points_scale(&w->X, m, w->rows, NULL, j->c->theta.lengthscale);
    return ask_neighbourhood(j, q, w);
}

static quorum_status ask_handfuls(nearest_job *j, const near_holdings *held, const int *first,
                                  handful *h)
{
    for (size_t at = 0; take_handful(j->Q, j->n->real, at, first, h) > 0; at += HANDFUL) {
        near_rows near;
        near_question asked = {&h->Q, h->first, h->home, j->n->m, j->workers};
        TRY(near_rows_find(held, &asked, &near));
        j->near = &near;
        j->list = h->list;
        quorum_status status = parallel_for(j->workers, near.count, scattered_query, j);
        near_rows_free(&near);
        TRY(team_agree(status));
    }
    return QUORUM_OK;
}

quorum_status neighbourhoods_ask_scattered(const committee *c, const near_holdings *held,
                                           const points *Q, int threads, neighbourhoods *n)
{
    nearest_job j;
    first_ranks f = {.c = c, .Q = Q};
    handful h = {0};
    quorum_status status;
    TRY_OR_DONE(job_new(c, Q, n, threads, &j));
    status = handful_new(Q->D, &h);
    if (status == QUORUM_OK && !NEW_ARRAY(f.first, n->real))
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu queries", n->real);
    TRY_OR_DONE(team_agree(status));
    TRY_OR_DONE(team_for(threads, n->real, find_first_rank, &f));
    team_share_slices(f.first, sizeof *f.first, n->real, 1);
    TRY_OR_DONE(ask_handfuls(&j, held, f.first, &h));
    share_answers(n);
done:
    job_free(&j);
    mem_free(f.first);
    handful_free(&h);
    return status;
}
