/* The columns of a file that a model takes, found by name or by place: inputs, target and offset, weights and known
 * noise, one more that is asked for; and what their cells may be, texts of levels, dates, nothing. */
#include "api/stream.h"

#include "base/memory.h"
#include "base/plain.h"
#include "columns/kept_names.h"
#include "columns/reading.h"
#include "data/names.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { HINT = 160 };

/* What is to be said of a column whose name has the same letters, large or small. */
static void hint_at_capitals(const reader *r, const char *name, char hint[HINT])
{
    hint[0] = '\0';
    for (size_t c = 0; c < reader_columns(r) && !hint[0]; c++)
        if (plain_compare(reader_name(r, c), name) == 0)
            snprintf(hint, HINT, "; column %zu is called \"%.80s\": capitals count, rename it",
                     c + 1, reader_name(r, c));
}

/* The column of this name in the sorted list of all columns. */
static quorum_status find_by_name(const reader *r, const char *name, const char *role,
                                  const named_column *list, size_t *column)
{
    size_t count = reader_columns(r), found = names_find(list, count, name);
    char comment[100], hint[HINT];
    reader_advise_comment(r, comment);
    hint_at_capitals(r, name, hint);
    if (found == count)
        return failure(QUORUM_E_DATA,
                       "%s has no column \"%s\", which the model needs as %s; it has %zu columns, "
                       "the first is \"%s\"%s%s",
                       reader_path(r), name, role, count, reader_name(r, 0), hint, comment);
    const named_column *here = &list[found];
    if (found + 1 < count && !here[1].made_up && strcmp(here[0].name, here[1].name) == 0)
        return failure(QUORUM_E_DATA,
                       "%s: columns %zu and %zu are both named \"%s\", which the model needs as "
                       "%s: rename or remove the one that is not meant",
                       reader_path(r), here[0].column + 1, here[1].column + 1, name, role);
    *column = here->column;
    return QUORUM_OK;
}

/* The columns that the stream wants: inputs, target, offset. */
static quorum_status find_all(const quorum_stream *s, const quorum_model *m,
                              const named_column *list, size_t *columns)
{
    for (size_t i = 0; i < s->columns; i++)
        TRY(find_by_name(s->reader, m->columns.names[i], "an input", list, columns++));
    if (s->with_target)
        TRY(find_by_name(s->reader, m->columns.names[s->inputs], "the target", list, columns++));
    if (s->with_offset)
        TRY(find_by_name(s->reader, m->columns.offset, "the offset", list, columns));
    return QUORUM_OK;
}

static quorum_status match_by_name(const quorum_stream *s, const quorum_model *m, size_t *columns)
{
    const reader *r = s->reader;
    named_column *list;
    size_t count = reader_columns(r);
    if (!NEW_ARRAY(list, count))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    for (size_t c = 0; c < count; c++)
        list[c] = (named_column){reader_name(r, c), c, reader_name_is_made_up(r, c)};
    names_sort(list, count);
    quorum_status status = find_all(s, m, list, columns);
    mem_free(list);
    return status;
}

/* The layout of a file without names: its columns but for those of weights and known noise, and of
 * targets that have models of their own. */
typedef struct {
    size_t *column; /* count */
    size_t count;
    size_t weights, noise; /* where the model's own are; SIZE_MAX: not there */
} file_layout;

/* How many columns the training file has, weights and noise included, other targets not. */
static size_t training_columns(const quorum_stream *s, const quorum_model *m)
{
    const model_columns *k = &m->columns;
    return s->columns + 1 + (size_t)s->with_offset + (size_t)(k->weights != NULL) +
           (size_t)(k->noise_std != NULL);
}

static int is_other_target(const model_columns *k, size_t column)
{
    for (size_t t = 0; t < k->other_targets; t++)
        if (k->others[t] == column)
            return 1;
    return 0;
}

/* All columns; of a file with all targets without those of the other ones. */
static void leave_targets_out(const quorum_stream *s, const quorum_model *m, file_layout *f)
{
    const model_columns *k = &m->columns;
    size_t count = reader_columns(s->reader);
    int all = k->other_targets > 0 && count == training_columns(s, m) + k->other_targets;
    f->count = 0;
    for (size_t c = 0; c < count; c++)
        if (!all || !is_other_target(k, c))
            f->column[f->count++] = c;
}

/* Whether the file has all columns of the training file, those of weights and noise too. */
static int is_training_layout(const quorum_stream *s, const quorum_model *m, const file_layout *f)
{
    return (m->columns.weights || m->columns.noise_std) && f->count == training_columns(s, m);
}

