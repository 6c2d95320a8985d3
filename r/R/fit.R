# Fits: by formula, or of inputs and target.

quorum <- function(x, ...) UseMethod("quorum")

# Whether missing cells are filled.
fills <- function(options) options["missing"] %in% "impute"

# What is done with missing cells: na.action where it is given, else what the option missing says, else R's own.
action_of <- function(given, options) {
  if (!is.null(given)) given
  else if (fills(options)) na.pass
  else if (options["missing"] %in% "drop") na.omit
  else if (options["missing"] %in% "error") stats::na.fail
  else getOption("na.action")
}

# A method's call as the user wrote it, so that update() does it again.
own_call <- function(call) {
  call[[1L]] <- quote(quorum)
  call
}

quorum.formula <- function(formula, data, weights, subset, na.action, offset, noise_std, ..., verbose = FALSE) {
  call <- own_call(match.call())
  options <- given_options(list(...))
  frame_call <- match.call(expand.dots = FALSE)
  wanted <- c("formula", "data", "weights", "subset", "na.action", "offset", "noise_std")
  frame_call <- frame_call[c(1L, match(wanted, names(frame_call), 0L))]
  frame_call[[1L]] <- quote(stats::model.frame)
  frame_call$na.action <- action_of(if (!missing(na.action)) na.action, options)
  one_noise <- if (!missing(noise_std))
    one_number(call$noise_std, if (!missing(data)) data, environment(as.formula(formula)))
  if (!is.null(one_noise))
    frame_call$noise_std <- NULL
  frame <- eval(frame_call, parent.frame())
  form <- check_terms(attr(frame, "terms"))
  response <- model.response(frame, "any")
  noise <- if (is.null(one_noise)) frame[["(noise_std)"]] else rep(one_noise, nrow(frame))
  object <- fit_columns(flat_columns(frame[input_variables(form)]), response, target_name(form), TRUE, options, verbose,
                        weights = model.weights(frame), offset = model.offset(frame), noise_std = noise,
                        extra_names = extra_names(call, form), row_names = attr(frame, "row.names"))
  finish(object, call = call, terms = form, na.action = attr(frame, "na.action"))
}

# The expression's value, where it is one for all rows; else NULL.
one_number <- function(expression, data, environment) {
  value <- eval(expression, data, environment)
  if (length(value) == 1) value
}

# What the columns of offset, weights and noise_std are called in the data, so that the command finds them there.
extra_names <- function(call, form) {
  offset <- call$offset
  if (is.null(offset) && length(attr(form, "offset")) == 1)
    offset <- attr(form, "variables")[[attr(form, "offset") + 1L]][[2L]]
  own <- list(offset = offset, weights = call$weights, noise_std = call$noise_std)
  vapply(names(own), function(name) if (is.name(own[[name]])) as.character(own[[name]]) else name, "")
}

# The formula's terms, which are to be variables alone.
check_terms <- function(form) {
  if (attr(form, "response") == 0)
    refuse("the formula has no target: y ~ x")
  if (any(attr(form, "order") > 1))
    refuse("the formula has an interaction (", attr(form, "term.labels")[attr(form, "order") > 1][1],
           "): name the variables alone, the model finds how they act together")
  if (attr(form, "intercept") == 0)
    refuse("the formula has no intercept: trend = \"none\" has predictions return to 0 away from the data")
  if (length(attr(form, "term.labels")) == 0)
    refuse("the formula has no inputs: y ~ x")
  form
}

# Names of the model frame's columns that are inputs: neither the target, nor offsets, nor what "- x" takes away,
# which is a variable of the frame all the same.
input_variables <- function(form) {
  variables <- as.list(attr(form, "variables"))[-1L]
  inputs <- rowSums(attr(form, "factors") > 0) > 0 # variables x terms
  vapply(variables[inputs], variable_name, "")
}

variable_name <- function(variable) if (is.name(variable)) as.character(variable) else deparse_one(variable)

deparse_one <- function(expression) paste(deparse(expression, width.cutoff = 500L), collapse = " ")

# The target's name.
target_name <- function(form) {
  variable_name(attr(form, "variables")[[attr(form, "response") + 1L]])
}

quorum.default <- function(x, y, weights = NULL, offset = NULL, noise_std = NULL, na.action = NULL, ...,
                           verbose = FALSE) {
  call <- own_call(match.call())
  if (is.null(dim(x)) && is.numeric(x))
    x <- matrix(x, ncol = 1)
  if (length(dim(x)) != 2)
    refuse("x: a matrix or a data frame of inputs, one row an observation")
  if (missing(y))
    refuse("y is missing: the target, one value a row of x; or give a formula, as in quorum(y ~ ., data)")
  options <- given_options(list(...))
  named <- !is.null(colnames(x))
  frame <- as.data.frame(x)
  na.action <- action_of(na.action, options)
  if (NROW(y) != nrow(frame))
    refuse("y has ", NROW(y), " values, and x has ", nrow(frame), " rows")
  extras <- list(weights = weights, offset = offset, noise_std = noise_std)
  all <- frame
  all[["(y)"]] <- y
  for (name in names(extras))
    if (!is.null(extras[[name]]))
      all[[paste0("(", name, ")")]] <- one_a_row(extras[[name]], name, nrow(frame))
  if (!is.null(na.action))
    all <- match.fun(na.action)(all)
  object <- fit_columns(flat_columns(all[seq_len(ncol(frame))]), all[["(y)"]], "y", named, options, verbose,
                        weights = all[["(weights)"]], offset = all[["(offset)"]],
                        noise_std = all[["(noise_std)"]], row_names = attr(all, "row.names"))
  finish(object, call = call, na.action = attr(all, "na.action"))
}

