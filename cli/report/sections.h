/* The parts of the page, in their order. */
#ifndef QUORUM_CLI_REPORT_SECTIONS_H
#define QUORUM_CLI_REPORT_SECTIONS_H

#include "report/facts.h"

#include <stdio.h>

/* A section of the page; returns an exit code. */
typedef int section_writer(FILE *file, const facts *f);

section_writer write_short;    /* the answers, in four sentences                    */
section_writer write_warnings; /* what to look after, in plain words                */
section_writer write_fitted;   /* data, ranges, kernel, metric, noise, seconds      */
section_writer write_good;     /* predicted and actual, errors, against others      */
section_writer write_sure;     /* coverage, width by distance, the worst misses     */
section_writer write_matters;  /* shares of the inputs, how quickly the target bends */
section_writer write_where;    /* rows on two axes, novelty                         */
section_writer write_experts;  /* the graph, sizes, errors                          */

/* Charts of f->effects, within "What matters?". */
void write_effects(FILE *file, const facts *f);

/* The levels of categories there; nothing without any. */
section_writer write_alike;

/* Numbers of the page that programs may read: <script id="numbers">. */
section_writer write_numbers;

/* "<section id=..><h2>..</h2>"; ends with "</section>". */
void begin_section(FILE *file, const char *id, const char *title);

/* ---- coverage.c ---- */

enum { COVERAGE_LEVELS = 20 };
static const double LITTLE = 0.015; /* of a share of rows, which nobody would act on */

typedef struct {
    size_t rows; /* so many without weights would tell as much */
    double stated[COVERAGE_LEVELS];
    double share[COVERAGE_LEVELS];                      /* of rows inside              */
    double low[COVERAGE_LEVELS], high[COVERAGE_LEVELS]; /* where chance puts it, 95 %  */
} coverage;

coverage find_coverage(const asked_rows *a);

/* What the 95 % interval is: right as far as so many rows can tell, or so little off that it matters to
 * nobody, or more than that; TOO_FEW: nothing is wrong, but so few rows could not tell. */
typedef enum {
    COVERS,
    A_LITTLE_NARROW,
    A_LITTLE_WIDE,
    TOO_NARROW,
    TOO_WIDE,
    TOO_FEW
} coverage_verdict;
coverage_verdict judge_coverage(const coverage *c);

enum { LEVEL_95 = 18 }; /* its place among the levels */

#endif
