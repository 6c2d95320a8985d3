# Replies of the C routines: their value, or a condition with the library's sentence.

condition <- function(sentence, classes, call) {
  structure(class = c(classes, "condition"), list(message = sentence, call = call))
}

# The value of a reply; a failure is an error of class quorum_KIND_error, such as quorum_file_error, and a
# numerical event a warning of class quorum_KIND_warning.
value_of <- function(reply, call = NULL) {
  kind <- gsub("[^a-z]+", "_", reply$kind)
  if (reply$status < 0)
    stop(condition(reply$sentence, c(paste0("quorum_", kind, "_error"), "quorum_error", "error"), call))
  if (reply$status > 0)
    tell(reply$sentence, kind, call)
  reply$value
}

# A warning of class quorum_KIND_warning.
tell <- function(sentence, kind, call = NULL) {
  warning(condition(sentence, c(paste0("quorum_", kind, "_warning"), "quorum_warning", "warning"), call))
}

# What R itself finds wrong with a call.
refuse <- function(..., call = NULL) {
  stop(condition(paste0(...), c("quorum_argument_error", "quorum_error", "error"), call))
}

some_names <- function(names) {
  paste0(paste(head(names, 10), collapse = ", "), if (length(names) > 10) ", ...")
}

tell_of_constants <- function(info) {
  constant <- info$constant != 0
  if (info$place > 0) # longitude and latitude are a place, and no inputs themselves
    constant[c(info$longitude, info$latitude) + 1] <- FALSE
  names <- info$names[-length(info$names)][constant]
  if (length(names))
    tell(paste0("constant in the training data, and so without effect on predictions: ",
                some_names(names)), "constant")
}

tell_of_graph <- function(trouble, there) {
  what <- if (there) "the expert graph is only approximate" else
    "the model has no expert graph, which '*' methods and select = \"graph:A\" need"
  tell(paste0(what, ": ", trouble), "graph")
}

queries_have <- function(n) if (n == 1) "1 query has" else sprintf("%.0f queries have", n)

# The warnings of a prediction.
tell_of_prediction <- function(report, info) {
  constant <- info$names[-length(info$names)][info$constant != 0]
  if (report$off_constants > 0)
    tell(sprintf(paste("%s another value of a constant input (%s) than the training data: it has no effect, since",
                       "nothing could be learned about it"), queries_have(report$off_constants),
                 some_names(constant)), "constant")
  if (report$unseen > 0)
    tell(paste(queries_have(report$unseen), "a level that was not in the training data, predicted as one more of its",
               "kind, with the variance that this leaves; unseen = \"error\" refuses it"), "level")
  if (report$filled_anew > 0)
    tell(paste(queries_have(report$filled_anew), "missing cells in a column that has all its cells in the training",
               "data: they are filled, but what is usual where it is missing is not known"), "missing")
  if (report$calibration_unused)
    tell(sprintf(paste("the prediction is not calibrated: this model's calibration is for new observations by %s;",
                       "fit with calibrate = TRUE and the options of the prediction, or leave it out by",
                       "calibration = \"off\""), info$calibration_for), "calibration")
  if (!is.null(report$graph_trouble))
    tell_of_graph(report$graph_trouble, !is.null(info$importance))
}

# A function for the C routines that tells of progress by message(): once a second, and of each new stage.
# NULL: nobody is to be told.
teller <- function(verbose, task) {
  if (!verbose)
    return(NULL)
  last_stage <- ""
  last_time <- -Inf
  last_text <- ""
  function(stage, fraction, detail) {
    now <- proc.time()[["elapsed"]]
    share <- if (fraction >= 0) sprintf(" %.0f %%", 100 * min(fraction, 1)) else ""
    text <- paste0("quorum ", task, ": ", stage, share, if (nzchar(detail)) ", ", detail)
    if (text == last_text || (stage == last_stage && now - last_time < 1))
      return(invisible())
    last_stage <<- stage
    last_time <<- now
    last_text <<- text
    message(text)
  }
}
