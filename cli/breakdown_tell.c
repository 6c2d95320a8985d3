/* evaluate --by in words: a table with a row for each way of predicting and group. */
#include "breakdown.h"
#include "scoring.h"
#include "table.h"
#include "talk.h"

#include <stdio.h>

static void add_row(table *t, const breakdown *b, const contender *c, size_t way,
                    const row_group *g, const quorum_info *info)
{
    group_scores s = breakdown_scores(b, way, g, info);
    char name[CELL_SIZE];
    group_name(b, g, name, sizeof name);
    if (b->ways > 1) {
        table_add(t, "%s", contender_method(c));
        table_add(t, "%s", c->select);
        table_add(t, "%s", c->space);
    }
    table_add(t, "%s", name);
    table_add(t, "%zu", g->count);
    table_add(t, "%.1f", 100.0 * s.coverage);
    table_add(t, "%.1f to %.1f", 100.0 * g->expected[0], 100.0 * g->expected[1]);
    table_add_real(t, s.width);
    table_add_real(t, s.rmse);
    table_add_real(t, s.msll);
}

int breakdown_print(const breakdown *b, const contenders *all, const quorum_info *info,
                    const arguments *given)
{
    const char *titles[] = {"method", "select",   "space", "",     "rows",
                            "95 %",   "expected", "width", "RMSE", "MSLL"};
    shown_text by = shown(b->by);
    table t;
    titles[3] = by.text;
    printf("\n");
    table_start(&t, b->ways > 1 ? "llllrrrrrr" : "lrrrrrr", b->ways > 1 ? titles : titles + 3);
    for (size_t way = 0; way < b->ways; way++)
        for (size_t k = 0; k < b->groups; k++)
            add_row(&t, b, &all->items[way], way, &b->group[k], info);
    return table_finish(&t, given);
}
