/* Training rows with inputs that are made of their columns behind them (encode/made.h). */
#ifndef QRM_TABLE_MADE_ROWS_H
#define QRM_TABLE_MADE_ROWS_H

#include "encode/holes.h"
#include "table/coded_rows.h"

typedef struct {
    made_inputs made;
    char **made_names;         /* made.count                                          */
    scattered_rows rows;       /* the rows with all inputs                            */
    double *X;                 /* theirs                                              */
    const char **names;        /* of all inputs and the target, where names are given */
    category_names categories; /* of all inputs                                       */
    size_t *levels;            /* theirs                                              */
    char *const **level;
} made_rows;

/* Fails unless there is a row, and an input. */
quorum_status check_given(const scattered_rows *given);

/* What `asked` says of the rows, and of their categories; holes, where some are to be told, are filled by
 * the rule.  Nothing is copied where nothing is made: then made.count is 0, and the rest empty.  Free it,
 * also after a failure. */
quorum_status make_rows(const scattered_rows *given, const made_request *asked,
                        category_names categories, const hole_rule *holes, made_rows *out);
void made_rows_free(made_rows *m);

#endif
