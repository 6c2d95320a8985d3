test_that("print and summary say what there is", {
  table <- make_table()
  fit <- quick(yield ~ ., table)
  expect_output(print(fit), "quick\\(|quorum\\(")
  expect_output(print(fit), "regression of yield: 300 rows, 3 columns \\(1 of levels\\), kernel se, 3 experts")
  said <- summary(fit)
  expect_identical(rownames(said$inputs), c("depth", "age", "site"))
  expect_equal(sum(said$inputs$share), 1)
  expect_output(print(said), "3 levels")
  expect_output(print(said), "Predictions by ")
})

test_that("formula, nobs, coef and variable.names answer", {
  fit <- quick(yield ~ ., make_table())
  expect_identical(formula(fit), yield ~ depth + age + site, ignore_formula_env = TRUE)
  expect_equal(nobs(fit), 300)
  expect_named(coef(fit), c("lengthscale.depth", "lengthscale.age", "lengthscale.site", "signal_std", "noise_std"))
  expect_equal(coef(fit)[["noise_std"]], 0.1, tolerance = 0.2)
})

test_that("the option table is the library's", {
  table <- quorum_options()
  expect_true(all(c("method", "neighbours", "expert_size", "kernel") %in% table$name))
  expect_false("target" %in% table$name)
  expect_true(all(nzchar(table$help)))
  expect_match(quorum_version(), "^[0-9]+[.][0-9]+[.][0-9]+$")
})

test_that("every option of the table has its help page", {
  page <- paste(as.character(tools::Rd_db("quorum")[["quorum_options.Rd"]]), collapse = "")
  for (name in quorum_options()$name)
    expect_true(grepl(paste0("\\item{\\code{", name, "}}"), page, fixed = TRUE), label = name)
})

test_that("pictures are drawn, and give what they show", {
  table <- make_table()
  table$day <- as.Date("2020-01-01") + seq_len(300)
  fit <- quick(yield ~ ., table)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  shown <- plot(fit, points = 11)
  expect_named(shown, c("depth", "age", "site", "day"))
  at <- data.frame(depth = range(table$depth)[1], age = median(table$age), day = median(table$day),
                   site = names(which.max(table(table$site))))
  expect_equal(shown$depth$mean[1], predict(fit, at)[[1]], tolerance = 1e-8)
  expect_named(plot(fit, columns = "site"), "site")
  for (which in c("fitted", "residuals"))
    expect_equal(nrow(plot(fit, which)), 300)
  expect_equal(sum(plot(fit, "lengthscales")), 1)
  expect_error(plot(fit, columns = "nothing"), "columns")
})
