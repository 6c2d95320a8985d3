/* All that a report is written from. */
#ifndef QUORUM_CLI_REPORT_FACTS_H
#define QUORUM_CLI_REPORT_FACTS_H

#include "arguments.h"
#include "importance.h"
#include "progress.h"
#include "quorum.h"
#include "report/asked.h"
#include "report/curves.h"
#include "report/dominant.h"
#include "report/gaps.h"
#include "report/groups.h"
#include "report/places.h"
#include "targets.h"

enum { MOST_POINTS = 1500 }; /* of rows that a chart shows */

typedef struct facts {
    const arguments *given;
    chosen_targets targets;
    quorum_model *model;
    quorum_info info;
    double *X, *y;            /* training rows: info.rows x info.inputs, info.rows           */
    double middle;            /* mean longitude of these, of a place                         */
    asked_rows rows;          /* of TEST, or left out                                        */
    quorum_metrics scores;    /* of these                                                    */
    quorum_metrics trivial;   /* of the training target's mean and deviation on them         */
    dominant_rows dominant;   /* those of the rows that make half of the squared error       */
    const char *test;         /* the file; NULL: the rows are left-out ones                  */
    const char *before;       /* the earlier model's file; NULL: none                        */
    chosen_targets old;       /* the earlier model                                           */
    quorum_info old_info;     /* ...                                                         */
    asked_rows old_rows;      /* what it says of the same rows                               */
    grouping *by_column;      /* info.columns: rows in groups by each column                 */
    grouping by_distance;     /* ... and by the distance to the training rows                */
    size_t *shown;            /* shown_count of the rows: those that charts have             */
    size_t shown_count;       /*                                                             */
    size_t *shown_training;   /* likewise of the training rows                               */
    size_t shown_train_count; /*                                                             */
    quorum_new_rows basis;    /* what shares and effects are of: asked rows, or training rows ... */
    bool of_training;         /* ... where those are fewer than the library asks for         */
    importance_found shares;  /* what predictions depend on; no inputs: rows are too few     */
    found_effects effects;    /* how they change with the inputs that matter most            */
    places places;            /* two axes, and where rows and experts are on them            */
    found_gaps gaps;          /* where there are no training rows on them, though all around    */
    progress progress;
} facts;

/* Loads, reads and predicts; returns an exit code.  Free in any case. */
int facts_make(facts *f, const arguments *given);
void facts_free(facts *f);

/* ---- left_out.c ---- */

/* Takes some training rows out of another copy of the model and asks it about them. */
int left_out_ask(facts *f);

/* ---- shares.c ---- */

/* f->shares, from the asked rows as the model takes them. */
int shares_find(facts *f);

/* ---- values.c ---- */

/* A value of column d as a reader knows it: a number, a level, a date. */
typedef struct {
    char text[160];
} value_text;
static const double ROUNDING = 1e-9; /* of a training row that came back from a model, in scales */
value_text value_of_column(const quorum_info *info, size_t d, double value);
value_text plain_number(double value);
value_text number_among(double value, double spread); /* with digits for what is so far apart */
value_text target_label(const quorum_info *info);     /* as much of its name as fits */

bool is_category(const quorum_info *info, size_t d);
bool is_date(const quorum_info *info, size_t d);

#endif
