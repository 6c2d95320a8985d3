/* quorum man: the manual page, made from the same descriptions as the help. */
#include "arguments.h"
#include "command.h"

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
static void print_examples(const char *lines)
{
    fputs(".PP\nExamples:\n.PP\n.nf\n", stdout);
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

static void print_command(const command *c)
{
    flag flags[MAX_FLAGS];
    size_t count = collect_flags(c, flags);
    printf(".SS quorum %s ", c->name);
    print_roff(c->usage);
    fputc('\n', stdout);
    print_roff(c->description);
    fputc('\n', stdout);
    for (const operand *o = c->operands; o && o->name; o++)
        print_item(o->name, o->help);
    for (int group = 0; group_title(group); group++)
        for (size_t i = 0; i < count; i++)
            if (group_of(&flags[i]) == group)
                print_flag(&flags[i]);
    if (c->examples)
        print_examples(c->examples);
}

static void print_head(void)
{
    printf(".TH QUORUM 1 \"\" \"quorum %s\" \"User Commands\"\n"
           ".SH NAME\nquorum \\- Gaussian\\-process regression for data too big for one GP\n"
           ".SH SYNOPSIS\n\\fBquorum\\fR \\fICOMMAND\\fR [\\fIarguments\\fR]\n.br\n"
           "\\fBquorum help\\fR [\\fICOMMAND\\fR]\n.br\n\\fBquorum \\-\\-version\\fR\n",
           quorum_version());
    printf(".SH DESCRIPTION\nThe data are split among local Gaussian\\-process experts that share "
           "their hyperparameters;\neach prediction is made by the quorum of experts that matters "
           "for it.\nResults go to standard output, progress and notes to standard error.\n");
}

static void print_tail(void)
{
    printf(".SH METHODS\n");
    for (int i = 0; i < quorum_method_count(); i++)
        print_item(quorum_method_name(i), quorum_method_help(i));
    print_item("NAME*", "NAME on the experts that the graph selects, as --select graph:0.8.");
    printf(
        ".SH SEVERAL MACHINES\n\\fBmpirun \\-np\\fR \\fIR\\fR \\fBquorum\\-mpi\\fR "
        "\\fBfit\\fR|\\fBpredict\\fR|\\fBevaluate\\fR \\fIarguments\\fR\ndoes the same job with R "
        "processes, with the same results to the last bit.  \\-\\-memory and \\-\\-threads are "
        "each process's, and \\-\\-verbose tells what each one computed and sent.\n");
    printf(".SH EXIT STATUS\n");
    print_item("0", "Done.");
    print_item("1", "The work failed; standard error says why.");
    print_item("2", "The command line is wrong.");
    print_item("128+N", "Stopped by signal N: 130 after Ctrl-C.");
    printf(".SH ENVIRONMENT\n");
    print_item("OPENBLAS_CORETYPE", "Forces a BLAS kernel set; without it the fastest one is "
                                    "chosen with which a prediction does not depend on its batch.");
    print_item("QUORUM_EXPERIMENTS", "Directory of the experiments that 'quorum reproduce' runs; "
                                     "without it, the one that belongs to this command.");
}

static int run_man(const arguments *given)
{
    (void)given;
    print_head();
    printf(".SH COMMANDS\n");
    for (const command *const *c = all_commands; *c; c++)
        if (!(*c)->hidden)
            print_command(*c);
    print_tail();
    return EXIT_DONE;
}

const command man_command = {
    .name = "man",
    .summary = "print the manual page in roff",
    .usage = "> quorum.1",
    .description = "Prints the manual page quorum(1), made from the same descriptions as the help.",
    .option_names = "",
    .examples = "  quorum man > quorum.1 && man ./quorum.1\n",
    .hidden = true,
    .run = run_man,
};
