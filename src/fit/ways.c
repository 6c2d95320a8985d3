/* The ways to a fit: of a table's rows that count and inputs that are made of its columns. */
#include "fit/fitting.h"

#include "base/memory.h"
#include "fit/encoding_choice.h"
#include "fit/hole_costs.h"
#include "table/made_rows.h"
#include "table/row_weights.h"
#include "text/date.h"

#include <string.h>

/* ---- Columns ---- */

/* What the caller says of the columns; all but the rows' numbers may be NULL. */
typedef struct {
    const char *const *names;
    category_names categories;
    const char *const *dates;
} table_columns;

/* A column of dates has a form that is known, and no levels. */
static quorum_status check_dates(const table_columns *t, size_t columns)
{
    for (size_t d = 0; t->dates && d < columns; d++) {
        if (!t->dates[d])
            continue;
        if (date_form_parse(t->dates[d]).orders == 0)
            return failure(QUORUM_E_ARGUMENT,
                           "column %zu: \"%.40s\" is not a form of dates, such as yyyy-mm-dd",
                           d + 1, t->dates[d]);
        if (t->categories.levels && t->categories.levels[d] > 0)
            return failure(QUORUM_E_ARGUMENT, "column %zu has dates, and levels of a category",
                           d + 1);
    }
    return QUORUM_OK;
}

/* What a model of these columns knows of them beyond the inputs. */
typedef struct {
    const table_columns *t;
    made_rows *made;
    hole_rule *holes;
    size_t columns;
    quorum_model *m;
} knowing;

static quorum_status copy_dates(knowing *k)
{
    int some = 0;
    for (size_t d = 0; k->t->dates && d < k->columns; d++)
        some |= k->t->dates[d] != NULL;
    if (!some)
        return QUORUM_OK;
    if (!NEW_ZEROED(k->m->columns.date, k->m->rows.D))
        return failure(QUORUM_E_MEMORY, "out of memory for columns of dates");
    for (size_t d = 0; d < k->columns; d++)
        if (k->t->dates[d] && !(k->m->columns.date[d] = mem_copy_text(k->t->dates[d])))
            return failure(QUORUM_E_MEMORY, "out of memory for columns of dates");
    return QUORUM_OK;
}

/* Made-up names are those of all inputs: what is made of a column has its own. */
static void take_made(knowing *k)
{
    quorum_model *m = k->m;
    for (size_t i = 0; i < k->made->made.count; i++) {
        mem_free(m->columns.names[k->columns + i]);
        m->columns.names[k->columns + i] = k->made->made_names[i];
        k->made->made_names[i] = NULL;
    }
    m->made = k->made->made;
    k->made->made = (made_inputs){0};
    m->holes = *k->holes;
    *k->holes = (hole_rule){0};
    m->columns.target = m->columns.offset_place = k->columns;
}

static quorum_status know_columns(void *context)
{
    knowing *k = context;
    take_made(k);
    return copy_dates(k);
}

/* ---- Holes ---- */

/* The fit to rows whose holes are filled: first what they cost, then the rest. */
static quorum_status fit_filled(fitting *f, const made_inputs *made, hole_rule *holes,
                                quorum_model **model)
{
    const scattered_rows *given = f->given;
    const settings *s = f->s;
    const quorum_options *options = f->options;
    quorum_options o = *options;
    scattered_rows marked;
    double *error = NULL;
    for (size_t d = 0; d < holes->columns; d++)
        holes_settle(holes, made, d, f->categories.levels ? f->categories.levels[d] : 0);
    quorum_status status = holes_learn(f, made, holes, &o.values.warp);
    if (status >= 0)
        status = holes_in_rows(given, holes, &marked, &error);
    if (status >= 0) {
        f->holes = !given->held.error;
        f->given = &marked;
        f->options = &o;
        f->s = &o.values;
        status = fit_calibrated(f, model);
    }
    f->given = given;
    f->options = options;
    f->s = s;
    mem_free(error);
    return status;
}

static quorum_status choose_holes(const fitting *f, const table_columns *t, hole_rule *holes,
                                  char **has_holes)
{
    const scattered_rows *given = f->given;
    hole_request asked = {.columns = given->held.D,
                          .names = t->names,
                          .levels = t->categories.levels,
                          .level = t->categories.names};
    if (f->s->missing != MISSING_IMPUTE)
        return QUORUM_OK;
    return holes_choose(check_given(given), given, &asked, holes, has_holes);
}

