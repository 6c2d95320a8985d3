# What R users ask of a model.

formula.quorum <- function(x, ...) {
  if (is.null(x$terms))
    refuse("the model was not fitted by a formula")
  formula(x$terms)
}

# The call's data again, which the object does not keep.
model.frame.quorum <- function(formula, ...) {
  call <- formula$call
  wanted <- c("data", "weights", "subset", "na.action", "offset")
  again <- call[c(1L, match(wanted, names(call), 0L))]
  again[[1L]] <- quote(stats::model.frame)
  again$formula <- stats::formula(formula)
  eval(again, environment(formula$terms))
}

nobs.quorum <- function(object, ...) quorum_info(object)$rows

variable.names.quorum <- function(object, ...) {
  info <- quorum_info(object)
  info$names[seq_len(info$inputs)]
}

# A step of one of each standardised input in its units, of one that is bent around its middle.
input_unit <- function(info) {
  info$x_scale * if (is.null(info$bend_width)) 1 else ifelse(info$bend_width > 0, info$bend_width, 1)
}

# Hyperparameters in the units of the data: length-scales of the inputs, standard deviations of signal and noise.
coef.quorum <- function(object, ...) {
  info <- quorum_info(object)
  c(setNames(info$input_lengthscale * input_unit(info), paste0("lengthscale.", variable.names(object))),
    signal_std = sqrt(info$signal_variance) * info$y_scale, noise_std = sqrt(info$noise_variance) * info$y_scale)
}

print_call <- function(object) {
  if (!is.null(object$call))
    cat("\nCall:\n", paste(deparse(object$call), collapse = "\n"), "\n\n", sep = "")
}

plural <- function(n, what) paste0(format(n, big.mark = ","), " ", what, if (n != 1) "s")

describe <- function(info) {
  categories <- sum(!vapply(info$levels[seq_len(info$columns)], is.null, NA))
  dates <- sum(!is.na(info$dates))
  paste0(plural(info$rows, "row"), ", ", plural(info$columns, "column"),
         if (categories || dates) paste0(" (", paste(c(if (categories) paste(categories, "of levels"),
                                                       if (dates) paste(dates, "of dates")), collapse = ", "), ")"),
         ", kernel ", info$kernel, ", ", plural(info$experts, "expert"))
}

print.quorum <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  info <- quorum_info(x)
  print_call(x)
  cat("Gaussian-process regression of ", x$target_name, ": ", describe(info), "\n", sep = "")
  cat("Standard deviation of the noise: ", format(coef(x)[["noise_std"]], digits = digits), unit_of(info), "\n",
      sep = "")
  invisible(x)
}

unit_of <- function(info) if (info$warp == "log") " (of the target's logarithm)" else ""

# How many levels each input has, 0 of a number.
level_counts <- function(info) {
  if (is.null(info$levels)) rep(0, info$inputs) else lengths(info$levels)
}

summary.quorum <- function(object, ...) {
  info <- quorum_info(object)
  inverse <- 1 / info$input_lengthscale
  bound <- info$at_bound[seq_len(info$inputs)]
  inputs <- data.frame(
    lengthscale = info$input_lengthscale * input_unit(info), share = inverse / sum(inverse),
    note = ifelse(info$constant != 0, "constant: no effect",
                  ifelse(is.null(info$rotation) & bound > 0, "hardly any effect",
                         ifelse(level_counts(info) > 0, paste(level_counts(info), "levels"), ""))),
    row.names = variable.names(object))
  structure(class = "summary.quorum", list(
    call = object$call, target = object$target_name, info = info, inputs = inputs,
    coefficients = coef(object), plan = plan_of(object), update = object$update))
}

print.summary.quorum <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  info <- x$info
  print_call(x)
  cat("Gaussian-process regression of ", x$target, ": ", describe(info), "\n", sep = "")
  if (info$trend == "linear" || info$warp != "none" || info$long_share > 0 || !is.null(info$rotation))
    cat("With ", paste(c(if (info$trend == "linear") "a linear trend",
                         if (info$warp != "none") "a logarithm of the target",
                         if (info$long_share > 0) paste(sub(".*x", "", info$kernel), "scales"), if (!is.null(info$rotation)) "a linear metric"),
                       collapse = ", "), "\n", sep = "")
  cat("\nInputs (length-scale in the input's units; share of the inverse ones of standardised inputs):\n")
  print(format(x$inputs, digits = digits), quote = FALSE)
  cat("\nStandard deviations: signal ", format(x$coefficients[["signal_std"]], digits = digits), ", noise ",
      format(x$coefficients[["noise_std"]], digits = digits), unit_of(info), "\n", sep = "")
  cat("Predictions by ", x$plan$method, ", ",
      if (x$plan$calibrated) paste("calibrated by", plural(info$calibration_rows, "left-out row"))
      else "not calibrated", "\n", sep = "")
  if (!is.null(x$update))
    cat("Update: ", plural(x$update$added, "row"), " added, ", format(x$update$removed), " removed",
        if (x$update$scored > 0) paste0("; before that predicted with RMSE ", format(x$update$rmse, digits = digits)),
        "\n", sep = "")
  invisible(x)
}

# Several targets: a list of models, which share what they can.

print.quorum_targets <- function(x, ...) {
  cat("Models of ", length(x), " targets, each an element of this list:\n", sep = "")
  for (one in unclass(x)) {
    one$call <- NULL
    print(one, ...)
  }
  invisible(x)
}

predict.quorum_targets <- function(object, newdata = NULL, ...) {
  several <- lapply(unclass(object), predict, newdata = newdata, ...)
  if (all(vapply(several, function(p) is.numeric(p) && is.null(dim(p)), NA))) do.call(cbind, several) else several
}

fitted.quorum_targets <- function(object, ...) do.call(cbind, lapply(unclass(object), fitted, ...))

residuals.quorum_targets <- function(object, ...) do.call(cbind, lapply(unclass(object), residuals, ...))

summary.quorum_targets <- function(object, ...) lapply(unclass(object), summary, ...)
