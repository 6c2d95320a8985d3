/* The factor of variances that nobody has tested, from rows left out with all rows beyond them.
 *
 * Rows left out one at a time have neighbours on all sides; a query outside the data has not, and what
 * theta says of its variance is then hardly more than the signal variance of a smooth function that
 * was seen over a few length-scales.  So rows are cut off: for each of the inputs along which rows are
 * farthest apart (in length-scales), from below and from above, and at a few places,
 *
 *   kept = {i: x_i < c},   targets: some of the others, each predicted from its nearest kept rows
 *
 * With z_i^2 = error^2 / variance, s_i what the kept rows around show and t_i how far they have tested
 * it (gp/neighbourhood.c), the u that makes
 *
 *   sum_i 1/2 log f_i + 1/2 z_i^2 / f_i,   f_i = s_i^(t_i^2) u^(1 - t_i^2)
 *
 * least is what the rows say.  Where kept rows know next to nothing of a target any more the error says how
 * large the signal is, not how well it is continued: such targets do not count.  (Of three scales the
 * farthest is known wherever the target is, and does not make it a known one.)  How errors grow differs from side to side, as where a function swings more
 * and more, so the same is asked of each side's rows alone, with each of its c cuts as one row, since
 * errors beyond one cut are alike, and weighed against what all rows say:
 *
 *   u_side minimises (c / rows) sum_i (log f_i + z_i^2 / f_i) + (log u_side - log u)^2
 *
 * Where queries will be is not known: what counts is the side where rows are farthest off, and the fewer of
 * the g sides there are, the less likely is the worst among them:
 *
 *   untested = max(1, max_side u_side (1 + 4 / g^2))
 *
 * Most of what one cut says is chance; with few sides there are more cuts of each.  Rows must be as dense as
 * those that predictions have: among fewer, t is larger, and u would have to be too. */
#include "train/beyond.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "near/ranked.h"
#include "train/left_out.h"

#include <math.h>
#include <stdlib.h>

enum {
    SAMPLE = 100000,  /* rows that are looked at, drawn at random         */
    LEAST = 100,      /* fewer do not tell                                */
    TARGETS = 384,    /* rows that are predicted, about                   */
    MOST_INPUTS = 8,  /* inputs along which rows are cut off              */
    CUTS = 32,        /* in all, about ...                                */
    LEAST_PLACES = 3, /* ... of each side as many, or ...                 */
    MOST_PLACES = 8,  /* ... so many                                      */
    LEAST_GIVEN = 32, /* rows that each is predicted from, at least       */
    STEPS = 64        /* of u                                             */
};
static const double FIRST_PLACE = 0.4, LAST_PLACE = 0.9; /* a cut leaves such a share of the rows */
static const double BYTES = 64e6;      /* that the sample, and targets with their rows, may take */
static const double LARGEST = 1024.0;  /* u                                                      */
static const double KNOWN_BELOW = 0.9; /* of the prior's variance: beyond, nothing is known      */

/* Rows with side * z_input < limit are kept. */
typedef struct {
    size_t input;
    double side, limit;
    size_t kept;
} cut;

typedef struct {
    const beyond_problem *p;
    size_t n;      /* rows of the sample             */
    size_t *row;   /* all rows, in a random order    */
    row_set rows;  /* n: the sample                  */
    points Z;      /* n                              */
    size_t inputs; /* that are cut, by their width   */
    size_t input[MOST_INPUTS];
    size_t given;   /* neighbours                     */
    size_t count;   /* targets                        */
    cut *cuts;      /* count: of each                 */
    size_t *target; /* count                         */
    vecchia_parts v;
    left_out_row *found; /* count */
} beyond;

static void beyond_free(beyond *b)
{
    mem_free(b->row);
    rows_free(&b->rows);
    points_free(&b->Z);
    mem_free(b->cuts);
    mem_free(b->target);
    parts_free(&b->v.parts);
    mem_free(b->found);
}

