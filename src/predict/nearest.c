/* A GP on the m rows nearest to each query, as one more expert at its table:
 *
 *   gamma = C^-1 k*,   mean = gamma' y,   explained = gamma' k*    m numbers a query
 *
 * and its covariance with the experts beside it, by panels of their rows. */
#include "predict/nearest.h"

#include "aggregate/npae.h"
#include "base/memory.h"
#include "gp/covariance.h"
#include "gp/neighbourhood.h"
#include "linalg/blas.h"
#include "team/team.h"

#include <math.h>
#include <string.h>

enum {
    PANEL = 64,   /* columns of a cross-covariance that exist at a time            */
    HANDFUL = 256 /* queries of a rank whose rows come from other ranks at a time */
};

quorum_status neighbourhoods_new(size_t b, size_t real, size_t m, double prior, neighbourhoods *out)
{
    neighbourhoods n = {.b = b, .real = real, .m = m, .prior = prior};
    NEW_ARRAY(n.row, b * m);
    NEW_ARRAY(n.gamma, b * m);
    NEW_ARRAY(n.spread, b);
    *out = n;
    if (n.row && n.gamma && n.spread)
        return QUORUM_OK;
    neighbourhoods_free(out);
    return failure(QUORUM_E_MEMORY, "out of memory for %zu neighbours of %zu queries", m, b);
}

void neighbourhoods_free(neighbourhoods *n)
{
    mem_free(n->row);
    mem_free(n->gamma);
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
    double *K;    /* m x PANEL            */
    neighbourhood_space own;
} nearest_space;

typedef struct {
    assembly *a;
    size_t seat;
    neighbourhoods *n;
    double *pairs;
    size_t *column; /* seat x b: where query q stands in the list of seat s's expert */
    size_t *place;  /* seat x b: that expert's number among those attending          */
    nearest_space *space;
    const near_rows *near; /* rows that came from other ranks; NULL: the committee has them */
    const size_t *list;    /* of them: the queries' numbers                              */
} nearest_job;

static void space_free(nearest_space *w)
{
    points_free(&w->X);
    mem_free(w->rows);
    mem_free(w->y);
    mem_free(w->K);
    neighbourhood_space_free(&w->own);
}

static quorum_status space_new(size_t m, size_t D, nearest_space *w)
{
    TRY(points_new(m, D, &w->X));
    TRY(neighbourhood_space_new(m, &w->own));
    if (NEW_ARRAY(w->y, m) && NEW_ARRAY(w->rows, m * D) && NEW_ARRAY(w->K, m * PANEL))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for a neighbourhood of %zu rows", m);
}

/* The neighbourhood of query q, nearest last, from the committee's rows. */
static void take_neighbourhood(const nearest_job *j, size_t q, nearest_space *w)
{
    const committee *c = j->a->c;
    const size_t *row = j->n->row + q * j->n->m;
    points_gather(&c->Z, row, j->n->m, &w->X);
    for (size_t i = 0; i < j->n->m; i++)
        w->y[i] = c->parts.y[row[i]];
}

/* gamma = C^-1 k*, with mean, explained variance and spread of the query's own expert. */
static quorum_status own_expert(nearest_job *j, size_t q, nearest_space *w, double *gamma)
{
    assembly *a = j->a;
    const committee *c = a->c;
    size_t place = j->seat * a->b + q;
    points query = points_view(a->Q, q, 1);
    neighbourhood own;
    TRY(neighbourhood_posterior(&c->theta, &w->X, w->y, &query, &w->own, gamma, &own));
    a->mean[place] = own.mean;
    a->explained[place] = own.explained;
    j->n->spread[q] = spread_factor(j->n->prior, own.weight, own.surprise);
    return QUORUM_OK;
}

/* gamma' k(N, X_e) Gamma_e, plus s^2 on the rows that both hold. */
static double covariance_with(const nearest_job *j, size_t q, const attendance *t, size_t column,
                              nearest_space *w, const double *gamma)
{
    const committee *c = j->a->c;
    size_t m = j->n->m, first = c->parts.offset[t->expert], size = part_size(&c->parts, t->expert);
    const double *theirs = t->gamma + column * size;
    const size_t *row = j->n->row + q * m;
    double sum = 0.0, shared = 0.0;
    for (size_t at = 0; at < size; at += PANEL) {
        points X = points_view(&c->Z, first + at, size - at < PANEL ? size - at : PANEL);
        covariance_cross(c->theta.kernel, c->theta.signal, &w->X, &X, w->K, m);
        for (size_t i = 0; i < X.n; i++)
            sum += theirs[at + i] * vec_dot(m, gamma, w->K + i * m);
    }
    for (size_t i = 0; i < m; i++) {
        size_t same = column_in_part(&c->parts, t->expert, row[i]);
        if (same != SIZE_MAX)
            shared += gamma[i] * theirs[same - first];
    }
    return sum + c->theta.noise * shared;
}

