/* quorum man: the manual pages, made from the same descriptions as the help.
 *
 *     quorum.1           all commands on one page
 *     quorum-COMMAND.1   one of them
 *     quorum-mpi.1       the same program with many processes */
#include "arguments.h"
#include "command.h"
#include "talk.h"

#include <stdio.h>
#include <string.h>

/* Text with roff's special characters escaped; newlines become spaces. */
static void print_roff(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\'')
            fputs("\\(aq", stdout);
        else
            fputc(*text == '\n' ? ' ' : *text, stdout);
    }
}

static void print_item(const char *term, const char *text)
{
    fputs(".TP\n\\fB", stdout);
    print_roff(term);
    fputs("\\fR\n", stdout);
    print_roff(text);
    fputc('\n', stdout);
}

static void print_flag(const flag *f)
{
    char synopsis[160], text[2048];
    flag_synopsis(f, synopsis, sizeof synopsis);
    bool has_default = f->default_value && *f->default_value && f->placeholder;
    snprintf(text, sizeof text, "%s%s%s%s", f->help, has_default ? " Default: " : "",
             has_default ? f->default_value : "", has_default ? "." : "");
    print_item(synopsis, text);
}

/* Lines that must stay as they are. */
static void print_lines(const char *lines)
{
    fputs(".PP\n.nf\n", stdout);
    while (*lines) {
        char line[256];
        size_t length = strcspn(lines, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, lines);
        print_roff(line);
        fputc('\n', stdout);
        lines += length + (lines[length] == '\n');
    }
    fputs(".fi\n", stdout);
}

static void print_arguments(const command *c)
{
    flag flags[MAX_FLAGS];
    size_t count = collect_flags(c, flags);
    for (const operand *o = c->operands; o && o->name; o++)
        print_item(o->name, o->help);
    for (int group = 0; group_title(group); group++)
        for (size_t i = 0; i < count; i++)
            if (group_of(&flags[i]) == group)
                print_flag(&flags[i]);
}

static void print_command(const command *c)
{
    printf(".SS quorum %s ", c->name);
    print_roff(c->usage);
    fputc('\n', stdout);
    print_roff(c->description);
    fputc('\n', stdout);
    print_arguments(c);
    if (c->examples) {
        fputs(".PP\nExamples:\n", stdout);
        print_lines(c->examples);
    }
}

/* The page's title line and name: "QUORUM\-FIT", "quorum\-fit", what it does. */
static void print_head(const char *title, const char *name, const char *purpose)
{
    printf(".TH %s 1 \"\" \"quorum %s\" \"User Commands\"\n.SH NAME\n%s \\- ", title,
           quorum_version(), name);
    print_roff(purpose);
    fputc('\n', stdout);
}

static void print_exit_status(void)
{
    printf(".SH EXIT STATUS\n");
    print_item("0", "Done.");
    print_item("1", "The work failed; standard error says why.");
    print_item("2", "The command line is wrong.");
    print_item("128+N", "Stopped by signal N: 130 after Ctrl-C.");
}

/* Every variable that is asked for, and of which command alone. */
static const struct {
    const char *name, *help;
    const command *only; /* NULL: all */
} variables[] = {
    {"COLUMNS",
     "Width of tables and of progress on a terminal; without it, what the terminal says.", NULL},
    {"NO_COLOR", "When not empty, terminals get no colour.", NULL},
    {"TERM", "Without it, and when it is dumb, terminals get no colour.", NULL},
    {"OPENBLAS_CORETYPE",
     "Forces a BLAS kernel set; without it the fastest one is "
     "chosen with which a prediction does not depend on its batch.",
     NULL},
    {"PATH",
     "Where programs are looked for: rsvg-convert for pictures as PNG, neato for those of a "
     "graph, and what 'quorum reproduce' and 'quorum export-fmu' start.",
     NULL},
    {"TMPDIR", "Directory in which 'quorum export-fmu' compiles; without it, /tmp.",
     &export_fmu_command},
    {"QUORUM_EXPERIMENTS",
     "Directory of the experiments that 'quorum reproduce' runs; "
     "without it, the one that belongs to this command.",
     &reproduce_command},
};

/* Those of one command; `all` of them on the page of all commands. */
static void print_environment(const command *c, bool all)
{
    printf(".SH ENVIRONMENT\n");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (all || !variables[i].only || variables[i].only == c)
            print_item(variables[i].name, variables[i].help);
}

static void print_methods(void)
{
    printf(".SH METHODS\n");
    for (int i = 0; i < quorum_method_count(); i++)
        print_item(quorum_method_name(i), quorum_method_help(i));
    print_item("NAME*", "NAME on the experts that the graph selects, as --select graph:0.8.");
}

