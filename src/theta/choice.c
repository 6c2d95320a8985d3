/* Which kernel, which metric, how much spread and how many neighbours: what predicts training rows
 * best that are left out in turn. */
#include "theta/finder.h"

#include "base/memory.h"
#include "team/work.h"
#include "train/beyond.h"

#include <math.h>

enum {
    SCORE_ROWS = 8000,   /* left out in turn to score a kernel ...        */
    QUICK_SCORES = 4000, /* ... or after quick rounds so many ...         */
    SCORE_GIVEN = 96,    /* ... and predicted from so many nearest        */
    FAR_ROWS = 1000,     /* left out with many of their nearest rows ...  */
    GAP_FACTOR = 4,      /* ... of so many times as many at least         */
    GLANCE_SHARE = 4     /* of all these rows one in so many comes first  */
};
static const double LAST_GAIN = 0.1; /* what a last round may add to the density of one kernel and
                                        not to another's */

/* ---- Scores ---- */

static quorum_status parts_of_left_out(finder *f, const hyper *theta, int distance, size_t rows,
                                       vecchia_parts *v)
{
    vecchia_problem problem = neighbour_problem(f, theta, (double)rows);
    problem.block = 1;
    problem.given = SCORE_GIVEN;
    problem.skip = distance_skip(distance);
    problem.others = 1;
    return vecchia_parts_new(&problem, v);
}

quorum_status left_out_parts(finder *f, const hyper *theta, vecchia_parts *v)
{
    return parts_of_left_out(f, theta, 0, SCORE_ROWS, v);
}

/* A gap is small against all of the data. */
static int has_distance(const finder *f, int distance)
{
    return distance == 0 || f->m->rows.n >= GAP_FACTOR * (distance_skip(distance) + SCORE_GIVEN);
}

static size_t count_scored(const finder *f)
{
    return f->is_quick ? QUICK_SCORES : SCORE_ROWS;
}

static quorum_status predict_left_out(finder *f, contender *c, int distance)
{
    vecchia_parts v;
    size_t rows = distance ? FAR_ROWS : count_scored(f);
    TRY(parts_of_left_out(f, &c->theta, distance, c->is_glance ? rows / GLANCE_SHARE : rows, &v));
    quorum_status status = contender_predict(QUORUM_OK, c, distance, &v, options_threads(f->s));
    vecchia_parts_free(&v);
    return status;
}

static quorum_status score(finder *f, contender *c, double prior)
{
    for (int l = 0; l < DISTANCES; l++)
        if (has_distance(f, l))
            TRY(predict_left_out(f, c, l));
    contender_score(c, prior);
    return QUORUM_OK;
}

/* With few rows, where there are many more. */
static quorum_status glance(finder *f, contender *c)
{
    c->is_glance = f->m->rows.n > 2 * (count_scored(f) / GLANCE_SHARE);
    return score(f, c, f->m->spread);
}

static quorum_status tell(finder *f, const contender *c)
{
    f->m->history.kernel_choice.score[c->number] = c->density;
    return progress_report(f->p, "train", -1.0, "kernel %s: log density a row %.4f, error %.4f",
                           c->theta.kernel->name, c->density, sqrt(c->error));
}

static quorum_status glance_and_tell(finder *f, contender *c)
{
    TRY(glance(f, c));
    return tell(f, c);
}

quorum_status look_closely(finder *f, contender *c)
{
    if (!c->is_glance)
        return QUORUM_OK;
    c->is_glance = 0;
    TRY(score(f, c, f->m->spread));
    return tell(f, c);
}

/* The best one first.  Those that a glance does not rule out are looked at closely; if only one is left,
 * the glance was enough. */
quorum_status best_first(finder *f, contender **list, int count)
{
    int left = contender_rule_out(list, count);
    for (int k = 0; left > 1 && k < left; k++)
        TRY(look_closely(f, list[k]));
    contender_best_first(list, left);
    return QUORUM_OK;
}

/* ---- The kernel ---- */

/* What a glance has ruled out is told as its distance from the best one. */
static void tell_distances(finder *f, contender *const *list, int count)
{
    double *told = f->m->history.kernel_choice.score;
    for (int k = 1; k < count; k++)
        if (list[k]->is_glance != list[0]->is_glance)
            told[list[k]->number] = list[0]->density - contender_lead(list[0], list[k]);
}