/* ---- The sample ---- */

static quorum_status draw_sample(beyond *b)
{
    size_t n = b->p->rows->n, D = b->p->rows->held.D;
    if (!NEW_ARRAY(b->row, n))
        return failure(QUORUM_E_MEMORY, "out of memory for a choice of %zu rows", n);
    for (size_t i = 0; i < n; i++)
        b->row[i] = i;
    rng r = rng_seed(b->p->seed, STREAM_BEYOND);
    rng_shuffle(&r, b->row, n);
    TRY(points_new(b->n, D, &b->Z));
    return rows_new(&b->p->rows->held, b->n, &b->rows);
}

/* ---- Cuts ---- */

static double deviation_along(const points *Z, size_t d)
{
    double mean = 0.0, square = 0.0;
    for (size_t i = 0; i < Z->n; i++)
        mean += Z->Z[i * Z->D + d] / (double)Z->n;
    for (size_t i = 0; i < Z->n; i++)
        square += pow(Z->Z[i * Z->D + d] - mean, 2.0) / (double)Z->n;
    return sqrt(square);
}

/* The inputs along which rows are farthest apart, the widest first. */
static void choose_inputs(beyond *b)
{
    double wide[MOST_INPUTS] = {0};
    for (size_t d = 0; d < b->Z.D; d++) {
        double own = deviation_along(&b->Z, d);
        size_t place = b->inputs < MOST_INPUTS ? b->inputs++ : MOST_INPUTS;
        for (; place > 0 && wide[place - 1] < own; place--)
            if (place < MOST_INPUTS) {
                wide[place] = wide[place - 1];
                b->input[place] = b->input[place - 1];
            }
        if (place < MOST_INPUTS) {
            wide[place] = own;
            b->input[place] = d;
        }
    }
}

