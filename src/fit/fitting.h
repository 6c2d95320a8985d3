/* A fit under way: from rows that are given to a model (fit.c), by one of several ways (ways.c). */
#ifndef QRM_FIT_FITTING_H
#define QRM_FIT_FITTING_H

#include "calibrate/calibrate.h"
#include "fit/strict.h"
#include "theta/theta.h"
#include "train/further_targets.h"
#include "table/coded_rows.h"

/* One fit, from the rows as they are given to the model. */
typedef struct {
    quorum_model *m;
    const scattered_rows *given;
    const char *const *names;
    const quorum_data *about; /* the table that they come from, or NULL */
    category_names categories;
    const quorum_options *options;
    const settings *s;
    const progress *p;
    row_set own;         /* the rows of this process, standardised ... */
    scattered_rows rows; /* ... and all of them                        */
    checkpoint *kept;    /* or NULL                                    */
    training_result found;
    quorum_status event;       /* QUORUM_NO_SIGNAL, or QUORUM_OK             */
    const strict_split *split; /* with calibrate=strict: which rows are held out ...       */
    const quorum_model
        *learned; /* ... and the fit to the others, whose units and theta these are */
    int holes; /* 1: errors are those of holes alone, in the units of what the target is modelled by */
    const made_inputs *made;    /* what of the inputs is made, or NULL                        */
    const quorum_model *shared; /* with share=theta: the fit to all targets together, or NULL */
    further_targets *further;   /* ... and the targets that share it, or NULL                 */
    coded_rows *coded;          /* the rows, where they have categories, or NULL              */
    int searches;               /* that chose the warp                                        */
    findings *pool;             /* of rows held out, which join it; NULL: the model has them  */
} fitting;

/* Fits a new model; f has all but that. */
quorum_status fit_rows(fitting *f, quorum_model **model);

/* strict_fits.c: the same, and before or after it fits to some of the rows where its calibration needs them. */
quorum_status fit_calibrated(fitting *f, quorum_model **model);

/* Units of the inputs, from all rows, and the rows of this process in them, their targets as given. */
quorum_status standardise_inputs(fitting *f, quorum_status ready);

/* chosen_warp.c: with warp=auto the warp, and what depends on it, once rows and target are standardised without. */
quorum_status choose_warp(fitting *f);

/* ---- bends.c: whether inputs with heavy tails are bent (input-warp) ---- */

quorum_status bends_check(const settings *s);

/* Before the inputs are standardised: which are bent, and how.  What comes back may be this process's
 * alone, as `ready` may. */
quorum_status bends_begin(fitting *f, quorum_status ready);

/* With share=theta what targets have in common. */
typedef struct {
    const quorum_model *model; /* the fit to all together              */
    further_targets *further;  /* NULL: each is predicted by itself    */
} shared_fit;

/* ways.c: fits a table's first target, with more than one its rows that have it; shared: or NULL. */
quorum_status fit_table(const quorum_data *data, const quorum_options *options,
                        const shared_fit *shared, quorum_model **model);

#endif