/* Copies of contenders before a search: their thetas, and what all were searched on. */
typedef struct {
    contender *const *list;
    contender *copy;
    int count;
} copying;

static quorum_status copy_all(void *context)
{
    const copying *c = context;
    return copy_contenders(c->list, c->count, c->copy);
}

quorum_status copy_contenders(contender *const *list, int count, contender *copy)
{
    for (int k = 0; k < count; k++) {
        copy[k].number = list[k]->number;
        copy[k].nlml = list[k]->nlml;
        TRY(copy_theta(&list[k]->theta, &copy[k].theta));
    }
    return QUORUM_OK;
}

static quorum_status last_round_and_score(finder *f, contender *c, int own_scales)
{
    TRY(last_round(f, &c->theta, own_scales));
    c->result = *f->result;
    return glance_and_tell(f, c);
}

/* Scales of blocks' own help on some data and harm on others: the winner's last round without them,
 * from where its other one began, and the better of the two by left-out rows. */
static quorum_status try_without_own_scales(finder *f, contender *winner, contender *fresh)
{
    contender *two[] = {winner, fresh};
    TRY(last_round_and_score(f, fresh, 0));
    TRY(best_first(f, two, 2));
    if (two[0] == fresh)
        swap_contenders(winner, fresh);
    return QUORUM_OK;
}

static quorum_status last_rounds(finder *f, contender **list, int count, contender *fresh)
{
    int own_scales = has_own_scales(f->m);
    f->is_quick = 0;
    for (int place = 0; place < count; place++)
        TRY(last_round_and_score(f, list[place], own_scales));
    TRY(best_first(f, list, count));
    for (int k = 0; own_scales && k < count; k++)
        if (fresh[k].number == list[0]->number)
            TRY(try_without_own_scales(f, list[0], &fresh[k]));
    TRY(look_closely(f, list[0]));
    f->m->history.kernel_choice.score[list[0]->number] = list[0]->density;
    return QUORUM_OK;
}

/* How many can still win: a kernel that is far behind has no last round. */
static int count_finalists(const contender *const *list, int count)
{
    int left = 1;
    while (left < count && !(contender_is_behind(list[left], list[0]) &&
                             contender_lead(list[0], list[left]) > LAST_GAIN))
        left++;
    return left;
}

/* The two best by their quick rounds have their last rounds too, and the better one comes
 * first: few rows can favour the wrong one. */
static quorum_status finals(finder *f, contender **list, int count)
{
    int finalists = count < FINALISTS ? count : FINALISTS;
    contender fresh[FINALISTS] = {0};
    copying start = {.list = list, .copy = fresh};
    for (int place = 0; place < finalists; place++)
        TRY(best_first(f, list + place, count - place));
    tell_distances(f, list, count);
    TRY(find_metric(f, list, finalists));
    TRY(find_trend(f, list, finalists));
    f->searches += (has_own_scales(f->m) ? 2 : 1) * finalists;
    finalists = count_finalists((const contender *const *)list, finalists);
    f->searches -= (has_own_scales(f->m) ? 2 : 1) * finalists;
    start.count = finalists;
    quorum_status status = team_all(QUORUM_OK, copy_all, &start);
    if (status == QUORUM_OK)
        status = last_rounds(f, list, finalists, fresh);
    for (int k = 0; k < finalists; k++)
        contender_free(&fresh[k]);
    if (status == QUORUM_OK)
        f->m->spread = list[0]->prior;
    return status;
}

static void keep_contender(finder *f, const contender *c)
{
    int evaluations = f->result->evaluations; /* of all */
    set_theta(&f->m->theta, &c->theta);
    *f->result = c->result;
    f->result->evaluations = evaluations;
}

/* Contenders that begin with the same theta. */
typedef struct {
    const hyper *theta;
    contender *all;
    int count;
} line_up;

static quorum_status copy_thetas(void *context)
{
    const line_up *l = context;
    for (int k = 0; k < l->count; k++) {
        l->all[k].number = k;
        TRY(copy_theta(l->theta, &l->all[k].theta));
    }
    return QUORUM_OK;
}

quorum_status quick_round_and_score(finder *f, contender *c)
{
    TRY(quick_round(f, &c->theta));
    c->result = *f->result;
    c->nlml = c->result.nlml;
    return glance_and_tell(f, c);
}

