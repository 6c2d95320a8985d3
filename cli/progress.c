/* The progress line, or lines: what is done, how fast, and the time that is left.
 *
 * Of stages that count something ("120 of 5394 queries") the rate is what was counted, of others
 * per cents, by the time since the stage began.  Time that is left is that of the stage; of a file that
 * is predicted block by block, and of tasks that are one of several alike, that of all:
 *
 *   share = before + (read - before) (part + fraction) / parts,  left = elapsed (1 - share) / share. */
#include "progress.h"

#include "clock.h"
#include "interrupt.h"
#include "quorum.h"
#include "talk.h"
#include "terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    p->terminal = is_terminal(stderr);
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

/* ---- How far, how fast, how long ---- */

void progress_part(progress *p, size_t k, size_t n)
{
    p->part = k;
    p->parts = n;
    if (k == 0 && (p->before == 0.0 || p->before >= 1.0)) /* not in the midst of a file */
        p->work_start = seconds_now();
}

static bool is_stage(const progress *p, const char *name)
{
    return strcmp(p->stage, name) == 0;
}

/* The share of all parts, and of the file, that is done. */
static double share_of_all(const progress *p, double fraction)
{
    double parts = p->parts > 0 ? (double)p->parts : 1.0;
    double done = ((double)p->part + fraction) / parts;
    return is_stage(p, "predict") && p->read > 0.0 ? p->before + (p->read - p->before) * done
                                                   : done;
}

/* A file that is read, again perhaps, or a block of it that is done with. */
static void follow_file(progress *p, double fraction)
{
    bool last = p->parts == 0 || p->part + 1 == p->parts;
    if (is_stage(p, "read") && fraction >= 0.0) {
        if (p->read == 0.0 || fraction < p->read) {
            p->before = 0.0;
            p->work_start = seconds_now();
        }
        p->read = fraction;
    } else if (is_stage(p, "predict") && fraction >= 1.0 && last) {
        p->before = p->read;
    }
}

/* "13 s left", or "". */
static void time_left(const progress *p, double fraction, char *text, size_t size)
{
    bool of_all = p->parts > 1 || (is_stage(p, "predict") && p->read > 0.0);
    double elapsed = seconds_now() - (of_all ? p->work_start : p->stage_start);
    double share = of_all ? share_of_all(p, fraction) : fraction;
    text[0] = '\0';
    if (elapsed < 1.0 || !(fraction >= 0.0) || !(share > 0.01) || share >= 1.0)
        return;
    double left = elapsed * (1.0 - share) / share;
    if (left < 100.0)
        snprintf(text, size, "%.0f s left", ceil(left));
    else if (left < 100.0 * 60.0)
        snprintf(text, size, "%.0f min left", ceil(left / 60.0));
    else
        snprintf(text, size, "%.1f h left", left / 3600.0);
}

/* "312/s" of "1250 of 5394 queries", "4 %/s" of a fraction alone, or "". */
static void rate(const progress *p, double fraction, const char *detail, char *text, size_t size)
{
    double elapsed = seconds_now() - p->stage_start;
    unsigned long long done = 0, all = 0;
    text[0] = '\0';
    if (elapsed < 0.5 || !(fraction > 0.0))
        return;
    bool counted = sscanf(detail, "%llu of %llu", &done, &all) == 2 && done > 0;
    double a_second = (counted ? (double)done : 100.0 * fraction) / elapsed;
    if (a_second >= 0.1)
        snprintf(text, size, a_second < 10.0 ? "%.1f%s/s" : "%.0f%s/s", a_second,
                 counted ? "" : " %");
    else
        snprintf(text, size, "%.1f%s/min", 60.0 * a_second, counted ? "" : " %");
}

/* ---- Saying it ---- */

/* "npae, rows from 1001: predict" */
static void describe(const progress *p, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", p->task, p->task[0] ? ": " : "", p->stage);
}

/* "[#####...............]  25 %" */
static void fill_bar(char bar[48], double fraction)
{
    enum { CELLS = 20 };
    char cells[CELLS + 1];
    int full = (int)(fraction * CELLS);
    memset(cells, '.', CELLS);
    memset(cells, '#', (size_t)full);
    cells[CELLS] = '\0';
    snprintf(bar, 48, "[%s] %3d %%", cells, (int)(100.0 * fraction));
}

/* What is said at one moment. */
typedef struct {
    char head[192], bar[48], detail[sizeof(shown_text)], rate[32], left[32];
} said;

static said say_now(const progress *p, double fraction, const char *detail)
{
    said s = {.bar = ""};
    describe(p, s.head, sizeof s.head);
    snprintf(s.detail, sizeof s.detail, "%s", shown(detail).text);
    rate(p, fraction, detail, s.rate, sizeof s.rate);
    time_left(p, fraction, s.left, sizeof s.left);
    return s;
}

/* Those that are not "", one after the other. */
static size_t join(char *line, size_t size, const char *between, const char *const *words,
                   size_t count)
{
    size_t used = 0;
    line[0] = '\0';
    for (size_t k = 0; k < count && used < size; k++)
        if (words[k][0])
            used +=
                (size_t)snprintf(line + used, size - used, "%s%s", used ? between : "", words[k]);
    return used;
}

/* On a narrow terminal first the detail is left out, then the bar, then the head is cut: how fast it
 * goes and how long it takes are what one looks for. */
static void draw_bar(const progress *p, double fraction, const char *detail)
{
    char line[sizeof(said) + 64], share[16] = "";
    said s = say_now(p, fraction, detail);
    size_t room = (size_t)terminal_width(stderr) - 1;
    if (fraction >= 0.0) {
        fill_bar(s.bar, fraction);
        snprintf(share, sizeof share, "%d %%", (int)(100.0 * fraction));
    }
    const char *whole[] = {s.head, s.bar, s.detail, s.rate, s.left};
    const char *less[] = {s.head, s.bar, s.rate, s.left};
    const char *least[] = {share, s.rate, s.left, s.head};
    if (join(line, sizeof line, "  ", whole, 5) > room &&
        join(line, sizeof line, "  ", less, 4) > room)
        join(line, sizeof line, "  ", least, 4);
    fprintf(stderr, "\r\033[K%s%.*s%s", ink_begin(stderr, INK_BAR), (int)room, line,
            ink_end(stderr));
    fflush(stderr);
    drawn = true;
}

static void print_line(const progress *p, double fraction, const char *detail)
{
    char line[sizeof(said) + 64], head[224];
    said s = say_now(p, fraction, detail);
    if (fraction >= 0.0)
        snprintf(head, sizeof head, "%s %.0f %%", s.head, 100.0 * fraction);
    else
        snprintf(head, sizeof head, "%s", s.head);
    const char *words[] = {head, s.detail, s.rate, s.left};
    join(line, sizeof line, ", ", words, 4);
    fprintf(stderr, "quorum %s: %s\n", p->given->command->name, line);
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
    follow_file(p, fraction);
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