/* A column that an option names; SIZE_MAX: none does. */
static quorum_status find_named(const reader *r, const char *option, const char *name,
                                size_t *column)
{
    *column = SIZE_MAX;
    quorum_status status = name[0] == '\0' ? QUORUM_OK : reader_find(r, name, column);
    return status < 0 ? failure_in(status, "%s", option) : status;
}

static size_t column_at(const file_layout *f, size_t place)
{
    return place < f->count ? f->column[place] : SIZE_MAX;
}

/* Without the columns that the training file, or an option, has for weights and noise; `named` (2)
 * are those of options. */
static void lay_out(const quorum_stream *s, const quorum_model *m, const size_t *named,
                    file_layout *f)
{
    const model_columns *k = &m->columns;
    leave_targets_out(s, m, f);
    int whole = is_training_layout(s, m, f);
    size_t count = f->count;
    f->weights = whole && k->weights ? column_at(f, k->weights_place) : SIZE_MAX;
    f->noise = whole && k->noise_std ? column_at(f, k->noise_place) : SIZE_MAX;
    f->count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t c = f->column[i];
        if (whole ? c != f->weights && c != f->noise : c != named[0] && c != named[1])
            f->column[f->count++] = c;
    }
}

/* The training file's layout, or that without its target.  In the whole of it the offset stands at
 * offset_place, and the target, were the offset not there, at `target`. */
static quorum_status match_by_layout(const quorum_stream *s, const quorum_model *m,
                                     const file_layout *f, size_t *columns)
{
    const model_columns *k = &m->columns;
    size_t D = s->columns, count = f->count, next = 0;
    size_t all = D + 1 + (size_t)s->with_offset, none = SIZE_MAX;
    if (count != all && (s->with_target || count != all - 1))
        return failure(
            QUORUM_E_DATA,
            "%s has %zu columns; the model takes %zu inputs%s%s.  Give the file the training "
            "file's header, or its layout",
            reader_path(s->reader), reader_columns(s->reader), D,
            s->with_target ? " and the target" : "", s->with_offset ? " and the offset" : "");
    size_t target = s->with_offset && k->target >= k->offset_place ? k->target + 1 : k->target;
    size_t offset = s->with_offset ? k->offset_place : none;
    if (count < all) {
        offset -= s->with_offset && target < offset;
        target = none;
    }
    for (size_t c = 0; c < count; c++)
        if (c != target && c != offset)
            columns[next++] = f->column[c];
    if (s->with_target)
        columns[next++] = f->column[target];
    if (s->with_offset)
        columns[next] = f->column[offset];
    return QUORUM_OK;
}

static quorum_status match_by_place(const quorum_stream *s, const quorum_model *m,
                                    const size_t *named, file_layout *f, size_t *columns)
{
    if (!NEW_ARRAY(f->column, reader_columns(s->reader)))
        return failure(QUORUM_E_MEMORY, "out of memory for columns");
    lay_out(s, m, named, f);
    quorum_status status = match_by_layout(s, m, f, columns);
    mem_free(f->column);
    return status;
}

/* One more column: a selected one once more, or the last. */
static void add_column(quorum_stream *s, size_t wanted, size_t *columns, extra_column *x)
{
    for (x->at = 0; x->at < s->width && columns[x->at] != wanted;)
        x->at++;
    columns[x->at] = wanted;
    s->width += x->at == s->width;
    x->wanted = 1;
}

/* The only column of this name; SIZE_MAX: there is none. */
static quorum_status find_own(const reader *r, const char *name, const char *role, size_t *column)
{
    size_t count = reader_columns(r), found = SIZE_MAX;
    for (size_t c = 0; c < count; c++) {
        if (reader_name_is_made_up(r, c) || strcmp(reader_name(r, c), name) != 0)
            continue;
        if (found != SIZE_MAX)
            return failure(QUORUM_E_DATA,
                           "%s: columns %zu and %zu are both named \"%s\", which is the model's "
                           "column of %s: rename or remove the one that is not meant",
                           reader_path(r), found + 1, c + 1, name, role);
        found = c;
    }
    *column = found;
    return QUORUM_OK;
}

/* The model's levels, by their numbers. */
static quorum_status fill_table(const category *c, level_table *t)
{
    size_t number;
    for (size_t l = 0; l < c->levels; l++)
        TRY(levels_add(t, c->name[l], strlen(c->name[l]), &number));
    return QUORUM_OK;
}

/* Texts of categories become numbers of levels. */
static quorum_status match_levels(quorum_stream *s, const quorum_model *m, const settings *how)
{
    if (!m->encoding.of)
        return QUORUM_OK;
    if (!NEW_ZEROED(s->tables, s->inputs) || !NEW_ZEROED(s->levels, s->width))
        return failure(QUORUM_E_MEMORY, "out of memory for the levels of categories");
    for (size_t d = 0; d < s->inputs; d++) {
        TRY(fill_table(&m->encoding.of[d], &s->tables[d]));
        if (m->encoding.of[d].levels > 0)
            s->levels[d] = &s->tables[d];
    }
    reader_take_levels(s->reader, s->levels,
                       how->unseen == UNSEEN_ERROR ? LEVELS_REFUSE : LEVELS_PASS);
    return QUORUM_OK;
}

