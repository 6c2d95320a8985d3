/* Categories of training data (categories.h).  A column of text is one, unless nearly every row has
 * a text of its own: such a column identifies rows, or is prose, and is left out, also where some of its
 * texts are numbers. */
#include "columns/categories.h"

#include "columns/target_columns.h"
#include "base/memory.h"
#include "rows/scattered.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- Which columns ---- */

static quorum_status fail_memory(void)
{
    return failure(QUORUM_E_MEMORY, "out of memory for the levels of categories");
}

static int is_word(const settings *s, const char *word)
{
    return strcmp(s->categorical, word) == 0;
}

static size_t place_of(const size_t *columns, size_t inputs, size_t column)
{
    size_t i = 0;
    while (i < inputs && columns[i] != column)
        i++;
    return i;
}

/* Columns that the option names have to be inputs. */
static quorum_status mark_named(category_columns *c, const reader *r, const size_t *columns,
                                const settings *s)
{
    char *marked;
    quorum_status status = QUORUM_OK;
    if (is_word(s, "auto") || is_word(s, "none"))
        return QUORUM_OK;
    if (!NEW_ZEROED(marked, reader_columns(r)))
        return fail_memory();
    status = mark_columns(r, "categorical", s->categorical, marked);
    for (size_t k = 0; status >= 0 && k < reader_columns(r); k++) {
        size_t at = place_of(columns, c->inputs, k);
        if (marked[k] && at == c->inputs)
            status = failure(QUORUM_E_ARGUMENT,
                             "categorical: column %.200s is the target, the offset or ignored",
                             reader_name(r, k));
        else if (marked[k])
            c->named[at] = 1;
    }
    mem_free(marked);
    return status;
}

quorum_status categories_begin(category_columns *c, reader *r, const size_t *columns, size_t inputs,
                               size_t used, const settings *s)
{
    char *is_text = NULL;
    *c = (category_columns){.inputs = inputs, .used = used, .first_turned = inputs};
    if (!NEW_ZEROED(c->table, inputs) || !NEW_ZEROED(c->of, used) ||
        !NEW_ZEROED(c->named, inputs) || !NEW_ZEROED(c->complaint, inputs) ||
        !NEW_ZEROED(is_text, used)) {
        mem_free(is_text);
        return fail_memory();
    }
    quorum_status status = mark_named(c, r, columns, s);
    if (status >= 0 && !is_word(s, "none"))
        status = reader_look_for_text(r, is_text);
    for (size_t i = 0; i < inputs; i++)
        if (c->named[i] || is_text[i])
            c->of[i] = &c->table[i];
    mem_free(is_text);
    return status;
}

void categories_free(category_columns *c)
{
    for (size_t i = 0; c->table && i < c->inputs; i++)
        levels_free(&c->table[i]);
    for (size_t i = 0; c->complaint && i < c->inputs; i++)
        mem_free(c->complaint[i]);
    mem_free(c->table);
    mem_free(c->of);
    mem_free(c->named);
    mem_free(c->complaint);
    *c = (category_columns){0};
}

void categories_attach(category_columns *c, reader *r)
{
    for (size_t i = 0; i < c->inputs; i++)
        levels_free(&c->table[i]);
    reader_take_levels(r, c->of, LEVELS_LEARN);
}

int categories_turn(category_columns *c, const reader *r, const settings *s, quorum_status *status)
{
    size_t place;
    if (!reader_stopped_at_text(r, &place) || place >= c->inputs || c->of[place] ||
        is_word(s, "none") || !reader_can_begin_anew(r))
        return 0;
    c->of[place] = &c->table[place];
    c->complaint[place] = mem_copy_text(quorum_message());
    if (c->first_turned == c->inputs)
        c->first_turned = place;
    if (!c->complaint[place])
        *status = fail_memory();
    return *status != QUORUM_E_MEMORY;
}

quorum_status categories_blame(const category_columns *c, const reader *r, quorum_status status)
{
    size_t place;
    if (status == QUORUM_E_MEMORY || c->first_turned == c->inputs ||
        !reader_stopped_at_text(r, &place) || place < c->inputs)
        return status;
    return failure(status, "%s", c->complaint[c->first_turned]);
}

/* ---- Which of them are none ---- */

/* What has so many levels is no category. */
static int is_identifier(const level_table *t, size_t rows)
{
    return t->overflows || 2 * t->count > rows;
}

/* A column that the option names is not left out. */
static quorum_status judge_named(const level_table *t, const reader *r, const char *name)
{
    if (!t->overflows)
        return QUORUM_OK;
    return failure(QUORUM_E_DATA,
                   "%s: categorical: column %.200s has more than %d levels, or longer ones than %d "
                   "bytes: leave it out with --ignore",
                   reader_path(r), name, MOST_LEVELS, LONGEST_LEVEL);
}

/* Digits and marks alone, however numbers are written. */
static int is_like_a_number(const char *level)
{
    return level[strspn(level, "0123456789+-.,'_ eE")] == '\0';
}