static double along(const beyond *b, const cut *c, size_t row)
{
    return c->side * b->Z.Z[row * b->Z.D + c->input];
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The limit that leaves a share of the rows below it, where not too many lie on it; room (n). */
static int place_cut(const beyond *b, double share, double *room, cut *c)
{
    for (size_t i = 0; i < b->n; i++)
        room[i] = along(b, c, i);
    qsort(room, b->n, sizeof *room, ascending);
    c->limit = room[(size_t)(share * (double)b->n)];
    c->kept = 0;
    while (room[c->kept] < c->limit)
        c->kept++;
    return (double)c->kept >= 0.5 * share * (double)b->n;
}

/* The first rows of the sample beyond the cut, `each` at most. */
static void take_targets(beyond *b, const cut *c, size_t each)
{
    for (size_t i = 0; i < b->n && each > 0; i++)
        if (!(along(b, c, i) < c->limit)) {
            b->cuts[b->count] = *c;
            b->target[b->count++] = i;
            each--;
        }
}

/* Cuts of each side. */
static size_t count_places(const beyond *b)
{
    size_t places = CUTS / (2 * b->inputs);
    return places < LEAST_PLACES ? LEAST_PLACES : places > MOST_PLACES ? MOST_PLACES : places;
}

static void choose_targets(beyond *b, double *room)
{
    size_t places = count_places(b), all = 2 * places * b->inputs;
    size_t each = (TARGETS + all - 1) / all;
    double step = (LAST_PLACE - FIRST_PLACE) / ((double)places - 1.0);
    for (size_t k = 0; k < all; k++) {
        cut c = {.input = b->input[k / (2 * places)], .side = k / places % 2 ? -1.0 : 1.0};
        if (place_cut(b, FIRST_PLACE + step * (double)(k % places), room, &c))
            take_targets(b, &c, each);
    }
}

/* ---- Each with its nearest kept rows ---- */

static double distance_between(const points *Z, size_t a, size_t b)
{
    const double *x = Z->Z + a * Z->D, *y = Z->Z + b * Z->D;
    double sum = 0.0;
    for (size_t d = 0; d < Z->D; d++)
        sum += (x[d] - y[d]) * (x[d] - y[d]);
    return sum;
}

typedef struct {
    beyond *b;
    ranked *room; /* workers x nearest_room(given) */
    size_t *row;  /* workers x given               */
} gathering;

/* Into the part's rows, nearest last, and then the target. */
static quorum_status fill_part(void *context, size_t k, int worker)
{
    const gathering *g = context;
    beyond *b = g->b;
    size_t *first = b->v.parts.offset + k, m = first[1] - first[0] - 1;
    size_t *row = g->row + (size_t)worker * b->given;
    nearest best = nearest_start(m, g->room + (size_t)worker * nearest_room(b->given));
    for (size_t i = 0; i < b->n; i++)
        if (along(b, &b->cuts[k], i) < b->cuts[k].limit)
            nearest_offer(&best, distance_between(&b->Z, b->target[k], i), i);
    nearest_finish(&best, row, NULL);
    for (size_t i = 0; i < m; i++)
        rows_copy(&b->rows, row[m - 1 - i], 1, &b->v.parts.rows, first[0] + i);
    rows_copy(&b->rows, b->target[k], 1, &b->v.parts.rows, first[0] + m);
    return QUORUM_OK;
}

static quorum_status gather_parts(beyond *b)
{
    int workers = parallel_workers(b->p->threads, b->count);
    gathering g = {.b = b};
    NEW_ARRAY(g.room, (size_t)workers * nearest_room(b->given));
    NEW_ARRAY(g.row, (size_t)workers * b->given);
    quorum_status status =
        g.room && g.row
            ? parallel_for(workers, b->count, fill_part, &g)
            : failure(QUORUM_E_MEMORY, "out of memory for the rows around %zu rows", b->count);
    mem_free(g.room);
    mem_free(g.row);
    return status;
}

static quorum_status fill_parts(beyond *b)
{
    size_t total = 0;
    parts *all = &b->v.parts;
    all->M = b->count;
    NEW_ARRAY(all->offset, b->count + 1);
    NEW_ARRAY(b->found, b->count);
    if (!all->offset || !b->found)
        return failure(QUORUM_E_MEMORY, "out of memory for predicting %zu rows", b->count);
    for (size_t k = 0; k <= b->count; k++) {
        all->offset[k] = total;
        if (k < b->count)
            total += 1 + (b->cuts[k].kept < b->given ? b->cuts[k].kept : b->given);
    }
    TRY(rows_new(&b->rows, total, &all->rows));
    return gather_parts(b);
}

static quorum_status prepare(void *context)
{
    beyond *b = context;
    size_t most = 2 * (size_t)TARGETS;
    double *room = NULL;
    points_scale(&b->Z, b->n, b->rows.X, NULL, b->p->theta->lengthscale);
    choose_inputs(b);
    NEW_ARRAY(b->cuts, most);
    NEW_ARRAY(b->target, most);
    NEW_ARRAY(room, b->n);
    quorum_status status =
        b->cuts && b->target && room
            ? QUORUM_OK
            : failure(QUORUM_E_MEMORY, "out of memory for %zu rows beyond cuts", most);
    if (status == QUORUM_OK)
        choose_targets(b, room);
    if (status == QUORUM_OK && b->count > 0)
        status = fill_parts(b);
    mem_free(room);
    return status;
}

/* ---- What they say ---- */

/* Targets first .. last - 1 of a list; how many of them count, and in how many cuts. */
typedef struct {
    size_t first, last, counted, cuts;
} piece;

/* Whether the kept rows know something of target k, the farthest of three scales, of which they always do,
 * not counted. */
static int counts(const beyond *b, size_t k)
{
    const hyper *theta = b->p->theta;
    double farthest = theta->kernel->scales > 2 ? theta->share * theta->share : 0.0;
    return b->found[k].variance < KNOWN_BELOW * (theta->signal * (1.0 - farthest) + theta->noise);
}

static int is_other_side(const cut *a, const cut *b)
{
    return a->input != b->input || a->side != b->side;
}

/* Those beyond the side of target `first`. */
static piece side_from(const beyond *b, size_t first)
{
    piece s = {.first = first, .last = first};
    size_t kept = 0; /* of the cut that was counted last */
    for (; s.last < b->count && !is_other_side(&b->cuts[first], &b->cuts[s.last]); s.last++)
        if (counts(b, s.last)) {
            s.counted++;
            s.cuts += b->cuts[s.last].kept != kept;
            kept = b->cuts[s.last].kept;
        }
    return s;
}

/* Twice the negative log density of these, as far as u has a part in it. */
static double surprise_at(const beyond *b, piece s, double u)
{
    spread_rule rule = {.prior = b->p->prior, .untested = u, .nested = 1};
    double sum = 0.0;
    for (size_t k = s.first; k < s.last; k++) {
        const left_out_row *row = &b->found[k];
        double f = spread_factor(rule, row->around, row->variance);
        double all = f * row->variance + row->known;
        if (counts(b, k))
            sum += row->weight * (log(all) + row->error * row->error / all);
    }
    return sum;
}

/* u of these targets, `rows` of them counting as one; about: what is known of u before, as far as a factor
 * of e in either direction is likely, or NULL. */
static double likeliest(const beyond *b, piece s, double rows, const double *about)
{
    double best = 1.0, least = INFINITY;
    for (int k = -STEPS; k <= STEPS; k++) {
        double u = pow(LARGEST, (double)k / STEPS), sum = surprise_at(b, s, u) / rows;
        if (about)
            sum += pow(log(u / *about), 2.0);
        if (sum < least) {
            least = sum;
            best = u;
        }
    }
    return best;
}

/* Of the side beyond which rows are farthest off; 0 where nothing is known of any. */
static double worst_side(const beyond *b)
{
    piece all = {.last = b->count}, s = {0};
    double u = likeliest(b, all, 1.0, NULL), worst = 0.0, sides = 0.0;
    for (size_t k = 0; k < b->count; k = s.last) {
        s = side_from(b, k);
        if (s.counted == 0)
            continue;
        sides += 1.0;
        worst = fmax(worst, likeliest(b, s, (double)s.counted / (double)s.cuts, &u));
    }
    return sides > 0.0 ? fmax(1.0, worst * (1.0 + 4.0 / (sides * sides))) : 0.0;
}

static quorum_status ask(beyond *b, double *untested)
{
    quorum_status ready = draw_sample(b);
    TRY(rows_fetch(ready, b->p->rows, b->row, b->n, &b->rows));
    TRY(team_all(QUORUM_OK, prepare, b));
    if (b->count == 0)
        return QUORUM_OK;
    left_out_how how = {
        .most = b->given, .local_noise = b->p->local_noise, .threads = b->p->threads};
    TRY(left_out_predict(QUORUM_OK, &b->v, b->p->theta, &how, b->found));
    *untested = worst_side(b);
    return QUORUM_OK;
}

quorum_status beyond_learn(const beyond_problem *p, double *untested)
{
    double width = 8.0 * ((double)p->rows->held.D + 1.0), room = BYTES / (1.5 * TARGETS * width);
    size_t sample = (size_t)fmin(SAMPLE, BYTES / (2.0 * width));
    beyond b = {.p = p, .n = p->rows->n < sample ? p->rows->n : sample};
    b.given = room < (double)p->neighbours ? (size_t)room : p->neighbours;
    *untested = 0.0;
    if (b.n < LEAST || b.given < LEAST_GIVEN)
        return QUORUM_OK;
    quorum_status status = ask(&b, untested);
    beyond_free(&b);
    return status == QUORUM_E_NUMERIC ? QUORUM_OK : status; /* then nothing is known */
}
