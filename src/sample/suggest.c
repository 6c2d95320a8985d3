/* quorum_suggest: the rows whose measurement makes predictions surer (docs/methods.md,
 * "Suggestions").
 *
 * With Sigma the covariance of the errors between candidates and targets, in the target's units, a
 * measurement at candidate c, with its noise tau_c^2, takes
 *
 *   reduction_c = (1/T) sum_t Sigma_tc^2 / (Sigma_cc + tau_c^2)
 *
 * off the mean variance of the targets.  The largest one is taken, Sigma becomes what it is after
 * that measurement,
 *
 *   Sigma -= Sigma_.c Sigma_c. / (Sigma_cc + tau_c^2)
 *
 * and so on.  Sigma = F F' comes from the joint errors (joint_errors.h), as draws do. */
#include "base/memory.h"
#include "base/parallel.h"
#include "linalg/blas.h"
#include "sample/joint_errors.h"
#include "sample/margins.h"
#include "team/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EARLIER_GIVEN = 256, /* earlier queries that one leans on                    */
    MOST_POINTS = 2000,  /* candidates, and targets, that are looked at            */
    PANEL_COLUMNS = 64
};
static const double POINT_SHARE = 0.5; /* of the memory option: Sigma and F */

typedef struct {
    const plan *p;
    size_t n, candidates; /* points: candidates, and then targets of their own    */
    size_t target;        /* the first target: candidates, or 0 where they are both  */
    double *X;            /* n x D                                                */
    size_t *row;          /* n: of the caller's X or of `over`                     */
    joint_errors e;
    margins g;
    double *F, *Sigma; /* n x n: points in the order of X                        */
    char *taken;       /* candidates */
} suggesting;

static quorum_status out_of_memory(size_t n)
{
    return failure(QUORUM_E_MEMORY, "out of memory for the covariance of %zu candidates", n);
}

/* ---- Points ---- */

/* How many of a kind may be looked at. */
static size_t most_points(const plan *p, int kinds)
{
    double most = sqrt(POINT_SHARE * p->memory / 16.0) / kinds;
    return most < MOST_POINTS ? (size_t)most : MOST_POINTS;
}

