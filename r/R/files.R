# Model files: those of the command.

file_name <- function(file) {
  if (!is.character(file) || length(file) != 1 || is.na(file) || !nzchar(file))
    refuse("file: the name of a file")
  path.expand(file)
}

quorum_save <- function(object, file) {
  file <- file_name(file)
  if (inherits(object, "quorum_targets"))
    value_of(.Call(qr_save, object[[1]]$handle, 0L, file))
  else if (inherits(object, "quorum"))
    value_of(.Call(qr_save, object$handle, object$target, file))
  else refuse("object: a model of quorum() or quorum_load()")
  invisible(object)
}

quorum_load <- function(file, ..., verbose = FALSE) {
  call <- match.call()
  options <- given_options(list(...))
  handle <- value_of(.Call(qr_load, file_name(file), library_options(options), teller(verbose, "load")))
  finish(of_handle(handle, options), call = call)
}
