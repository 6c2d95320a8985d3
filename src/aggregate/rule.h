/* Methods of prediction: aggregation rules, by which many opinions on a query become one
 * prediction, and nearest, which asks for no opinions.  To add a rule: a file like poe.c and a
 * line in rule.c's table. */
#ifndef QRM_AGGREGATE_RULE_H
#define QRM_AGGREGATE_RULE_H

#include <stddef.h>

/* What p experts say at b queries, in the space of aggregation: latent f, or
 * observed y = f + noise. */
typedef struct {
    size_t p, b;
    const double *mean; /* p x b: [i * b + q]    */
    const double *var;  /* p x b                 */
    double prior;       /* prior variance        */
} opinions;

typedef struct {
    double *mean, *var; /* b                                                     */
    size_t real;        /* queries that count; the rest is padding               */
    size_t fallbacks;   /* of those, where the precision was not positive        */
} consensus;

/* How opinions change in one direction: their derivatives, p x b each. */
typedef struct {
    const double *mean, *var;
} opinion_slopes;

typedef enum {
    TAKES_OPINIONS,   /* experts as they are                                          */
    TAKES_BASE,       /* expert 0 is the base, the others hold the base's rows as well */
    TAKES_COVARIANCE, /* the experts' joint distribution (npae.h); combine is NULL     */
    TAKES_GROUPS,     /* that of experts within groups (ensemble/by_groups.c); combine is NULL */
    TAKES_GRAPH, /* what experts have in common beyond the target (ensemble/by_ggm.c); combine is NULL */
    TAKES_ROWS, /* no experts: the query's nearest rows; combine is NULL         */
    TAKES_CELLS /* the expert of the cell that the query lies in; combine is NULL */
} rule_kind;

typedef struct {
    const char *name, *help;
    rule_kind kind;
    int trusts_one; /* 1: the mean with one expert alone is that expert's mean         */
    void (*combine)(const opinions *o, consensus *out);
    /* The derivatives of out's mean and var, which combine has found, to out_slope's (b). */
    void (*slope)(const opinions *o, const opinion_slopes *s, const consensus *out,
                  consensus *out_slope);
} rule;

extern const rule rule_single, rule_poe, rule_gpoe, rule_gpoe_entropy, rule_bcm, rule_rbcm,
    rule_grbcm, rule_npae, rule_groups, rule_ggm, rule_nearest, rule_cells;

/* Whether it is one Gaussian over the rows that it looks at: always latent, and but for cells with
 * covariances between queries. */
int rule_is_joint(const rule *r);

/* Whether it predicts the latent function whatever the space: who is joint, and who joins experts by
 * what they know of each other. */
int rule_is_latent(const rule *r);

/* Whether it asks none of the model's experts. */
int rule_asks_nobody(const rule *r);

int rule_count(void);
const rule *rule_at(int i);
const rule *rule_by_name(const char *name, size_t length); /* NULL when unknown */

/* Sets query q from P = sum of precisions and sum of precision x mean; where P is
 * not positive, to the given prior, and counts it. */
void settle(consensus *out, size_t q, double precision, double weighted_mean, double prior_mean,
            double prior_var);

/* The derivatives of what was settled, from those of both sums; where P is not positive, those of the
 * prior.
 *   mean' = (weighted' - mean P') / P,   var' = -P' / P^2 */
void settle_slope(const consensus *out, consensus *slope, size_t q, double precision,
                  double precision_slope, double weighted_slope, double prior_mean_slope,
                  double prior_var_slope);

#endif
