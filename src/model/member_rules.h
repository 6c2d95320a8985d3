/* What the members of a model file have that a line of the tables cannot say (members.h). */
#ifndef QRM_MODEL_MEMBER_RULES_H
#define QRM_MODEL_MEMBER_RULES_H

#include "model/members.h"

/* ---- array_rules.c ---- */

/* The logarithms of the hyperparameters are one array in the model. */
double *log_lengthscale_of(const quorum_model *m);
double *log_signal_of(const quorum_model *m);
double *log_noise_of(const quorum_model *m);
double *logit_share_of(const quorum_model *m);
double *log_reach_of(const quorum_model *m);

quorum_status check_offset(const quorum_model *m, const model_sizes *sizes);
quorum_status check_extra(const quorum_model *m, const model_sizes *sizes);
quorum_status check_extra_offset(const quorum_model *m, const model_sizes *sizes);
quorum_status check_log_lengthscale(const quorum_model *m, const model_sizes *sizes);
quorum_status check_log_signal(const quorum_model *m, const model_sizes *sizes);
quorum_status check_log_noise(const quorum_model *m, const model_sizes *sizes);
quorum_status check_logit_share(const quorum_model *m, const model_sizes *sizes);
quorum_status check_log_reach(const quorum_model *m, const model_sizes *sizes);
quorum_status check_rotation(const quorum_model *m, const model_sizes *sizes);
quorum_status check_bends(const quorum_model *m, const model_sizes *sizes);
quorum_status check_line_covariance(const quorum_model *m, const model_sizes *sizes);
quorum_status check_calibration(const quorum_model *m, const model_sizes *sizes);
quorum_status check_signed_ratios(const quorum_model *m, const model_sizes *sizes);
quorum_status check_cells(const quorum_model *m, const model_sizes *sizes);

/* ---- meta_rules.c: put_ writes a value, read_ checks and keeps it ---- */

void put_version(json_writer *w, const quorum_model *m);
void put_library(json_writer *w, const quorum_model *m);
void put_library_version(json_writer *w, const quorum_model *m);
void put_kernel(json_writer *w, const quorum_model *m);
quorum_status read_kernel(const json_node *value, quorum_model *m);
void put_partition(json_writer *w, const quorum_model *m);
quorum_status read_partition(const json_node *value, quorum_model *m);
void put_columns(json_writer *w, const quorum_model *m);
quorum_status read_columns(const json_node *value, quorum_model *m);
quorum_status check_target(const quorum_model *m);
int has_offset(const quorum_model *m);
quorum_status check_offset_name(const quorum_model *m);
quorum_status check_offset_place(const quorum_model *m);
int has_weights_column(const quorum_model *m);
quorum_status check_weights_name(const quorum_model *m);
quorum_status check_weights_place(const quorum_model *m);
int has_noise_column(const quorum_model *m);
quorum_status check_noise_name(const quorum_model *m);
quorum_status check_noise_place(const quorum_model *m);
int has_categories(const quorum_model *m);
void put_categories(json_writer *w, const quorum_model *m);
quorum_status read_categories(const json_node *value, quorum_model *m);
int has_dates(const quorum_model *m);
void put_dates(json_writer *w, const quorum_model *m);
quorum_status read_dates(const json_node *value, quorum_model *m);
int has_made(const quorum_model *m);
void put_made(json_writer *w, const quorum_model *m);
quorum_status read_made(const json_node *value, quorum_model *m);
int has_holes(const quorum_model *m);
void put_holes(json_writer *w, const quorum_model *m);
quorum_status read_holes(const json_node *value, quorum_model *m);
int has_warp(const quorum_model *m);
void put_warp(json_writer *w, const quorum_model *m);
quorum_status read_warp(const json_node *value, quorum_model *m);
quorum_status check_warp(const quorum_model *m);
int has_target_units(const quorum_model *m);
quorum_status check_target_scale(const quorum_model *m);
int has_constants(const quorum_model *m);
void put_constants(json_writer *w, const quorum_model *m);
quorum_status read_constants(const json_node *value, quorum_model *m);
void put_options(json_writer *w, const quorum_model *m);
quorum_status read_options(const json_node *value, quorum_model *m);
void put_train(json_writer *w, const quorum_model *m);
quorum_status read_train(const json_node *value, quorum_model *m);
void put_ranking(json_writer *w, const quorum_model *m);
quorum_status read_ranking(const json_node *value, quorum_model *m);
int graph_is_learned(const quorum_model *m);
int has_trouble(const quorum_model *m);
void put_seed(json_writer *w, const quorum_model *m);
quorum_status read_seed(const json_node *value, quorum_model *m);
int has_spread(const quorum_model *m);
quorum_status check_spread(const quorum_model *m);
int has_untested(const quorum_model *m);
quorum_status check_untested(const quorum_model *m);
int has_nested_spread(const quorum_model *m);
void put_nested_spread(json_writer *w, const quorum_model *m);
quorum_status read_nested_spread(const json_node *value, quorum_model *m);
int has_local_noise(const quorum_model *m);
void put_local_noise(json_writer *w, const quorum_model *m);
quorum_status read_local_noise(const json_node *value, quorum_model *m);
int knows_neighbours(const quorum_model *m);
int has_method_choice(const quorum_model *m);
void put_method_choice(json_writer *w, const quorum_model *m);
quorum_status read_method_choice(const json_node *value, quorum_model *m);
quorum_status check_method_choice(const quorum_model *m);
int has_kernel_scores(const quorum_model *m);
void put_kernel_scores(json_writer *w, const quorum_model *m);
quorum_status read_kernel_scores(const json_node *value, quorum_model *m);
int has_calibration(const quorum_model *m);
void put_calibration(json_writer *w, const quorum_model *m);
quorum_status read_calibration(const json_node *value, quorum_model *m);

#endif