/* ---- All columns ---- */

static quorum_status fit_columns(fitting *f, const table_columns *t, made_rows *made,
                                 hole_rule *holes, const char *has_holes, quorum_model **model)
{
    const scattered_rows *given = f->given;
    size_t columns = given->held.D;
    const char *periodic = f->s->periodic, *lonlat = f->s->lonlat;
    made_request asked = {.columns = columns,
                          .names = t->names,
                          .dates = t->dates,
                          .levels = t->categories.levels,
                          .periodic = strcmp(periodic, "none") == 0 ? "" : periodic,
                          .has_holes = has_holes,
                          .lonlat = strcmp(lonlat, "none") == 0 ? "" : lonlat,
                          .level = t->categories.names};
    TRY(encoding_choose(f, &asked, holes, &asked.apart));
    TRY(make_rows(given, &asked, t->categories, holes, made));
    if (made->made.count > 0) {
        f->given = &made->rows;
        f->names = made->names;
        f->categories = made->categories;
        f->made = &made->made;
    }
    quorum_status status =
        holes->of ? fit_filled(f, &made->made, holes, model) : fit_calibrated(f, model);
    f->given = given;
    if (status < 0)
        return status;
    knowing k = {t, made, holes, columns, *model};
    quorum_status known = team_all(QUORUM_OK, know_columns, &k);
    if (known >= 0)
        return status;
    quorum_model_free(*model);
    *model = NULL;
    return known;
}

/* data: where the rows come from, or NULL. */
static quorum_status fit_arrays(const row_set *own, size_t rows, const table_columns *t,
                                const quorum_data *data, const quorum_options *options,
                                const shared_fit *shared, quorum_model **model)
{
    scattered_rows given = rows_scattered(rows, own);
    made_rows made = {0};
    hole_rule holes = {0};
    char *has_holes = NULL;
    weighed_rows weighed;
    TRY(check_dates(t, own->D));
    quorum_status status = weigh_rows(&given, data && data->targets > 1, &weighed);
    fitting f = {.given = &weighed.rows,
                 .names = t->names,
                 .about = data,
                 .categories = t->categories,
                 .options = options,
                 .s = options_values(options),
                 .p = options_progress(options),
                 .shared = shared ? shared->model : NULL,
                 .further = shared ? shared->further : NULL};
    if (status >= 0)
        status = choose_holes(&f, t, &holes, &has_holes);
    if (status >= 0)
        status = fit_columns(&f, t, &made, &holes, has_holes, model);
    made_rows_free(&made);
    holes_free(&holes);
    mem_free(has_holes);
    weighed_rows_free(&weighed);
    return status;
}

quorum_status quorum_fit(const double *X, const double *y, size_t rows, size_t inputs,
                         const char *const *names, const quorum_options *options,
                         quorum_model **model)
{
    if (!model)
        return failure(QUORUM_E_ARGUMENT, "quorum_fit: model must not be NULL");
    *model = NULL;
    row_set own = rows_view_of(rows, inputs, X, y);
    table_columns t = {.names = names};
    return fit_arrays(&own, rows, &t, NULL, options, NULL, model);
}

static int has_places(const quorum_data *d)
{
    size_t most = d->inputs + 3;
    return d->target <= d->inputs && d->offset_place <= d->inputs + 1 && d->weight_place <= most &&
           d->noise_place <= most;
}

static void keep_places(const quorum_data *data, model_columns *c)
{
    c->target = data->target;
    c->offset_place = data->offset_place;
    c->weights_place = data->weight_place;
    c->noise_place = data->noise_place;
}

quorum_status fit_table(const quorum_data *data, const quorum_options *options,
                        const shared_fit *shared, quorum_model **model)
{
    *model = NULL;
    if (!has_places(data))
        return failure(QUORUM_E_ARGUMENT, "quorum_fit_data: the place of the target, the offset, "
                                          "the weights or the noise is out of range");
    table_columns t = {.names = (const char *const *)data->names,
                       .categories = {data->levels, (char *const *const *)data->level},
                       .dates = (const char *const *)data->date};
    row_set own = rows_view_of(data->rows, data->inputs, data->X, data->y);
    own.offset = data->offset;
    own.weight = data->weight;
    own.error = data->noise_std;
    quorum_status status = fit_arrays(&own, data->rows, &t, data, options, shared, model);
    if (*model)
        keep_places(data, &(*model)->columns);
    return status;
}