/* Missing cells of columns that are nothing but inputs, which a prediction fills, or could when it is asked to. */
static quorum_status match_holes(quorum_stream *s)
{
    const extra_column *const extra[] = {&s->noise, &s->weights};
    if (!s->m->holes.of)
        return QUORUM_OK;
    if (!NEW_ZEROED(s->holes, s->width))
        return failure(QUORUM_E_MEMORY, "out of memory for the columns of a model");
    memset(s->holes, 1, s->columns);
    for (size_t k = 0; k < sizeof extra / sizeof *extra; k++)
        if (extra[k]->wanted)
            s->holes[extra[k]->at] = 0;
    reader_leave_holes(s->reader, s->holes);
    return QUORUM_OK;
}

/* A column that nobody predicts or scores by may be empty. */
static void match_column(quorum_stream *s)
{
    const extra_column *x = &s->column;
    size_t first = s->columns + (size_t)(s->with_target + s->with_offset);
    int is_other =
        (s->noise.wanted && x->at == s->noise.at) || (s->weights.wanted && x->at == s->weights.at);
    if (x->wanted && x->at >= first && !is_other)
        reader_let_be_empty(s->reader, x->at);
}

/* Dates as the training data had them. */
static quorum_status match_dates(quorum_stream *s, const quorum_model *m)
{
    if (!m->columns.date)
        return QUORUM_OK;
    if (!NEW_ZEROED(s->dates, s->width))
        return failure(QUORUM_E_MEMORY, "out of memory for columns of dates");
    for (size_t d = 0; d < s->columns; d++)
        if (m->columns.date[d])
            s->dates[d] = date_form_parse(m->columns.date[d]);
    reader_take_dates(s->reader, s->dates);
    return QUORUM_OK;
}

/* The columns of weights, of a file with its target, and of known noise: as options name them (2), or
 * else the model's own, where the file has them. */
static quorum_status find_weights(const stream_opening *o, size_t *found)
{
    const settings *how = options_values(o->options);
    const reader *r = o->s->reader;
    found[0] = SIZE_MAX;
    if (o->s->with_target)
        TRY(find_named(r, "weights", how->weights, &found[0]));
    return find_named(r, "noise-std", how->noise_std, &found[1]);
}

static quorum_status match_columns(const stream_opening *o, size_t *columns, size_t *found)
{
    const model_columns *k = &o->m->columns;
    const reader *r = o->s->reader;
    size_t own[2] = {SIZE_MAX, SIZE_MAX};
    if (k->has_names && reader_has_names(r)) {
        TRY(match_by_name(o->s, o->m, columns));
        if (k->weights && o->s->with_target)
            TRY(find_own(r, k->weights, "weights", &own[0]));
        if (k->noise_std)
            TRY(find_own(r, k->noise_std, "known noise", &own[1]));
    } else {
        file_layout f;
        TRY(match_by_place(o->s, o->m, found, &f, columns));
        own[0] = o->s->with_target ? f.weights : SIZE_MAX;
        own[1] = f.noise;
    }
    for (int i = 0; i < 2; i++)
        found[i] = found[i] == SIZE_MAX ? own[i] : found[i];
    return QUORUM_OK;
}

/* All columns that are read, in their order. */
static quorum_status choose_columns(const stream_opening *o, size_t *columns)
{
    quorum_stream *s = o->s;
    size_t found[2], more;
    TRY(find_weights(o, found));
    TRY(match_columns(o, columns, found));
    if (found[0] != SIZE_MAX)
        add_column(s, found[0], columns, &s->weights);
    if (found[1] != SIZE_MAX)
        add_column(s, found[1], columns, &s->noise);
    if (o->wanted->column) {
        TRY(reader_find(s->reader, o->wanted->column, &more));
        add_column(s, more, columns, &s->column);
    }
    return QUORUM_OK;
}

quorum_status stream_match(const stream_opening *o, size_t *columns)
{
    quorum_stream *s = o->s;
    TRY(choose_columns(o, columns));
    TRY(reader_select(s->reader, columns, s->width));
    if (o->wanted->keep)
        TRY(keep_columns(s->reader, o->wanted->keep));
    TRY(match_levels(s, o->m, options_values(o->options)));
    TRY(match_dates(s, o->m));
    TRY(match_holes(s));
    match_column(s);
    return QUORUM_OK;
}
