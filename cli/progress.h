/* How far the work is, on stderr: one line that is drawn again and again on a
 * terminal, otherwise a plain line every few seconds.  Also where an interrupt
 * turns into a request to stop. */
#ifndef QUORUM_CLI_PROGRESS_H
#define QUORUM_CLI_PROGRESS_H

#include "arguments.h"
#include "forecast.h"

typedef struct {
    const arguments *given;
    bool shown, terminal;
    char task[96];       /* what the command is at, said before the stage    */
    char stage[64];      /* the library's stage                              */
    double stage_start;  /* when it began                                    */
    double last_output;  /* when something was last written                  */
    size_t part, parts;  /* the task is one of so many alike, from 0; parts 0: it is the only one */
    double work_start;   /* when the first part began, or the file was opened */
    double read, before; /* share of the file that is read, and that is done with; 0: no file */
    forecast *forecast;  /* told of all stages; NULL: nobody is              */
} progress;

/* Catches interrupts and makes the library report here through the options. */
void progress_start(progress *p, const arguments *given);

/* What follows is about this: a method, a part of a file.  "" for nothing. */
void progress_task(progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What follows is part k, from 0, of n that take about as long: the time that is left is that of all.  n
 * = 0: it stands alone. */
void progress_part(progress *p, size_t k, size_t n);

/* Reports a stage of the command's own; non-zero: stop. */
int progress_show(progress *p, const char *stage, double fraction, const char *detail);

/* Takes the bar away: call before anything else is printed.  talk.h does so by itself. */
void progress_clear(const progress *p);
void progress_hide(void); /* the same, of whatever progress */

#endif
