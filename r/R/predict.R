# Predictions, fitted values, residuals and draws.

# The columns of new data that the inputs are, the offset that the formula has there, and row names.
queries_of <- function(object, newdata, na.action) {
  offset <- NULL
  if (is.null(object$terms)) {
    frame <- pick_columns(newdata, object$schema, object$named)
    if (!identical(na.action, na.pass))
      frame <- na.action(frame)
  } else {
    form <- delete.response(object$terms)
    frame <- model.frame(form, as.data.frame(newdata), na.action = na.action)
    offset <- model.offset(frame)
    if (!is.null(object$call$offset)) {
      own <- eval(object$call$offset, as.data.frame(newdata), environment(object$terms))
      own <- own[setdiff(seq_along(own), attr(frame, "na.action"))]
      offset <- if (is.null(offset)) own else offset + own
    }
    frame <- frame[input_variables(form)]
  }
  columns <- flat_columns(frame)
  list(columns = columns, offset = offset, names = as.character(attr(frame, "row.names")), rows = nrow(frame))
}

# The model's inputs, inputs x rows, of a table, columns x rows.
inputs_of <- function(object, table) {
  info <- quorum_info(object)
  if (info$inputs == info$columns) table else value_of(.Call(qr_inputs, object$handle, object$target, table))
}

# Options of a prediction: those of the fit that are about predictions, and given ones before them.
prediction_options <- function(object, given, ...) {
  given <- given_options(given)
  unknown <- setdiff(names(given), .Call(qr_option_table)$name)
  if (length(unknown) == 0)
    given <- used_by_prediction(given)
  old <- used_by(object$options, "predict")
  own <- c(...)
  values <- c(own, given[!names(given) %in% names(own)])
  c(old[!names(old) %in% names(values)], values)
}

used_by_prediction <- function(given) {
  foreign <- setdiff(names(given), names(used_by(given, "predict")))
  if (length(foreign))
    refuse("option ", foreign[1], ": it is of the fit, and a prediction does not use it")
  given
}

# What the library says of a prediction with these options: the method that they mean, whether it is calibrated.
plan_of <- function(object, options = prediction_options(object, list())) {
  nothing <- matrix(0, quorum_info(object)$inputs, 0)
  found <- value_of(.Call(qr_predict, object$handle, object$target, nothing, library_options(options), character(),
                          list(), NULL))
  attr(found, "report")
}

# The wanted of the library's answers at a table of columns x rows, as a list by name, rows first.
ask_library <- function(object, table, wanted, options, given, verbose) {
  X <- inputs_of(object, table)
  found <- value_of(.Call(qr_predict, object$handle, object$target, X, library_options(options), wanted, given,
                          teller(verbose, "predict")))
  tell_of_prediction(attr(found, "report"), quorum_info(object))
  matrices <- vapply(found, is.matrix, NA)
  found[matrices] <- lapply(found[matrices], t)
  found
}

predict.quorum <- function(object, newdata, se.fit = FALSE, interval = c("none", "prediction", "confidence"),
                           level = 0.95, quantiles = NULL, gradient = FALSE, novelty = FALSE, offset = NULL,
                           noise_std = NULL, na.action = na.pass, ..., verbose = FALSE) {
  interval <- match.arg(interval)
  if (!is.numeric(level) || length(level) != 1)
    refuse("level: one probability, as in 0.95")
  wanted <- c("mean", if (se.fit) "std", if (interval != "none") c("lower", "upper"),
              if (gradient) c("mean_gradient", "std_gradient"), if (novelty) c("novelty", "distance"),
              if (!is.null(quantiles)) "quantile")
  own <- c(if (interval != "none") c(interval = as_text(level)), if (interval == "confidence") c(latent = "true"),
           if (identical(wanted, "mean")) c(`mean-only` = "true"))
  options <- prediction_options(object, list(...), own)
  if (missing(newdata) || is.null(newdata))
    return(predict_training(object, wanted, options, quantiles, noise_std, offset, interval, verbose))
  queries <- queries_of(object, newdata, na.action)
  fill <- fills(options)
  table <- table_of(queries$columns, object$schema, fill)
  given <- list(offset = if (is.null(offset)) queries$offset else one_a_row(offset, "offset", queries$rows),
                noise_std = if (!is.null(noise_std)) one_a_row(noise_std, "noise_std", queries$rows),
                probability = as_reals(quantiles))
  results <- predict_table(object, table, wanted, options, given, fill, verbose)
  shape_results(results, interval, quantiles, object, queries$names)
}

# The library's answers at a table; NA at rows with missing cells, unless they are filled.
predict_table <- function(object, table, wanted, options, given, fill, verbose) {
  there <- if (fill) rep(TRUE, ncol(table)) else !colSums(is.na(table)) > 0
  for (one in given[c("offset", "noise_std")])
    if (!is.null(one))
      there <- there & !is.na(one)
  if (all(there))
    return(ask_library(object, table, wanted, options, lapply(given, as_reals), verbose))
  given[c("offset", "noise_std")] <- lapply(given[c("offset", "noise_std")], function(x) x[there])
  found <- ask_library(object, table[, there, drop = FALSE], wanted, options, lapply(given, as_reals), verbose)
  spread_rows(found, there)
}

