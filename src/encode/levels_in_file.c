/* Levels and positions in a model file's meta.json.  Reading believes nothing before it is checked. */
#include "base/memory.h"
#include "data/levels.h"
#include "text/text.h"
#include "encode/encoding.h"

#include <math.h>
#include <string.h>

static void put_category(json_writer *w, size_t input, const category *c)
{
    json_begin_object(w);
    json_key(w, "input");
    json_put_count(w, input);
    json_key(w, "levels");
    json_begin_list(w);
    for (size_t l = 0; l < c->levels; l++)
        json_put_text(w, c->name[l]);
    json_end(w);
    json_key(w, "positions");
    json_put_numbers(w, c->position, c->levels);
    json_end(w);
}

void encoding_put(json_writer *w, const encoding *e)
{
    json_begin_list(w);
    for (size_t d = 0; d < e->inputs; d++)
        if (e->of[d].levels > 0)
            put_category(w, d, &e->of[d]);
    json_end(w);
}

static quorum_status wrong(const char *sentence, const char **what)
{
    *what = sentence;
    return QUORUM_E_FORMAT;
}

static quorum_status no_memory(const char **what)
{
    *what = NULL;
    return failure(QUORUM_E_MEMORY, "out of memory for the levels of categories");
}

static quorum_status read_names(const json_node *list, category *c, const char **what)
{
    size_t l = 0;
    for (const json_node *n = json_first(list); n; n = json_next(n), l++) {
        const char *name = json_as_text(n);
        if (!name || *name == '\0' || utf8_find_control(name, name + strlen(name)))
            return wrong("a level of a category has no name", what);
        if (l > 0 && strcmp(c->name[l - 1], name) >= 0)
            return wrong("the levels of a category are not sorted, or two are alike", what);
        if (!(c->name[l] = mem_copy_text(name)))
            return no_memory(what);
    }
    return QUORUM_OK;
}

static quorum_status read_category(const json_node *node, category *c, const char **what)
{
    const json_node *names = json_member(node, "levels"), *places = json_member(node, "positions");
    size_t levels = json_list_size(names), l = 0;
    if (levels == 0 || levels > MOST_LEVELS || json_list_size(places) != levels)
        return wrong("the levels of a category and their positions do not go together", what);
    if (!NEW_ZEROED(c->name, levels) || !NEW_ZEROED(c->position, levels))
        return no_memory(what);
    c->levels = levels;
    TRY(read_names(names, c, what));
    for (const json_node *p = json_first(places); p; p = json_next(p), l++)
        if (!isfinite(c->position[l] = json_as_number(p, NAN)))
            return wrong("the position of a level is not a finite number", what);
    return QUORUM_OK;
}

quorum_status encoding_read(const json_node *list, size_t inputs, encoding *e, const char **what)
{
    *e = (encoding){.inputs = inputs};
    if (json_list_size(list) == 0)
        return wrong("categories is not a list of them", what);
    if (!NEW_ZEROED(e->of, inputs))
        return no_memory(what);
    for (const json_node *c = json_first(list); c; c = json_next(c)) {
        int64_t d = json_as_integer(json_member(c, "input"), -1);
        if (d < 0 || (uint64_t)d >= inputs || e->of[d].levels > 0)
            return wrong("a category is of no input, or of one that has one", what);
        TRY(read_category(c, &e->of[d], what));
    }
    encoding_settle(e);
    return QUORUM_OK;
}
