/* Work that a team does together (team/work.h) and searches among scattered rows, on any number of
 * processes: results of every form reach all of them, and who is not ready leaves nobody waiting.
 * Run under mpirun by test_team.py. */
#include "base/memory.h"
#include "base/progress.h"
#include "near/scattered_search.h"
#include "options/options.h"
#include "team/team.h"

#include <stdio.h>
#include <string.h>

static int wrong; /* the first line that found something wrong on this process */

static void check(int right, int line)
{
    if (!right && !wrong)
        wrong = line;
}

#define CHECK(right) check(right, __LINE__)

/* ---- Results of every form ---- */

enum { MOST = 11, TABLE = 3, STRIDE = 16 };

/* Item i has the unit i, i mod 4 units from start[i] on, a column of the table, and i + 1 bytes at
 * its place, if it has one. */
typedef struct {
    size_t n, unit[MOST], start[MOST + 1], list[4 * MOST], table[TABLE * STRIDE];
    char text[MOST][MOST];
    void *place[MOST];
    size_t bytes[MOST];
    team_result results[4];
} forms;

static void forms_clear(size_t n, forms *f)
{
    memset(f, 0, sizeof *f);
    f->n = n;
    for (size_t i = 0; i < n; i++) {
        f->start[i + 1] = f->start[i] + i % 4;
        f->place[i] = i == 2 ? NULL : f->text[i];
        f->bytes[i] = i + 1;
    }
    f->results[0] = (team_result){.data = f->unit, .width = sizeof *f->unit};
    f->results[1] = (team_result){.data = f->list, .width = sizeof *f->list, .start = f->start};
    f->results[2] =
        (team_result){.data = f->table, .width = sizeof *f->table, .rows = TABLE, .stride = STRIDE};
    f->results[3] = (team_result){.place = f->place, .bytes = f->bytes};
}

static quorum_status fill(void *context, size_t i, int worker)
{
    forms *f = context;
    (void)worker;
    f->unit[i] = i * i + 1;
    for (size_t k = f->start[i]; k < f->start[i + 1]; k++)
        f->list[k] = 100 * i + k;
    for (size_t r = 0; r < TABLE; r++)
        f->table[r * STRIDE + i] = 10 * i + r;
    if (f->place[i])
        memset(f->place[i], 'a' + (int)i, i + 1);
    return QUORUM_OK;
}

static quorum_status fill_share(void *context, const size_t *items, size_t count)
{
    for (size_t k = 0; k < count; k++)
        TRY(fill(context, items[k], 0));
    return QUORUM_OK;
}

static quorum_status fail_at_last(void *context, size_t i, int worker)
{
    const forms *f = context;
    (void)worker;
    return i + 1 < f->n ? QUORUM_OK : failure(QUORUM_E_DATA, "item %zu is no good", i);
}

static int same_forms(const forms *a, const forms *b)
{
    return memcmp(a->unit, b->unit, sizeof a->unit) == 0 &&
           memcmp(a->list, b->list, sizeof a->list) == 0 &&
           memcmp(a->table, b->table, sizeof a->table) == 0 &&
           memcmp(a->text, b->text, sizeof a->text) == 0;
}

static void share_of(size_t n, work_share *share)
{
    double cost[MOST];
    for (size_t i = 0; i < n; i++)
        cost[i] = (double)(i * 5 % 7);
    CHECK(work_share_new(cost, n, share) == QUORUM_OK);
}

static void results_reach_all(void)
{
    static forms all, found;
    for (size_t n = 0; n <= MOST; n++) {
        work_share share;
        forms_clear(n, &all);
        for (size_t i = 0; i < n; i++)
            fill(&all, i, 0);
        forms_clear(n, &found);
        CHECK(team_map(QUORUM_OK, 2, n, fill, &found, found.results, 4) == QUORUM_OK);
        CHECK(same_forms(&all, &found));
        forms_clear(n, &found);
        share_of(n, &share);
        CHECK(team_map_share(QUORUM_OK, &share, fill_share, &found, found.results, 4) == QUORUM_OK);
        CHECK(same_forms(&all, &found));
        work_share_free(&share);
    }
}

/* ---- One that is not ready ---- */

static quorum_status ready_but_for(int rank)
{
    return team_rank() == rank ? failure(QUORUM_E_MEMORY, "rank %d has no room", rank) : QUORUM_OK;
}

