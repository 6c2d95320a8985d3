/* The progress line, or lines, and the time that is left. */
#include "progress.h"

#include "clock.h"
#include "interrupt.h"
#include "quorum.h"
#include "talk.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SECONDS_BETWEEN_BARS 0.1
#define SECONDS_BETWEEN_LINES 5.0

static bool drawn; /* a bar is on the screen */

static int report_from_library(void *user, const char *stage, double fraction, const char *text)
{
    return progress_show(user, stage, fraction, text);
}

void progress_start(progress *p, const arguments *given)
{
    memset(p, 0, sizeof *p);
    p->given = given;
    p->shown = !given->quiet;
    p->terminal = isatty(STDERR_FILENO) != 0;
    p->last_output = seconds_now();
    catch_interrupts();
    quorum_options_set_progress(given->options, report_from_library, p);
}

void progress_task(progress *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->task, sizeof p->task, format, args);
    va_end(args);
    p->stage[0] = '\0';
}

void progress_hide(void)
{
    if (drawn)
        fputs("\r\033[K", stderr);
    drawn = false;
}

void progress_clear(const progress *p)
{
    if (p->terminal)
        progress_hide();
}

static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
        return size.ws_col;
    return 80;
}

/* "about 2 min left" from the time and share of the present stage, or "". */
static void time_left(const progress *p, double fraction, char *text, size_t size)
{
    double elapsed = seconds_now() - p->stage_start;
    text[0] = '\0';
    if (elapsed < 1.0 || !(fraction > 0.01) || fraction >= 1.0)
        return;
    double left = elapsed * (1.0 - fraction) / fraction;
    if (left < 100.0)
        snprintf(text, size, "%.0f s left", ceil(left));
    else if (left < 100.0 * 60.0)
        snprintf(text, size, "%.0f min left", ceil(left / 60.0));
    else
        snprintf(text, size, "%.1f h left", left / 3600.0);
}

/* "npae, rows from 1001: predict" */
static void describe(const progress *p, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", p->task, p->task[0] ? ": " : "", p->stage);
}

/* " [#####...............]  25 %" */
static void fill_bar(char bar[48], double fraction)
{
    enum { CELLS = 20 };
    char cells[CELLS + 1];
    int full = (int)(fraction * CELLS);
    memset(cells, '.', CELLS);
    memset(cells, '#', (size_t)full);
    cells[CELLS] = '\0';
    snprintf(bar, 48, " [%s] %3d %%", cells, (int)(100.0 * fraction));
}

static void draw_bar(const progress *p, double fraction, const char *text)
{
    char bar[48] = "", head[192], left[32], line[192 + 48 + sizeof(shown_text) + 64];
    describe(p, head, sizeof head);
    time_left(p, fraction, left, sizeof left);
    if (fraction >= 0.0)
        fill_bar(bar, fraction);
    snprintf(line, sizeof line, "%s%s%s%s%s%s", head, bar, text[0] ? "  " : "", shown(text).text,
             left[0] ? "  " : "", left);
    fprintf(stderr, "\r\033[K%.*s", terminal_width() - 1, line);
    fflush(stderr);
    drawn = true;
}

static void print_line(const progress *p, double fraction, const char *text)
{
    char share[32] = "", head[192], left[32];
    describe(p, head, sizeof head);
    time_left(p, fraction, left, sizeof left);
    if (fraction >= 0.0)
        snprintf(share, sizeof share, " %.0f %%", 100.0 * fraction);
    fprintf(stderr, "quorum %s: %s%s%s%s%s%s\n", p->given->command->name, head, share,
            text[0] ? ", " : "", shown(text).text, left[0] ? ", " : "", left);
}

static bool enter_stage(progress *p, const char *stage)
{
    if (strncmp(p->stage, stage, sizeof p->stage - 1) == 0)
        return false;
    snprintf(p->stage, sizeof p->stage, "%s", stage);
    p->stage_start = seconds_now();
    return true;
}

int progress_show(progress *p, const char *stage, double fraction, const char *text)
{
    bool entered = enter_stage(p, stage);
    if (p->forecast)
        forecast_hear(p->forecast, p->given, stage, fraction);
    double since = seconds_now() - p->last_output;
    double wait = p->terminal ? SECONDS_BETWEEN_BARS : SECONDS_BETWEEN_LINES;
    bool due = since >= wait || (entered && p->given->verbose && !p->terminal);
    if (p->shown && due) {
        double share = fraction > 1.0 ? 1.0 : fraction;
        if (p->terminal)
            draw_bar(p, share, text);
        else
            print_line(p, share, text);
        p->last_output = seconds_now();
    }
    return interrupted() != 0;
}
