/* What a model's experts say where the target is known, and what they have in common there. */
#ifndef QRM_ENSEMBLE_KNOWN_ROWS_H
#define QRM_ENSEMBLE_KNOWN_ROWS_H

#include "model/model.h"

/* *omega (M x M): the precision of the experts' rests beyond the target (graph/latent_target.h), learned
 * when first asked for and kept as long as the model.  Together (team/work.h); every process has all rows. */
quorum_status model_omega(const quorum_model *m, const settings *s, const progress *p,
                          const double **omega);

#endif
