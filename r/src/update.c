/* New rows for a model that is there. */
#include "binding.h"

static quorum_new_rows rows_of(SEXP list)
{
    SEXP X = member(list, "X");
    return (quorum_new_rows){.rows = (size_t)Rf_ncols(X),
                             .X = REAL(X),
                             .y = reals_of(member(list, "y")),
                             .offset = reals_of(member(list, "offset")),
                             .weight = reals_of(member(list, "weight")),
                             .noise_std = reals_of(member(list, "noise_std"))};
}

static SEXP report_list(const quorum_update_report *r)
{
    named_list list = new_list(11);
    put(&list, "added", Rf_ScalarReal((double)r->added));
    put(&list, "removed", Rf_ScalarReal((double)r->removed));
    put(&list, "unseen", Rf_ScalarReal((double)r->unseen));
    put(&list, "scored", Rf_ScalarReal((double)r->scored));
    put(&list, "rmse", Rf_ScalarReal(r->scored ? r->metrics.rmse : NA_REAL));
    put(&list, "nlpd", Rf_ScalarReal(r->scored ? r->metrics.nlpd : NA_REAL));
    put(&list, "coverage95", Rf_ScalarReal(r->scored ? r->metrics.coverage[2] : NA_REAL));
    put(&list, "density", Rf_ScalarReal(r->density));
    put(&list, "expected", Rf_ScalarReal(r->expected));
    put(&list, "chance", Rf_ScalarReal(r->chance));
    put(&list, "drift", Rf_ScalarLogical(r->drift));
    UNPROTECT(2);
    return list.values;
}

/* Of a model of one target, which changes: `handle` is to be nobody else's. */
SEXP qr_update(SEXP handle, SEXP rows, SEXP window, SEXP options, SEXP say)
{
    SEXP first = PROTECT(Rf_ScalarInteger(0));
    quorum_model *model = model_of(handle, first);
    quorum_new_rows given = rows_of(rows);
    quorum_forgetting forget = {.window = (size_t)Rf_asReal(window)};
    quorum_update_report report = {0};
    watch w;
    start_watch(&w, options, say);
    quorum_status status = quorum_update(model, &given, &forget, w.options, &report);
    SEXP out = PROTECT(reply(status, R_NilValue));
    end_watch(&w);
    SET_VECTOR_ELT(out, 3, report_list(&report));
    UNPROTECT(3);
    return out;
}
