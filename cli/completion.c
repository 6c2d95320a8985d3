/* quorum completion bash: a completion script for the shell. */
#include "arguments.h"
#include "command.h"
#include "talk.h"

#include <stdio.h>
#include <string.h>

static void print_words(const char *choices)
{
    for (; *choices; choices++)
        fputc(*choices == '|' ? ' ' : *choices, stdout);
}

static void print_methods(void)
{
    printf("auto");
    for (int i = 0; i < quorum_method_count(); i++)
        printf(" %s", quorum_method_name(i));
}

/* All flags of a command as words: --name, --no-name, -o. */
static void print_flag_words(const command *c)
{
    flag flags[MAX_FLAGS];
    size_t count = collect_flags(c, flags);
    printf("        %s) words=\"", c->name);
    for (size_t i = 0; i < count; i++) {
        printf("%s--%s", i ? " " : "", flags[i].name);
        if (flags[i].library && !flags[i].placeholder)
            printf(" --no-%s", flags[i].name);
        if (flags[i].letter)
            printf(" -%c", flags[i].letter);
    }
    printf("\" ;;\n");
}

/* The values of one flag: its choices, the methods, or files. */
static void print_values(const command *c, const flag *f)
{
    bool method = strcmp(f->name, "method") == 0;
    if (!f->placeholder)
        return;
    printf("        %s:--%s", c->name, f->name);
    if (f->letter)
        printf("|%s:-%c", c->name, f->letter);
    printf(") ");
    if (f->choices || method) {
        printf("_quorum_words \"");
        if (method)
            print_methods();
        else
            print_words(f->choices);
        printf("%s\"", method && !f->library ? " all" : "");
    } else {
        printf("_quorum_files");
    }
    printf("; return ;;\n");
}

static void print_command_names(void)
{
    for (const command *const *c = all_commands; *c; c++)
        if (!(*c)->hidden)
            printf("%s ", (*c)->name);
}

static void print_bash(void)
{
    printf(
        "# bash completion for quorum %s, made by 'quorum completion bash'.\n\n"
        "_quorum_words() { COMPREPLY=($(compgen -W \"$1\" -- \"$current\")); }\n"
        "_quorum_files() { compopt -o filenames 2>/dev/null; "
        "COMPREPLY=($(compgen -f -- \"$current\")); }\n\n"
        "_quorum() {\n"
        "    local current=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
        "    local command=\"${COMP_WORDS[1]}\" words=\"\"\n"
        "    set -f\n"
        "    trap 'set +f; trap - RETURN' RETURN\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        _quorum_words \"",
        quorum_version());
    print_command_names();
    printf("help --help --version\"; return\n    fi\n"
           "    case \"$command:$before\" in\n        help:help) _quorum_words \"");
    print_command_names();
    printf("\"; return ;;\n");
    for (const command *const *c = all_commands; *c; c++) {
        flag flags[MAX_FLAGS];
        size_t count = (*c)->hidden ? 0 : collect_flags(*c, flags);
        for (size_t i = 0; i < count; i++)
            print_values(*c, &flags[i]);
    }
    printf("    esac\n    case \"$command\" in\n");
    for (const command *const *c = all_commands; *c; c++)
        if (!(*c)->hidden)
            print_flag_words(*c);
    printf("    esac\n"
           "    case \"$current\" in\n"
           "        -*) _quorum_words \"$words\" ;;\n"
           "        *) _quorum_files ;;\n"
           "    esac\n}\n\ncomplete -F _quorum quorum\n");
}

static int run_completion(const arguments *given)
{
    if (strcmp(given->operands[0], "bash") != 0)
        return usage_error(given->command, "'%s': only bash is known", given->operands[0]);
    print_bash();
    return EXIT_DONE;
}

static const operand operands[] = {
    {"SHELL", "bash"},
    {NULL, NULL},
};

const command completion_command = {
    .name = "completion",
    .summary = "print a completion script for the shell",
    .usage = "bash",
    .description = "Prints a script that completes commands, options, their values and file names.",
    .option_names = "",
    .operands = operands,
    .examples = "  source <(quorum completion bash)\n",
    .hidden = true,
    .run = run_completion,
};
