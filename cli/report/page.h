/* The page itself. */
#ifndef QUORUM_CLI_REPORT_PAGE_H
#define QUORUM_CLI_REPORT_PAGE_H

#include "report/facts.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes all of it; returns an exit code. */
int write_page(FILE *file, const facts *f);

/* Whether the build found the plotting library: without it charts are pictures and tables alone. */
bool page_has_library(void);

#endif
