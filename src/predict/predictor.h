/* Predictors: how a block of queries becomes means and variances.
 *
 *   nearest   a GP on each query's nearest rows; no experts take part
 *   experts   each expert is asked by itself, and a rule combines the opinions
 *   npae      experts, and where wanted the query's nearest rows, are joined by their covariances
 *   groups    experts are joined by their covariances within groups, and those by a rule (src/ensemble/)
 *   ggm       experts are joined by a graphical model of them and the target (src/ensemble/)
 *   cells     the GP of the cell that the query lies in (src/cells/)
 *
 * A plan says which of them, with whom and on how many queries at once.  To add a predictor: a
 * file like by_nearest.c and a line in plan.c's table. */
#ifndef QRM_PREDICT_PREDICTOR_H
#define QRM_PREDICT_PREDICTOR_H

#include "aggregate/npae.h"
#include "model/model.h"
#include "predict/nearest.h"

typedef struct predictor predictor;
struct cell_store; /* cells/cell_store.h */

/* Counts of a call. */
typedef struct {
    quorum_report events;
    double seats; /* taken, over all queries */
} tally;

/* A further target with the same rows and theta, predicted from the same neighbourhoods. */
typedef struct {
    const quorum_model *m;
    const quorum_prediction *out;
    near_target near; /* room for a block */
    tally t;
} shared_target;

/* One call's plan (plan.c). */
typedef struct {
    const quorum_model *m;
    const settings *s;
    const progress *progress;
    const rule *rule;
    const predictor *how;
    const committee *c;
    const neighbour_index *index; /* NULL: no neighbourhoods, ...                      */
    const near_holdings *held;    /* ... or each process searches its own rows            */
    selection chosen;
    size_t *experts, count; /* of the committee that may take part (room for M + 1)       */
    size_t *first, groups;  /* of method groups: where each begins among the experts (groups + 1);
                               freed with these                                        */
    size_t used;            /* experts of the model that may take part                 */
    size_t neighbours;      /* nearest rows of each query, 0: none                     */
    int threads, mean_only; /* mean_only: of one expert, whose mean is the rule's      */
    int with_slopes;        /* gradients are wanted too                                */
    double memory;
    size_t block;             /* queries of a block                                      */
    const double *omega;      /* of method ggm: M x M (graph/latent_target.h)            */
    struct cell_store *cells; /* of method cells, the first ... of the model's by size: 0, 1, .. */
    size_t cells_place;
    spread_rule spread;    /* of neighbourhoods                                    */
    const double *beyond;  /* queries: variance of their holes, in the model's units; NULL: none */
    shared_target *shared; /* of method nearest: `others` further targets          */
    size_t others;
} plan;

/* One block of queries and what is predicted there (block.c). */
typedef struct {
    double *X;          /* block x D: standardised */
    points Q;           /* scaled, padded          */
    double *mean, *var; /* block                   */
    double *spread;     /* block: factor of the variance, noise included */
    double *doubt;      /* block: variance of a linear trend in the prediction, on top of that */
    double *noise;      /* block: of an observation    */
    double *known;      /* block: square of each query's known error */
    double *u;          /* 3 D + 1: room           */
    /* along the scaled inputs of each query, block x D each; NULL: not wanted (slopes.c) */
    double *mean_slope, *var_slope, *spread_slope, *doubt_slope, *noise_slope;
} block_space;

/* A prediction as weights of rows: experts' and neighbourhoods' gammas, times a weight each. */
typedef struct {
    assembly a;
    neighbourhoods near; /* at the last seat; m = 0: none */
    double *pairs;
} joint_space;

void joint_space_free(joint_space *j);

struct predictor {
    const char *name;
    int (*applies)(const rule *r);
    /* Who answers: p->c and as needed experts, index or held. */
    quorum_status (*plan)(plan *p, const double *X, size_t n);
    /* Bytes that a query of a block takes, and how many of them speed can use. */
    double (*query_bytes)(const plan *p);
    size_t (*block_most)(const plan *p);
    /* order (Q->n): which queries to take together, Q being all of a call; NULL: as they come. */
    quorum_status (*order)(const plan *p, const points *Q, size_t *order);
    /* w->mean, var and, where they are not 1 and theta's, spread and noise at n queries, standardised, in the space of
     * aggregation; with slopes also theirs, where they are not 0. */
    quorum_status (*answer)(const plan *p, size_t n, block_space *w, tally *t);
    /* The same as weights (out->weights) at the queries Q; NULL: they have no joint distribution. */
    quorum_status (*weigh)(const plan *p, const points *Q, joint_space *j, npae_result *out);
};

extern const predictor by_nearest, by_experts, by_npae, by_groups, by_ggm, by_cells;

/* ---- plan.c ---- */

/* Free p->experts with mem_free, also after a failure. */
quorum_status plan_make(const quorum_model *m, const quorum_options *options, int with_slopes,
                        const double *X, size_t n, plan *p);

/* For predictors: brings the search for nearest rows, by so many queries (MANY_QUERIES: not known), or the experts
 * of the selection. */
quorum_status plan_neighbours(plan *p, size_t queries);
quorum_status plan_experts(plan *p, const double *X, size_t n);

static const double ASK_SHARE = 0.2; /* of NPAE's time, for progress: experts one by one */
enum { BLOCK_MOST = 8192 }; /* queries of a block: experts one by one, neighbourhoods alone */

int plan_skips_variance(const plan *p);  /* means alone are wanted, and need no variance */
size_t plan_line_width(const plan *p);   /* coefficients of the line whose doubt is wanted, or 0 */
int plan_is_local(const plan *p);        /* whether each query has experts of its own   */
size_t plan_seats(const plan *p);        /* experts that one query is predicted from    */
double plan_factor_bytes(const plan *p); /* for factors made for a block                */
double plan_seat_bytes(const plan *p, double rows); /* a query's seats, gammas of `rows` rows */

/* The doubt of a linear trend at n queries of rules that do not say how they weigh rows, w->var having
 * `noise` in it (by_experts.c). */
void plan_doubt_by_share(const plan *p, double noise, size_t n, block_space *w);

/* Seats K experts at each of the n queries of the assembly.  How it went is to be passed on as the
 * `ready` of the next call, since not all selections need the others (team/work.h). */
quorum_status plan_seat(quorum_status ready, const plan *p, assembly *a, size_t K, size_t n,
                        const neighbourhoods *near, size_t *unsure);

#endif
