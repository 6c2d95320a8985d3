# Runs the R examples of a page of the documentation: Rscript page.R docs/r.md [--write]
# With --write it puts what R says into the page.
#
# A block that begins with ```r is evaluated, one expression after another; lines that begin with #> are what it
# printed just before them, warnings and errors as "Warning: ..." and "Error: ...".

options(width = 100, digits = 5)

# What an expression prints, as lines.
said <- function(expression, frame) {
  lines <- character()
  note <- function(kind, condition) lines <<- c(lines, paste0(kind, ": ", conditionMessage(condition)))
  printed <- capture.output(tryCatch(withCallingHandlers({
    result <- withVisible(eval(expression, frame))
    if (result$visible)
      print(result$value)
  }, warning = function(w) {
    note("Warning", w)
    invokeRestart("muffleWarning")
  }, message = function(m) {
    note("Message", m)
    invokeRestart("muffleMessage")
  }), error = function(e) note("Error", e)))
  sub(" +$", "", c(printed, lines))
}

# First and last line of each block.
blocks_of <- function(page) {
  start <- which(page == "```r")
  end <- vapply(start, function(s) s + which(page[-seq_len(s)] == "```")[1], 0)
  Map(function(s, e) list(first = s + 1, text = page[seq(s + 1, e - 1)]), start, end)
}

# The block's lines as they should be: expressions, and behind each what R says.
answered <- function(text, frame) {
  code <- ifelse(grepl("^#>", text), "", text)
  places <- attr(parse(text = code, keep.source = TRUE), "srcref")
  lines <- character()
  done <- 0
  for (place in places) {
    kept <- text[seq_len(place[3])[seq_len(place[3]) > done]]
    done <- place[3]
    lines <- c(lines, kept[!grepl("^#>", kept)])
    found <- said(parse(text = as.character(place))[[1]], frame)
    lines <- c(lines, if (length(found)) sub(" +$", "", paste("#>", found)))
  }
  rest <- text[seq_along(text) > done]
  c(lines, rest[!grepl("^#>", rest)])
}

file <- commandArgs(TRUE)[1]
page <- readLines(file, encoding = "UTF-8")
blocks <- blocks_of(page)
frame <- new.env(parent = globalenv())
right <- lapply(blocks, function(block) answered(block$text, frame))
wrong <- !mapply(function(block, lines) identical(block$text, lines), blocks, right)
if ("--write" %in% commandArgs(TRUE)) {
  for (i in rev(which(wrong))) {
    last <- blocks[[i]]$first + length(blocks[[i]]$text)
    page <- c(page[seq_len(blocks[[i]]$first - 1)], right[[i]], page[seq(last, length(page))])
  }
  writeLines(page, file, useBytes = TRUE)
  quit(status = 0)
}
for (i in which(wrong))
  cat(file, ":", blocks[[i]]$first, ": the page differs from what R says:\n", paste0("    ", right[[i]], "\n"), sep = "")
cat(file, ": ", length(blocks), " blocks, ", sum(wrong), " differ\n", sep = "")
quit(status = any(wrong) || length(blocks) == 0)
