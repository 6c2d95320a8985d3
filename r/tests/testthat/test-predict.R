test_that("predict answers in the shapes of lm", {
  table <- make_table()
  fit <- quick(yield ~ ., table)
  line <- lm(yield ~ ., table)
  for (ask in list(list(), list(interval = "prediction"), list(interval = "confidence"))) {
    ours <- do.call(predict, c(list(fit, table[1:7, ]), ask))
    theirs <- do.call(predict, c(list(line, table[1:7, ]), ask))
    expect_identical(dimnames(ours), dimnames(theirs))
    expect_identical(names(ours), names(theirs))
  }
  expect_named(predict(fit, table[1:7, ], se.fit = TRUE)[1:2], c("fit", "se.fit"))
})

test_that("intervals have their level, and quantiles are their ends", {
  table <- make_table()
  fit <- quick(yield ~ ., table, interval_shape = "auto")
  found <- predict(fit, table[1:9, ], interval = "prediction", level = 0.8, quantiles = c(0.1, 0.5, 0.9))
  expect_equal(found$quantiles[, "10%"], found$fit[, "lwr"])
  expect_equal(found$quantiles[, "90%"], found$fit[, "upr"])
  wide <- predict(fit, table[1:9, ], interval = "prediction", level = 0.99)
  expect_true(all(wide[, "upr"] > found$fit[, "upr"]))
  expect_true(all(predict(fit, table[1:9, ], interval = "confidence", level = 0.8)[, "upr"] < found$fit[, "upr"]))
  expect_error(predict(fit, table[1:9, ], interval = "prediction", level = 2), "interval")
})

test_that("intervals cover what they say", {
  table <- make_table(700)
  test <- make_table(800, seed = 7)
  fit <- quick(yield ~ ., table)
  found <- predict(fit, test, interval = "prediction", level = 0.9)
  covered <- mean(found[, "lwr"] <= test$yield & test$yield <= found[, "upr"])
  expect_gt(covered, 0.86)
  expect_lt(covered, 0.94)
})

test_that("a known error of the queries widens", {
  table <- make_table()
  fit <- quick(yield ~ depth + age, table, calibrate = FALSE)
  plain <- predict(fit, table[1:5, ], se.fit = TRUE)$se.fit
  expect_equal(predict(fit, table[1:5, ], se.fit = TRUE, noise_std = 0.5)$se.fit, sqrt(plain^2 + 0.25))
})

test_that("far from the data nothing is known", {
  fit <- quick(yield ~ depth + age, make_table())
  found <- predict(fit, data.frame(depth = c(0.5, 100), age = c(0, 100)), novelty = TRUE)
  expect_lt(found$novelty[[1]], 0.1)
  expect_gt(found$novelty[[2]], 0.9)
  expect_gt(found$distance[[2]], found$distance[[1]])
})

test_that("no rows are no predictions", {
  fit <- quick(yield ~ ., make_table())
  expect_length(predict(fit, make_table()[0, ]), 0)
  expect_identical(dim(predict(fit, make_table()[0, ], interval = "prediction")), c(0L, 3L))
})

test_that("fitted values and residuals are those of the training rows, in their order", {
  table <- make_table()
  rownames(table) <- paste0("r", seq_len(160))
  fit <- quick(yield ~ ., table)
  expect_equal(fitted(fit), predict(fit, table), tolerance = 1e-8)
  expect_equal(residuals(fit), setNames(table$yield, rownames(table)) - predict(fit, table), tolerance = 1e-8)
  expect_equal(predict(fit), predict(fit, table), tolerance = 1e-8)
})

test_that("rows of weight 0, left out or with an offset keep their places", {
  table <- make_table(60)
  table$w <- rep(c(1, 0, 2), 20)
  table$known <- table$depth
  table$age[c(4, 8)] <- NA
  fit <- quick(yield ~ depth + age, table, weights = w, offset = known, na.action = na.exclude)
  whole <- predict(fit, table)
  gone <- table$w == 0 | is.na(table$age)
  expect_identical(unname(is.na(fitted(fit))), gone)
  expect_named(fitted(fit), rownames(table))
  expect_equal(fitted(fit)[!gone], whole[!gone], tolerance = 1e-8)
  expect_equal(residuals(fit)[!gone], setNames(table$yield, rownames(table))[!gone] - whole[!gone], tolerance = 1e-8)
  expect_identical(rownames(simulate(fit, 1, seed = 1)), rownames(table)[!gone])
  file <- new_file(".npz")
  quorum_save(fit, file)
  again <- quorum_load(file) # which has its own rows, and no offset
  expect_equal(unname(residuals(again)), unname(residuals(fit)[!gone]), tolerance = 1e-8)
  expect_error(fitted(again), "offset")
})

test_that("draws have the mean and spread of predictions, and set.seed holds", {
  table <- make_table()
  fit <- quick(yield ~ depth + age, table, method = "nearest")
  draws <- simulate(fit, 400, seed = 5, newdata = table[1:6, ])
  expect_identical(dim(draws), c(6L, 400L))
  found <- predict(fit, table[1:6, ], se.fit = TRUE, calibration = "off")
  expect_lt(max(abs(rowMeans(draws) - found$fit) / found$se.fit), 0.25)
  expect_identical(simulate(fit, 2, seed = 5, newdata = table[1:6, ]), structure(draws[1:2], seed = 5))
  set.seed(1)
  one <- simulate(fit, 1, newdata = table[1:6, ])
  set.seed(1)
  expect_identical(simulate(fit, 1, newdata = table[1:6, ]), one)
})