one_a_row <- function(values, name, rows) {
  if (name == "noise_std" && length(values) == 1)
    values <- rep(values, rows)
  if (!is.numeric(values) || length(values) != rows)
    refuse(name, ": one number a row, and there are ", rows, " rows")
  as.double(values)
}

# The name, or one like it that is not taken.
free_name <- function(name, taken) {
  while (name %in% taken)
    name <- paste0(name, "_")
  name
}

# The target's values, rows x targets, and their names.
response_of <- function(y, name) {
  if (is.factor(y) || is.character(y) || is.logical(y) || is_date(y))
    refuse("the target is of class ", class(y)[1], ": this is regression, and it has to be a number")
  names <- if (!is.null(colnames(y))) colnames(y) else if (NCOL(y) == 1) name else paste0("y", seq_len(ncol(y)))
  if (is.data.frame(y))
    y <- as.matrix(y)
  if (!is.numeric(y))
    refuse("the target is of class ", class(y)[1], ": it has to be a number")
  list(y = matrix(as.double(y), nrow = NROW(y)), names = names)
}

as_reals <- function(values) if (!is.null(values)) as.double(values)

# A model of columns and target, or of several targets.
fit_columns <- function(columns, y, target, named, options, verbose, weights, offset, noise_std, row_names,
                        extra_names = c(offset = "offset", weights = "weights", noise_std = "noise_std")) {
  schema <- schema_of(columns, fills(options))
  response <- response_of(y, target)
  if (fills(options)) { # without its target a row teaches nothing
    there <- stats::complete.cases(response$y)
    if (!all(there))
      refuse("row ", which(!there)[1], " has no target: missing = \"impute\" fills inputs; leave such rows out by subset")
  }
  names <- schema$names
  for (one in response$names)
    names <- c(names, free_name(one, names))
  data <- list(X = table_of(columns, schema, fills(options)), y = response$y, names = if (named) names,
               levels = schema$levels, dates = schema$dates, offset = as_reals(offset), weight = as_reals(weights),
               noise_std = as_reals(noise_std))
  if (named) {
    data$offset_name <- free_name(extra_names[["offset"]], names)
    data$weight_name <- free_name(extra_names[["weights"]], c(names, data$offset_name))
    data$noise_name <- free_name(extra_names[["noise_std"]], c(names, data$offset_name, data$weight_name))
  }
  handle <- value_of(.Call(qr_fit, data, library_options(options), teller(verbose, "fit")))
  object <- of_handle(handle, options)
  for (one in if (inherits(object, "quorum")) list(object) else object)
    tell_of_fit(one)
  kept <- if (any(weights == 0)) which(weights > 0) # rows of weight 0 are none of the model's
  plain <- is.integer(row_names) && identical(row_names, seq_along(row_names))
  given_rows <- list(row_names = if (!plain) as.character(row_names), rows = nrow(response$y), kept = kept,
                     offset = as_reals(offset))
  of_each(object, function(one) add(one, given_rows))
}

tell_of_fit <- function(object) {
  info <- quorum_info(object)
  tell_of_constants(info)
  if (!is.null(info$graph_trouble))
    tell_of_graph(info$graph_trouble, !is.null(info$importance))
}

add <- function(object, fields) {
  for (name in names(fields))
    object[[name]] <- fields[[name]]
  object
}

of_each <- function(object, change) {
  if (inherits(object, "quorum_targets"))
    structure(lapply(unclass(object), change), class = "quorum_targets")
  else change(object)
}

finish <- function(object, ...) {
  fields <- list(...)
  of_each(object, function(one) add(one, fields))
}

# The object of a model of the library; of several targets a list of them, which share it.
of_handle <- function(handle, options = character()) {
  several <- lapply(seq_len(.Call(qr_targets, handle)) - 1L, function(target) {
    info <- value_of(.Call(qr_info, handle, target))
    columns <- seq_len(info$columns)
    structure(class = "quorum", list(
      handle = handle, target = target, target_name = info$names[info$inputs + 1L], named = info$named,
      schema = list(names = info$names[columns], levels = info$levels[columns], dates = info$dates),
      rows = info$rows, options = options))
  })
  if (length(several) == 1)
    return(several[[1]])
  structure(setNames(several, vapply(several, function(one) one$target_name, "")), class = "quorum_targets")
}

# Everything that the library tells of a model.
quorum_info <- function(object) {
  if (!inherits(object, "quorum"))
    refuse("a model of quorum() or quorum_load() is wanted; of several targets one of them, as in object$name")
  info <- value_of(.Call(qr_info, object$handle, object$target))
  if (!is.null(info$rotation))
    info$rotation <- t(info$rotation)
  if (info$neighbours == 0)
    info["neighbours"] <- list(NULL)
  constant <- info$constant != 0
  info$lengthscale[constant] <- Inf
  info$input_lengthscale[constant] <- Inf
  info
}
