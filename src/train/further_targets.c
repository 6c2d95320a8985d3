/* What is found of further targets, kept in the order in which the first one asked. */
#include "train/further_targets.h"

#include "base/memory.h"

#include <string.h>

enum { MOST_ANSWERS = sizeof((further_targets){0}).answer / sizeof(left_out_answer) };

quorum_status further_targets_new(size_t targets, size_t n, further_targets *out)
{
    *out = (further_targets){.targets = targets, .n = n};
    if (!NEW_ARRAY(out->y, targets * n) || !NEW_ARRAY(out->number, n))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu targets", targets + 1);
    for (size_t i = 0; i < n; i++)
        out->number[i] = (double)i;
    return QUORUM_OK;
}

void further_targets_free(further_targets *f)
{
    mem_free(f->y);
    mem_free(f->number);
    for (size_t k = 0; k < f->answered; k++)
        mem_free(f->answer[k].rows);
    *f = (further_targets){0};
}

void further_targets_mark(further_targets *f, row_set *rows)
{
    rows->further = f;
    rows->number = f->turn == 0 ? f->number : NULL;
}

void further_targets_begin(further_targets *f, size_t turn)
{
    f->turn = turn;
    f->heard = 0;
}

left_out_answer *further_targets_ask(further_targets *f, size_t count, size_t most)
{
    left_out_answer *a = &f->answer[f->answered];
    if (f->turn > 0 || f->answered == MOST_ANSWERS || !NEW_ARRAY(a->rows, count * f->targets))
        return NULL;
    a->count = count;
    a->most = most;
    f->answered++;
    return a;
}

/* The last row of every part is the one that was left out. */
static int is_about(const left_out_row *found, const parts *p)
{
    for (size_t e = 0; e < p->M; e++)
        if (found[e].y != p->rows.y[p->offset[e + 1] - 1])
            return 0;
    return 1;
}

int further_targets_hear(further_targets *f, const parts *p, size_t most, left_out_row *rows)
{
    const left_out_answer *a = &f->answer[f->heard];
    if (f->turn == 0 || f->heard == f->answered || a->count != p->M || a->most != most ||
        !is_about(a->rows + (f->turn - 1) * a->count, p))
        return 0;
    memcpy(rows, a->rows + (f->turn - 1) * a->count, a->count * sizeof *rows);
    f->heard++;
    return 1;
}
