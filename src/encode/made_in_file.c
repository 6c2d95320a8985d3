/* Inputs made of columns in a model file's meta.json.  Reading believes nothing before it is checked. */
#include "base/memory.h"
#include "encode/made.h"

#include <math.h>
#include <string.h>

static const char *const kinds[] = {"sin", "cos", "missing", "level", "x", "y", "z"};

static void put_rest(json_writer *w, const made_input *in)
{
    if (in->kind < MADE_HOLE) {
        json_key(w, "period");
        json_put_number(w, in->period);
    }
    if (in->kind == MADE_LEVEL) {
        json_key(w, "level");
        json_put_count(w, in->level);
    }
    if (made_is_place(in)) {
        json_key(w, "latitude");
        json_put_count(w, in->other);
        json_key(w, "degrees");
        json_put_number(w, in->degrees);
    }
}

void made_put(json_writer *w, const made_inputs *m)
{
    json_begin_list(w);
    for (size_t k = 0; k < m->count; k++) {
        const made_input *in = &m->of[k];
        json_begin_object(w);
        json_key(w, "column");
        json_put_count(w, in->column);
        json_key(w, "kind");
        json_put_text(w, kinds[in->kind]);
        put_rest(w, in);
        json_end(w);
    }
    json_end(w);
}

static int kind_of(const char *text)
{
    for (int k = MADE_SIN; text && k <= MADE_Z; k++)
        if (strcmp(kinds[k], text) == 0)
            return k;
    return -1;
}

static int read_period(const json_node *node, made_input *in)
{
    in->period = json_as_number(json_member(node, "period"), NAN);
    return isfinite(in->period) && in->period > 0.0;
}

static int read_place(const json_node *node, size_t columns, made_input *in)
{
    int64_t other = json_as_integer(json_member(node, "latitude"), -1);
    in->degrees = json_as_number(json_member(node, "degrees"), NAN);
    in->other = (size_t)other;
    return other >= 0 && (uint64_t)other < columns && in->other != in->column &&
           (in->degrees == 0.0 || in->degrees == LEAST_LONGITUDE);
}

static int read_input(const json_node *node, size_t columns, made_input *in)
{
    int64_t column = json_as_integer(json_member(node, "column"), -1);
    int kind = kind_of(json_as_text(json_member(node, "kind")));
    int64_t level = json_as_integer(json_member(node, "level"), -1);
    if (kind < 0 || column < 0 || (uint64_t)column >= columns)
        return 0;
    *in = (made_input){.column = (size_t)column, .kind = (made_kind)kind};
    if (kind >= MADE_X)
        return read_place(node, columns, in);
    if (kind == MADE_LEVEL) {
        in->level = (size_t)level;
        return level >= 0 && level < MOST_APART;
    }
    return kind == MADE_HOLE || read_period(node, in);
}

/* The levels of a category follow each other from 0 on; `levels` is how many there are. */
static int count_levels(made_inputs *m)
{
    for (size_t k = 0; k < m->count;) {
        size_t count = 0;
        while (k + count < m->count && m->of[k].kind == MADE_LEVEL &&
               m->of[k + count].kind == MADE_LEVEL && m->of[k + count].column == m->of[k].column)
            count++;
        for (size_t l = 0; l < count; l++) {
            if (m->of[k + l].level != l)
                return 0;
            m->of[k + l].levels = count;
        }
        k += count > 0 ? count : 1;
    }
    return 1;
}

/* x, y and z come together, once, of the same columns. */
static int has_whole_places(const made_inputs *m)
{
    size_t count = 0, first = m->count;
    for (size_t k = 0; k < m->count; k++) {
        if (!made_is_place(&m->of[k]))
            continue;
        first = count == 0 ? k : first;
        if (k != first + count || m->of[k].kind != (made_kind)(MADE_X + count) ||
            m->of[k].column != m->of[first].column || m->of[k].other != m->of[first].other ||
            m->of[k].degrees != m->of[first].degrees)
            return 0;
        count++;
    }
    return count == 0 || count == 3;
}

quorum_status made_read(const json_node *list, size_t inputs, made_inputs *m, const char **what)
{
    size_t count = json_list_size(list);
    *what = "made_inputs is not a list of inputs";
    if (count == 0 || count >= inputs)
        return QUORUM_E_FORMAT;
    if (!NEW_ARRAY(m->of, count)) {
        *what = NULL;
        return failure(QUORUM_E_MEMORY, "out of memory for inputs that are made of columns");
    }
    m->columns = inputs - count;
    for (const json_node *n = json_first(list); n; n = json_next(n), m->count++)
        if (!read_input(n, m->columns, &m->of[m->count]))
            return QUORUM_E_FORMAT;
    return count_levels(m) && has_whole_places(m) ? QUORUM_OK : QUORUM_E_FORMAT;
}
