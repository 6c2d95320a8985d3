/* How a model's inputs and hyperparameters are named and put in the user's units. */
#ifndef QUORUM_CLI_HYPERPARAMETERS_H
#define QUORUM_CLI_HYPERPARAMETERS_H

#include "quorum.h"
#include "talk.h"

#include <stdbool.h>

/* As it may be printed: whole characters, none of them a control character. */
typedef struct {
    char text[160];
} name_text;

name_text input_name(const quorum_info *info, size_t d);
const char *target_name(const quorum_info *info); /* as it is in the data */

/* What deviations and slopes are of: the target, or log(target + shift). */
shown_text target_unit(const quorum_info *info);

/* Number i of at_bound: "lengthscale:NAME", "signal_variance", "noise_variance", "long_share",
 * "long_reach". */
name_text hyperparameter_name(const quorum_info *info, size_t i);

/* Of levels that stand apart: whether input d is their category, and whether it is one of them. */
bool is_apart(const quorum_info *info, size_t d);
bool is_level(const quorum_info *info, size_t d);

/* The input's length-scale is at its upper bound: the function hardly varies along it. */
bool is_flat(const quorum_info *info, size_t d);

/* Whether a column is a longitude or a latitude, which is no input itself. */
bool is_of_place(const quorum_info *info, size_t d);

/* "a, b, c": the inputs that are constant in the training data, the last ones left out where there
 * is no room for all; "" where there are none. */
typedef struct {
    char text[480];
} name_list;
name_list constant_names(const quorum_info *info);

/* Whether input d is a category whose levels tell nothing of the target, beyond chance, and the names of
 * those, likewise. */
bool tells_nothing(const quorum_info *info, size_t d);
name_list idle_names(const quorum_info *info);

/* Infinite of a constant input. */
double effective_lengthscale(const quorum_info *info, size_t d);

/* What a step of one of the standardised input is in the input's units, of one that is bent around its middle; and x
 * as the model standardises it, which is 0 at the middle. */
bool is_bent(const quorum_info *info, size_t d);
double input_unit(const quorum_info *info, size_t d);
double standardised_input(const quorum_info *info, size_t d, double x);
double input_middle(const quorum_info *info, size_t d);

/* 1/lengthscale as a share of the sum over all inputs.  It says how quickly the function bends
 * along an input, not how much the input matters: a strong straight line has a long one.  0 of a
 * constant input. */
double inverse_lengthscale_share(const quorum_info *info, size_t d);

/* The same of direction k, where the metric has directions (info->rotation). */
double direction_share(const quorum_info *info, size_t k);

/* Whether the kernel has longer components beside the shortest. */
bool has_scales(const quorum_info *info);

/* How many components its kernel has. */
int count_scales(const quorum_info *info);

/* Standard deviations in the target's units. */
double signal_deviation(const quorum_info *info);
double noise_deviation(const quorum_info *info);

#endif
