/* Each part's last row predicted from the rows before it:
 *
 *   error = y - k*' C^-1 y_N,   variance = s_f^2 - k*' C^-1 k* + s^2 */
#include "train/left_out.h"

#include "base/memory.h"
#include "team/work.h"

#include <float.h>
#include <math.h>

typedef struct {
    points Z;
    neighbourhood_space own;
} left_out_space;

typedef struct {
    const vecchia_parts *v;
    const hyper *theta;
    size_t most;           /* rows that each is predicted from */
    left_out_space *space; /* a worker                         */
    left_out_row *rows;
} left_out_job;

static quorum_status one_row(void *context, size_t item, int worker)
{
    left_out_job *j = context;
    left_out_space *w = &j->space[worker];
    row_set part = part_rows(&j->v->parts, item);
    size_t m = part.n - 1 < j->most ? part.n - 1 : j->most;
    row_set data = rows_view(&part, part.n - 1 - m, m + 1);
    neighbourhood at;
    points_scale(&w->Z, data.n, data.X, data.X + m * data.D, j->theta->lengthscale);
    points X = points_view(&w->Z, 0, m), query = points_view(&w->Z, m, 1);
    TRY(neighbourhood_posterior(j->theta, &X, &data, &query, &w->own, NULL, &at));
    double latent = fmax(j->theta->signal - at.explained, DBL_EPSILON * j->theta->signal);
    j->rows[item] = (left_out_row){.error = data.y[m] - at.mean,
                                   .variance = latent + noise_of(j->theta, &data, m),
                                   .around = at.around};
    return QUORUM_OK;
}

static quorum_status spaces_new(size_t room, size_t D, int workers, left_out_job *j)
{
    for (int w = 0; w < workers; w++) {
        TRY(points_new(room, D, &j->space[w].Z));
        TRY(neighbourhood_space_new(room, &j->space[w].own));
    }
    return QUORUM_OK;
}

static void spaces_free(int workers, left_out_job *j)
{
    for (int w = 0; j->space && w < workers; w++) {
        points_free(&j->space[w].Z);
        neighbourhood_space_free(&j->space[w].own);
    }
    mem_free(j->space);
}

quorum_status left_out_predict(quorum_status ready, const vecchia_parts *v, const hyper *theta,
                               size_t most, int threads, left_out_row *rows)
{
    size_t room = largest_part(&v->parts), count = v->parts.M;
    int workers = parallel_workers(threads, count);
    left_out_job j = {.v = v, .theta = theta, .most = most, .rows = rows};
    team_result results = {.data = rows, .width = sizeof *rows};
    NEW_ZEROED(j.space, (size_t)workers);
    if (ready >= 0 && !j.space)
        ready = failure(QUORUM_E_MEMORY, "out of memory for scoring %zu rows", count);
    if (ready >= 0)
        ready = spaces_new(room, v->parts.rows.D, workers, &j);
    quorum_status status = team_map(ready, workers, count, one_row, &j, &results, 1);
    spaces_free(workers, &j);
    return status;
}

/* t_4 of variance v: Gamma(5/2) / (Gamma(2) sqrt(2 pi v)) (1 + e^2 / 2v)^(-5/2). */
double left_out_density(const left_out_row *row, double prior)
{
    double variance = row->variance * spread_factor(prior, row->around, 0.0);
    return lgamma(2.5) - 0.5 * log(2.0 * M_PI * variance) -
           2.5 * log1p(0.5 * row->error * row->error / variance);
}