/* Three scales, the k-th kernel, are looked at where two, the one before it, may be the best. */
static int is_worth_a_look(const contender *all, int k)
{
    int is_behind = 0;
    for (int i = 0; i + 1 < k; i++)
        is_behind |= contender_is_behind(&all[k - 1], &all[i]);
    return kernel_at(k)->scales < 3 || !is_behind;
}

/* Every kernel has its quick round from the first look's theta.  list: those that had one. */
static quorum_status look_at_kernels(finder *f, contender *all, int candidates, contender **list)
{
    kernel_choice *choice = &f->m->history.kernel_choice;
    choice->count = 0;
    for (int k = 0; k < candidates; k++) {
        if (!is_worth_a_look(all, k)) {
            f->searches++;
            continue;
        }
        all[k].theta.kernel = kernel_at(k);
        choice->name[k] = all[k].theta.kernel->name;
        list[choice->count++] = &all[k];
        TRY(quick_round_and_score(f, &all[k]));
    }
    return QUORUM_OK;
}

/* The best kernel, its theta and, if it had its last round, its spread stay. */
static quorum_status choose_kernel(finder *f)
{
    quorum_model *m = f->m;
    const int *count = &m->history.kernel_choice.count;
    contender all[MOST_KERNELS] = {0}, *list[MOST_KERNELS];
    int candidates = kernel_candidates() < MOST_KERNELS ? kernel_candidates() : MOST_KERNELS;
    line_up kernels = {.theta = &m->theta, .all = all, .count = candidates};
    quorum_status status = QUORUM_OK;
    TRY_OR_DONE(team_all(QUORUM_OK, copy_thetas, &kernels));
    TRY_OR_DONE(look_at_kernels(f, all, candidates, list));
    if (f->s->train == TRAIN_NEIGHBOURS) {
        TRY_OR_DONE(finals(f, list, *count));
    } else {
        TRY_OR_DONE(best_first(f, list, *count));
        tell_distances(f, list, *count);
    }
    keep_contender(f, list[0]);
done:
    for (int k = 0; k < candidates; k++)
        contender_free(&all[k]);
    return status;
}

/* The one kernel that was given, with train=neighbours. */
static quorum_status train_given_kernel(finder *f)
{
    quorum_model *m = f->m;
    contender only = {0}, *list = &only;
    line_up alone = {.theta = &m->theta, .all = &only, .count = 1};
    quorum_status status;
    if (count_turns(m, f->s) + count_trials(m, f->s) == 0 && !has_own_scales(m)) {
        TRY(quick_round(f, &m->theta));
        return last_round(f, &m->theta, 0);
    }
    TRY_OR_DONE(team_all(QUORUM_OK, copy_thetas, &alone));
    TRY_OR_DONE(quick_round_and_score(f, &only));
    TRY_OR_DONE(finals(f, &list, 1));
    keep_contender(f, list);
done:
    contender_free(&only);
    return status;
}

quorum_status choose_theta(finder *f)
{
    f->is_quick = 1;
    if (!kernel_at(f->s->kernel))
        return choose_kernel(f);
    return f->s->train == TRAIN_NEIGHBOURS ? train_given_kernel(f) : QUORUM_OK;
}

quorum_status learn_spread(finder *f)
{
    quorum_model *m = f->m;
    contender c = {0};
    line_up alone = {.theta = &m->theta, .all = &c, .count = 1};
    quorum_status status = team_all(QUORUM_OK, copy_thetas, &alone);
    if (status == QUORUM_OK)
        status = score(f, &c, m->spread);
    if (status == QUORUM_OK)
        m->spread = c.prior;
    contender_free(&c);
    return status;
}

/* ---- The number of neighbours ---- */

enum {
    FEWEST_NEIGHBOURS = 32, /* then twice as many, and so on, up to OWN_NEIGHBOURS */
    COUNT_ROWS = 500,       /* left out in turn to compare them ...                */
    LEAST_COUNT_ROWS = 200, /* ... and so many at least                            */
    COUNTS = 5
};
static const double COUNT_BYTES = 64e6;    /* that these rows and their neighbours may take */
static const double AS_GOOD_ERROR = 1.005; /* of the smallest mean squared error            */
static const double AS_GOOD_DENSITY = 0.005;

