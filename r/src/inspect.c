/* What a model is made of, and its training rows. */
#include "binding.h"

static SEXP flags(const int *values, size_t n)
{
    if (!values)
        return R_NilValue;
    SEXP out = Rf_allocVector(INTSXP, (R_xlen_t)n);
    for (size_t i = 0; i < n; i++)
        INTEGER(out)[i] = values[i];
    return out;
}

/* By input: the names of its levels, or NULL of a number. */
static SEXP level_names(const quorum_info *info)
{
    if (!info->levels)
        return R_NilValue;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)info->inputs));
    for (size_t d = 0; d < info->inputs; d++)
        if (info->levels[d])
            SET_VECTOR_ELT(out, (R_xlen_t)d, texts(info->level[d], info->levels[d]));
    UNPROTECT(1);
    return out;
}

static SEXP level_positions(const quorum_info *info)
{
    if (!info->levels || !info->position)
        return R_NilValue;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)info->inputs));
    for (size_t d = 0; d < info->inputs; d++)
        if (info->levels[d])
            SET_VECTOR_ELT(out, (R_xlen_t)d, reals(info->position[d], info->levels[d]));
    UNPROTECT(1);
    return out;
}

static SEXP square(const double *values, size_t n)
{
    if (!values)
        return R_NilValue;
    SEXP out = PROTECT(reals(values, n * n));
    SEXP size = PROTECT(Rf_allocVector(INTSXP, 2));
    INTEGER(size)[0] = INTEGER(size)[1] = (int)n;
    Rf_setAttrib(out, R_DimSymbol, size);
    UNPROTECT(2);
    return out;
}

/* Columns of the table, and what the model's inputs are made of. */
static void put_columns(named_list *list, const quorum_info *info)
{
    size_t D = info->inputs;
    put(list, "rows", Rf_ScalarReal((double)info->rows));
    put(list, "inputs", Rf_ScalarInteger((int)D));
    put(list, "columns", Rf_ScalarInteger((int)info->columns));
    put(list, "names", texts(info->names, D + 1));
    put(list, "named", Rf_ScalarLogical(info->named));
    put(list, "levels", level_names(info));
    put(list, "positions", level_positions(info));
    put(list, "dates", texts(info->date, info->columns));
    put(list, "offset_name", text(info->offset_name));
    put(list, "weights_name", text(info->weights_name));
    put(list, "noise_name", text(info->noise_name));
    put(list, "constant", flags(info->constant, D));
    put(list, "place", Rf_ScalarInteger((int)info->place));
    put(list, "longitude", Rf_ScalarInteger((int)info->longitude));
    put(list, "latitude", Rf_ScalarInteger((int)info->latitude));
}

static void put_hyperparameters(named_list *list, const quorum_info *info)
{
    size_t D = info->inputs;
    put(list, "kernel", text(info->kernel));
    put(list, "lengthscale", reals(info->lengthscale, D));
    put(list, "input_lengthscale", reals(info->input_lengthscale, D));
    put(list, "rotation", square(info->rotation, D)); /* transposed in R: rows are directions */
    put(list, "at_bound", flags(info->at_bound, D + 4));
    put(list, "signal_variance", Rf_ScalarReal(info->signal_variance));
    put(list, "noise_variance", Rf_ScalarReal(info->noise_variance));
    put(list, "long_share", Rf_ScalarReal(info->long_share));
    put(list, "long_reach", Rf_ScalarReal(info->long_reach));
    put(list, "bend_at", reals(info->bend_at, D));
    put(list, "bend_width", reals(info->bend_width, D));
    put(list, "x_mean", reals(info->x_mean, D));
    put(list, "x_scale", reals(info->x_scale, D));
    put(list, "y_mean", Rf_ScalarReal(info->y_mean));
    put(list, "y_scale", Rf_ScalarReal(info->y_scale));
    put(list, "target_mean", Rf_ScalarReal(info->target_mean));
    put(list, "target_scale", Rf_ScalarReal(info->target_scale));
    put(list, "trend", text(info->trend));
    put(list, "slope", reals(info->slope, D));
    put(list, "slope_std", reals(info->slope_std, D));
    put(list, "warp", text(info->warp));
    put(list, "warp_shift", Rf_ScalarReal(info->warp_shift));
}

static void put_fit(named_list *list, const quorum_info *info)
{
    put(list, "experts", Rf_ScalarInteger((int)info->experts));
    put(list, "sizes", counts(info->sizes, info->experts));
    put(list, "partition", text(info->partition));
    put(list, "train", text(info->train));
    put(list, "nlml", Rf_ScalarReal(info->nlml));
    put(list, "train_rows", Rf_ScalarReal((double)info->train_rows));
    put(list, "evaluations", Rf_ScalarInteger(info->evaluations));
    put(list, "neighbours", Rf_ScalarReal((double)info->neighbours));
    put(list, "chosen_method", text(info->chosen_method));
    put(list, "calibration_rows", Rf_ScalarReal((double)info->calibration_rows));
    put(list, "calibration_for", text(info->calibration_for));
    put(list, "graph_trouble", text(info->graph_trouble));
    put(list, "importance", reals(info->importance, info->experts));
    put(list, "seconds", Rf_ScalarReal(info->seconds_total));
    put(list, "options", text(info->options));
}

SEXP qr_info(SEXP handle, SEXP target)
{
    quorum_info info;
    quorum_status status = quorum_inspect(model_of(handle, target), &info);
    if (status < 0)
        return reply(status, R_NilValue);
    named_list list = new_list(15 + 22 + 15);
    put_columns(&list, &info);
    put_hyperparameters(&list, &info);
    put_fit(&list, &info);
    SEXP out = reply(status, list.values);
    UNPROTECT(2);
    return out;
}

/* list(table = columns x rows, y, row = numbers of the rows, from 1). */
SEXP qr_training_rows(SEXP handle, SEXP target)
{
    const quorum_model *model = model_of(handle, target);
    quorum_info info;
    quorum_status status = quorum_inspect(model, &info);
    if (status < 0)
        return reply(status, R_NilValue);
    named_list list = new_list(3);
    put(&list, "table", Rf_allocMatrix(REALSXP, (int)info.columns, (int)info.rows));
    put(&list, "y", Rf_allocVector(REALSXP, (R_xlen_t)info.rows));
    put(&list, "row", counts(info.row, info.rows));
    double *row = REAL(VECTOR_ELT(list.values, 2));
    for (size_t i = 0; i < info.rows; i++)
        row[i] += 1;
    status = quorum_training_rows(model, REAL(VECTOR_ELT(list.values, 0)),
                                  REAL(VECTOR_ELT(list.values, 1)));
    SEXP out = reply(status, list.values);
    UNPROTECT(2);
    return out;
}
