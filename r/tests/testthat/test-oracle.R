# One expert with given hyperparameters is a Gaussian process: K = s2 exp(-d2 / 2) + n2 I on standardised data,
# mean = k' K^-1 y, var = s2 - k' K^-1 k + n2.

test_that("a fit with given hyperparameters is a Gaussian process", {
  set.seed(4)
  X <- matrix(rnorm(120), 40, 3)
  y <- X[, 1] * 2 + sin(X[, 2]) + rnorm(40) / 5 + 7
  Q <- matrix(rnorm(24), 8, 3)
  theta <- c(1.5, 0.7, 2, 1.3, 0.05)
  fit <- quorum(X, y, experts = 1, kernel = "se", theta = theta, method = "npae", calibrate = FALSE, spread = "none",
                local_noise = "no", threads = 1)
  info <- quorum_info(fit)
  scaled <- function(A) t((t(A) - info$x_mean) / info$x_scale / theta[1:3])
  expect_equal(info$x_mean, colMeans(X))
  z <- (y - info$y_mean) / info$y_scale
  distances <- function(A, B) outer(rowSums(A^2), rowSums(B^2), "+") - 2 * A %*% t(B)
  K <- theta[4] * exp(-distances(scaled(X), scaled(X)) / 2) + theta[5] * diag(40)
  k <- theta[4] * exp(-distances(scaled(X), scaled(Q)) / 2)
  mean <- drop(t(k) %*% solve(K, z)) * info$y_scale + info$y_mean
  latent <- theta[4] - colSums(k * solve(K, k))
  found <- predict(fit, Q, se.fit = TRUE, interval = "prediction", level = 0.9)
  expect_equal(unname(found$fit[, "fit"]), mean, tolerance = 1e-8)
  expect_equal(unname(found$se.fit), sqrt(latent + theta[5]) * info$y_scale, tolerance = 1e-8)
  expect_equal(unname(found$fit[, "upr"]), mean + qnorm(0.95) * unname(found$se.fit), tolerance = 1e-8)
  function_itself <- predict(fit, Q, se.fit = TRUE, interval = "confidence")
  expect_equal(unname(function_itself$se.fit), sqrt(latent) * info$y_scale, tolerance = 1e-7)
  expect_equal(unname(coef(fit)[c("signal_std", "noise_std")]), sqrt(theta[4:5]) * info$y_scale)
  expect_equal(unname(coef(fit)[1:3]), theta[1:3] * info$x_scale)
})

test_that("gradients are differences of predictions", {
  table <- make_table()
  fit <- quick(yield ~ depth + age, table, method = "npae")
  at <- table[1:5, ]
  found <- predict(fit, at, gradient = TRUE)
  h <- 1e-5
  up <- transform(at, age = age + h)
  down <- transform(at, age = age - h)
  expect_equal(found$mean_gradient[, "age"], (predict(fit, up) - predict(fit, down)) / (2 * h), tolerance = 1e-5)
})
