# The library's options, by name.

quorum_version <- function() .Call(qr_version)[1]

# The library may be exchanged below an installed package.
check_version <- function(library, header) {
  if (!startsWith(library, paste0(header, ".")))
    stop("the quorum library is version ", library, ", and this package was built for ", header,
         ": install the package again", call. = FALSE)
}

.onLoad <- function(libname, pkgname) {
  versions <- .Call(qr_version)
  check_version(versions[1], versions[2])
}

quorum_options <- function(used_by = c("fit", "predict")) {
  table <- as.data.frame(.Call(qr_option_table), stringsAsFactors = FALSE)
  table <- table[c("name", "type", "default", "choices", "min", "max", "used_by", "help")]
  uses <- strsplit(table$used_by, " ", fixed = TRUE)
  keep <- vapply(uses, function(u) any(u %in% used_by), NA) & !table$name %in% not_of_r
  table$name <- gsub("-", "_", table$name, fixed = TRUE)
  table[!table$type %in% c("count", "real", "bytes"), c("min", "max")] <- NA
  table <- table[keep, ]
  rownames(table) <- NULL
  table
}

# Options of reading files, and what arguments of R's functions say.
not_of_r <- c("target", "ignore", "offset", "weights", "noise-std", "header", "decimal", "thousands", "comment",
              "categorical", "dates", "query", "interval", "mean-only")

# A value as the library reads it.
as_text <- function(value) {
  if (is.logical(value))
    value <- ifelse(value, "true", "false")
  if (is.numeric(value)) {
    short <- vapply(value, format, "", digits = 15, trim = TRUE, scientific = NA)
    whole <- is.finite(value) & value == round(value) & abs(value) < 1e15
    short[whole] <- sprintf("%.0f", value[whole])
    exact <- whole | as.numeric(short) == value
    value <- ifelse(exact, short, sprintf("%.17g", value))
  }
  paste(as.character(value), collapse = ",")
}

# Named values of ..., checked for what R knows about them: NULL stays the library's own choice.
given_options <- function(given) {
  if (length(given) && (is.null(names(given)) || any(names(given) == "")))
    refuse("options go by name, as in neighbours = 128: see quorum_options()")
  given <- given[!vapply(given, is.null, NA)]
  names(given) <- gsub("_", "-", names(given), fixed = TRUE)
  foreign <- intersect(names(given), not_of_r)
  if (length(foreign))
    refuse("option ", foreign[1], ": ", switch(foreign[1],
      interval = , `mean-only` = "it is what predict() is asked for, by interval and level",
      offset = , weights = , `noise-std` = "it is an argument of its own here, with values of the rows",
      "it is about reading files, which R does by itself"))
  if (anyDuplicated(names(given)))
    refuse("option ", names(given)[anyDuplicated(names(given))], ": given twice")
  bad <- vapply(given, function(v) anyNA(v) || !(is.logical(v) || is.numeric(v) || is.character(v)), NA)
  if (any(bad))
    refuse("option ", names(given)[bad][1], ": its value is a number, a text or TRUE or FALSE, and not missing")
  vapply(given, as_text, "")
}

# A handle of the library's options, of named texts.
library_options <- function(values) {
  value_of(.Call(qr_options, as.character(names(values)), as.character(values)))
}

# Of named texts those that a command uses, as quorum_options knows them.
used_by <- function(values, command) {
  table <- .Call(qr_option_table)
  uses <- strsplit(table$used_by, " ", fixed = TRUE)
  names <- table$name[vapply(uses, function(u) command %in% u, NA)]
  values[names(values) %in% names]
}
