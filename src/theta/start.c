/* Training that begins with another model's theta (option start): its kernel, metric, length-scales and variances,
 * in the units of these rows.  With scales x, x' of the inputs and y, y' of the target, there and here,
 *
 *   l'_d = l_d x_d / x'_d,   s_f'^2 = s_f^2 (y / y')^2,   s'^2 = s^2 (y / y')^2
 *
 * a bent input's scale being that around its middle, and of a linear metric, z = S z' with S = diag(x'_d / x_d), the
 * directions E' and length-scales of
 *
 *   S E L^-2 E' S = E' L'^-2 E''     by its eigenvectors
 *
 * A kernel or a metric that the options name goes before the model's: of directions that are not wanted the
 * length-scales along the inputs are taken. */
#include "theta/finder.h"

#include "base/memory.h"
#include "linalg/blas.h"
#include "team/work.h"

#include <math.h>
#include <string.h>

typedef struct {
    finder *f;
    const quorum_model *from;
    double *rotation; /* D x D: of these rows, or NULL */
    double *shape, *values;
    size_t *varying, count; /* inputs that vary */
} starting;

/* ---- Whether it fits ---- */

/* The target of the same name, or the only one. */
static const quorum_model *find_target(quorum_model *all, const quorum_model *m)
{
    const char *name = m->columns.names[m->rows.D];
    for (size_t t = 0; t < quorum_model_targets(all); t++) {
        const quorum_model *one = quorum_model_target(all, t);
        if (strcmp(one->columns.names[one->rows.D], name) == 0)
            return one;
    }
    return all;
}

static quorum_status check_inputs(const quorum_model *from, const quorum_model *m)
{
    if (from->rows.D != m->rows.D)
        return failure(QUORUM_E_ARGUMENT,
                       "start: the model has %zu inputs, and these data %zu: it is to be of the "
                       "same columns",
                       from->rows.D, m->rows.D);
    for (size_t d = 0; from->columns.has_names && m->columns.has_names && d < m->rows.D; d++)
        if (strcmp(from->columns.names[d], m->columns.names[d]) != 0)
            return failure(QUORUM_E_ARGUMENT,
                           "start: input %zu of the model is \"%.100s\", and of these data "
                           "\"%.100s\"",
                           d + 1, from->columns.names[d], m->columns.names[d]);
    return QUORUM_OK;
}

static int kernel_number(const kernel *k)
{
    int i = 0;
    while (i < kernel_count() && kernel_at(i) != k)
        i++;
    return i;
}

/* The same inputs do not vary: directions are of the others. */
static int has_same_constants(const quorum_model *a, const quorum_model *b)
{
    return memcmp(a->units.constant, b->units.constant, a->rows.D) == 0;
}

static int takes_directions(const starting *s)
{
    const settings *given = s->f->s;
    return s->from->units.rotation && given->metric != METRIC_ARD &&
           given->train == TRAIN_NEIGHBOURS && has_same_constants(s->from, s->f->m);
}

/* ---- Length-scales and variances ---- */

/* A bent input's unit is that around its middle. */
static double input_unit(const unit_change *u, size_t d)
{
    int is_bent = u->bend_width && u->bend_width[d] > 0.0;
    return u->x_scale[d] * (is_bent ? u->bend_width[d] : 1.0);
}

static double unit_ratio(const starting *s, size_t d)
{
    return input_unit(&s->from->units, d) / input_unit(&s->f->m->units, d);
}

static void take_lengthscales(const starting *s)
{
    quorum_model *m = s->f->m;
    for (size_t d = 0; d < m->rows.D; d++)
        m->theta.lengthscale[d] = s->from->units.constant[d]
                                      ? sqrt((double)model_varying(m))
                                      : s->from->shown.input_lengthscale[d] * unit_ratio(s, d);
}

