#include "report.h"

#include "base/memory.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

int suite_threads(const suite *s)
{
    return s->threads;
}

int suite_quick(const suite *s)
{
    return s->quick;
}

size_t suite_pick(const suite *s, size_t full, size_t quick)
{
    return s->quick ? quick : full;
}

void report_start(const suite *s)
{
    printf("BLAS kernels %s, %d threads; best of several rounds, in turn with the limit\n\n",
           quorum_blas_kernel(), s->threads);
    printf("%-11s %-40s %8s %4s %3s %11s %9s %-8s %-7s %9s %6s\n", "stage", "what", "size", "D",
           "thr", "seconds", "rate", "", "limit", "its rate", "share");
    if (s->csv)
        fprintf(s->csv, "kind,stage,what,size,D,threads,seconds,rate,unit,limit,limit_rate,share,"
                        "target\n");
}

static void print_line(const suite *s, const timing *t)
{
    printf("%-11s %-40s %8zu %4zu %3d %11.4g", s->stage, t->name, t->size, t->D, t->threads,
           t->seconds);
    if (s->csv)
        fprintf(s->csv, "rate,%s,\"%s\",%zu,%zu,%d,%.5g", s->stage, t->name, t->size, t->D,
                t->threads, t->seconds);
    const limit *l = t->limit;
    if (l) {
        double rate = t->work / t->items / t->seconds, top = t->limit_rate;
        printf(" %9.4g %-8s %-7s %9.4g %4.0f %%", rate / l->scale, l->unit, l->name, top / l->scale,
               100.0 * rate / top);
        if (s->csv)
            fprintf(s->csv, ",%.5g,%s,%s,%.5g,%.4f", rate / l->scale, l->unit, l->name,
                    top / l->scale, rate / top);
    } else if (s->csv)
        fprintf(s->csv, ",,,,,");
    printf("\n");
    fflush(stdout);
    if (s->csv)
        fprintf(s->csv, ",\n");
}

static void keep_line(suite *s, const timing *t)
{
    if (s->count == s->room) {
        size_t more = s->room ? 2 * s->room : 64;
        s->lines = must(mem_grow(s->lines, s->room, more, sizeof *s->lines));
        s->room = more;
    }
    s->lines[s->count++] = (line){s->stage, *t};
}

/* The best of one run, or of several if they are short. */
static double best_seconds(const suite *s, const timing *t)
{
    enum { MOST_RUNS = 20 };
    const double enough = 0.03; /* seconds */
    double best = INFINITY, spent = 0.0;
    if (!t->run)
        return t->work / t->limit_rate;
    for (int i = 0; i < MOST_RUNS && spent < enough; i++) {
        double seconds = t->run(t->context);
        best = fmin(best, seconds);
        spent += s->quick ? enough : seconds;
    }
    return best;
}

/* Whether no case before number i has its limit: a limit has one turn a round, like a case. */
static int first_of_limit(const timing *cases, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (cases[j].limit == cases[i].limit && cases[j].threads == cases[i].threads)
            return 0;
    return cases[i].limit != NULL;
}

void suite_measure(suite *s, timing *cases, size_t count, int rounds)
{
    for (int r = 0; r < rounds; r++)
        for (size_t i = 0; i < count; i++) {
            timing *t = &cases[i];
            if (r == 0) {
                t->threads = t->threads ? t->threads : s->threads;
                t->seconds = INFINITY;
                t->limit_rate = 0.0;
            }
            if (first_of_limit(cases, i))
                t->limit_rate = fmax(t->limit_rate, t->limit->rate(t->limit->context, t->threads));
            t->seconds = fmin(t->seconds, best_seconds(s, t) / t->items);
        }
    /* All cases of a call share the best of a limit: they ran side by side. */
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            if (cases[i].limit && cases[i].limit == cases[j].limit &&
                cases[i].threads == cases[j].threads)
                cases[i].limit_rate = fmax(cases[i].limit_rate, cases[j].limit_rate);
    for (size_t i = 0; i < count; i++) {
        print_line(s, &cases[i]);
        keep_line(s, &cases[i]);
    }
}

void suite_claim(suite *s, int at_least, double value, double target, const char *format, ...)
{
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int has_target = !isnan(target);
    const char *verdict = !has_target                                      ? ""
                          : (at_least ? value >= target : value <= target) ? "reached"
                                                                           : "MISSED";
    printf("  * %s: %.3g", text, value);
    if (has_target)
        printf(" (%s %g: %s)", at_least ? "at least" : "at most", target, verdict);
    printf("\n");
    fflush(stdout);
    if (s->csv) {
        fprintf(s->csv, "claim,%s,\"%s\",,,%d,,%.4g,ratio,,,,", s->stage, text, s->threads, value);
        if (has_target)
            fprintf(s->csv, "%s%g", at_least ? ">=" : "<=", target);
        fprintf(s->csv, "\n");
    }
}

/* ---- Slopes: least squares of log seconds on log size within a series ---- */

static int same_series(const line *a, const line *b)
{
    return strcmp(a->stage, b->stage) == 0 && strcmp(a->t.name, b->t.name) == 0 &&
           a->t.D == b->t.D && a->t.threads == b->t.threads;
}

static int is_first(const suite *s, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (same_series(&s->lines[j], &s->lines[i]))
            return 0;
    return 1;
}

typedef struct {
    size_t count, low, high;
    double slope;
} fitted;

static fitted fit_slope(const suite *s, size_t first)
{
    fitted f = {.low = s->lines[first].t.size};
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (size_t j = first; j < s->count; j++) {
        const timing *t = &s->lines[j].t;
        if (!same_series(&s->lines[j], &s->lines[first]))
            continue;
        double x = log((double)t->size), y = log(t->seconds);
        sx += x, sy += y, sxx += x * x, sxy += x * y;
        f.count++;
        f.low = t->size < f.low ? t->size : f.low;
        f.high = t->size > f.high ? t->size : f.high;
    }
    double n = (double)f.count;
    f.slope = f.count > 1 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : NAN;
    return f;
}

void report_slopes(const suite *s)
{
    printf("\n%-11s %-40s %4s %3s %17s %7s %9s\n", "stage", "seconds grow as size^slope", "D",
           "thr", "sizes", "slope", "expected");
    for (size_t i = 0; i < s->count; i++) {
        const timing *t = &s->lines[i].t;
        if (t->slope == 0.0 || !is_first(s, i))
            continue;
        fitted f = fit_slope(s, i);
        if (isnan(f.slope))
            continue;
        printf("%-11s %-40s %4zu %3d %8zu-%8zu %7.2f %9.2f\n", s->lines[i].stage, t->name, t->D,
               t->threads, f.low, f.high, f.slope, t->slope);
        if (s->csv)
            fprintf(s->csv, "slope,%s,\"%s\",%zu-%zu,%zu,%d,,%.3f,slope,,,,%.2f\n",
                    s->lines[i].stage, t->name, f.low, f.high, t->D, t->threads, f.slope, t->slope);
    }
}