/* quorum.1 */
static void print_whole(void)
{
    print_head("QUORUM", "quorum", "Gaussian-process regression for data too big for one GP");
    printf(".SH SYNOPSIS\n\\fBquorum\\fR \\fICOMMAND\\fR [\\fIarguments\\fR]\n.br\n"
           "\\fBquorum help\\fR [\\fICOMMAND\\fR]\n.br\n\\fBquorum \\-\\-version\\fR\n"
           ".SH DESCRIPTION\nThe data are split among local Gaussian\\-process experts that share "
           "their hyperparameters;\neach prediction is made by the quorum of experts that matters "
           "for it.\nResults go to standard output, progress and notes to standard error.\n"
           ".SH COMMANDS\n");
    for (const command *const *c = all_commands; *c; c++)
        if (!(*c)->hidden)
            print_command(*c);
    print_methods();
    printf(
        ".SH SEVERAL MACHINES\n\\fBmpirun \\-np\\fR \\fIR\\fR \\fBquorum\\-mpi\\fR "
        "\\fBfit\\fR|\\fBpredict\\fR|\\fBevaluate\\fR \\fIarguments\\fR\ndoes the same job with R "
        "processes, with the same results to the last bit: see \\fBquorum\\-mpi\\fR(1).\n");
    print_exit_status();
    print_environment(NULL, true);
    printf(".SH EXAMPLES\n");
    print_lines("  quorum demo\n"
                "  quorum fit train.csv --target y -o model.npz\n"
                "  quorum predict model.npz queries.csv -o predictions.csv\n"
                "  quorum evaluate model.npz test.csv\n");
}

/* quorum-COMMAND.1 */
static void print_one(const command *c)
{
    char title[64], name[64];
    snprintf(title, sizeof title, "QUORUM\\-%s", c->name);
    for (char *t = title; *t; t++)
        *t = (char)(*t >= 'a' && *t <= 'z' ? *t - 'a' + 'A' : *t);
    snprintf(name, sizeof name, "quorum\\-%s", c->name);
    print_head(title, name, c->summary);
    printf(".SH SYNOPSIS\n\\fBquorum %s\\fR ", c->name);
    print_roff(c->usage);
    printf("\n.SH DESCRIPTION\n");
    print_roff(c->description);
    printf("\n.SH OPTIONS\n");
    print_arguments(c);
    print_exit_status();
    print_environment(c, false);
    if (c->examples) {
        printf(".SH EXAMPLES\n");
        print_lines(c->examples);
    }
    printf(".SH SEE ALSO\n\\fBquorum\\fR(1)\n");
}

static void print_team_commands(void)
{
    for (const command *const *c = all_commands; *c; c++)
        if ((*c)->in_team)
            print_item((*c)->name, (*c)->summary);
}

/* quorum-mpi.1 */
static void print_team(void)
{
    print_head("QUORUM\\-MPI", "quorum\\-mpi", "quorum on many machines, as one job of MPI");
    printf(
        ".SH SYNOPSIS\n\\fBmpirun \\-np\\fR \\fIR\\fR \\fBquorum\\-mpi\\fR \\fICOMMAND\\fR "
        "[\\fIarguments\\fR]\n.SH DESCRIPTION\nDoes with R processes what \\fBquorum\\fR(1) does "
        "with one, with the same results to the last bit.\nThe first process alone reads tables "
        "and writes files; a model is read by every process, so all need to see its file.\n"
        "Arguments are those of \\fBquorum\\fR; \\-\\-memory and \\-\\-threads are each "
        "process's, and \\-\\-verbose tells what each one computed and sent.\n"
        ".SH COMMANDS\n");
    print_team_commands();
    printf(".PP\nAll others are work for one process, and refused with more.\n");
    print_exit_status();
    print_environment(NULL, false);
    printf(".SH EXAMPLES\n");
    print_lines("  mpirun -np 4 quorum-mpi fit train.csv --threads 1 -o model.npz\n"
                "  mpirun -np 4 quorum-mpi predict model.npz queries.csv -o predictions.csv\n");
    printf(".SH SEE ALSO\n\\fBquorum\\fR(1), \\fBmpirun\\fR(1)\n");
}

static int list_pages(void)
{
    printf("quorum\nquorum-mpi\n");
    for (const command *const *c = all_commands; *c; c++)
        if (!(*c)->hidden)
            printf("quorum-%s\n", (*c)->name);
    return EXIT_DONE;
}

static int run_man(const arguments *given)
{
    const char *asked = argument_value(given, "page"), *page = asked ? asked : "quorum";
    if (argument_value(given, "list"))
        return list_pages();
    if (strcmp(page, "quorum") == 0) {
        print_whole();
        return EXIT_DONE;
    }
    if (strcmp(page, "quorum-mpi") == 0) {
        print_team();
        return EXIT_DONE;
    }
    const command *c = strncmp(page, "quorum-", 7) == 0 ? find_command(page + 7) : NULL;
    if (!c || c->hidden)
        return usage_error(given->command, "there is no page '%s'; --list names them", page);
    print_one(c);
    return EXIT_DONE;
}

static const own_flag flags[] = {
    {"page", 0, "PAGE", NULL, "quorum", "The page, such as quorum-fit or quorum-mpi."},
    {"list", 0, NULL, NULL, NULL, "Print the names of the pages."},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command man_command = {
    .name = "man",
    .summary = "print a manual page in roff",
    .usage = "[--page PAGE] > quorum.1",
    .description = "Prints quorum(1) or another manual page, made from the same descriptions as "
                   "the help.",
    .option_names = "",
    .flags = flags,
    .examples = "  quorum man > quorum.1 && man ./quorum.1\n"
                "  quorum man --page quorum-fit > quorum-fit.1\n",
    .hidden = true,
    .run = run_man,
};
