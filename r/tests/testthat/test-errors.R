test_that("what the library refuses is an error with its sentence", {
  table <- make_table()
  expect_error(quorum(yield ~ ., table, experts = 0), "option experts: 0 is outside its range, 1 to 1e+08",
               fixed = TRUE, class = "quorum_argument_error")
  expect_error(quorum(yield ~ ., table, no_such = 1), "no-such", class = "quorum_argument_error")
  expect_error(quorum(yield ~ ., transform(table, yield = 1)), "constant", class = "quorum_data_error")
  expect_error(quorum(yield ~ ., table[1, ]), class = "quorum_error")
  expect_error(quorum(yield ~ depth, transform(table, depth = replace(depth, 3, Inf))), class = "quorum_data_error")
  expect_error(predict(quick(yield ~ depth, table), table, method = "no-such"), class = "quorum_argument_error")
})

test_that("what R knows to be wrong is said before", {
  table <- make_table()
  table$nested <- as.list(seq_len(160))
  expect_error(quorum(yield ~ depth * age, table), "interaction")
  expect_error(quorum(yield ~ depth - 1, table), "trend = \"none\"")
  expect_error(quorum(~ depth, table), "no target")
  expect_error(quorum(yield ~ 1, table), "no inputs")
  expect_error(quorum(site ~ depth, table), "has to be a number")
  expect_error(quorum(yield ~ depth, table, 5), "type|weights|length")
  expect_error(quorum(table[1:2]), "y is missing")
  expect_error(quorum(table[1:2], 1:3), "3 values")
  expect_error(quorum(table[1:2], table$yield, weights = 1:3), "one number a row")
  expect_error(quorum(yield ~ depth, table, target = "age"), "reading files")
  expect_error(quorum(yield ~ depth, table, interval = 0.9), "predict")
  expect_error(quorum(yield ~ depth, table, kernel = NA), "not missing")
  expect_error(quorum(table["nested"], table$yield), "list")
  fit <- quick(yield ~ ., table[1:4])
  expect_error(predict(fit, table[1:2]), "site")
  expect_error(predict(fit, transform(table[1:4], depth = "deep")), "fitted with numbers")
  expect_error(predict(fit, table, kernel = "se"), "of the fit")
  by_matrix <- quick(table[1:2], table$yield)
  expect_error(predict(by_matrix, table["age"]), "no column depth")
  expect_error(predict(by_matrix, matrix(0, 2, 3)), "3 columns, and the model has 2")
})

test_that("numerical events are warnings of their class", {
  table <- make_table()
  table$flat <- 3
  expect_warning(fit <- quorum(yield ~ depth + flat, table, kernel = "se", threads = 2, max_evaluations = 10),
                 "constant in the training data.*flat", class = "quorum_constant_warning")
  expect_warning(predict(fit, transform(table[1:3, ], flat = 4)), "another value of a constant input",
                 class = "quorum_constant_warning")
  set.seed(2)
  caught <- list()
  withCallingHandlers(quorum(rnorm(200), rnorm(200), threads = 2), quorum_warning = function(w) {
    caught[[length(caught) + 1]] <<- w
    invokeRestart("muffleWarning")
  })
  expect_true(length(caught) > 0)
})