static int compare_rows(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* rows (kept): the first of the order of queries, which is as good as random, by number. */
static quorum_status thin(const double *X, size_t n, size_t D, size_t kept, size_t *rows)
{
    placed_query *order;
    if (!NEW_ARRAY(order, n))
        return out_of_memory(n);
    query_order(X, n, D, order);
    for (size_t i = 0; i < kept; i++)
        rows[i] = order[i].row;
    qsort(rows, kept, sizeof *rows, compare_rows);
    mem_free(order);
    return QUORUM_OK;
}

static quorum_status take_points(suggesting *s, const double *X, size_t rows, const double *over,
                                 size_t over_rows)
{
    size_t D = s->p->m->rows.D, most = most_points(s->p, over ? 2 : 1);
    size_t targets = over ? (over_rows < most ? over_rows : most) : 0;
    s->candidates = rows < most ? rows : most;
    s->n = s->candidates + targets;
    s->target = over ? s->candidates : 0;
    NEW_ARRAY(s->X, s->n * D);
    NEW_ARRAY(s->row, s->n);
    NEW_ZEROED(s->taken, s->candidates);
    if (!s->X || !s->row || !s->taken)
        return out_of_memory(s->n);
    TRY(thin(X, rows, D, s->candidates, s->row));
    if (over)
        TRY(thin(over, over_rows, D, targets, s->row + s->candidates));
    for (size_t i = 0; i < s->n; i++)
        memcpy(s->X + i * D, (i < s->candidates ? X : over) + s->row[i] * D, D * sizeof *X);
    return QUORUM_OK;
}

/* ---- Their covariance ---- */

/* Rows of F for PANEL_COLUMNS of the z: e_p = sum_k b_pk e_k + c_p z_p, scaled to the margins once
 * all are there. */
static quorum_status factor_columns(void *context, size_t item, int worker)
{
    const suggesting *s = context;
    const joint_errors *e = &s->e;
    size_t n = e->n, first = item * PANEL_COLUMNS;
    size_t width = n - first < PANEL_COLUMNS ? n - first : PANEL_COLUMNS;
    (void)worker;
    for (size_t i = first; i < n; i++) { /* earlier places have none of these z */
        double *here = s->F + e->order[i].row * n + first;
        if (i < first + width)
            here[i - first] = e->own[i];
        for (size_t k = 0; k < e->count[i]; k++) {
            const double *there = s->F + e->order[e->earlier[i * e->given + k]].row * n + first;
            double b = e->weight[i * e->given + k];
            for (size_t c = 0; c < width; c++)
                here[c] += b * there[c];
        }
    }
    return QUORUM_OK;
}

static double line_unit(const plan *p)
{
    return p->m->units.y_scale * model_calibration_scale(p->m, p->s);
}

/* Of F, each point's row to what of its latent deviation is not the line's. */
static void scale_rows(suggesting *s)
{
    double unit = line_unit(s->p);
    for (size_t i = 0; i < s->n; i++) {
        size_t at = s->e.order[i].row;
        double *row = s->F + at * s->n, square = vec_dot(s->n, row, row);
        double doubt = 0.0;
        if (s->e.U)
            doubt = unit * sqrt(model_line_variance(s->p->m, s->e.U + i * (s->e.D + 1)));
        double factor = square > 0.0 ? rest_of(s->g.latent[at], doubt) / sqrt(square) : 0.0;
        for (size_t k = 0; k < s->n; k++)
            row[k] *= factor;
    }
}

/* Sigma += unit^2 U V U', of a linear trend. */
static quorum_status add_line(suggesting *s)
{
    size_t n = s->n, d = s->e.D + 1;
    double *U, *W, unit = line_unit(s->p);
    NEW_ARRAY(U, d * n);
    NEW_ARRAY(W, d * n);
    if (U && W) {
        for (size_t i = 0; i < n; i++)
            memcpy(U + s->e.order[i].row * d, s->e.U + i * d, d * sizeof *U);
        blas_symm_lower(d, n, s->p->m->units.line_covariance, d, U, d, W, d);
        blas_gemm('T', 'N', n, n, d, unit * unit, U, d, W, d, 1.0, s->Sigma, n);
    }
    quorum_status status = U && W ? QUORUM_OK : out_of_memory(n);
    mem_free(U);
    mem_free(W);
    return status;
}

static quorum_status sigma_panel(void *context, size_t item, int worker)
{
    const suggesting *s = context;
    size_t n = s->n, first = item * PANEL_COLUMNS;
    size_t width = n - first < PANEL_COLUMNS ? n - first : PANEL_COLUMNS;
    (void)worker;
    blas_gemm('T', 'N', n, width, n, 1.0, s->F, n, s->F + first * n, n, 0.0, s->Sigma + first * n,
              n);
    return QUORUM_OK;
}

static quorum_status find_covariance(suggesting *s, plan *p)
{
    size_t panels = (s->n + PANEL_COLUMNS - 1) / PANEL_COLUMNS;
    TRY(margins_new(s->n, &s->g));
    TRY(margins_find(p, s->X, s->n, &s->g));
    TRY(joint_errors_find(p, s->X, s->n, EARLIER_GIVEN, &s->e));
    if (!NEW_ZEROED(s->F, s->n * s->n) || !NEW_ARRAY(s->Sigma, s->n * s->n))
        return out_of_memory(s->n);
    TRY(progress_stretch(p->progress, "covariance", 0, s->n, s->n, "queries"));
    progress_expect(0.5);
    TRY(parallel_for(p->threads, panels, factor_columns, s));
    scale_rows(s);
    progress_expect(1.0);
    TRY(parallel_for(p->threads, panels, sigma_panel, s));
    return s->e.U ? add_line(s) : QUORUM_OK;
}

/* ---- The choice ---- */

/* Sigma_cc + tau_c^2. */
static double variance_of_measurement(const suggesting *s, size_t c)
{
    return s->Sigma[c * s->n + c] + s->g.noise[c] * s->g.noise[c];
}

static double reduction_by(const suggesting *s, size_t c)
{
    double var = variance_of_measurement(s, c);
    const double *column = s->Sigma + c * s->n + s->target;
    size_t targets = s->n - s->target;
    return var > 0.0 ? vec_dot(targets, column, column) / (var * (double)targets) : 0.0;
}

/* The best that is not taken yet; the first one of equals. */
static size_t best_candidate(const suggesting *s, double *reduction)
{
    size_t best = s->candidates;
    *reduction = -1.0;
    for (size_t c = 0; c < s->candidates; c++) {
        double value = s->taken[c] ? -1.0 : reduction_by(s, c);
        if (value > *reduction) {
            best = c;
            *reduction = value;
        }
    }
    return best;
}

/* Sigma after a measurement at c; column (n) is room. */
static void measure(suggesting *s, size_t c, double *column)
{
    size_t n = s->n;
    double var = variance_of_measurement(s, c);
    s->taken[c] = 1;
    if (!(var > 0.0))
        return;
    memcpy(column, s->Sigma + c * n, n * sizeof *column);
    for (size_t k = 0; k < n; k++) {
        double weight = column[k] / var;
        for (size_t i = 0; i < n; i++)
            s->Sigma[k * n + i] -= weight * column[i];
    }
}

static quorum_status choose(suggesting *s, size_t count, size_t *row, double *reduction)
{
    double *column;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(column, s->n))
        return out_of_memory(s->n);
    for (size_t i = 0; i < count; i++) {
        TRY_OR_DONE(progress_report(s->p->progress, "suggest", (double)i / (double)count,
                                    "%zu of %zu", i, count));
        size_t c = best_candidate(s, &reduction[i]);
        if (c == s->candidates || !isfinite(reduction[i])) {
            status = failure(QUORUM_E_NUMERIC, "the reductions of variance are not finite numbers: "
                                               "rescale the target before fit");
            goto done;
        }
        row[i] = s->row[c];
        measure(s, c, column);
    }
done:
    mem_free(column);
    return status;
}

