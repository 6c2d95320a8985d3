/* Predictions, draws, and the model's inputs of a table's columns. */
#include "binding.h"

#include <string.h>

SEXP qr_inputs(SEXP handle, SEXP target, SEXP table)
{
    const quorum_model *model = model_of(handle, target);
    quorum_info info;
    quorum_status status = quorum_inspect(model, &info);
    if (status < 0)
        return reply(status, R_NilValue);
    SEXP X = PROTECT(Rf_allocMatrix(REALSXP, (int)info.inputs, Rf_ncols(table)));
    status = quorum_make_inputs(model, REAL(table), (size_t)Rf_ncols(table), REAL(X));
    SEXP out = reply(status, X);
    UNPROTECT(1);
    return out;
}

/* Places for what is wanted: "mean", "std", ... in a list of that names; a gradient is inputs x rows,
 * quantiles are probabilities x rows. */
static SEXP make_places(SEXP wanted, SEXP X, quorum_prediction *out)
{
    const struct {
        const char *name;
        double **place;
        int height;
    } field[] = {{"mean", &out->mean, 0},
                 {"std", &out->std, 0},
                 {"lower", &out->lower, 0},
                 {"upper", &out->upper, 0},
                 {"novelty", &out->novelty, 0},
                 {"distance", &out->distance, 0},
                 {"mean_gradient", &out->mean_gradient, Rf_nrows(X)},
                 {"std_gradient", &out->std_gradient, Rf_nrows(X)},
                 {"quantile", &out->quantile, (int)out->probabilities}};
    int rows = Rf_ncols(X);
    named_list list = new_list((int)Rf_xlength(wanted));
    for (int i = 0; i < (int)Rf_xlength(wanted); i++)
        for (size_t f = 0; f < sizeof field / sizeof *field; f++)
            if (strcmp(CHAR(STRING_ELT(wanted, i)), field[f].name) == 0) {
                int height = field[f].height;
                SEXP values =
                    height ? Rf_allocMatrix(REALSXP, height, rows) : Rf_allocVector(REALSXP, rows);
                put(&list, field[f].name, values);
                *field[f].place = REAL(values);
            }
    UNPROTECT(2);
    return list.values;
}

/* What is to be told of a prediction; a graph's trouble only where it was learned just now. */
static SEXP report_list(const quorum_report *r, const char *trouble)
{
    named_list list = new_list(10);
    put(&list, "method", text(r->method));
    put(&list, "experts_used", Rf_ScalarReal(r->experts_used));
    put(&list, "calibrated", Rf_ScalarLogical(r->calibrated));
    put(&list, "calibration_unused", Rf_ScalarLogical(r->calibration_unused));
    put(&list, "off_constants", Rf_ScalarReal((double)r->off_constants));
    put(&list, "outside", Rf_ScalarReal((double)r->outside));
    put(&list, "unseen", Rf_ScalarReal((double)r->unseen));
    put(&list, "filled_anew", Rf_ScalarReal((double)r->filled_anew));
    put(&list, "seconds", Rf_ScalarReal(r->seconds));
    put(&list, "graph_trouble", text(trouble));
    UNPROTECT(2);
    return list.values;
}

static int has_graph(const quorum_model *model)
{
    quorum_info info;
    return quorum_inspect(model, &info) >= 0 && info.ranking;
}

static const char *trouble_of(const quorum_model *model)
{
    quorum_info info;
    return quorum_inspect(model, &info) >= 0 ? info.graph_trouble : NULL;
}

/* `wanted`: names, as above; `given`: a list of offset, noise_std and probability, each may be NULL. */
SEXP qr_predict(SEXP handle, SEXP target, SEXP X, SEXP options, SEXP wanted, SEXP given, SEXP say)
{
    const quorum_model *model = model_of(handle, target);
    SEXP probability = member(given, "probability");
    quorum_prediction places = {.offset = reals_of(member(given, "offset")),
                                .noise_std = reals_of(member(given, "noise_std")),
                                .probability = reals_of(probability),
                                .probabilities = (size_t)Rf_xlength(probability)};
    SEXP found = PROTECT(make_places(wanted, X, &places));
    quorum_report report = {0};
    int known = has_graph(model);
    watch w;
    start_watch(&w, options, say);
    quorum_status status =
        quorum_predict(model, REAL(X), (size_t)Rf_ncols(X), w.options, &places, &report);
    SEXP out = PROTECT(reply(status, found));
    end_watch(&w);
    if (status >= 0)
        Rf_setAttrib(found, Rf_install("report"),
                     PROTECT(report_list(&report, known ? NULL : trouble_of(model))));
    UNPROTECT(status >= 0 ? 4 : 3);
    return out;
}

/* Joint draws, count x rows. */
SEXP qr_sample(SEXP handle, SEXP target, SEXP X, SEXP options, SEXP count, SEXP say)
{
    const quorum_model *model = model_of(handle, target);
    SEXP draws = PROTECT(Rf_allocMatrix(REALSXP, Rf_asInteger(count), Rf_ncols(X)));
    watch w;
    start_watch(&w, options, say);
    quorum_status status = quorum_sample(model, REAL(X), (size_t)Rf_ncols(X), w.options,
                                         (size_t)Rf_asInteger(count), REAL(draws));
    SEXP out = PROTECT(reply(status, draws));
    end_watch(&w);
    UNPROTECT(3);
    return out;
}
