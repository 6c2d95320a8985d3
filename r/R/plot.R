# Pictures of a model.

# The middle of a training column: the median, or of levels the most frequent.
middle_of <- function(values, levels) {
  values <- values[!is.na(values)]
  if (is.null(levels)) median(values) else as.numeric(names(which.max(table(values))))
}

# Predictions along one column, the others at their middle: list(x, mean, lower, upper, levels).
effect_of <- function(object, rows, column, level, points, options) {
  schema <- object$schema
  levels_of <- function(d) if (is.null(schema$levels)) NULL else schema$levels[[d]]
  inner <- if (nrow(rows$table) == 1) c(0, 1) else c(0.02, 0.98) # beyond, others at their middle are far from any row
  range <- stats::quantile(rows$table[column, ], inner, na.rm = TRUE, names = FALSE)
  levels <- levels_of(column)
  x <- if (is.null(levels)) seq(range[1], range[2], length.out = points) else seq_along(levels) - 1
  table <- matrix(vapply(seq_len(nrow(rows$table)), function(d) middle_of(rows$table[d, ], levels_of(d)), 0),
                  nrow(rows$table), length(x))
  table[column, ] <- x
  options <- c(options[names(options) != "interval"], interval = as_text(level))
  found <- ask_library(object, table, c("mean", "lower", "upper"), options, list(), FALSE)
  list(x = x, mean = found$mean, lower = found$lower, upper = found$upper, levels = levels)
}

band_colour <- "#9ecae1"
line_colour <- "#08519c"

draw_effect <- function(effect, name, target, date, ylim, ...) {
  if (is.null(effect$levels)) {
    x <- if (is.na(date)) effect$x else as.POSIXct(effect$x, origin = "1970-01-01", tz = "UTC")
    plot(x, effect$mean, type = "n", xlab = name, ylab = target, ylim = ylim, ...)
    polygon(c(x, rev(x)), c(effect$lower, rev(effect$upper)), col = band_colour, border = NA)
    lines(x, effect$mean, col = line_colour, lwd = 2)
  } else {
    plot(effect$x, effect$mean, type = "n", xlab = name, ylab = target, ylim = ylim, xaxt = "n",
         xlim = range(effect$x) + c(-0.5, 0.5), ...)
    axis(1, effect$x, effect$levels, las = if (length(effect$x) > 4) 2 else 1, gap.axis = 0)
    segments(effect$x, effect$lower, effect$x, effect$upper, col = band_colour, lwd = 6)
    points(effect$x, effect$mean, col = line_colour, pch = 19)
  }
}

plot_effects <- function(object, columns, level, points, rows, options, ...) {
  schema <- object$schema
  effects <- lapply(columns, function(d) effect_of(object, rows, d, level, points, options))
  alone <- length(schema$names) == 1
  ylim <- range(lapply(effects, function(e) c(e$lower, e$upper)), if (alone) rows$y)
  for (i in seq_along(columns)) {
    d <- columns[i]
    draw_effect(effects[[i]], schema$names[d], object$target_name,
                if (is.null(schema$dates)) NA else schema$dates[d], ylim, ...)
    if (alone && is.null(effects[[i]]$levels)) {
      some <- unique(round(seq(1, length(rows$y), length.out = min(length(rows$y), 2000))))
      points(rows$table[1, some], rows$y[some], pch = ".", cex = 2, col = "#00000066")
    }
  }
  invisible(setNames(effects, schema$names[columns]))
}

# At a sample of training rows: observed beside fitted, and residuals over their std against the normal.
plot_residuals <- function(object, which, rows, options, ...) {
  some <- unique(round(seq(1, length(rows$y), length.out = min(length(rows$y), 2000))))
  table <- rows$table[, some, drop = FALSE]
  found <- ask_library(object, table, c("mean", "std"), with_holes(options, table), list(), FALSE)
  y <- rows$y[some]
  if (which == "fitted") {
    plot(found$mean, y, xlab = "fitted", ylab = object$target_name, pch = 20, col = "#08519c66", ...)
    abline(0, 1)
  } else {
    plot(found$mean, (y - found$mean) / found$std, xlab = "fitted", ylab = "residual / std", pch = 20,
         col = "#08519c66", ...)
    abline(h = 0)
  }
  invisible(data.frame(fitted = found$mean, y = y, std = found$std))
}

plot.quorum <- function(x, which = c("effects", "fitted", "residuals", "lengthscales"), columns = NULL, level = 0.95,
                        points = 101, ..., options = list()) {
  which <- match.arg(which)
  if (which == "lengthscales") {
    shares <- summary(x)$inputs
    shares <- setNames(shares$share, rownames(shares))
    barplot(rev(sort(shares)), ylab = "share of the inverse length-scales", las = 2, col = band_colour, ...)
    return(invisible(shares))
  }
  rows <- training_rows(x)
  options <- prediction_options(x, options)
  if (which != "effects")
    return(plot_residuals(x, which, rows, options, ...))
  columns <- if (is.null(columns)) seq_along(x$schema$names) else if (is.character(columns))
    match(columns, x$schema$names) else columns
  if (anyNA(columns) || any(!columns %in% seq_along(x$schema$names)))
    refuse("columns: names or numbers of ", some_names(x$schema$names))
  if (length(columns) > 1 && all(par("mfrow") == 1)) {
    old <- par(mfrow = panes(length(columns)))
    on.exit(par(old))
  }
  plot_effects(x, columns, level, points, rows, options, ...)
}

# Rows and columns of small pictures.
panes <- function(n) {
  across <- ceiling(sqrt(n))
  c(ceiling(n / across), across)
}
