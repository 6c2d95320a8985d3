test_that("rows with missing cells go by na.action", {
  table <- make_table()
  table$age[c(4, 9)] <- NA
  table$yield[20] <- NA
  fit <- quick(yield ~ ., table)
  expect_equal(nobs(fit), 157)
  expect_length(residuals(fit), 157)
  excluded <- quick(yield ~ ., table, na.action = na.exclude)
  expect_identical(unname(which(is.na(residuals(excluded)))), c(4L, 9L, 20L))
  expect_error(quick(yield ~ ., table, na.action = na.fail), "missing")
  expect_error(quick(yield ~ ., table, missing = "error"), "missing")
  expect_equal(nobs(quick(table[1:3], table$yield)), 157)
})

test_that("predictions at rows with missing cells are missing", {
  table <- make_table()
  fit <- quick(yield ~ ., table)
  queries <- table[1:6, ]
  queries$age[2] <- NA
  queries$site[5] <- NA
  found <- predict(fit, queries, interval = "prediction", se.fit = TRUE, gradient = TRUE)
  expect_identical(unname(is.na(found$fit[, "lwr"])), c(FALSE, TRUE, FALSE, FALSE, TRUE, FALSE))
  expect_identical(found$fit[6, "fit"], predict(fit, table[6, ])[[1]])
  expect_identical(dim(found$mean_gradient), c(6L, 3L))
  expect_length(predict(fit, queries, na.action = na.omit), 4)
  file <- new_file(".npz")
  quorum_save(fit, file)
  expect_identical(predict(quorum_load(file), queries), predict(fit, queries))
  queries[] <- lapply(queries, function(x) replace(x, TRUE, NA))
  expect_true(all(is.na(predict(fit, queries))))
})

test_that("missing = \"impute\" fills them", {
  table <- make_table()
  table$age[seq(2, 160, 5)] <- NA
  fit <- quick(yield ~ ., table, missing = "impute")
  expect_equal(nobs(fit), 160)
  found <- predict(fit, table[1:10, ], se.fit = TRUE)
  expect_false(anyNA(found$fit))
  expect_gt(found$se.fit[["2"]], found$se.fit[["1"]])
  expect_length(fitted(fit), 160)
  file <- new_file(".npz")
  quorum_save(fit, file)
  expect_equal(unname(fitted(quorum_load(file))), unname(predict(fit, table)), tolerance = 1e-9)
  expect_error(quick(yield ~ ., transform(table, yield = replace(yield, 1, NA)), missing = "impute"), "row 1 has no target")
})
