# A table with numbers, a factor and a text, and a fit of it that takes a moment.

make_table <- function(n = 160, seed = 1) {
  set.seed(seed)
  table <- data.frame(depth = runif(n), age = rnorm(n), site = factor(sample(c("north", "south", "mid"), n, TRUE)))
  table$yield <- sin(5 * table$depth) + 0.3 * table$age + c(mid = 0, north = 1, south = -1)[as.character(table$site)] +
    rnorm(n) / 10
  table
}

# quorum() with options for a fit that does not need to be a good one, unless they are given.
quick <- function(...) {
  call <- match.call()
  call[[1]] <- quote(quorum)
  options <- list(experts = 3, kernel = "se", max_evaluations = 8, threads = 2)
  for (name in setdiff(names(options), names(call)))
    call[[name]] <- options[[name]]
  suppressWarnings(eval(call, parent.frame()), classes = "quorum_warning")
}

# The command quorum, named by the variable QUORUM, with these arguments.
command <- function(...) {
  quorum <- Sys.getenv("QUORUM")
  skip_if(quorum == "", "the variable QUORUM does not name the command")
  out <- system2(quorum, shQuote(c(...)), stdout = TRUE, stderr = TRUE)
  if (!is.null(attr(out, "status")))
    stop(paste(out, collapse = "\n"))
  out
}

# A csv file with all digits.
write_table <- function(table, file) {
  numbers <- vapply(table, is.numeric, NA)
  table[numbers] <- lapply(table[numbers], function(x) ifelse(is.na(x), "", sprintf("%.17g", x)))
  utils::write.csv(table, file, row.names = FALSE, quote = FALSE, na = "")
}

new_file <- function(extension) tempfile(fileext = extension)
