# Columns of a data frame as the library takes them: numbers, levels of categories, seconds of dates.
#
# A schema says what columns are: list(names, levels, dates).  levels: by column its levels, ascending bytewise,
# or NULL of a number; dates: by column the form of dates as a file would have it, or NA.  Either is NULL where no
# column has any.

no_level <- "(missing)" # the level of a missing cell, as in files (missing = "impute")

is_text <- function(x) is.factor(x) || is.character(x) || is.logical(x)
is_date <- function(x) inherits(x, "Date") || inherits(x, "POSIXt")

# Columns that are matrices, such as those of poly(), become a column each.
flat_columns <- function(frame) {
  wide <- vapply(frame, function(x) length(dim(x)) == 2, NA)
  if (!any(wide))
    return(as.list(frame))
  parts <- Map(function(x, name, many) {
    if (!many)
      return(setNames(list(x), name))
    x <- as.data.frame(unclass(x))
    setNames(as.list(x), paste(name, names(x), sep = "."))
  }, frame, names(frame), wide)
  do.call(c, unname(parts))
}

seconds_of <- function(x) {
  if (inherits(x, "Date")) as.numeric(x) * 86400 else as.numeric(as.POSIXct(x))
}

# "2020-12-31", or of times that are not shown in UTC one with its zone.
form_of <- function(x) {
  zone <- attr(x, "tzone")[1]
  if (inherits(x, "Date") || (!is.null(zone) && zone %in% c("UTC", "GMT"))) "yyyy-mm-dd" else "yyyy-mm-dd zone"
}

texts_of <- function(x, fill) {
  x <- enc2utf8(as.character(x))
  if (fill)
    x[is.na(x)] <- no_level
  x
}

number_of <- function(x, name) {
  if (inherits(x, "difftime"))
    return(as.double(x, units = "secs"))
  if (!is.numeric(x))
    refuse("column ", name, ": it is of class ", class(x)[1],
           "; columns are numbers, factors, texts, TRUE and FALSE, or dates")
  as.double(x)
}

# What columns are.
schema_of <- function(columns, fill) {
  text <- vapply(columns, is_text, NA)
  date <- vapply(columns, is_date, NA)
  levels <- lapply(seq_along(columns), function(i) if (text[i])
    sort(unique(texts_of(columns[[i]], fill)), method = "radix", na.last = NA))
  dates <- vapply(seq_along(columns), function(i) if (date[i]) form_of(columns[[i]]) else NA_character_, "")
  list(names = names(columns), levels = if (any(text)) levels, dates = if (any(date)) dates)
}

# One column's numbers by a schema: -1 of a level that is none of them.
coded <- function(x, name, levels, date, fill) {
  if (!is.null(levels)) {
    if (is.numeric(x) && !is.factor(x))
      x <- vapply(x, function(v) if (is.na(v)) NA_character_ else as_text(v), "")
    texts <- texts_of(x, fill)
    return(ifelse(is.na(texts), NA_real_, match(texts, levels, nomatch = 0) - 1))
  }
  if (!is.na(date)) {
    if (!is_date(x) && !is.numeric(x))
      refuse("column ", name, ": the model was fitted with dates there, and it is of class ", class(x)[1])
    return(if (is_date(x)) seconds_of(x) else as.double(x))
  }
  if (is_text(x) && !all(is.na(x)))
    refuse("column ", name, ": it is of class ", class(x)[1], ", and the model was fitted with numbers there")
  if (is_date(x))
    refuse("column ", name, ": it has dates, and the model was fitted with numbers there")
  number_of(if (is_text(x)) as.double(x) else x, name)
}

# All columns by a schema: a matrix, columns x rows, as the library wants it.
table_of <- function(columns, schema, fill) {
  if (length(columns) != length(schema$names))
    refuse("the data have ", length(columns), " columns, and the model has ", length(schema$names))
  numbers <- lapply(seq_along(columns), function(i)
    coded(columns[[i]], schema$names[i], if (!is.null(schema$levels)) schema$levels[[i]],
          if (is.null(schema$dates)) NA else schema$dates[i], fill))
  rows <- if (length(numbers)) length(numbers[[1]]) else 0L
  matrix(unlist(numbers, use.names = FALSE), length(columns), rows, byrow = TRUE)
}

# The columns of new data that a schema has, by name where both have names, else by place.
pick_columns <- function(newdata, schema, named) {
  if (is.null(dim(newdata)) && is.numeric(newdata) && length(schema$names) == 1)
    newdata <- matrix(newdata, ncol = 1)
  if (length(dim(newdata)) != 2)
    refuse("newdata: a data frame or a matrix")
  by_name <- named && !is.null(colnames(newdata))
  frame <- as.data.frame(newdata)
  if (!by_name)
    return(frame)
  missing <- setdiff(schema$names, names(frame))
  if (length(missing))
    refuse("newdata has no column ", some_names(missing))
  frame[schema$names]
}