/* Names of models, some of which are 90 or 900, are no column of numbers. */
static int has_mostly_texts(const level_table *t)
{
    size_t numbers = 0;
    for (size_t l = 0; l < t->count; l++)
        numbers += (size_t)is_like_a_number(levels_at(t, l));
    return 2 * numbers < t->count;
}

/* A column of numbers with a text among them is a category where its cells repeat, and otherwise a
 * column with a wrong cell.  The others of its kind are named as well. */
static quorum_status fail_turned(const category_columns *c, const char *leave, char *const *names)
{
    char more[400] = "";
    const char *first = NULL;
    for (size_t i = 0; i < c->inputs; i++) {
        size_t used = strlen(more);
        char number[32];
        snprintf(number, sizeof number, "x%zu", i + 1);
        if (!leave[i] || !c->complaint[i] || has_mostly_texts(&c->table[i]))
            continue;
        if (first)
            snprintf(more + used, sizeof more - used, "%s%.100s",
                     used ? ", " : ".  Columns with text among numbers are also ",
                     names ? names[i] : number);
        else
            first = c->complaint[i];
    }
    return first ? failure(QUORUM_E_DATA, "%s%s", first, more) : QUORUM_OK;
}

/* What all processes are told. */
typedef struct {
    category_columns *c; /* of the process that reads; no table on the others */
    const reader *r;
    quorum_data *d;
    char *leave;    /* inputs: 1: to be left out                      */
    size_t *place;  /* levels of all: their numbers once sorted       */
    size_t *levels; /* inputs                                         */
    size_t all;     /* levels of all inputs                           */
    char *text;     /* all names, sorted, each with its final zero    */
    size_t bytes;
} settling;

static quorum_status judge_columns(settling *s)
{
    const category_columns *c = s->c;
    for (size_t i = 0; i < c->inputs; i++)
        if (c->named[i])
            TRY(judge_named(&c->table[i], s->r, s->d->names ? s->d->names[i] : ""));
        else if (c->of[i])
            s->leave[i] = (char)is_identifier(&c->table[i], s->d->rows);
    return fail_turned(c, s->leave, s->d->names);
}

static quorum_status count_levels(settling *s)
{
    const category_columns *c = s->c;
    TRY(judge_columns(s));
    for (size_t i = 0; i < c->inputs; i++) {
        s->levels[i] = c->of[i] && !s->leave[i] ? c->table[i].count : 0;
        s->all += s->levels[i];
        s->bytes += s->levels[i] > 0 ? c->table[i].used : 0;
    }
    return QUORUM_OK;
}

/* The names of one category in their order. */
static quorum_status sort_names(const level_table *t, size_t *place, char **text)
{
    size_t *at;
    TRY(levels_sort(t, place));
    if (!NEW_ARRAY(at, t->count))
        return fail_memory();
    for (size_t l = 0; l < t->count; l++)
        at[place[l]] = l;
    for (size_t l = 0; l < t->count; l++) {
        size_t n = strlen(levels_at(t, at[l])) + 1;
        memcpy(*text, levels_at(t, at[l]), n);
        *text += n;
    }
    mem_free(at);
    return QUORUM_OK;
}

static quorum_status sort_levels(settling *s)
{
    char *text;
    size_t *place;
    if (!NEW_ARRAY(s->text, s->bytes) || !NEW_ARRAY(s->place, s->all))
        return fail_memory();
    text = s->text;
    place = s->place;
    for (size_t i = 0; i < s->c->inputs; i++)
        if (s->levels[i] > 0) {
            TRY(sort_names(&s->c->table[i], place, &text));
            place += s->levels[i];
        }
    return QUORUM_OK;
}

/* The process that reads. */
static quorum_status find_levels(void *context)
{
    settling *s = context;
    TRY(count_levels(s));
    return sort_levels(s);
}

/* ---- What follows, in every process ---- */

static quorum_status name_level(quorum_data *d, size_t i, size_t levels, const char **text)
{
    if (!NEW_ZEROED(d->level[i], levels))
        return fail_memory();
    d->levels[i] = levels;
    for (size_t l = 0; l < levels; l++) {
        if (!(d->level[i][l] = mem_copy_text(*text)))
            return fail_memory();
        *text += strlen(*text) + 1;
    }
    return QUORUM_OK;
}

static quorum_status name_levels(const settling *s)
{
    quorum_data *d = s->d;
    const char *text = s->text;
    if (s->all == 0)
        return QUORUM_OK;
    if (!NEW_ZEROED(d->levels, d->inputs) || !NEW_ZEROED(d->level, d->inputs))
        return fail_memory();
    for (size_t i = 0; i < d->inputs; i++)
        if (s->levels[i] > 0)
            TRY(name_level(d, i, s->levels[i], &text));
    return QUORUM_OK;
}

/* A row's levels by their sorted numbers. */
static void renumber(const settling *s, double *x)
{
    const size_t *place = s->place;
    for (size_t i = 0; i < s->d->inputs; i++) {
        if (s->levels[i] > 0)
            x[i] = (double)place[(size_t)x[i]];
        place += s->levels[i];
    }
}

