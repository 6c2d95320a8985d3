/* Seats experts at the queries of a block, and asks each of them once for all queries at whose
 * tables it sits: the block's queries by expert go to the committee, its answers come back by
 * seat.
 *
 *   mean[s b + q] = Gamma' y,   explained[s b + q] = Gamma' k(X_e, x_q),   e = member[s b + q] */
#include "aggregate/assembly.h"

#include "base/memory.h"

#include <string.h>

double assembly_query_bytes(size_t seats, double rows)
{
    double s = (double)seats;
    return 8.0 * (rows + 0.5 * s * s + 8.0 * s);
}

quorum_status assembly_new(const committee *c, const points *Q, size_t seats, assembly *out)
{
    assembly a = {.c = c, .Q = Q, .b = Q->n, .seats = seats};
    NEW_ARRAY(a.member, seats * a.b);
    NEW_ZEROED(a.mean, seats * a.b);
    NEW_ZEROED(a.explained, seats * a.b);
    *out = a;
    if (!a.member || !a.mean || !a.explained) {
        assembly_free(out);
        out->c = c;
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts at %zu queries", seats, a.b);
    }
    for (size_t i = 0; i < seats * a.b; i++)
        a.member[i] = NOBODY;
    return QUORUM_OK;
}

void assembly_free(assembly *a)
{
    mem_free(a->member);
    mem_free(a->mean);
    mem_free(a->explained);
    mem_free(a->mean_slope);
    mem_free(a->explained_slope);
    mem_free(a->by_expert);
    mem_free(a->lists);
    mem_free(a->gammas);
    *a = (assembly){0};
}

quorum_status assembly_want_slopes(assembly *a)
{
    size_t count = a->Q->D * a->seats * a->b;
    NEW_ZEROED(a->mean_slope, count);
    NEW_ZEROED(a->explained_slope, count);
    if (a->mean_slope && a->explained_slope)
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for the gradients of %zu experts", a->seats);
}

void assembly_seat_all(assembly *a, const size_t *experts, size_t count)
{
    for (size_t s = 0; s < count; s++)
        for (size_t q = 0; q < a->b; q++)
            a->member[s * a->b + q] = experts[s];
}

/* tables[e] = at how many queries expert e sits. */
static void count_tables(const assembly *a, size_t *tables)
{
    memset(tables, 0, a->c->parts.M * sizeof *tables);
    for (size_t i = 0; i < a->seats * a->b; i++)
        if (a->member[i] != NOBODY)
            tables[a->member[i]]++;
}

/* Makes by_expert's lists; place[e] is expert e's number among those attending. */
static quorum_status make_lists(assembly *a, const size_t *tables, size_t *place)
{
    size_t total = 0, at = 0, k = 0;
    a->attending = 0;
    for (size_t e = 0; e < a->c->parts.M; e++) {
        a->attending += tables[e] > 0;
        total += 2 * padded_queries(tables[e]);
    }
    if (!NEW_ARRAY(a->by_expert, a->attending) || !NEW_ARRAY(a->lists, total))
        return failure(QUORUM_E_MEMORY, "out of memory for the lists of %zu experts", a->attending);
    for (size_t e = 0; e < a->c->parts.M; e++) {
        if (tables[e] == 0)
            continue;
        size_t b = padded_queries(tables[e]);
        place[e] = k;
        a->by_expert[k++] =
            (attendance){.expert = e, .b = b, .query = a->lists + at, .seat = a->lists + at + b};
        at += 2 * b;
    }
    return QUORUM_OK;
}

static void fill_lists(assembly *a, const size_t *place)
{
    for (size_t q = 0; q < a->b; q++)
        for (size_t s = 0; s < a->seats; s++) {
            size_t e = a->member[s * a->b + q];
            if (e == NOBODY)
                continue;
            attendance *t = &a->by_expert[place[e]];
            t->query[t->real] = q;
            t->seat[t->real++] = s;
        }
    for (size_t k = 0; k < a->attending; k++) {
        attendance *t = &a->by_expert[k];
        for (size_t i = t->real; i < t->b; i++)
            t->query[i] = t->query[t->real - 1];
    }
}

static quorum_status list_by_expert(assembly *a)
{
    size_t M = a->c->parts.M, *tables = NULL, *place = NULL;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(tables, M) || !NEW_ARRAY(place, M)) {
        status = failure(QUORUM_E_MEMORY, "out of memory for %zu experts", M);
        goto done;
    }
    count_tables(a, tables);
    TRY_OR_DONE(make_lists(a, tables, place));
    fill_lists(a, place);
done:
    mem_free(tables);
    mem_free(place);
    return status;
}

void assembly_map_seats(const assembly *a, size_t *column, size_t *place)
{
    for (size_t k = 0; k < a->attending; k++) {
        const attendance *t = &a->by_expert[k];
        for (size_t i = 0; i < t->real; i++) {
            column[t->seat[i] * a->b + t->query[i]] = i;
            place[t->seat[i] * a->b + t->query[i]] = k;
        }
    }
}

