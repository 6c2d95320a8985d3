/* Inputs made of columns in a model file's meta.json.  Reading believes nothing before it is checked. */
#include "base/memory.h"
#include "encode/made.h"

#include <math.h>
#include <string.h>

static const char *const kinds[] = {"sin", "cos"};

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
        json_key(w, "period");
        json_put_number(w, in->period);
        json_end(w);
    }
    json_end(w);
}

static int kind_of(const char *text)
{
    for (int k = MADE_SIN; text && k <= MADE_COS; k++)
        if (strcmp(kinds[k], text) == 0)
            return k;
    return -1;
}

static int read_input(const json_node *node, size_t columns, made_input *in)
{
    int64_t column = json_as_integer(json_member(node, "column"), -1);
    int kind = kind_of(json_as_text(json_member(node, "kind")));
    double period = json_as_number(json_member(node, "period"), NAN);
    if (kind < 0 || column < 0 || (uint64_t)column >= columns || !isfinite(period) || period <= 0.0)
        return 0;
    *in = (made_input){(size_t)column, (made_kind)kind, period};
    return 1;
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
    return QUORUM_OK;
}