static double mean_variance(const suggesting *s)
{
    double sum = 0.0;
    for (size_t t = s->target; t < s->n; t++)
        sum += s->Sigma[t * s->n + t];
    return sum / (double)(s->n - s->target);
}

static void suggesting_free(suggesting *s)
{
    mem_free(s->X);
    mem_free(s->row);
    mem_free(s->taken);
    joint_errors_free(&s->e);
    margins_free(&s->g);
    mem_free(s->F);
    mem_free(s->Sigma);
}

/* ---- The call ---- */

static quorum_status check_count(const suggesting *s, size_t rows, size_t count)
{
    if (count <= s->candidates)
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT, "%zu rows are to be suggested of %zu candidates%s", count,
                   s->candidates,
                   rows > s->candidates ? " that memory has room for at a time" : "");
}

static quorum_status suggest(const quorum_model *m, const double *X, size_t rows,
                             const double *over, size_t over_rows, const quorum_options *options,
                             size_t count, size_t *row, double *reduction, quorum_suggestion *about)
{
    plan p = {0};
    suggesting s = {.p = &p};
    quorum_status status;
    TRY_OR_DONE(plan_make(m, options, 0, X, rows, &p));
    TRY_OR_DONE(take_points(&s, X, rows, over, over_rows));
    TRY_OR_DONE(check_count(&s, rows, count));
    TRY_OR_DONE(find_covariance(&s, &p));
    if (about)
        *about = (quorum_suggestion){s.candidates, s.n - s.target, mean_variance(&s)};
    status = choose(&s, count, row, reduction);
done:
    suggesting_free(&s);
    mem_free(p.experts);
    return status;
}

static quorum_status check_call(const quorum_options *options)
{
    const settings *s = options_values(options);
    if (!team_is_alone())
        return failure(QUORUM_E_ARGUMENT, "suggestions are work for one process, not for %d",
                       quorum_team_size());
    if (s->mean_only || s->latent)
        return failure(QUORUM_E_ARGUMENT, "%s: a measurement has noise, and suggestions need it",
                       s->latent ? "latent" : "mean-only");
    return QUORUM_OK;
}

quorum_status quorum_suggest(const quorum_model *m, const double *X, size_t rows,
                             const double *over, size_t over_rows, const quorum_options *options,
                             size_t count, size_t *row, double *reduction, quorum_suggestion *about)
{
    progress_watch watch;
    if (!m || !X || !row || !reduction || rows == 0 || count == 0 || (over && over_rows == 0))
        return failure(QUORUM_E_ARGUMENT, "quorum_suggest: model, X, row and reduction must not be "
                                          "NULL; rows, count and over_rows not 0");
    options_watch(options, "suggest", &watch);
    quorum_status status = check_call(options);
    if (status == QUORUM_OK)
        status = model_check_queries(m, X, rows);
    if (status == QUORUM_OK)
        status = model_check_known_levels(m, X, rows);
    if (status == QUORUM_OK && over)
        status = model_check_queries(m, over, over_rows);
    if (status == QUORUM_OK && over)
        status = model_check_known_levels(m, over, over_rows);
    if (status == QUORUM_OK)
        status = suggest(m, X, rows, over, over_rows, options, count, row, reduction, about);
    progress_watch_end(&watch);
    for (size_t i = 0; status < 0 && i < count; i++)
        reduction[i] = NAN;
    return status;
}
