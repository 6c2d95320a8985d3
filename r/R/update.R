# New rows for a fitted model, or another fit.

update.quorum <- function(object, formula., ..., newdata = NULL, newy = NULL, weights = NULL, offset = NULL,
                          noise_std = NULL, window = NULL, evaluate = TRUE, verbose = FALSE) {
  if (is.null(newdata) && is.null(window))
    return(refit(object, if (!missing(formula.)) formula., match.call(expand.dots = FALSE), evaluate,
                 parent.frame()))
  if (.Call(qr_targets, object$handle) > 1)
    refuse("new rows of a model with several targets: update its file by the command, quorum update")
  if (!missing(formula.))
    refuse("a new formula is another fit, and takes no newdata")
  options <- prediction_options(object, list(...))
  rows <- new_rows(object, newdata, newy, weights, offset, noise_std, fills(options))
  path <- tempfile(fileext = ".npz")
  on.exit(unlink(path))
  copy <- value_of(.Call(qr_copy, object$handle, object$target, path))
  report <- value_of(.Call(qr_update, copy, rows, if (is.null(window)) 0 else as.double(window),
                           library_options(options), teller(verbose, "update")))
  if (report$drift)
    tell(paste("the new rows are predicted worse than left-out rows were, by more than chance: the data may have",
               "moved away from the model; fit again"), "drift")
  object$handle <- copy
  object$rows <- quorum_info(object)$rows
  for (name in c("row_names", "na.action", "kept", "offset")) # of the rows of the fit
    object[name] <- list(NULL)
  object$update <- report
  object
}

# The call again, with a new formula or other arguments, as update() of other models.
refit <- function(object, formula., call, evaluate, frame) {
  if (is.null(object$call) || !identical(object$call[[1L]], quote(quorum)))
    refuse("there is no call of quorum() to do again: give new rows by newdata")
  again <- object$call
  if (!is.null(formula.))
    again$formula <- update(formula(object), formula.)
  changes <- c(call$..., as.list(call)[intersect(names(call), c("weights", "offset", "noise_std", "verbose"))])
  for (name in names(changes))
    again[[name]] <- changes[[name]]
  if (evaluate) eval(again, frame) else again
}

# New rows as the library takes them.
new_rows <- function(object, newdata, newy, weights, offset, noise_std, fill) {
  info <- quorum_info(object)
  if (is.null(newdata)) # a window alone
    return(list(X = matrix(0, info$inputs, 0), y = double()))
  queries <- queries_of(object, newdata, na.pass)
  table <- table_of(queries$columns, object$schema, fill)
  y <- if (is.null(newy)) new_target(object, newdata) else newy
  rows <- list(y = one_a_row(y, "newy", queries$rows),
               offset = if (is.null(offset)) queries$offset else one_a_row(offset, "offset", queries$rows),
               weight = if (!is.null(weights)) one_a_row(weights, "weights", queries$rows),
               noise_std = if (!is.null(noise_std)) one_a_row(noise_std, "noise_std", queries$rows))
  there <- !is.na(rows$y) & (fill | !colSums(is.na(table)) > 0)
  rows <- lapply(rows, function(x) if (!is.null(x)) as.double(x)[there])
  c(list(X = inputs_of(object, table[, there, drop = FALSE])), rows)
}

new_target <- function(object, newdata) {
  if (!is.null(object$terms)) {
    left <- attr(object$terms, "variables")[[attr(object$terms, "response") + 1L]]
    return(eval(left, as.data.frame(newdata), environment(object$terms)))
  }
  if (!object$target_name %in% colnames(newdata))
    refuse("newdata has no column ", object$target_name, ", the target: give its values by newy")
  as.data.frame(newdata)[[object$target_name]]
}
