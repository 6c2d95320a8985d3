/* The table of aggregation rules, and what they all end with. */
#include "aggregate/rule.h"

#include <string.h>

const rule rule_nearest = {
    "nearest", "a GP on the query's nearest rows alone; no experts take part", TAKES_ROWS, 1, NULL,
    NULL};

const rule rule_cells = {
    "cells",
    "a GP on the rows of the query's cell and around it, for many queries; of many in a cell one "
    "factor serves all",
    TAKES_CELLS,
    1,
    NULL,
    NULL};

const rule rule_groups = {
    "groups",     "npae within groups of experts that the graph makes, bcm across the groups",
    TAKES_GROUPS, 1,
    NULL,         NULL};

const rule rule_ggm = {
    "ggm",
    "a graphical model of the experts and the target, which is latent: bcm for dependent experts",
    TAKES_GRAPH,
    0,
    NULL,
    NULL};

static const rule *const table[] = {
    &rule_nearest, &rule_cells, &rule_npae, &rule_groups,       &rule_ggm, &rule_grbcm,
    &rule_rbcm,    &rule_bcm,   &rule_gpoe, &rule_gpoe_entropy, &rule_poe, &rule_single,
};

int rule_is_joint(const rule *r)
{
    return r->kind == TAKES_COVARIANCE || rule_asks_nobody(r);
}

int rule_is_latent(const rule *r)
{
    return rule_is_joint(r) || r->kind == TAKES_GROUPS || r->kind == TAKES_GRAPH;
}

int rule_asks_nobody(const rule *r)
{
    return r->kind == TAKES_ROWS || r->kind == TAKES_CELLS;
}

int rule_count(void)
{
    return (int)(sizeof table / sizeof *table);
}

const rule *rule_at(int i)
{
    return i >= 0 && i < rule_count() ? table[i] : NULL;
}

const rule *rule_by_name(const char *name, size_t length)
{
    for (int i = 0; i < rule_count(); i++)
        if (strlen(table[i]->name) == length && strncmp(table[i]->name, name, length) == 0)
            return table[i];
    return NULL;
}

void settle(consensus *out, size_t q, double precision, double weighted_mean, double prior_mean,
            double prior_var)
{
    if (precision > 0.0) {
        out->mean[q] = weighted_mean / precision;
        out->var[q] = 1.0 / precision;
    } else {
        out->mean[q] = prior_mean;
        out->var[q] = prior_var;
        out->fallbacks += q < out->real;
    }
}

void settle_slope(const consensus *out, consensus *slope, size_t q, double precision,
                  double precision_slope, double weighted_slope, double prior_mean_slope,
                  double prior_var_slope)
{
    if (precision > 0.0) {
        slope->mean[q] = (weighted_slope - out->mean[q] * precision_slope) / precision;
        slope->var[q] = -precision_slope / precision / precision;
    } else {
        slope->mean[q] = prior_mean_slope;
        slope->var[q] = prior_var_slope;
    }
}
