/* Prints the overview and a command's help from the descriptions of commands and flags. */
#include "help.h"

#include "flags.h"
#include "quorum.h"
#include "wrap.h"

#include <string.h>

enum { TEXT_COLUMN = 28 };

void print_overview(FILE *file)
{
    fprintf(file, "Usage: quorum COMMAND [arguments]\n\n");
    print_wrapped(file,
                  "Gaussian-process regression for data too big for one GP: the data are split "
                  "among local experts, and each prediction is made by the quorum of experts that "
                  "matters for it.",
                  0, 0);
    fprintf(file, "\nCommands:\n");
    for (const command *const *c = all_commands; *c; c++)
        if (!(*c)->hidden)
            fprintf(file, "  %-10s %s\n", (*c)->name, (*c)->summary);
    fprintf(file, "\nStart here:\n"
                  "  quorum demo                                  see it work, no files needed\n"
                  "  quorum fit train.csv -o model.npz            the last column is the target\n"
                  "  quorum predict model.npz new.csv -o out.csv\n"
                  "  quorum evaluate model.npz test.csv --method all\n\n"
                  "'quorum help COMMAND' or 'quorum COMMAND --help' explains a command,\n"
                  "'quorum --version' names this version.\n");
}

static void print_operands(FILE *file, const command *c)
{
    if (!c->operands)
        return;
    fprintf(file, "\nArguments:\n");
    for (const operand *o = c->operands; o->name; o++) {
        fprintf(file, "  %s", o->name);
        print_wrapped(file, o->help, 2 + strlen(o->name), TEXT_COLUMN);
    }
}

/* One flag: synopsis, help, choices that the synopsis had no room for, default. */
static void print_flag(FILE *file, const flag *f)
{
    char synopsis[160], text[2048];
    flag_synopsis(f, synopsis, sizeof synopsis);
    bool shown = !f->choices || !f->library || strstr(synopsis, f->choices);
    bool has_default = f->default_value && *f->default_value && f->placeholder;
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s", f->help, shown ? "" : " One of ",
             shown ? "" : f->choices, shown ? "" : ".", has_default ? " Default: " : "",
             has_default ? f->default_value : "", has_default ? "." : "");
    size_t column = 2 + (size_t)fprintf(file, "  %s", synopsis) - 2;
    print_wrapped(file, text, column + 2 > TEXT_COLUMN ? PAGE_WIDTH : column, TEXT_COLUMN);
}

static void print_group(FILE *file, const flag *flags, size_t count, int group)
{
    bool titled = false;
    for (size_t i = 0; i < count; i++) {
        if (group_of(&flags[i]) != group)
            continue;
        if (!titled)
            fprintf(file, "\n%s:\n", group_title(group));
        titled = true;
        print_flag(file, &flags[i]);
    }
}

static void print_methods(FILE *file)
{
    fprintf(file, "\nMethods:\n");
    for (int i = 0; i < quorum_method_count(); i++) {
        size_t column = (size_t)fprintf(file, "  %s", quorum_method_name(i));
        print_wrapped(file, quorum_method_help(i), column, 16);
    }
    print_wrapped(file,
                  "NAME* is NAME on the experts that the graph selects, the same as "
                  "--select graph:0.8. Quote the star in a shell.",
                  0, 2);
}

void print_help(FILE *file, const command *c)
{
    flag flags[MAX_FLAGS];
    size_t count = collect_flags(c, flags);
    fprintf(file, "Usage: quorum %s %s\n\n", c->name, c->usage);
    print_wrapped(file, c->description, 0, 0);
    print_operands(file, c);
    for (int group = 0; group_title(group); group++)
        print_group(file, flags, count, group);
    if (c->lists_methods)
        print_methods(file);
    if (c->examples)
        fprintf(file, "\nExamples:\n%s", c->examples);
}
