# During a call of the library: progress by message(), and whatever interrupts it.

big <- function() make_table(3000)

test_that("progress comes by message()", {
  said <- testthat::capture_messages(quick(yield ~ ., make_table(), verbose = TRUE))
  expect_match(said, "^quorum fit: ")
  expect_silent(suppressMessages(quick(yield ~ ., make_table(), verbose = TRUE)))
  expect_silent(quick(yield ~ ., make_table()))
})

test_that("an error in a handler of messages ends the fit, and R goes on", {
  seen <- tryCatch(withCallingHandlers(quick(yield ~ ., big(), verbose = TRUE), message = function(m) stop("enough")),
                   error = conditionMessage)
  expect_identical(seen, "enough")
  expect_length(predict(quick(yield ~ depth, make_table()), make_table()[1:2, ]), 2)
})

test_that("an interrupt ends the fit soon", {
  started <- proc.time()[["elapsed"]]
  seen <- tryCatch(withCallingHandlers(
    quorum(yield ~ ., big(), verbose = TRUE, experts = 1, train = "parts", max_evaluations = 100000, tolerance = 0,
           threads = 2),
    message = function(m) {
      tools::pskill(Sys.getpid(), tools::SIGINT)
      invokeRestart("muffleMessage")
    }), interrupt = function(i) "interrupted")
  expect_identical(seen, "interrupted")
  expect_lt(proc.time()[["elapsed"]] - started, 20)
})
