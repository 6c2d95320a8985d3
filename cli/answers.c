/* Predictions of rows, as csv or JSON (answers.h). */
#include "answers.h"

#include "talk.h"

#include <math.h>

int answers_parse(answers *a, const arguments *given)
{
    a->mean_only = option_is_on(given, "mean-only");
    int code = quantiles_read(&a->quantiles, given);
    return code == EXIT_DONE ? columns_parse(&a->extra, given) : code;
}

void answers_free(answers *a)
{
    quantiles_free(&a->quantiles);
    columns_free(&a->extra);
}

int answers_reserve(answers *a, size_t inputs, size_t rows, const arguments *given,
                    quorum_prediction *values)
{
    if (!quantiles_ask(&a->quantiles, rows, values))
        return failure(given, "out of memory for the quantiles of %zu rows", rows);
    return columns_reserve(&a->extra, inputs, rows, given, values);
}

quorum_status answers_predict(answers *a, const quorum_model *model, const double *X, size_t rows,
                              const arguments *given, quorum_prediction *values,
                              quorum_report *report)
{
    quorum_status status = quorum_predict(model, X, rows, given->options, values, report);
    return status < 0 ? status : columns_decide(&a->extra, model, given->options, values, rows);
}

size_t answers_count(const answers *a, size_t inputs)
{
    size_t gradients = a->extra.gradient ? (a->extra.with_std ? 2 : 1) : 0;
    return (a->mean_only ? 1 : 4) + a->quantiles.count + a->extra.novelty + a->extra.count +
           gradients * inputs;
}

void answers_write_names(const answers *a, const quorum_model *model, FILE *file)
{
    fputs(a->mean_only ? "mean" : "mean,std,lower,upper", file);
    quantiles_write_names(&a->quantiles, file);
    columns_write_header(&a->extra, model, file);
}

void answers_write_row(const answers *a, const quorum_prediction *v, size_t i, FILE *file)
{
    fprintf(file, "%.17g", v->mean[i]);
    if (v->std)
        fprintf(file, ",%.17g,%.17g,%.17g", v->std[i], v->lower[i], v->upper[i]);
    quantiles_write_row(&a->quantiles, i, file);
    columns_write_row(&a->extra, i, file);
}

void answers_put_row(const answers *a, const quorum_model *model, const quorum_prediction *v,
                     size_t i, json_writer *w)
{
    json_member_number(w, "mean", v ? v->mean[i] : NAN);
    if (!a->mean_only) {
        json_member_number(w, "std", v ? v->std[i] : NAN);
        json_member_number(w, "lower", v ? v->lower[i] : NAN);
        json_member_number(w, "upper", v ? v->upper[i] : NAN);
    }
    quantiles_put_row(&a->quantiles, v ? &i : NULL, w);
    columns_put_row(&a->extra, model, v ? &i : NULL, w);
}

void answers_values(const answers *a, const quorum_prediction *v, size_t i, double *out)
{
    *out++ = v->mean[i];
    if (!a->mean_only) {
        *out++ = v->std[i];
        *out++ = v->lower[i];
        *out++ = v->upper[i];
    }
    for (size_t k = 0; k < a->quantiles.count; k++)
        *out++ = a->quantiles.values[i * a->quantiles.count + k];
    columns_values(&a->extra, i, out);
}
