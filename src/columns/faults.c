/* The sentence about all columns with faults (faults.h). */
#include "columns/faults.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

enum { LIST = 600, ITEM = 200, SENTENCE = 1000 };

typedef struct {
    char columns[LIST], ignored[LIST];
    size_t count, left_out;
    size_t whole; /* of these, columns with no other cells            */
    int wrong;    /* there are some that are not missing              */
    int holes;    /* there are inputs with missing ones               */
} fault_list;

/* `3 ("b"): 2 missing cells, 1 that is no number, from line 7` */
static void describe(const reader *r, size_t column, const column_faults *f, char out[ITEM])
{
    char missing[60] = "", wrong[60] = "";
    if (f->missing > 0)
        snprintf(missing, sizeof missing, " %zu missing cell%s", f->missing,
                 f->missing == 1 ? "" : "s");
    if (f->wrong > 0)
        snprintf(wrong, sizeof wrong, "%s %zu wrong one%s", f->missing ? "," : "", f->wrong,
                 f->wrong == 1 ? "" : "s");
    snprintf(out, ITEM, "%zu (\"%.60s\"):%s%s, from %s %zu", column + 1, reader_name(r, column),
             missing, wrong, reader_unit(r), f->first);
}

static void append(char list[LIST], const char *separator, const char *item)
{
    size_t used = strlen(list);
    snprintf(list + used, LIST - used, "%s%s", used ? separator : "", item);
}

static void list_faults(const reader *r, size_t inputs, const column_faults *faults, size_t rows,
                        fault_list *l)
{
    const size_t *columns;
    size_t count = reader_selected(r, &columns);
    for (size_t i = 0; i < count; i++) {
        char item[ITEM], number[32];
        if (faults[i].missing + faults[i].wrong == 0)
            continue;
        l->count++;
        l->wrong |= faults[i].wrong > 0;
        l->holes |= i < inputs && faults[i].missing > 0;
        l->whole += faults[i].missing + faults[i].wrong == rows;
        describe(r, columns[i], &faults[i], item);
        if (strlen(l->columns) + ITEM >= LIST) {
            l->left_out++;
            continue;
        }
        append(l->columns, "; ", item);
        snprintf(number, sizeof number, "%zu", columns[i] + 1);
        if (i < inputs)
            append(l->ignored, ",", number);
    }
}

static void advise(const fault_list *l, char out[SENTENCE])
{
    char more[40] = "", rows[120] = "";
    if (l->left_out)
        snprintf(more, sizeof more, "; and %zu more", l->left_out);
    if (!l->whole)
        snprintf(rows, sizeof rows, "Skip the rows with --missing drop, %sor ",
                 l->holes ? "fill missing inputs with --missing impute, " : "");
    snprintf(out, SENTENCE, ".  All columns with such cells: %s%s.  %s%s%s%s", l->columns, more,
             rows, l->ignored[0] ? "leave inputs out with --ignore " : "fix them", l->ignored,
             l->wrong ? "; texts are levels with --categorical" : "");
}

quorum_status faults_name(reader *r, size_t inputs, quorum_status status)
{
    const size_t *columns;
    column_faults *faults = NULL;
    fault_list l = {.count = 0};
    char *first = mem_copy_text(quorum_message()), more[SENTENCE];
    size_t rows;
    int known = first && NEW_ZEROED(faults, reader_selected(r, &columns)) &&
                reader_survey(r, faults, &rows) >= 0;
    if (known)
        list_faults(r, inputs, faults, rows, &l);
    int tells_more = known && l.count > 1 && l.whole < l.count; /* those of text alone are named */
    if (tells_more)
        advise(&l, more);
    if (first)
        set_message("%s%s", first, tells_more ? more : "");
    mem_free(faults);
    mem_free(first);
    return status;
}