/* Its inputs without those that are left out, at `to`. */
static void keep_inputs(const settling *s, const double *x, double *to)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->d->inputs; i++)
        if (!s->leave[i])
            to[kept++] = x[i];
}

static quorum_status name_left_out(const settling *s)
{
    quorum_data *d = s->d;
    size_t count = 0;
    for (size_t i = 0; i < d->inputs; i++)
        count += (size_t)s->leave[i];
    if (count == 0)
        return QUORUM_OK;
    if (!NEW_ZEROED(d->left_name, count))
        return fail_memory();
    for (size_t i = 0; i < d->inputs; i++) {
        char made_up[32];
        snprintf(made_up, sizeof made_up, "x%zu", i + 1);
        if (s->leave[i] &&
            !(d->left_name[d->left_out++] = mem_copy_text(d->names ? d->names[i] : made_up)))
            return fail_memory();
    }
    return QUORUM_OK;
}

/* The columns of weights and known noise move up behind a column that stood at `place` of the others
 * as they were read. */
static void move_weights(quorum_data *d, size_t place, size_t gone)
{
    size_t none = SIZE_MAX / 2, weight = d->weight ? d->weight_place + gone : none,
           noise = d->noise_std ? d->noise_place + gone : none;
    size_t first = weight < noise ? weight : noise, second = weight < noise ? noise : weight;
    place += first <= place;
    place += second <= place;
    d->weight_place -= d->weight && weight > place;
    d->noise_place -= d->noise_std && noise > place;
}

/* The columns after input i move up; where the target and the others stand among them too. */
static void forget_input(quorum_data *d, size_t i, size_t gone)
{
    size_t place = i + gone; /* among the inputs as they were read */
    size_t in_file = place + (d->target + gone <= place);
    if (d->targets > 1)
        targets_forget_input(d, i);
    else
        move_weights(d, in_file + (d->offset && d->offset_place + gone <= in_file), gone);
    d->target -= d->target + gone > place;
    d->offset_place -= d->offset_place + gone > in_file;
    if (d->names) {
        mem_free(d->names[i]);
        memmove(d->names + i, d->names + i + 1, (d->inputs - i) * sizeof *d->names);
    }
    if (d->date) {
        mem_free(d->date[i]);
        memmove(d->date + i, d->date + i + 1, (d->inputs - i - 1) * sizeof *d->date);
    }
    if (d->levels) {
        memmove(d->levels + i, d->levels + i + 1, (d->inputs - i - 1) * sizeof *d->levels);
        memmove(d->level + i, d->level + i + 1, (d->inputs - i - 1) * sizeof *d->level);
    }
    d->inputs--;
}

static void forget_inputs(const settling *s, size_t inputs)
{
    size_t gone = 0;
    for (size_t i = 0; i < inputs; i++)
        if (s->leave[i]) {
            forget_input(s->d, i - gone, gone);
            gone++;
        }
}

static quorum_status take_levels(void *context)
{
    settling *s = context;
    quorum_data *d = s->d;
    size_t inputs = d->inputs, held = rows_share(d->rows);
    TRY(name_levels(s));
    TRY(name_left_out(s));
    size_t kept = inputs - d->left_out;
    int changes = s->all > 0 || kept < inputs;
    for (size_t i = 0; changes && i < held; i++) {
        renumber(s, d->X + i * inputs);
        keep_inputs(s, d->X + i * inputs, d->X + i * kept);
    }
    forget_inputs(s, inputs);
    if (kept == 0)
        return failure(QUORUM_E_DATA,
                       "all input columns are text in which nearly every row has its own (%.200s): "
                       "there is nothing to learn from",
                       d->left_name[0]);
    return QUORUM_OK;
}

static quorum_status make_room(settling *s)
{
    if (NEW_ZEROED(s->leave, s->d->inputs) && NEW_ZEROED(s->levels, s->d->inputs))
        return QUORUM_OK;
    return fail_memory();
}

static quorum_status send_levels(settling *s)
{
    TRY(team_first(make_room(s), find_levels, s));
    team_send(s->leave, s->d->inputs);
    team_send(s->levels, s->d->inputs * sizeof *s->levels);
    void *place = s->place, *text = s->text;
    quorum_status status = team_send_array(QUORUM_OK, &place, &s->all, sizeof *s->place);
    s->place = place;
    TRY(status);
    status = team_send_array(QUORUM_OK, &text, &s->bytes, 1);
    s->text = text;
    TRY(status);
    return team_all(QUORUM_OK, take_levels, s);
}

quorum_status categories_settle(category_columns *c, const reader *r, quorum_data *d)
{
    settling s = {.c = c, .r = r, .d = d};
    quorum_status status = send_levels(&s);
    mem_free(s.leave);
    mem_free(s.levels);
    mem_free(s.place);
    mem_free(s.text);
    return status;
}