static quorum_status make_gammas(assembly *a)
{
    size_t total = 0;
    for (size_t k = 0; k < a->attending; k++)
        total += part_size(&a->c->parts, a->by_expert[k].expert) * a->by_expert[k].b;
    if (!NEW_ARRAY(a->gammas, total))
        return failure(QUORUM_E_MEMORY, "out of memory for the weights of %zu experts",
                       a->attending);
    double *at = a->gammas;
    for (size_t k = 0; k < a->attending; k++) {
        a->by_expert[k].gamma = at;
        at += part_size(&a->c->parts, a->by_expert[k].expert) * a->by_expert[k].b;
    }
    return QUORUM_OK;
}

/* answers (by expert's list) -> mean and explained (by seat). */
static void place_answers(assembly *a, const double *mean, const double *explained)
{
    for (size_t k = 0, at = 0; k < a->attending; at += a->by_expert[k++].b) {
        const attendance *t = &a->by_expert[k];
        for (size_t i = 0; i < t->real; i++) {
            size_t place = t->seat[i] * a->b + t->query[i];
            a->mean[place] = mean[at + i];
            if (explained)
                a->explained[place] = explained[at + i];
        }
    }
}

/* What is asked of the attending experts, and their answers, by each one's list. */
typedef struct {
    question *questions;                  /* attending */
    double *mean, *explained;             /* total     */
    double *mean_slope, *explained_slope; /* D x total, or NULL */
} ask_space;

/* The slopes of one answer (D) to seat s of query q. */
static void place_slopes(assembly *a, size_t place, const double *slope, double *out)
{
    for (size_t d = 0; d < a->Q->D; d++)
        out[d * a->seats * a->b + place] = slope[d];
}

static void place_all_slopes(assembly *a, const ask_space *k)
{
    size_t D = a->Q->D;
    for (size_t e = 0, at = 0; e < a->attending; at += a->by_expert[e++].b) {
        const attendance *t = &a->by_expert[e];
        for (size_t i = 0; i < t->real; i++) {
            size_t place = t->seat[i] * a->b + t->query[i];
            place_slopes(a, place, k->mean_slope + (at + i) * D, a->mean_slope);
            place_slopes(a, place, k->explained_slope + (at + i) * D, a->explained_slope);
        }
    }
}

static void ask_free(ask_space *k)
{
    mem_free(k->questions);
    mem_free(k->mean);
    mem_free(k->explained);
    mem_free(k->mean_slope);
    mem_free(k->explained_slope);
}

static quorum_status ask_new(const assembly *a, ask_space *k)
{
    size_t total = 0;
    for (size_t i = 0; i < a->attending; i++)
        total += a->by_expert[i].b;
    size_t slopes = a->mean_slope ? a->Q->D * total : 0;
    if (slopes > 0) {
        NEW_ARRAY(k->mean_slope, slopes);
        NEW_ARRAY(k->explained_slope, slopes);
    }
    if (NEW_ARRAY(k->questions, a->attending) && NEW_ARRAY(k->mean, total) &&
        NEW_ARRAY(k->explained, total) && (slopes == 0 || (k->mean_slope && k->explained_slope)))
        return QUORUM_OK;
    return failure(QUORUM_E_MEMORY, "out of memory for asking %zu experts", a->attending);
}

static void write_questions(const assembly *a, int with_variance, ask_space *k)
{
    for (size_t i = 0, at = 0; i < a->attending; at += a->by_expert[i++].b) {
        const attendance *t = &a->by_expert[i];
        k->questions[i] = (question){.expert = t->expert,
                                     .b = t->b,
                                     .query = t->query,
                                     .mean = k->mean + at,
                                     .explained = with_variance ? k->explained + at : NULL,
                                     .gamma = t->gamma};
        if (k->mean_slope) {
            k->questions[i].mean_slope = k->mean_slope + at * a->Q->D;
            k->questions[i].explained_slope = k->explained_slope + at * a->Q->D;
        }
    }
}

static quorum_status prepare(assembly *a, int with_variance, int with_gamma, ask_space *k)
{
    TRY(list_by_expert(a));
    if (with_gamma)
        TRY(make_gammas(a));
    TRY(ask_new(a, k));
    write_questions(a, with_variance, k);
    return QUORUM_OK;
}

quorum_status assembly_ask(quorum_status ready, assembly *a, int with_variance, int with_gamma,
                           double budget, int threads)
{
    ask_space k = {0};
    if (ready >= 0)
        ready = prepare(a, with_variance, with_gamma, &k);
    quorum_status status =
        committee_answer(ready, a->c, k.questions, a->attending, a->Q, budget, threads);
    if (ready >= 0 && status >= 0)
        place_answers(a, k.mean, with_variance ? k.explained : NULL);
    if (ready >= 0 && status >= 0 && k.mean_slope)
        place_all_slopes(a, &k);
    ask_free(&k);
    return status;
}
