/* New rows for a model that is there, and old ones that go (docs/updating.md).  Theta, units, encodings,
 * metric and neighbours stay; what changes of a model is made beside it and then put in its place, so that
 * a change that fails leaves it as it was. */
#ifndef QRM_UPDATE_UPDATE_H
#define QRM_UPDATE_UPDATE_H

#include "model/model.h"

/* One target's change. */
typedef struct {
    quorum_model *m;
    quorum_new_rows given;
    quorum_forgetting forget;
    const quorum_options *options;
    const settings *s;
    row_set asked;     /* the new rows that count, in the data's units, as they were given ... */
    row_set own;       /* ... and in the model's                                               */
    char *gone;        /* m->rows.n: 1 where an old row goes; NULL: none does                  */
    size_t *number;    /* m->rows.n: the number that an old row has from now on; NULL: as before */
    size_t late;       /* new rows from here on are taken: those before are outside the window */
    double *z;         /* report.scored: (y - mean) / std of new rows ...                      */
    double *weight;    /* ... and as how many rows each counts                                */
    quorum_model next; /* what is to be in the place of *m; its other parts are those of *m */
    int has_next;
    quorum_update_report report;
} change;

/* ---- new_rows.c ---- */

/* c->asked and c->own: of the given rows those with a target, a weight and levels that are known. */
quorum_status change_take_rows(change *c);

/* ---- forgotten.c ---- */

/* c->gone, c->number and c->late. */
quorum_status change_forget_rows(change *c);

/* ---- nearest_expert.c ---- */

/* expert (c->own.n): the one that each new row joins. */
quorum_status change_find_experts(const change *c, size_t *expert);

/* ---- joined_rows.c ---- */

/* c->next: the rows that stay and those that come, sorted by expert. */
quorum_status change_join_rows(change *c);
void change_free_next(change *c);

/* ---- score.c ---- */

/* Predicts new rows by the model as it is: c->z, c->weight, and the report's scores. */
quorum_status change_score(change *c);

/* The prediction that the model's calibration is for, or the default, as options; text is room. */
enum { NEIGHBOURS_TEXT = 32 };
void change_prediction(const quorum_model *m, char text[NEIGHBOURS_TEXT], settings *s);

/* ---- drift.c ---- */

/* Whether the new rows are predicted worse than left-out rows were, into the report. */
quorum_status change_watch_drift(change *c);

/* ---- learned_ratios.c ---- */

/* c->next has a calibration that has learned from the new rows. */
quorum_status change_calibrate(change *c);

#endif
