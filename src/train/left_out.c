/* Each part's last row predicted from the rows before it:
 *
 *   error = y - k*' C^-1 y_N,   variance = s_f^2 - k*' C^-1 k* + s^2,   known = e^2 (gp/noise.h)
 *
 * About a line that was found with the row, by least squares, the error is too small by the share h of
 * its variance that is the line's; what the line of the other rows leaves is
 *
 *   error / (1 - h),   (variance + known) / (1 - h),   h = u' V u / (variance + known),   u = f(x) - F_N' C^-1 k* */
#include "train/further_targets.h"

#include "base/memory.h"
#include "linalg/blas.h"
#include "team/work.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct {
    points Z;
    neighbourhood_space own;
    double *gamma; /* room  */
    double *y;     /* room  */
    double *u;     /* D + 1 */
} left_out_space;

typedef struct {
    const vecchia_parts *v;
    const hyper *theta;
    const left_out_how *how;
    left_out_space *space; /* a worker                         */
    left_out_row *rows;
    left_out_answer *others; /* of further targets, or NULL */
} left_out_job;

static const double MOST_LEVERAGE = 0.9;

/* u' V u over the variance, of the last of m + 1 rows that the others weigh by gamma. */
static double leverage(const left_out_job *j, const row_set *data, size_t m, left_out_space *w,
                       double variance)
{
    size_t p = data->D + 1;
    const double *x = data->X + m * data->D;
    double sum = 0.0;
    w->u[0] = 1.0;
    memcpy(w->u + 1, x, data->D * sizeof *x);
    for (size_t i = 0; i < m; i++) {
        w->u[0] -= w->gamma[i];
        for (size_t d = 0; d < data->D; d++)
            w->u[d + 1] -= w->gamma[i] * data->X[i * data->D + d];
    }
    for (size_t i = 0; i < p; i++)
        sum += w->u[i] * vec_dot(p, j->how->V + i * p, w->u);
    return fmin(fmax(sum, 0.0) / variance, MOST_LEVERAGE);
}

static double variance_of(const left_out_row *row)
{
    return row->variance + row->known;
}

static void leave_out_of_line(left_out_row *row, double h)
{
    row->error /= 1.0 - h;
    row->variance /= 1.0 - h;
    row->known /= 1.0 - h;
}

/* What a neighbourhood says of the last of m + 1 rows. */
static left_out_row find_row(const hyper *theta, const row_set *data, size_t m, neighbourhood at)
{
    double latent = fmax(theta->signal - at.explained, DBL_EPSILON * theta->signal);
    return (left_out_row){.error = data->y[m] - at.mean,
                          .y = data->y[m],
                          .variance = latent + at.noise,
                          .known = known_variance(data, m),
                          .weight = row_weight(data, m),
                          .around = at.around};
}

/* Whether the row lies in a gap of the others, nearest last. */
static int is_surrounded(const hyper *theta, const points *X, const points *query,
                         const neighbourhood *at)
{
    query_sides sides = {.D = X->D,
                         .x = query->Z,
                         .nearest = X->Z + (X->n - 1) * X->D,
                         .rows = X->Z,
                         .row_count = X->n};
    return lies_in_gap(&sides, at->around, variance_left(theta->signal, at->explained, at->noise));
}

/* The same of further targets of these rows, by the factor that is there. */
static void find_others(const left_out_job *j, size_t item, row_set data, size_t m, const points *X,
                        const points *query, left_out_space *w)
{
    const further_targets *f = data.further;
    neighbourhood at;
    data.y = w->y;
    for (size_t t = 0; t < f->targets; t++) {
        for (size_t i = 0; i < data.n; i++)
            data.y[i] = f->y[t * f->n + (size_t)data.number[i]];
        neighbourhood_of_other_targets(j->theta, X, &data, query, &w->own, &at);
        at.around.is_surrounded = j->rows[item].around.is_surrounded;
        j->others->rows[t * j->others->count + item] = find_row(j->theta, &data, m, at);
    }
}

static quorum_status one_row(void *context, size_t item, int worker)
{
    left_out_job *j = context;
    left_out_space *w = &j->space[worker];
    row_set part = part_rows(&j->v->parts, item);
    size_t m = j->how->most > 0 && j->how->most < part.n ? j->how->most : part.n - 1;
    row_set data = rows_view(&part, part.n - 1 - m, m + 1);
    const double *V = j->how->V;
    neighbourhood at;
    points_scale(&w->Z, data.n, data.X, data.X + m * data.D, j->theta->lengthscale);
    points X = points_view(&w->Z, 0, m), query = points_view(&w->Z, m, 1);
    TRY(neighbourhood_posterior(j->theta, &X, &data, &query, &w->own, V ? w->gamma : NULL, &at));
    at.around.is_surrounded = is_surrounded(j->theta, &X, &query, &at);
    j->rows[item] = find_row(j->theta, &data, m, at);
    if (j->others)
        find_others(j, item, data, m, &X, &query, w);
    if (V)
        leave_out_of_line(&j->rows[item], leverage(j, &data, m, w, variance_of(&j->rows[item])));
    return QUORUM_OK;
}

static quorum_status spaces_new(size_t room, size_t D, int workers, left_out_job *j)
{
    for (int w = 0; w < workers; w++) {
        TRY(points_new(room, D, &j->space[w].Z));
        TRY(neighbourhood_space_new(room, j->how->local_noise, &j->space[w].own));
        NEW_ARRAY(j->space[w].gamma, room);
        NEW_ARRAY(j->space[w].y, room);
        NEW_ARRAY(j->space[w].u, D + 1);
        if (!j->space[w].gamma || !j->space[w].y || !j->space[w].u)
            return failure(QUORUM_E_MEMORY, "out of memory for scoring %zu rows", room);
    }
    return QUORUM_OK;
}

static void spaces_free(int workers, left_out_job *j)
{
    for (int w = 0; j->space && w < workers; w++) {
        points_free(&j->space[w].Z);
        neighbourhood_space_free(&j->space[w].own);
        mem_free(j->space[w].gamma);
        mem_free(j->space[w].y);
        mem_free(j->space[w].u);
    }
    mem_free(j->space);
}

quorum_status left_out_predict(quorum_status ready, const vecchia_parts *v, const hyper *theta,
                               const left_out_how *how, left_out_row *rows)
{
    left_out_job j = {.v = v, .theta = theta, .how = how, .rows = rows};
    size_t room = largest_part(&v->parts), count = v->parts.M;
    further_targets *further = v->parts.rows.further;
    if (ready >= 0 && further && further_targets_hear(further, &v->parts, how->most, rows))
        return QUORUM_OK;
    if (ready >= 0 && further)
        j.others = further_targets_ask(further, count, how->most);
    int workers = parallel_workers(how->threads, count);
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

double left_out_weights(const left_out_row *rows, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += rows[i].weight;
    return sum;
}

/* t_4 of variance v: Gamma(5/2) / (Gamma(2) sqrt(2 pi v)) (1 + e^2 / 2v)^(-5/2). */
double left_out_density(const left_out_row *row, double prior)
{
    double factor = spread_factor((spread_rule){.prior = prior, .untested = 1.0, .nested = 1},
                                  row->around, 0.0);
    double variance = row->variance * factor + row->known;
    return lgamma(2.5) - 0.5 * log(2.0 * M_PI * variance) -
           2.5 * log1p(0.5 * row->error * row->error / variance);
}
