# Tables that come with Debian's R packages, of numbers and texts, as csv with the target last, for bench/heavy_tails.py and
# bench/beside_trees.py; rows with missing cells are left out:
#     apt-get install r-cran-modeldata r-cran-aer r-cran-cardata r-cran-hsaur3 r-cran-nlme r-cran-mass
#     Rscript bench/r_tables.R DIR
tables <- read.table(header = TRUE, text = "
  package name target
  modeldata attrition MonthlyIncome
  modeldata car_prices Price
  modeldata credit_data Price
  modeldata lending_club int_rate
  modeldata Sacramento price
  modeldata stackoverflow Salary
  modeldata wa_churn monthly_charges
  AER CASchools read
  AER CollegeDistance score
  AER CPS1988 wage
  AER Guns murder
  AER HousePrices price
  AER Municipalities expenditures
  AER NMES1988 visits
  AER PSID7682 wage
  AER USSeatBelts fatalities
  carData GSSvocab vocab
  carData SLID wages
  HSAUR3 Forbes2000 marketvalue
  nlme bdf langPOST
  nlme MathAchieve MathAch
  MASS nlschools lang")
folder <- commandArgs(trailingOnly = TRUE)[1]
dir.create(folder, showWarnings = FALSE)
for (i in seq_len(nrow(tables))) {
  name <- tables$name[i]
  from <- new.env()
  data(list = name, package = tables$package[i], envir = from)
  x <- as.data.frame(from[[name]])
  x <- x[complete.cases(x), ]
  for (column in names(x)[sapply(x, is.logical)]) x[[column]] <- as.character(x[[column]])
  last <- names(x) == tables$target[i]
  write.csv(cbind(x[!last], x[last]), file.path(folder, paste0(name, ".csv")), row.names = FALSE)
}
