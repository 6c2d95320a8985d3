# Models move freely between R and the command, with the same bits.

columns <- function(found) unname(cbind(found$fit, found$se.fit))

for (method in c("nearest", "cells", "npae", "rbcm"))
  test_that(paste("a fit here and one of the command are the same, predicted by", method), {
    train <- make_table()
    queries <- make_table(50, seed = 2)
    table_file <- new_file(".csv")
    query_file <- new_file(".csv")
    model_file <- new_file(".npz")
    out_file <- new_file(".csv")
    write_table(train, table_file)
    write_table(queries[1:3], query_file)
    command("fit", table_file, "-o", model_file, "--experts", "3", "--kernel", "se", "--max-evaluations", "8",
            "--calibrate", "--method", method, "--quiet")
    command("predict", model_file, query_file, "-o", out_file, "--method", method, "--interval", "0.9", "--quiet")
    theirs <- as.matrix(utils::read.csv(out_file)[c("mean", "lower", "upper", "std")])
    ours <- quick(yield ~ ., train, method = method, calibrate = TRUE)
    found <- predict(ours, queries, se.fit = TRUE, interval = "prediction", level = 0.9)
    expect_identical(columns(found), unname(theirs))
    loaded <- quorum_load(model_file, method = method)
    expect_identical(columns(predict(loaded, queries, se.fit = TRUE, interval = "prediction", level = 0.9)),
                     unname(theirs))
    quorum_save(ours, model_file)
    command("predict", model_file, query_file, "-o", out_file, "--method", method, "--interval", "0.9", "--quiet")
    expect_identical(as.matrix(utils::read.csv(out_file)[c("mean", "lower", "upper", "std")]), theirs)
  })

test_that("the options of the file are those that were given", {
  model_file <- new_file(".npz")
  quorum_save(quick(yield ~ depth + age, make_table(), expert_size = 60, seed = 12345678), model_file)
  said <- paste(command("inspect", model_file, "--json"), collapse = "\n")
  expect_match(said, "\"yield\"", fixed = TRUE)
  options <- quorum_info(quorum_load(model_file))$options
  expect_match(options, "\"expert-size\": ?\"60\"")
  expect_match(options, "\"seed\": ?\"12345678\"")
})

test_that("weights, known noise and an offset are the command's", {
  train <- make_table()
  set.seed(9)
  train$w <- sample(0:3, nrow(train), TRUE)
  train$sd <- runif(nrow(train)) / 5
  train$known <- train$depth * 2
  table_file <- new_file(".csv")
  model_file <- new_file(".npz")
  out_file <- new_file(".csv")
  write_table(train, table_file)
  command("fit", table_file, "-o", model_file, "--target", "yield", "--weights", "w", "--noise-std", "sd", "--offset", "known",
          "--experts", "3", "--kernel", "se", "--max-evaluations", "8", "--quiet")
  write_table(train[1:20, c("depth", "age", "site", "known")], table_file)
  command("predict", model_file, table_file, "-o", out_file, "--quiet")
  fit <- quick(yield ~ depth + age + site, train, weights = w, noise_std = sd, offset = known)
  expect_identical(unname(predict(fit, train[1:20, ])), utils::read.csv(out_file)$mean)
  quorum_save(fit, model_file) # it knows the columns by the names that they have in the data
  command("predict", model_file, table_file, "-o", out_file, "--quiet")
  expect_identical(unname(predict(fit, train[1:20, ])), utils::read.csv(out_file)$mean)
  expect_identical(unlist(quorum_info(fit)[c("offset_name", "weights_name", "noise_name")], use.names = FALSE),
                   c("known", "w", "sd"))
  by_term <- quick(yield ~ depth + age + site + offset(known), train, weights = w, noise_std = sd)
  expect_identical(predict(by_term, train[1:20, ]), predict(fit, train[1:20, ]))
  by_matrix <- quick(train[1:3], train$yield, weights = train$w, noise_std = train$sd, offset = train$known)
  expect_identical(predict(by_matrix, train[1:20, ], offset = train$known[1:20]), predict(fit, train[1:20, ]))
})

test_that("dates are the command's", {
  set.seed(3)
  train <- data.frame(day = as.Date("2019-03-01") + sample(0:800, 200, TRUE), x = runif(200))
  train$y <- sin(2 * pi * as.numeric(train$day) / 365) + train$x + rnorm(200) / 10
  text <- transform(train, day = format(day))
  table_file <- new_file(".csv")
  model_file <- new_file(".npz")
  out_file <- new_file(".csv")
  write_table(text, table_file)
  command("fit", table_file, "-o", model_file, "--experts", "2", "--kernel", "se", "--max-evaluations", "8", "--periodic",
          "day:year", "--quiet")
  write_table(text[1:30, 1:2], table_file)
  command("predict", model_file, table_file, "-o", out_file, "--quiet")
  fit <- quick(y ~ ., train, experts = 2, periodic = "day:year")
  expect_identical(unname(predict(fit, train[1:30, ])), utils::read.csv(out_file)$mean)
  expect_identical(variable.names(fit), c("day", "x", "day (year, sin)", "day (year, cos)"))
  times <- transform(train, day = as.POSIXct(format(day), tz = "UTC"))
  expect_identical(predict(fit, times[1:30, ]), predict(fit, train[1:30, ]))
  there <- as.POSIXct(format(train$day), tz = "UTC")
  attr(there, "tzone") <- "America/New_York" # the same moments, shown elsewhere
  expect_identical(predict(fit, transform(train, day = there)[1:30, ]), predict(fit, train[1:30, ]))
})

test_that("missing cells are filled as the command does", {
  train <- make_table()
  train$age[seq(3, 160, 7)] <- NA
  train$site[seq(5, 160, 11)] <- NA
  table_file <- new_file(".csv")
  model_file <- new_file(".npz")
  out_file <- new_file(".csv")
  write_table(train, table_file)
  command("fit", table_file, "-o", model_file, "--experts", "3", "--kernel", "se", "--max-evaluations", "8", "--missing",
          "impute", "--quiet")
  write_table(train[1:40, 1:3], table_file)
  command("predict", model_file, table_file, "-o", out_file, "--missing", "impute", "--quiet")
  fit <- quick(yield ~ ., train, missing = "impute")
  expect_identical(unname(predict(fit, train[1:40, ])), utils::read.csv(out_file)$mean)
})
