/* quorum reproduce: the paper's experiments, from raw data to a page.
 *
 * The work is done by the Python files in experiments/, which run this very
 * command; here they are found and started. */
#include "arguments.h"
#include "command.h"
#include "talk.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char EXPERIMENTS[] = "synthetic consistency pumadyn protein sarcos song committee all";

static const char WITHOUT_DATA[] = "synthetic consistency committee";

enum { MAX_WORDS = 16 };

/* ---- Where things are ---------------------------------------------------------- */

static bool is_program(const char *directory, size_t length, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s/%s", (int)length, directory, name);
    return access(path, X_OK) == 0;
}

static bool on_path(const char *name)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        if (length > 0 && is_program(path, length, name))
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

/* Debian's own python3 has Debian's NumPy, whatever else comes first on the PATH. */
static const char *python(void)
{
    return access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
}

/* The programs that the experiments need; says which is missing. */
static int check_programs(const arguments *given)
{
    static const char *const needs[][3] = {
        {"python3", "runs the experiments", "python3 python3-numpy"},
        {"gnuplot", "draws the plots", "gnuplot-nox"},
        {"dot", "lays out the expert graphs", "graphviz"},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (!on_path(needs[i][0]))
            return failure(given, "'%s', which %s, is not found: apt install %s", needs[i][0],
                           needs[i][1], needs[i][2]);
    return EXIT_DONE;
}

static bool holds_experiments(const char *directory)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/__main__.py", directory);
    return access(path, R_OK) == 0;
}

/* The command's own path, as the experiments run it. */
static bool own_path(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* $QUORUM_EXPERIMENTS; else the source tree's, beside the build directory that holds the
 * command; else what was installed with it, PREFIX/share/quorum/experiments. */
static int find_experiments(const arguments *given, const char *self, char found[PATH_MAX])
{
    static const char *const places[] = {"../experiments", "../share/quorum/experiments"};
    const char *told = getenv("QUORUM_EXPERIMENTS");
    if (told && *told) {
        snprintf(found, PATH_MAX, "%s", told);
        return holds_experiments(found)
                   ? EXIT_DONE
                   : failure(given, "QUORUM_EXPERIMENTS=%s: there is no __main__.py", told);
    }
    const char *slash = strrchr(self, '/');
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        snprintf(found, PATH_MAX, "%.*s/%s", (int)(slash - self), self, places[i]);
        if (holds_experiments(found))
            return EXIT_DONE;
    }
    return failure(given, "the experiments are not found beside this command: set "
                          "QUORUM_EXPERIMENTS to the directory 'experiments' of the source tree");
}

/* ---- The command ------------------------------------------------------------------ */

static int start(const arguments *given, const char *directory)
{
    static const char *const passed[] = {"data", "out", "seeds", "quick", "again", "stored"};
    const char *words[MAX_WORDS] = {python(), "-B", directory, given->operands[0]};
    char options[sizeof passed / sizeof *passed][PATH_MAX];
    size_t count = 4;
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        const char *value = argument_value(given, passed[i]);
        if (!value)
            continue;
        bool bare = strcmp(passed[i], "quick") == 0 || strcmp(passed[i], "stored") == 0;
        snprintf(options[i], sizeof options[i], bare ? "--%s" : "--%s=%s", passed[i], value);
        words[count++] = options[i];
    }
    if (given->quiet)
        words[count++] = "--quiet";
    words[count] = NULL;
    execvp(words[0], (char *const *)words);
    return failure(given, "%s cannot be started: %s", words[0], strerror(errno));
}

static int run_reproduce(const arguments *given)
{
    char self[PATH_MAX], directory[PATH_MAX];
    if (!has_word(EXPERIMENTS, given->operands[0]))
        return usage_error(given->command, "'%s' is not one of %s", given->operands[0],
                           EXPERIMENTS);
    if (!argument_value(given, "out"))
        return usage_error(given->command, "--out DIR is missing");
    if (!argument_value(given, "data") && !has_word(WITHOUT_DATA, given->operands[0]))
        return usage_error(given->command, "--data DIR is missing: only %s need no files",
                           WITHOUT_DATA);
    if (!own_path(self))
        return failure(given, "/proc/self/exe cannot be read: %s", strerror(errno));
    int code = check_programs(given);
    if (code == EXIT_DONE)
        code = find_experiments(given, self, directory);
    if (code != EXIT_DONE)
        return code;
    if (setenv("QUORUM", self, 1) != 0)
        return failure(given, "out of memory for the environment");
    return start(given, directory);
}

static const operand operands[] = {
    {"EXPERIMENT",
     "synthetic: the paper's function, 10 to 50 experts. consistency: Proposition 1, as rows and "
     "experts grow. pumadyn: 7, 15 and 20 experts, K-means and random. protein: 70 experts. "
     "sarcos: 72 experts, also without the leaked rows. song: 150 experts, as far as its file is "
     "at hand. committee: when experts, and their graph, pay, against nearest rows. all: one after "
     "the other."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"data", 0, "DIR", NULL, NULL,
     "Directory of the data sets: pumadyn32nm, protein, sarcos and sarcos_noleak, each with "
     "train.csv.gz and test.csv.gz (inputs, then the target); YearPredictionMSD.txt, .gz or .zip "
     "for song; committee takes those that are there, and kin40k_10k30k."},
    {"out", 0, "DIR", NULL, NULL,
     "Where DIR/EXPERIMENT/ is written: a page, tables as CSV, figures as SVG. Required."},
    {"seeds", 0, "LIST", NULL, "1..3", "Seeds to average over, as in 1..5 or 1,4,7."},
    {"quick", 0, NULL, NULL, NULL,
     "A first look in two minutes at most: fewer rows, experts and seeds, in "
     "DIR/EXPERIMENT-quick/."},
    {"again", 0, "TEXT", NULL, NULL,
     "Run finished cells again whose name contains TEXT, such as 'own' for the rows of this "
     "project's own settings."},
    {"stored", 0, NULL, NULL, NULL,
     "Run nothing: make the page from the finished cells in DIR, whatever version, options or data "
     "they were run with. It says where they come from and which are missing."},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command reproduce_command = {
    .name = "reproduce",
    .summary = "the paper's tables and figures, from raw data to a page",
    .usage = "EXPERIMENT --data DIR --out DIR [--seeds 1..3] [--quick]",
    .description =
        "Runs the paper's experiment with this command itself and writes one page that holds every "
        "table with the paper's number, ours and the difference, every figure redrawn, and what "
        "agrees and what does not. Every cell is a command that the page names. An interrupted run "
        "goes on where it stopped. Needs python3 with NumPy, gnuplot and Graphviz.",
    .option_names = "",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum reproduce synthetic --out results --quick\n"
                "  quorum reproduce pumadyn --data ~/data --out results\n"
                "  quorum reproduce all --data ~/data --out results --seeds 1..5\n",
    .run = run_reproduce,
};
