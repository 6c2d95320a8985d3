# laGP's local approximate GPs (aGP), if the package is installed:
#   Rscript r_tools.R --probe                     exit status 0 if it is
#   Rscript r_tools.R TRAIN.csv TEST.csv OUT.csv THREADS
# OUT.csv has columns mean, std (noise included); prints seconds as JSON.
arguments <- commandArgs(trailingOnly = TRUE)
available <- requireNamespace("laGP", quietly = TRUE)
if (identical(arguments, "--probe")) quit(status = if (available) 0 else 1)

train <- as.matrix(read.csv(arguments[1], header = FALSE))
test <- as.matrix(read.csv(arguments[2], header = FALSE))
D <- ncol(train) - 1
start <- proc.time()[["elapsed"]]
centre <- colMeans(train)
spread <- apply(train, 2, sd)
spread[spread == 0] <- 1
train <- scale(train, centre, spread)
test <- scale(test, centre, spread)
# Length-scales of all inputs from a subset, then local designs of 50 rows in scaled inputs.
rows <- sample.int(nrow(train), min(1000, nrow(train)))
darg <- laGP::darg(list(mle = TRUE), train[rows, 1:D])
garg <- laGP::garg(list(mle = TRUE), train[rows, D + 1])
gp <- laGP::newGPsep(train[rows, 1:D], train[rows, D + 1], rep(darg$start, D), garg$start, dK = TRUE)
theta <- laGP::jmleGPsep(gp, drange = c(darg$min, darg$max), grange = c(garg$min, garg$max))
laGP::deleteGPsep(gp)
root <- sqrt(as.numeric(theta[1, 1:D]))
X <- sweep(train[, 1:D], 2, root, "/")
XX <- sweep(test[, 1:D], 2, root, "/")
fitted <- proc.time()[["elapsed"]]
out <- laGP::aGP(X, train[, D + 1], XX, end = 50, d = list(start = 1, mle = FALSE), g = theta[1, D + 1],
                 method = "nn", omp.threads = as.integer(arguments[4]), verb = 0)
done <- proc.time()[["elapsed"]]
write.csv(data.frame(mean = out$mean * spread[D + 1] + centre[D + 1],
                     std = sqrt(out$var) * spread[D + 1]), arguments[3], row.names = FALSE)
cat(sprintf('{"fit": %.4f, "predict": %.4f}\n', fitted - start, done - fitted))