/* All heard that this rank was not ready. */
static int was_heard(quorum_status status, int rank)
{
    char sentence[64];
    snprintf(sentence, sizeof sentence, "rank %d has no room", rank);
    return status == QUORUM_E_MEMORY && strcmp(quorum_message(), sentence) == 0;
}

static quorum_status count_up(void *context)
{
    ++*(int *)context;
    return QUORUM_OK;
}

static void all_hear_of_one(void)
{
    static forms found;
    for (int r = 0; r < team_size(); r++) {
        work_share share;
        size_t count = 0;
        void *array = NULL;
        int times = 0;
        forms_clear(MOST, &found);
        share_of(MOST, &share);
        CHECK(was_heard(team_map(ready_but_for(r), 2, MOST, fill, &found, found.results, 4), r));
        CHECK(was_heard(
            team_map_share(ready_but_for(r), &share, fill_share, &found, found.results, 4), r));
        CHECK(was_heard(team_first(ready_but_for(r), count_up, &times), r));
        CHECK(was_heard(team_send_array(ready_but_for(r), &array, &count, 1), r));
        CHECK(was_heard(team_map(ready_but_for(r), 1, 0, NULL, NULL, NULL, 0), r));
        work_share_free(&share);
    }
    CHECK(team_map(QUORUM_OK, 2, MOST, fail_at_last, &found, NULL, 0) == QUORUM_E_DATA);
    CHECK(strcmp(quorum_message(), "item 10 is no good") == 0);
}

static void one_does_it_for_all(void)
{
    const int given[] = {3, 1, 4};
    size_t count = team_rank() == 0 ? 3 : 0;
    void *array = team_rank() == 0 ? (void *)given : NULL;
    int times = 0;
    CHECK(team_first(QUORUM_OK, count_up, &times) == QUORUM_OK);
    CHECK(times == (team_rank() == 0));
    CHECK(team_send_array(QUORUM_OK, &array, &count, sizeof *given) == QUORUM_OK);
    CHECK(count == 3 && memcmp(array, given, sizeof given) == 0);
    if (team_rank() > 0)
        mem_free(array);
}

/* ---- Scattered rows ---- */

enum { ROWS = 600, QUERIES = 1300, INPUTS = 2, NEAREST = 5 }; /* several batches of each rank */

typedef struct {
    double X[ROWS * INPUTS], y[ROWS], Q[QUERIES * INPUTS];
    points rows, queries, mine;
    size_t number[ROWS], found[QUERIES * NEAREST];
    double target[QUERIES * NEAREST]; /* of the rows found */
    char claimed[QUERIES];
    int fails; /* whether the last query does */
} world;

static quorum_status keep(void *context, size_t q, const near_found *found, int worker)
{
    world *w = context;
    (void)worker;
    if (w->fails && q == QUERIES - 1)
        return failure(QUORUM_E_NUMERIC, "query %zu is no good", q);
    CHECK(found->count == NEAREST);
    for (size_t i = 0; i < found->count; i++) {
        const double *row = found->rows + found->row[i].tag * (INPUTS + 1);
        w->found[q * NEAREST + i] = found->row[i].number;
        w->target[q * NEAREST + i] = row[INPUTS];
    }
    return QUORUM_OK;
}

static void world_new(world *w)
{
    const double unit[INPUTS] = {1.0, 1.0};
    for (size_t i = 0; i < ROWS; i++) {
        w->X[2 * i] = (double)(i * 7 % 61); /* with ties */
        w->X[2 * i + 1] = (double)(i * 11 % 67);
        w->y[i] = (double)i + 0.5;
    }
    for (size_t q = 0; q < QUERIES; q++) {
        w->Q[2 * q] = (double)(q * 13 % 59);
        w->Q[2 * q + 1] = (double)(q * 3 % 71);
        w->claimed[q] = (int)(q / 3) % team_size() == team_rank();
    }
    CHECK(points_new(ROWS, INPUTS, &w->rows) == QUORUM_OK);
    CHECK(points_new(ROWS, INPUTS, &w->mine) == QUORUM_OK);
    CHECK(points_new(QUERIES, INPUTS, &w->queries) == QUORUM_OK);
    points_scale(&w->rows, ROWS, w->X, NULL, unit);
    points_scale(&w->queries, QUERIES, w->Q, NULL, unit);
}

