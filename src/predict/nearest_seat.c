/* The neighbourhood as one more expert at each query: docs/methods.md, "Nearest rows". */
#include "predict/nearest_seat.h"

#include "aggregate/npae.h"
#include "base/memory.h"
#include "gp/covariance.h"
#include "linalg/blas.h"
#include "team/work.h"

#include <string.h>

enum { PANEL = 64 }; /* columns of a cross-covariance that exist at a time */

/* A worker's space. */
typedef struct {
    points X;  /* m: the neighbourhood */
    double *K; /* m x PANEL            */
} seat_space;

typedef struct {
    const assembly *a;
    size_t seat;
    const neighbourhoods *n;
    double *pairs;
    size_t *column; /* seat x b: where query q stands in the list of seat s's expert */
    size_t *place;  /* seat x b: that expert's number among those attending          */
    int workers;
    seat_space *space; /* workers */
} seat_job;

static void job_free(seat_job *j)
{
    for (int w = 0; j->space && w < j->workers; w++) {
        points_free(&j->space[w].X);
        mem_free(j->space[w].K);
    }
    mem_free(j->space);
    mem_free(j->column);
    mem_free(j->place);
}

static quorum_status space_new(size_t m, size_t D, seat_space *w)
{
    TRY(points_new(m, D, &w->X));
    if (NEW_ARRAY(w->K, m * PANEL))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for a neighbourhood of %zu rows", m);
}

static quorum_status job_room(seat_job *j)
{
    size_t seats = j->seat * j->a->b;
    if (!NEW_ARRAY(j->column, seats) || !NEW_ARRAY(j->place, seats) ||
        !NEW_ZEROED(j->space, (size_t)j->workers))
        return failure(QUORUM_E_MEMORY, "out of memory for the neighbourhoods of %zu queries",
                       j->a->b);
    for (int w = 0; w < j->workers; w++)
        TRY(space_new(j->n->m, j->a->Q->D, &j->space[w]));
    assembly_map_seats(j->a, j->column, j->place);
    return QUORUM_OK;
}

/* The noise of a row of the committee, in units of s^2. */
static double share_of_noise(const committee *c, size_t row)
{
    return noise_of(&c->theta, &c->parts.rows, row) / c->theta.noise;
}

/* gamma' k(N, X_e) Gamma_e, plus the noises of the rows that both hold. */
static double covariance_with(const seat_job *j, size_t q, const attendance *t, size_t column,
                              seat_space *w)
{
    const committee *c = j->a->c;
    size_t m = j->n->m, first = c->parts.offset[t->expert], size = part_size(&c->parts, t->expert);
    const double *theirs = t->gamma + column * size, *gamma = j->n->gamma + q * m;
    const size_t *row = j->n->row + q * m;
    double sum = 0.0, shared = 0.0;
    for (size_t at = 0; at < size; at += PANEL) {
        points X = points_view(&c->Z, first + at, size - at < PANEL ? size - at : PANEL);
        covariance_cross(&c->theta, &w->X, &X, w->K, m);
        for (size_t i = 0; i < X.n; i++)
            sum += theirs[at + i] * vec_dot(m, gamma, w->K + i * m);
    }
    for (size_t i = 0; i < m; i++) {
        size_t same = column_in_part(&c->parts, t->expert, row[i]);
        if (same != SIZE_MAX)
            shared += gamma[i] * theirs[same - first] * share_of_noise(c, same);
    }
    return sum + c->theta.noise * shared;
}

static quorum_status one_query(void *context, size_t q, int worker)
{
    seat_job *j = context;
    const assembly *a = j->a;
    seat_space *w = &j->space[worker];
    points_gather(&a->c->Z, j->n->row + q * j->n->m, j->n->m, &w->X);
    for (size_t s = 0; s < j->seat; s++) {
        size_t at = s * a->b + q;
        if (a->member[at] != NOBODY)
            j->pairs[pair_index(s, j->seat) * a->b + q] =
                covariance_with(j, q, &a->by_expert[j->place[at]], j->column[at], w);
    }
    return QUORUM_OK;
}

quorum_status nearest_seat(assembly *a, size_t seat, neighbourhoods *n, int threads, double *pairs)
{
    seat_job j = {.a = a, .seat = seat, .n = n, .pairs = pairs};
    j.workers = parallel_workers(threads, n->real);
    TRY(neighbourhoods_ask(QUORUM_OK, a->c, a->Q, threads, n));
    memcpy(a->mean + seat * a->b, n->mean, a->b * sizeof *n->mean);
    memcpy(a->explained + seat * a->b, n->explained, a->b * sizeof *n->explained);
    const team_result found = {.data = pairs + pair_index(0, seat) * a->b,
                               .width = sizeof *pairs,
                               .rows = seat,
                               .stride = a->b};
    quorum_status status =
        team_map(job_room(&j), j.workers, n->real, one_query, &j, &found, seat > 0);
    job_free(&j);
    return status;
}
