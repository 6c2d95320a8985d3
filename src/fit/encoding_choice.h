/* Whether levels of categories have positions or stand apart (encode/encoding.h, encode/made.h). */
#ifndef QRM_FIT_ENCODING_CHOICE_H
#define QRM_FIT_ENCODING_CHOICE_H

#include "encode/holes.h"
#include "fit/fitting.h"

/* *apart by the option encoding; auto: by what predicts rows better that are held out of a first fit of
 * each.  `asked` is what else is made of f's rows. */
quorum_status encoding_choose(const fitting *f, const made_request *asked, const hole_rule *holes,
                              int *apart);

#endif
