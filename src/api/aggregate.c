/* The rules on the caller's own experts. */
#include "aggregate/rule.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

static quorum_status choose_rule(const char *method, size_t experts, const rule **out)
{
    *out = method ? rule_by_name(method, strlen(method)) : NULL;
    if (!*out)
        return failure(QUORUM_E_ARGUMENT, "aggregate: method \"%s\" is not known",
                       method ? method : "NULL");
    if (rule_asks_nobody(*out))
        return failure(QUORUM_E_ARGUMENT,
                       "aggregate: %s asks no experts; predict with a model instead", method);
    if ((*out)->kind == TAKES_COVARIANCE || (*out)->kind == TAKES_GROUPS ||
        (*out)->kind == TAKES_GRAPH)
        return failure(QUORUM_E_ARGUMENT,
                       "aggregate: %s needs the experts' covariances, not their opinions alone; "
                       "predict with a model instead",
                       method);
    if ((*out)->kind == TAKES_BASE && experts < 2)
        return failure(QUORUM_E_ARGUMENT, "aggregate: %s needs a base and another expert", method);
    return QUORUM_OK;
}

static quorum_status check_opinions(const opinions *o)
{
    if (!(isfinite(o->prior) && o->prior > 0.0))
        return failure(QUORUM_E_DATA, "aggregate: the prior variance is %g: it must be positive",
                       o->prior);
    for (size_t k = 0; k < o->p * o->b; k++)
        if (!isfinite(o->mean[k]) || !(isfinite(o->var[k]) && o->var[k] > 0.0))
            return failure(QUORUM_E_DATA,
                           "aggregate: expert %zu, query %zu: mean %g and variance %g must be "
                           "finite, the variance positive",
                           k / o->b + 1, k % o->b + 1, o->mean[k], o->var[k]);
    return QUORUM_OK;
}

quorum_status quorum_aggregate(const char *method, size_t experts, size_t queries,
                               const double *mean, const double *variance, double prior_variance,
                               double *out_mean, double *out_variance)
{
    if (!mean || !variance || !out_mean || !out_variance || experts == 0)
        return failure(QUORUM_E_ARGUMENT,
                       "aggregate: needs an expert, and arrays that are not NULL");
    for (size_t q = 0; q < queries; q++)
        out_mean[q] = out_variance[q] = NAN;
    const rule *chosen;
    opinions given = {
        .p = experts, .b = queries, .mean = mean, .var = variance, .prior = prior_variance};
    consensus out = {.mean = out_mean, .var = out_variance, .real = queries};
    TRY(choose_rule(method, experts, &chosen));
    TRY(check_opinions(&given));
    chosen->combine(&given, &out);
    return QUORUM_OK;
}
