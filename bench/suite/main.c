/* How near the library's stages come to what this machine can do.
 *
 *   quorum_bench [--stage NAME[,NAME...]] [--quick] [--threads T] [--csv FILE]
 *                [--commit TEXT] [--note TEXT]
 *
 * --quick: tiny sizes, to see that everything runs; its figures mean nothing.
 * docs/performance.md says what the lines mean. */
#include "report.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *name;
    void (*run)(suite *s);
} STAGES[] = {
    {"roofline", stage_roofline},   {"kernel", stage_kernel},         {"train", stage_train},
    {"posterior", stage_posterior}, {"pairs", stage_pairs},           {"solve", stage_solve},
    {"kmeans", stage_kmeans},       {"neighbours", stage_neighbours}, {"glasso", stage_glasso},
    {"reading", stage_reading},     {"latency", stage_latency},       {"whole", stage_whole},
};
enum { STAGE_COUNT = sizeof STAGES / sizeof *STAGES };

typedef struct {
    const char *stages, *csv, *commit, *note;
    int threads, quick;
} choices;

/* Is `name` one of the comma-separated words of `list`? */
static int listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *word = list; word; word = strchr(word, ',')) {
        word += *word == ',';
        if (strncmp(word, name, n) == 0 && (word[n] == ',' || word[n] == '\0'))
            return 1;
    }
    return 0;
}

static void write_machine(FILE *csv)
{
    char text[512] = "?";
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(text, sizeof text, info))
        if (strncmp(text, "model name", 10) == 0)
            break;
    if (info)
        fclose(info);
    const char *colon = strchr(text, ':');
    const char *model = colon ? colon + 1 + (colon[1] == ' ') : "?";
    fprintf(csv, "# machine: %.*s, %d processors\n", (int)strcspn(model, "\n"), model,
            parallel_processors());
}

static void write_header(FILE *csv, const suite *s, const choices *c)
{
    char date[32] = "?";
    time_t now = time(NULL);
    struct tm day;
    if (localtime_r(&now, &day))
        strftime(date, sizeof date, "%Y-%m-%d", &day);
    fprintf(csv, "# command: build/bench/quorum_bench%s%s%s --threads %d --csv FILE\n",
            c->stages ? " --stage " : "", c->stages ? c->stages : "", s->quick ? " --quick" : "",
            s->threads);
    write_machine(csv);
    double load = 0.0;
    if (getloadavg(&load, 1) != 1)
        load = -1.0;
    fprintf(csv, "# kernels: %s\n# threads: %d\n# load: %.1f\n# commit: %s\n# date: %s\n",
            quorum_blas_kernel(), s->threads, load, c->commit, date);
    if (c->note)
        fprintf(csv, "# note: %s\n", c->note);
}

static int usage(void)
{
    fprintf(stderr, "usage: quorum_bench [--stage NAME[,NAME...]] [--quick] [--threads T] "
                    "[--csv FILE] [--commit TEXT] [--note TEXT]\nstages:");
    for (int i = 0; i < STAGE_COUNT; i++)
        fprintf(stderr, " %s", STAGES[i].name);
    fprintf(stderr, "\n");
    return 2;
}

static int read_choices(int argc, char **argv, choices *c)
{
    *c = (choices){.commit = "?", .threads = parallel_processors()};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--quick") == 0) {
            c->quick = 1;
            continue;
        }
        if (!value)
            return 0;
        i++;
        if (strcmp(argv[i - 1], "--threads") == 0)
            c->threads = (int)strtol(value, NULL, 10);
        else if (strcmp(argv[i - 1], "--stage") == 0)
            c->stages = value;
        else if (strcmp(argv[i - 1], "--csv") == 0)
            c->csv = value;
        else if (strcmp(argv[i - 1], "--commit") == 0)
            c->commit = value;
        else if (strcmp(argv[i - 1], "--note") == 0)
            c->note = value;
        else
            return 0;
    }
    return c->threads >= 1;
}

/* Do all words of the list name a stage? */
static int stages_known(const char *list)
{
    size_t words = 1, found = 0;
    for (const char *c = list; *c; c++)
        words += *c == ',';
    for (int i = 0; i < STAGE_COUNT; i++)
        found += (size_t)listed(list, STAGES[i].name);
    return found == words;
}

int main(int argc, char **argv)
{
    choices c;
    if (!read_choices(argc, argv, &c) || (c.stages && !stages_known(c.stages)))
        return usage();
    suite s = {.threads = c.threads, .quick = c.quick};
    if (c.csv && !(s.csv = fopen(c.csv, "w"))) {
        perror(c.csv);
        return 1;
    }
    if (s.csv)
        write_header(s.csv, &s, &c);
    limits_start(s.threads > 2 ? s.threads : 2, s.quick);
    report_start(&s);
    for (int i = 0; i < STAGE_COUNT; i++)
        if (!c.stages || listed(c.stages, STAGES[i].name)) {
            s.stage = STAGES[i].name;
            STAGES[i].run(&s);
        }
    report_slopes(&s);
    limits_stop();
    mem_free(s.lines);
    if (s.csv && fclose(s.csv) != 0) {
        perror(c.csv);
        return 1;
    }
    return 0;
}
