/* quorum options: the library's table of options as Markdown, for docs/options.md. */
#include "arguments.h"
#include "command.h"
#include "talk.h"

#include <stdio.h>
#include <string.h>

/* '|' would end a cell of the table. */
static void print_cell(const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            fputs("\\|", stdout);
        else
            fputc(*text == '\n' ? ' ' : *text, stdout);
    }
}

static void print_values(const quorum_option_info *o)
{
    if (o->choices)
        print_cell(o->choices);
    else if (strcmp(o->type, "flag") == 0)
        fputs("true or false", stdout);
    else if (strcmp(o->type, "text") == 0)
        fputs("text", stdout);
    else
        printf("%s, %g to %g", o->type, o->min, o->max);
}

static void print_row(const quorum_option_info *o)
{
    printf("| `%s` | ", o->name);
    if (o->default_value && *o->default_value) {
        fputc('`', stdout);
        print_cell(o->default_value);
        fputc('`', stdout);
    }
    fputs(" | ", stdout);
    print_values(o);
    printf(" | %s | ", o->used_by);
    print_cell(o->help);
    fputs(" |\n", stdout);
}

static void print_group(int group)
{
    bool titled = false;
    for (int i = 0; i < quorum_option_count(); i++) {
        const quorum_option_info *o = quorum_option_at(i);
        flag f = {.name = o->name, .library = true};
        if (group_of(&f) != group)
            continue;
        if (!titled)
            printf("\n## %s\n\n| option | default | values | used by | what it does |\n"
                   "|---|---|---|---|---|\n",
                   group_title(group));
        titled = true;
        print_row(o);
    }
}

static int run_options(const arguments *given)
{
    (void)given;
    printf(
        "# Options\n\nMade by `quorum options --markdown` from the library's table; do not "
        "edit. The names are the\nsame everywhere: `--name value` on the command line, "
        "`quorum_options_set(o, \"name\", \"value\")` in C,\nand, with underscores and four other "
        "names, arguments in [Python](python.md).\n");
    for (int group = 0; group_title(group); group++)
        print_group(group);
    printf("\n## Methods\n\n| method | what it is |\n|---|---|\n");
    for (int i = 0; i < quorum_method_count(); i++) {
        printf("| `%s` | ", quorum_method_name(i));
        print_cell(quorum_method_help(i));
        fputs(" |\n", stdout);
    }
    return EXIT_DONE;
}

static const own_flag flags[] = {
    {"markdown", 0, NULL, NULL, NULL, "Print Markdown, the only form there is."},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command options_command = {
    .name = "options",
    .summary = "print the table of options as Markdown",
    .usage = "[--markdown]",
    .description = "Prints every option of the library as a Markdown page: docs/options.md is "
                   "made by it.",
    .option_names = "",
    .flags = flags,
    .examples = "  quorum options --markdown > docs/options.md\n",
    .hidden = true,
    .run = run_options,
};
