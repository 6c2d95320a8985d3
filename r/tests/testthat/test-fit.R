test_that("formula, data frame and matrix give the same model", {
  table <- make_table()
  by_formula <- quick(yield ~ depth + age, table)
  by_frame <- quick(table[c("depth", "age")], table$yield)
  by_matrix <- quick(as.matrix(table[c("depth", "age")]), table$yield)
  without_names <- quick(unname(as.matrix(table[c("depth", "age")])), table$yield)
  queries <- table[1:20, ]
  expected <- predict(by_formula, queries)
  expect_named(expected, rownames(queries))
  expect_identical(predict(by_frame, queries), expected)
  expect_identical(unname(predict(by_matrix, as.matrix(queries[c("age", "depth")]))), unname(expected))
  expect_identical(unname(predict(without_names, unname(as.matrix(queries[c("depth", "age")])))), unname(expected))
  expect_identical(quorum_info(by_formula)$names, c("depth", "age", "yield"))
  expect_false(quorum_info(without_names)$named)
  expect_identical(quorum_info(quick(table["depth"], as.matrix(table["yield"])))$names, c("depth", "yield"))
})

test_that("one input may be a vector", {
  set.seed(1)
  x <- runif(80)
  fit <- quick(x, sin(6 * x))
  expect_equal(unname(predict(fit, c(0.2, 0.7))), sin(6 * c(0.2, 0.7)), tolerance = 0.05)
})

test_that("the formula's transformations are done again for new data", {
  table <- make_table()
  fit <- quick(exp(yield) ~ log(depth + 1) + poly(age, 2) + site, table)
  expect_identical(variable.names(fit), c("log(depth + 1)", "poly(age, 2).1", "poly(age, 2).2", "site"))
  expect_identical(fit$target_name, "exp(yield)")
  expect_equal(unname(predict(fit, table[1:10, ])), unname(fitted(fit)[1:10]), tolerance = 1e-8)
})

test_that("what the formula takes away is no input", {
  table <- make_table()
  fit <- quick(yield ~ . - age, table)
  expect_identical(variable.names(fit), c("depth", "site"))
  expect_identical(predict(fit, table), predict(quick(yield ~ depth + site, table), table))
  with_offset <- quick(yield ~ . - age + offset(age), table)
  expect_identical(variable.names(with_offset), c("depth", "site"))
  expect_equal(predict(with_offset, transform(table, age = age + 1)), predict(with_offset, table) + 1)
})

test_that("names that need backquotes are columns as others", {
  table <- make_table()
  names(table)[1] <- "how deep"
  fit <- quick(yield ~ `how deep` + age, table)
  expect_identical(variable.names(fit), c("how deep", "age"))
  expect_length(predict(fit, table[1:3, ]), 3)
})

test_that("subset and data from the environment are as in lm", {
  table <- make_table()
  fit <- quick(yield ~ depth, table, subset = age > 0)
  expect_equal(nobs(fit), sum(table$age > 0))
  z <- table$depth
  target <- table$yield
  expect_equal(nobs(quick(target ~ z)), 160)
})

test_that("texts, factors and TRUE and FALSE are categories, whatever their order", {
  table <- make_table()
  table$wet <- table$depth > 0.5
  fit <- quick(yield ~ depth + site + wet, table)
  expect_identical(quorum_info(fit)$levels, list(NULL, c("mid", "north", "south"), c("FALSE", "TRUE")))
  other <- transform(table, site = as.character(site), wet = factor(wet, levels = c("TRUE", "FALSE", "no")))
  expect_identical(predict(quick(yield ~ depth + site + wet, other), table), predict(fit, table))
  expect_identical(predict(fit, transform(table, site = factor(site, levels = c("south", "north", "mid")))),
                   predict(fit, table))
})

test_that("levels beyond ASCII are kept, in the order of their bytes", {
  table <- make_table()
  table$site <- c("\u00e9t\u00e9", "Zug", "ab")[table$site]
  fit <- quick(yield ~ depth + site, table)
  expect_identical(quorum_info(fit)$levels[[2]], c("Zug", "ab", "\u00e9t\u00e9"))
  latin <- table
  latin$site <- iconv(table$site, "UTF-8", "latin1")
  expect_identical(predict(fit, latin), predict(fit, table))
})

test_that("a level that is new is told of, or refused", {
  table <- make_table()
  fit <- quick(yield ~ ., table)
  new <- transform(table[1:4, ], site = c("east", "north", "mid", "east"))
  expect_warning(found <- predict(fit, new), "2 queries have a level", class = "quorum_level_warning")
  expect_length(found, 4)
  expect_error(predict(fit, new, unseen = "error"), class = "quorum_data_error")
})

test_that("weights are copies of rows", {
  table <- make_table(120)
  weight <- rep(c(1, 2, 0), 40)
  copies <- table[rep(seq_len(120), weight), ]
  theta <- c(0.5, 1, 1, 0.1)
  by_weight <- quick(yield ~ depth + age, table, weights = weight, theta = theta, experts = 1)
  expect_equal(predict(by_weight, table),
               predict(quick(yield ~ depth + age, copies, theta = theta, experts = 1), table), tolerance = 1e-6)
  expect_equal(nobs(by_weight), 80)
})

test_that("known noise is one number a row, or one for all", {
  table <- make_table(80)
  error <- 0.3
  table$sd <- error
  one <- predict(quick(yield ~ depth, table, noise_std = sd), table)
  expect_identical(predict(quick(yield ~ depth, table, noise_std = error), table), one)
  expect_identical(predict(quick(yield ~ depth, table, noise_std = 0.3), table), one)
  expect_identical(predict(quick(table["depth"], table$yield, noise_std = 0.3), table), one)
})

test_that("several targets are models of each", {
  table <- make_table()
  table$other <- table$depth^2 - table$age
  fit <- quick(cbind(yield, other) ~ depth + age, table)
  expect_named(fit, c("yield", "other"))
  alone <- quick(other ~ depth + age, table)
  expect_identical(predict(fit$other, table), predict(alone, table))
  both <- predict(fit, table)
  expect_identical(both[, "other"], predict(alone, table))
  file <- new_file(".npz")
  quorum_save(fit, file)
  again <- quorum_load(file)
  expect_identical(predict(again$yield, table), predict(fit$yield, table))
  expect_output(print(fit), "Models of 2 targets")
})

test_that("defaults of predictions are the fit's, and given ones go before", {
  table <- make_table()
  fit <- quick(yield ~ depth + age, table, method = "rbcm")
  expect_identical(predict(fit, table[1:5, ], se.fit = TRUE)$method, "rbcm")
  expect_identical(predict(fit, table[1:5, ], se.fit = TRUE, method = "gpoe", calibration = "off")$method, "gpoe")
})

test_that("the number of threads does not change a bit", {
  table <- make_table()
  expect_identical(predict(quick(yield ~ ., table, threads = 1), table), predict(quick(yield ~ ., table), table))
})
