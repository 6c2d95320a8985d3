/* A fit: columns that R/table.R has made numbers of become the library's quorum_data.
 *
 * `data` is a list: X (inputs x rows), y (rows x targets), names (inputs + targets, or NULL), levels (a list
 * by input, texts or NULL; or NULL), dates (inputs, NA of others; or NULL), and of rows, each with the
 * name of its column, or NULL: offset, weight, noise_std. */
#include "binding.h"

/* Counts and names of the levels of each input. */
static void add_levels(quorum_data *data, SEXP levels)
{
    if (Rf_isNull(levels))
        return;
    data->levels = (size_t *)R_alloc(data->inputs, sizeof *data->levels);
    data->level = (char ***)R_alloc(data->inputs, sizeof *data->level);
    for (size_t d = 0; d < data->inputs; d++) {
        SEXP names = VECTOR_ELT(levels, (R_xlen_t)d);
        data->levels[d] = (size_t)Rf_xlength(names);
        data->level[d] = utf8s_of(names);
    }
}

/* Several targets, behind the inputs and before weights and noise. */
static void add_targets(quorum_data *data, size_t targets)
{
    data->weight_place = data->noise_place = data->inputs + targets;
    if (targets < 2)
        return;
    data->targets = targets;
    data->target_y = (double **)R_alloc(targets, sizeof *data->target_y);
    data->target_place = (size_t *)R_alloc(targets, sizeof *data->target_place);
    for (size_t t = 0; t < targets; t++) {
        data->target_y[t] = data->y + t * data->rows;
        data->target_place[t] = data->inputs + t;
    }
    data->target_name = data->names ? data->names + data->inputs : NULL;
}

static quorum_data data_of(SEXP list)
{
    SEXP X = member(list, "X"), y = member(list, "y");
    quorum_data data = {.rows = (size_t)Rf_ncols(X),
                        .inputs = (size_t)Rf_nrows(X),
                        .X = REAL(X),
                        .y = REAL(y),
                        .names = utf8s_of(member(list, "names")),
                        .offset = reals_of(member(list, "offset")),
                        .offset_name = utf8_of(member(list, "offset_name"), 0),
                        .weight = reals_of(member(list, "weight")),
                        .weight_name = utf8_of(member(list, "weight_name"), 0),
                        .noise_std = reals_of(member(list, "noise_std")),
                        .noise_name = utf8_of(member(list, "noise_name"), 0),
                        .date = utf8s_of(member(list, "dates"))};
    data.target = data.offset_place = data.inputs;
    add_levels(&data, member(list, "levels"));
    add_targets(&data, (size_t)Rf_ncols(y));
    return data;
}

SEXP qr_fit(SEXP list, SEXP options, SEXP say)
{
    SEXP handle = PROTECT(new_handle());
    quorum_data data = data_of(list);
    quorum_model *model = NULL;
    watch w;
    start_watch(&w, options, say);
    quorum_status status = quorum_fit_data(&data, w.options, &model);
    give_model(handle, model);
    SEXP out = PROTECT(reply(status, handle));
    end_watch(&w);
    UNPROTECT(3);
    return out;
}
