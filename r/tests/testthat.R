library(testthat)
library(quorum)

test_check("quorum")
