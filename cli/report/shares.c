/* What the predictions depend on: the library's importance of each input over the asked rows, or over training
 * rows where those are too few, of which as many are changed as the page has time for. */
#include "report/facts.h"
#include "talk.h"

#include <stdlib.h>

enum {
    PREDICTIONS = 4000, /* that all inputs together may take     */
    OF_INPUT = 5,       /* predictions of a row for each input ... */
    OF_ROW = 10,        /* ... and once                          */
    FEWEST = 20,        /* rows that the library asks for        */
    MOST_CHANGED = 1000
};

static size_t rows_to_change(size_t inputs)
{
    size_t rows = PREDICTIONS / (OF_INPUT * inputs + OF_ROW);
    return rows < FEWEST ? FEWEST : rows > MOST_CHANGED ? MOST_CHANGED : rows;
}

/* The larger total share first. */
static int by_total(const void *a, const void *b)
{
    const quorum_input_importance *x = a, *y = b;
    if (x->total.value != y->total.value)
        return x->total.value > y->total.value ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

/* A model keeps no weights of its rows. */
static void choose_basis(facts *f)
{
    const asked_rows *a = &f->rows;
    f->of_training = a->count < FEWEST;
    f->basis = f->of_training ? (quorum_new_rows){.rows = f->info.rows, .X = f->X}
                              : (quorum_new_rows){.rows = a->count,
                                                  .X = a->X,
                                                  .weight = a->weighted ? a->weight : NULL};
}

/* Asks the library, for rows whose offset is 0: shares are without it. */
static quorum_status ask_library(facts *f, const double *offset)
{
    quorum_new_rows rows = f->basis;
    rows.offset = f->info.offset_name ? offset : NULL;
    return quorum_importance(f->model, &rows, rows_to_change(f->info.columns), f->given->options,
                             f->shares.input, &f->shares.about);
}

int shares_find(facts *f)
{
    choose_basis(f);
    if (f->basis.rows < FEWEST)
        return EXIT_DONE;
    double *zero = calloc(f->basis.rows, sizeof *zero);
    f->shares.info = &f->info;
    f->shares.input = malloc(f->info.columns * sizeof *f->shares.input);
    progress_task(&f->progress, "what matters");
    progress_part(&f->progress, 0, 0);
    int has_room = zero && f->shares.input;
    quorum_status status = has_room ? ask_library(f, zero) : QUORUM_OK;
    progress_clear(&f->progress);
    free(zero);
    if (!has_room)
        return failure(f->given, "out of memory for %zu inputs", f->info.columns);
    if (status < 0)
        return library_failure(f->given, status);
    qsort(f->shares.input, f->shares.about.inputs, sizeof *f->shares.input, by_total);
    return EXIT_DONE;
}