static void world_free(world *w)
{
    points_free(&w->rows);
    points_free(&w->mine);
    points_free(&w->queries);
}

/* Of the rows, those that this process holds: the last one has none. */
static size_t hold_some(world *w)
{
    size_t count = 0, holders = team_size() > 1 ? (size_t)team_size() - 1 : 1;
    for (size_t i = 0; i < ROWS; i++)
        if (i / 50 % holders == (size_t)team_rank())
            w->number[count++] = i;
    points_gather(&w->rows, w->number, count, &w->mine);
    return count;
}

static int equals_one_search(const world *w, const neighbour_index *all)
{
    static size_t found[QUERIES * NEAREST];
    CHECK(neighbour_search(all, &w->queries, NEAREST, 2, found, NULL) == QUORUM_OK);
    for (size_t i = 0; i < (size_t)QUERIES * NEAREST; i++)
        if (w->found[i] != found[i] || w->target[i] != w->y[found[i]])
            return 0;
    return 1;
}

/* What a callback is told of queries; it would stop if it were asked. */
typedef struct {
    double last;
    int moves, back;
} told;

static int hear(void *user, const char *stage, double fraction, const char *detail)
{
    told *t = user;
    (void)detail;
    CHECK(strcmp(stage, "predict") == 0);
    t->moves += fraction > t->last;
    t->back += fraction < t->last;
    t->last = fraction;
    return t->moves > 1;
}

/* How far this process's queries are is told one by one, to the end, and no answer between two
 * reports stops it alone. */
static void progress_is_told(const near_holdings *held, world *w, const team_result *results)
{
    told t = {.last = -1.0};
    near_question asked = {&w->queries, w->claimed, NEAREST, 1}; /* all by the thread that tells */
    progress_watch watch;
    quorum_options *o = quorum_options_new();
    quorum_options_set_progress(o, hear, &t);
    progress_interval = 0.0;
    options_watch(o, "predict", &watch);
    CHECK(progress_stretch(options_progress(o), "predict", 0, QUERIES, QUERIES, "queries") ==
          QUORUM_OK);
    CHECK(near_ask(QUORUM_OK, held, &asked, keep, w, results, 2) ==
          (team_size() > 1 ? QUORUM_OK : QUORUM_E_CANCELLED));
    (void)progress_go_on();
    CHECK(t.back == 0 && (team_size() == 1 || (t.last == 1.0 && t.moves > QUERIES / 8)));
    progress_watch_end(&watch);
    progress_interval = 0.1;
    quorum_options_free(o);
}

static void scattered_rows_are_found(void)
{
    static world w;
    neighbour_index *all = NULL, *mine = NULL;
    world_new(&w);
    CHECK(neighbour_index_new(&w.rows, 1, &all) == QUORUM_OK);
    if (hold_some(&w) > 0)
        CHECK(neighbour_index_new(&w.mine, 1, &mine) == QUORUM_OK);
    row_set rows = rows_view_of(ROWS, INPUTS, w.X, w.y);
    near_holdings held = {.index = mine, .number = w.number, .rows = &rows};
    near_question asked = {&w.queries, w.claimed, NEAREST, 2};
    team_result results[] = {{.data = w.found, .width = NEAREST * sizeof *w.found},
                             {.data = w.target, .width = NEAREST * sizeof *w.target}};
    CHECK(near_ask(QUORUM_OK, &held, &asked, keep, &w, results, 2) == QUORUM_OK);
    CHECK(equals_one_search(&w, all));
    progress_is_told(&held, &w, results);
    for (int r = 0; r < team_size(); r++)
        CHECK(was_heard(near_ask(ready_but_for(r), &held, &asked, keep, &w, results, 2), r));
    w.fails = 1;
    CHECK(near_ask(QUORUM_OK, &held, &asked, keep, &w, results, 2) == QUORUM_E_NUMERIC);
    neighbour_index_free(all);
    neighbour_index_free(mine);
    world_free(&w);
}

int main(int argc, char **argv)
{
    team_start(&argc, &argv);
    results_reach_all();
    all_hear_of_one();
    one_does_it_for_all();
    scattered_rows_are_found();
    quorum_status status = team_agree(
        wrong ? failure(QUORUM_E_INTERNAL, "rank %d: line %d", team_rank(), wrong) : QUORUM_OK);
    if (status < 0)
        fprintf(stderr, "%s\n", quorum_message());
    return team_finish(status < 0);
}
