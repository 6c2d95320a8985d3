test_that("new rows are taken, and the old model stays as it was", {
  table <- make_table()
  fit <- quick(yield ~ ., table[1:120, ])
  before <- predict(fit, table)
  more <- update(fit, newdata = table[121:160, ])
  expect_identical(predict(fit, table), before)
  expect_equal(nobs(fit), 120)
  expect_equal(nobs(more), 160)
  expect_equal(more$update$added, 40)
  expect_length(residuals(more), 160)
  expect_false(identical(predict(more, table), before))
  expect_equal(nobs(update(fit, newdata = table[121:160, ], window = 100)), 100)
  expect_equal(nobs(update(fit, window = 100)), 100)
})

test_that("an update is the command's", {
  table <- make_table()
  table_file <- new_file(".csv")
  model_file <- new_file(".npz")
  out_file <- new_file(".csv")
  fit <- quick(yield ~ ., table[1:120, ])
  quorum_save(fit, model_file)
  write_table(table[121:160, ], table_file)
  command("update", model_file, table_file, "-o", model_file, "--quiet")
  write_table(table[1:30, 1:3], table_file)
  command("predict", model_file, table_file, "-o", out_file, "--quiet")
  expect_identical(unname(predict(update(fit, newdata = table[121:160, ]), table[1:30, ])),
                   utils::read.csv(out_file)$mean)
})

test_that("new rows of a matrix bring their target", {
  table <- make_table()
  X <- as.matrix(table[1:2])
  fit <- quick(X[1:120, ], table$yield[1:120])
  expect_equal(nobs(update(fit, newdata = X[121:160, ], newy = table$yield[121:160])), 160)
  expect_error(update(fit, newdata = X[121:160, ]), "newy")
})

test_that("rows that no longer fit are told of", {
  table <- make_table(600)
  fit <- quick(yield ~ ., table, calibrate = TRUE)
  moved <- transform(make_table(100, seed = 5), yield = yield + 2)
  expect_warning(update(fit, newdata = moved), class = "quorum_drift_warning")
})

test_that("without new rows it is another fit", {
  table <- make_table()
  fit <- suppressWarnings(quorum(yield ~ depth + age, table, kernel = "se", max_evaluations = 10, threads = 2))
  less <- suppressWarnings(update(fit, . ~ . - age))
  expect_identical(variable.names(less), "depth")
  chosen <- "matern32"
  other <- suppressWarnings(update(fit, kernel = chosen))
  expect_identical(quorum_info(other)$kernel, "matern32")
  expect_identical(update(fit, kernel = "se", evaluate = FALSE), fit$call)
  expect_null(update(fit, kernel = NULL, evaluate = FALSE)$kernel)
  expect_error(update(quorum_load({
    file <- new_file(".npz")
    quorum_save(fit, file)
    file
  }), kernel = "se"), "no call")
})