/* How rows that are left out are predicted from so many neighbours. */
typedef struct {
    size_t neighbours;
    double density, error; /* means: log density, squared error */
} count_score;

static quorum_status score_count(const vecchia_parts *v, const quorum_model *m, int threads,
                                 left_out_row *rows, count_score *c)
{
    size_t count = v->parts.M;
    left_out_how how = {.most = c->neighbours, .threads = threads};
    TRY(left_out_predict(QUORUM_OK, v, &m->theta, &how, rows));
    double all = left_out_weights(rows, count);
    for (size_t i = 0; i < count; i++) {
        c->density += rows[i].weight * (left_out_density(&rows[i], m->spread) / all);
        c->error += rows[i].weight * (rows[i].error * rows[i].error / all);
    }
    return QUORUM_OK;
}

/* The first that is as good as any. */
static size_t enough_neighbours(const count_score *c)
{
    double density = c[0].density, error = c[0].error;
    int k = 0;
    for (int i = 1; i < COUNTS; i++) {
        density = fmax(density, c[i].density);
        error = fmin(error, c[i].error);
    }
    while (k + 1 < COUNTS &&
           (c[k].density < density - AS_GOOD_DENSITY || c[k].error > AS_GOOD_ERROR * error))
        k++;
    return c[k].neighbours;
}

typedef struct {
    size_t count;
    left_out_row *rows;
} count_rows;

static quorum_status room_for_counts(void *context)
{
    count_rows *r = context;
    return NEW_ARRAY(r->rows, r->count)
               ? QUORUM_OK
               : failure(QUORUM_E_MEMORY, "out of memory for scoring %zu rows", r->count);
}

static quorum_status compare_counts(finder *f, const vecchia_parts *v)
{
    count_score score[COUNTS] = {{0}};
    count_rows r = {.count = v->parts.M};
    quorum_status status = team_all(QUORUM_OK, room_for_counts, &r);
    for (int k = 0; status == QUORUM_OK && k < COUNTS; k++) {
        score[k].neighbours = (size_t)FEWEST_NEIGHBOURS << k;
        status = score_count(v, f->m, options_threads(f->s), r.rows, &score[k]);
    }
    if (status == QUORUM_OK && enough_neighbours(score) > f->m->neighbours)
        f->m->neighbours = enough_neighbours(score);
    mem_free(r.rows);
    return status == QUORUM_E_NUMERIC ? QUORUM_OK : status; /* then nothing is known */
}

/* Enough at one distance. */
static quorum_status learn_neighbours_at(finder *f, int distance, double rows)
{
    vecchia_parts v;
    vecchia_problem problem = neighbour_problem(f, &f->m->theta, rows);
    problem.block = 1;
    problem.given = OWN_NEIGHBOURS;
    problem.skip = distance_skip(distance);
    problem.others = 1;
    TRY(vecchia_parts_new(&problem, &v));
    quorum_status status = compare_counts(f, &v);
    vecchia_parts_free(&v);
    return status;
}

/* Among rows, and as far from them as in a gap. */
quorum_status learn_neighbours(finder *f)
{
    double each = 8.0 * (OWN_NEIGHBOURS + 1.0) * ((double)f->m->rows.D + 1.0);
    double rows = fmin(COUNT_ROWS, COUNT_BYTES / each);
    if (f->s->train != TRAIN_NEIGHBOURS || f->s->theta[0] != '\0' ||
        f->m->rows.n <= 2 * (size_t)OWN_NEIGHBOURS || rows < LEAST_COUNT_ROWS)
        return QUORUM_OK;
    TRY(learn_neighbours_at(f, 0, rows));
    return has_distance(f, DISTANCES - 1) ? learn_neighbours_at(f, DISTANCES - 1, 0.5 * rows)
                                          : QUORUM_OK;
}

/* ---- Beyond the rows ---- */

quorum_status learn_untested(finder *f)
{
    const quorum_model *m = f->m;
    beyond_problem problem = {.rows = f->rows,
                              .theta = &m->theta,
                              .prior = m->spread,
                              .local_noise = m->local_noise,
                              .neighbours = m->neighbours ? m->neighbours : OWN_NEIGHBOURS,
                              .seed = m->seed,
                              .threads = options_threads(f->s)};
    return f->s->train == TRAIN_NEIGHBOURS ? beyond_learn(&problem, &f->m->untested) : QUORUM_OK;
}