# Results of some rows among all of them.
spread_rows <- function(found, there) {
  place <- ifelse(there, cumsum(there), NA)
  report <- attr(found, "report")
  found <- lapply(found, function(x) if (is.matrix(x)) x[place, , drop = FALSE] else x[place])
  structure(found, report = report)
}

# A vector, a matrix of fit, lwr and upr, or a list where more was asked for, as predict() of lm does.
shape_results <- function(results, interval, quantiles, object, names) {
  fit <- setNames(results$mean, names)
  if (interval != "none")
    fit <- matrix(c(results$mean, results$lower, results$upper), ncol = 3,
                  dimnames = list(names, c("fit", "lwr", "upr")))
  rest <- list()
  if (!is.null(results$std))
    rest$se.fit <- setNames(results$std, names)
  if (!is.null(results$quantile))
    rest$quantiles <- matrix(results$quantile, ncol = length(quantiles),
                             dimnames = list(names, paste0(vapply(100 * quantiles, format, ""), "%")))
  inputs <- if (!is.null(results$mean_gradient)) variable.names(object)
  for (one in c("mean_gradient", "std_gradient"))
    if (!is.null(results[[one]]))
      rest[[one]] <- matrix(results[[one]], ncol = length(inputs), dimnames = list(names, inputs))
  for (one in c("novelty", "distance"))
    if (!is.null(results[[one]]))
      rest[[one]] <- setNames(results[[one]], names)
  if (length(rest)) c(list(fit = fit), rest, list(method = attr(results, "report")$method)) else fit
}

# The training rows as the model has them, in their order; rows of weight 0 are not among them.
training_rows <- function(object) {
  rows <- value_of(.Call(qr_training_rows, object$handle, object$target))
  order <- order(rows$row)
  list(table = rows$table[, order, drop = FALSE], y = rows$y[order], row = rows$row[order])
}

# Holes of training rows are predicted as such, also by a loaded model, whose file does not keep the options of predictions.
with_holes <- function(options, table) {
  if (anyNA(table)) c(options[names(options) != "missing"], missing = "impute") else options
}

predict_training <- function(object, wanted, options, quantiles, noise_std, offset, interval, verbose) {
  rows <- training_rows(object)
  given <- list(offset = training_offset(object, offset, rows$row),
                noise_std = if (!is.null(noise_std)) one_a_row(noise_std, "noise_std", ncol(rows$table)),
                probability = as_reals(quantiles))
  results <- predict_table(object, rows$table, wanted, with_holes(options, rows$table), given, TRUE, verbose)
  if (!is.null(object$kept))
    results <- spread_rows(results, seq_len(object$rows) %in% object$kept)
  shape_results(results, interval, quantiles, object, names_of_rows(object, length(results$mean)))
}

# The offset of the model's rows, of a model that has one: given, or that of the fit.
training_offset <- function(object, offset, row) {
  if (is.null(quorum_info(object)$offset_name) && is.null(object$offset))
    return(offset)
  if (is.null(offset))
    offset <- if (is.null(object$kept)) object$offset else object$offset[object$kept]
  if (is.null(offset))
    refuse("the model was fitted with an offset, which its file does not keep: give newdata")
  one_a_row(offset, "offset", length(row))
}

names_of_rows <- function(object, rows) {
  if (is.null(object$row_names)) as.character(seq_len(rows)) else object$row_names
}

# Values of the training rows, as na.action wants them (na.exclude).
padded <- function(object, values) {
  if (is.null(object$na.action)) values else naresid(object$na.action, values)
}

fitted.quorum <- function(object, ...) {
  padded(object, predict(object, ...))
}

# The model's targets are those that the offset leaves, and so are the predictions that they are compared with.
residuals.quorum <- function(object, ...) {
  y <- training_rows(object)$y
  if (!is.null(object$kept))
    y <- replace(rep(NA_real_, object$rows), object$kept, y)
  none <- if (!is.null(quorum_info(object)$offset_name) || !is.null(object$offset)) rep(0, sum(!is.na(y)))
  padded(object, y - predict(object, offset = none, ...))
}

simulate.quorum <- function(object, nsim = 1, seed = NULL, newdata, ..., verbose = FALSE) {
  if (!is.numeric(nsim) || length(nsim) != 1 || is.na(nsim) || nsim < 1)
    refuse("nsim: how many draws, 1 at least")
  options <- prediction_options(object, list(...))
  if (is.null(seed)) # R's own generator, so that set.seed holds
    seed <- floor(stats::runif(1, 0, 2^31))
  options <- c(options[names(options) != "seed"], seed = as_text(seed))
  if (missing(newdata)) {
    rows <- training_rows(object)
    table <- rows$table
    options <- with_holes(options, table)
    names <- names_of_rows(object, object$rows)[if (is.null(object$kept)) seq_along(rows$y) else object$kept]
    offset <- training_offset(object, NULL, rows$row)
  } else {
    queries <- queries_of(object, newdata, stats::na.fail)
    table <- table_of(queries$columns, object$schema, fills(options))
    names <- queries$names
    offset <- queries$offset
  }
  draws <- value_of(.Call(qr_sample, object$handle, object$target, inputs_of(object, table), library_options(options),
                          as.integer(nsim), teller(verbose, "simulate")))
  draws <- as.data.frame(t(draws), row.names = names)
  names(draws) <- paste0("sim_", seq_len(nsim))
  if (!is.null(offset))
    draws <- draws + offset
  attr(draws, "seed") <- seed
  draws
}
