/* What is known of holes in a model file's meta.json.  Reading believes nothing before it is checked. */
#include "base/memory.h"
#include "encode/holes.h"

#include <math.h>

void holes_put(json_writer *w, const hole_rule *h)
{
    json_begin_list(w);
    for (size_t d = 0; d < h->columns; d++) {
        json_begin_object(w);
        json_key(w, "fill");
        json_put_number(w, h->of[d].fill);
        json_key(w, "variance");
        json_put_number(w, h->of[d].variance);
        json_end(w);
    }
    json_end(w);
}

static int read_column(const json_node *node, column_holes *c)
{
    *c = (column_holes){.fill = json_as_number(json_member(node, "fill"), NAN),
                        .variance = json_as_number(json_member(node, "variance"), NAN),
                        .teller = NO_TELLER};
    return isfinite(c->fill) && isfinite(c->variance) && c->variance >= 0.0;
}

quorum_status holes_read(const json_node *list, size_t columns, hole_rule *h, const char **what)
{
    size_t d = 0;
    *what = "holes is not a list of the columns' fills and variances";
    if (json_list_size(list) != columns)
        return QUORUM_E_FORMAT;
    if (!NEW_ARRAY(h->of, columns)) {
        *what = NULL;
        return failure(QUORUM_E_MEMORY, "out of memory for the holes of columns");
    }
    h->columns = columns;
    for (const json_node *n = json_first(list); n; n = json_next(n))
        if (!read_column(n, &h->of[d++]))
            return QUORUM_E_FORMAT;
    return QUORUM_OK;
}
