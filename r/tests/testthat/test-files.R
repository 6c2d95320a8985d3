test_that("a file gives the same bits again", {
  table <- make_table()
  fit <- quick(yield ~ ., table)
  file <- new_file(".npz")
  expect_identical(quorum_save(fit, file), fit)
  again <- quorum_load(file)
  expect_identical(predict(again, table, interval = "prediction"), predict(fit, table, interval = "prediction"))
  expect_identical(coef(again), coef(fit))
  expect_output(print(again), "Gaussian-process regression of yield: 160 rows, 3 columns")
  expect_identical(residuals(again), residuals(fit))
  expect_error(formula(again), "not fitted by a formula")
})

test_that("files that are not there, or no models, are errors with the library's sentence", {
  expect_error(quorum_load("no-such-file.npz"), "no-such-file.npz", class = "quorum_file_error")
  file <- new_file(".npz")
  writeLines("nothing", file)
  expect_error(quorum_load(file), class = "quorum_format_error")
  expect_error(quorum_save(quick(yield ~ depth, make_table()), "/no/such/place/m.npz"), class = "quorum_file_error")
  expect_error(quorum_save(1, file), class = "quorum_argument_error")
})

test_that("saveRDS and readRDS keep the model", {
  table <- make_table()
  fit <- quick(yield ~ ., table)
  file <- new_file(".rds")
  saveRDS(fit, file)
  again <- readRDS(file)
  rm(fit)
  gc()
  expect_identical(predict(again, table), predict(quick(yield ~ ., table), table))
  saveRDS(again, file, version = 2) # the format before such vectors: the model is not in it
  expect_error(predict(readRDS(file), table), "no model any more")
})

test_that("processes of parallel have the model, forked or new", {
  skip_if_not_installed("parallel")
  table <- make_table()
  fit <- quick(yield ~ ., table)
  expected <- predict(fit, table)
  forked <- parallel::mclapply(1:2, function(i) {
    list(predict(fit, table), predict(quick(yield ~ ., table), table))
  }, mc.cores = 2)
  for (one in forked)
    expect_identical(one, list(expected, expected))
  cluster <- parallel::makePSOCKcluster(1)
  on.exit(parallel::stopCluster(cluster))
  parallel::clusterCall(cluster, .libPaths, .libPaths())
  sent <- parallel::clusterCall(cluster, function(fit, table) predict(fit, table), fit, table)
  expect_identical(sent[[1]], expected)
})

test_that("models are freed", {
  table <- make_table(100)
  for (i in 1:20)
    fit <- quick(yield ~ depth, table, theta = c(1, 1, 0.1))
  expect_silent(gc())
})