/* Where one of them is a logarithm and the other not, variances are shares of the target's. */
static void take_variances(const starting *s)
{
    quorum_model *m = s->f->m;
    const hyper *from = &s->from->theta;
    double ratio = s->from->units.y_scale / m->units.y_scale;
    int same = s->from->units.warp == m->units.warp;
    m->theta.signal = from->signal * (same ? ratio * ratio : 1.0);
    m->theta.noise = from->noise * (same ? ratio * ratio : 1.0);
    m->theta.share = m->theta.kernel->component && from->kernel->component ? from->share : 0.0;
    m->theta.reach = m->theta.share > 0.0 ? from->reach : 1.0;
}

/* ---- Directions ---- */

static quorum_status room_for_directions(starting *s)
{
    size_t D = s->f->m->rows.D;
    NEW_ZEROED(s->rotation, D * D);
    NEW_ARRAY(s->shape, D * D);
    NEW_ARRAY(s->values, D);
    NEW_ARRAY(s->varying, D);
    if (!s->rotation || !s->shape || !s->values || !s->varying)
        return failure(QUORUM_E_MEMORY, "out of memory for %zu directions", D);
    for (size_t d = 0; d < D; d++)
        if (!s->f->m->units.constant[d])
            s->varying[s->count++] = d;
        else
            s->rotation[d * D + d] = 1.0;
    return QUORUM_OK;
}

/* shape (count x count) = S E L^-2 E' S over the inputs that vary. */
static void fill_shape(const starting *s)
{
    const double *E = s->from->units.rotation, *l = s->from->theta.lengthscale;
    size_t D = s->f->m->rows.D;
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = 0; j < s->count; j++) {
            size_t a = s->varying[i], b = s->varying[j];
            double sum = 0.0;
            for (size_t k = 0; k < D; k++)
                sum += E[k * D + a] / l[k] * (E[k * D + b] / l[k]);
            s->shape[j * s->count + i] = sum / unit_ratio(s, a) / unit_ratio(s, b);
        }
}

/* The direction of place k, the shortest length-scale first, its largest entry positive. */
static void take_direction(const starting *s, size_t k)
{
    size_t D = s->f->m->rows.D, from = s->count - 1 - k, largest = 0;
    const double *v = s->shape + from * s->count;
    double *to = s->rotation + s->varying[k] * D;
    for (size_t i = 1; i < s->count; i++)
        largest = fabs(v[i]) > fabs(v[largest]) ? i : largest;
    for (size_t i = 0; i < s->count; i++)
        to[s->varying[i]] = copysign(1.0, v[largest]) * v[i];
    double least = 1e-16 * s->values[s->count - 1];
    s->f->m->theta.lengthscale[s->varying[k]] = 1.0 / sqrt(fmax(s->values[from], least));
}

static quorum_status take_directions(void *context)
{
    starting *s = context;
    TRY(room_for_directions(s));
    fill_shape(s);
    TRY(blas_eigen(s->count, s->shape, s->count, s->values));
    for (size_t k = 0; k < s->count; k++)
        take_direction(s, k);
    return QUORUM_OK;
}

/* ---- In order ---- */

static quorum_status begin(starting *s, settings *own)
{
    quorum_model *m = s->f->m;
    TRY(check_inputs(s->from, m));
    const kernel *wanted = kernel_at(own->kernel);
    m->theta.kernel = wanted ? wanted : s->from->theta.kernel;
    take_lengthscales(s);
    take_variances(s);
    if (takes_directions(s)) {
        TRY(team_all(QUORUM_OK, take_directions, s));
        turn_rows(s->f, s->rotation);
        s->rotation = NULL; /* the model's now */
    }
    own->kernel = kernel_number(m->theta.kernel);
    own->metric = METRIC_ARD; /* the metric is found */
    return QUORUM_OK;
}

quorum_status theta_start(finder *f, settings *own)
{
    quorum_model *all = NULL;
    TRY(quorum_load(f->s->start, &all));
    starting s = {.f = f, .from = find_target(all, f->m)};
    quorum_status status = begin(&s, own);
    mem_free(s.rotation);
    mem_free(s.shape);
    mem_free(s.values);
    mem_free(s.varying);
    quorum_model_free(all);
    return status;
}