static quorum_status one_query(void *context, size_t q, int worker)
{
    nearest_job *j = context;
    assembly *a = j->a;
    nearest_space *w = &j->space[worker];
    double *gamma = j->n->gamma + q * j->n->m;
    take_neighbourhood(j, q, w);
    TRY(own_expert(j, q, w, gamma));
    for (size_t s = 0; j->pairs && s < j->seat; s++) {
        size_t at = s * a->b + q;
        if (a->member[at] != NOBODY)
            j->pairs[pair_index(s, j->seat) * a->b + q] =
                covariance_with(j, q, &a->by_expert[j->place[at]], j->column[at], w, gamma);
    }
    return QUORUM_OK;
}

/* What was found at the last query goes to the padding behind it. */
static void fill_padding(const nearest_job *j)
{
    assembly *a = j->a;
    neighbourhoods *n = j->n;
    size_t last = n->real - 1, seat = j->seat * a->b;
    for (size_t q = n->real; q < a->b; q++) {
        memcpy(n->gamma + q * n->m, n->gamma + last * n->m, n->m * sizeof *n->gamma);
        n->spread[q] = n->spread[last];
        a->mean[seat + q] = a->mean[seat + last];
        a->explained[seat + q] = a->explained[seat + last];
        for (size_t s = 0; j->pairs && s < j->seat; s++) {
            double *pair = j->pairs + pair_index(s, j->seat) * a->b;
            pair[q] = pair[last];
        }
    }
}

quorum_status nearest_seat(assembly *a, size_t seat, neighbourhoods *n, int threads, double *pairs)
{
    int workers = parallel_workers(threads, n->real);
    nearest_job j = {.a = a, .seat = seat, .n = n, .pairs = pairs};
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(j.column, seat * a->b) || !NEW_ARRAY(j.place, seat * a->b) ||
        !NEW_ZEROED(j.space, (size_t)workers)) {
        status =
            failure(QUORUM_E_MEMORY, "out of memory for the neighbourhoods of %zu queries", a->b);
        goto done;
    }
    assembly_map_seats(a, j.column, j.place);
    for (int w = 0; w < workers; w++)
        TRY_OR_DONE(space_new(n->m, a->c->parts.D, &j.space[w]));
    TRY_OR_DONE(team_for(workers, n->real, one_query, &j));
    team_share_slices(n->spread, sizeof *n->spread, n->real, 1);
    if (has_last(n))
        fill_padding(&j);
done:
    for (int w = 0; j.space && w < workers; w++)
        space_free(&j.space[w]);
    mem_free(j.space);
    mem_free(j.column);
    mem_free(j.place);
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
    size_t m = j->n->m, D = j->a->Q->D, q = j->list[j->near->query[item]];
    for (size_t i = 0; i < m; i++) {
        const double *from = j->near->rows + row[m - 1 - i].tag * (D + 1);
        memcpy(w->rows + i * D, from, D * sizeof *from);
        w->y[i] = from[D];
        j->n->row[q * m + i] = row[m - 1 - i].number;
    }
    points_scale(&w->X, m, w->rows, NULL, j->a->c->theta.lengthscale);
    return own_expert(j, q, w, j->n->gamma + q * m);
}

static quorum_status seat_handfuls(nearest_job *j, const near_holdings *held, const int *first,
                                   handful *h, int workers)
{
    const points *Q = j->a->Q;
    for (size_t at = 0; take_handful(Q, j->n->real, at, first, h) > 0; at += HANDFUL) {
        near_rows near;
        near_question asked = {&h->Q, h->first, h->home, j->n->m, workers};
        TRY(near_rows_find(held, &asked, &near));
        j->near = &near;
        j->list = h->list;
        quorum_status status = parallel_for(workers, near.count, scattered_query, j);
        near_rows_free(&near);
        TRY(team_agree(status));
    }
    return QUORUM_OK;
}

quorum_status nearest_seat_scattered(assembly *a, size_t seat, const near_holdings *held,
                                     neighbourhoods *n, int threads)
{
    int workers = parallel_workers(threads, n->real);
    nearest_job j = {.a = a, .seat = seat, .n = n};
    first_ranks f = {.c = a->c, .Q = a->Q};
    handful h = {0};
    quorum_status status = QUORUM_OK;
    if (!NEW_ZEROED(j.space, (size_t)workers) || !NEW_ARRAY(f.first, n->real))
        status = failure(QUORUM_E_MEMORY, "out of memory for the neighbourhoods of %zu queries",
                         n->real);
    for (int w = 0; status == QUORUM_OK && w < workers; w++)
        status = space_new(n->m, a->c->parts.D, &j.space[w]);
    if (status == QUORUM_OK)
        status = handful_new(a->c->parts.D, &h);
    TRY_OR_DONE(team_agree(status));
    TRY_OR_DONE(team_for(threads, n->real, find_first_rank, &f));
    team_share_slices(f.first, sizeof *f.first, n->real, 1);
    TRY_OR_DONE(seat_handfuls(&j, held, f.first, &h, workers));
    team_share_slices(n->spread, sizeof *n->spread, n->real, 1);
    if (has_last(n))
        fill_padding(&j);
done:
    for (int w = 0; j.space && w < workers; w++)
        space_free(&j.space[w]);
    mem_free(j.space);
    mem_free(f.first);
    handful_free(&h);
    return status;
}
