/* quorum completion: a completion script for the shell. */
#include "arguments.h"
#include "command.h"
#include "shells.h"
#include "talk.h"

#include <stdio.h>
#include <string.h>

static bool is_method(const flag *f)
{
    return strcmp(f->name, "method") == 0;
}

bool has_choices(const flag *f)
{
    return f->placeholder && (f->choices || is_method(f));
}

static void print_methods(void)
{
    printf("auto");
    for (int i = 0; i < quorum_method_count(); i++)
        printf(" %s", quorum_method_name(i));
}

void print_choices(const flag *f)
{
    if (is_method(f)) {
        print_methods();
        if (!f->library)
            printf(" all");
        return;
    }
    for (const char *c = f->choices; *c; c++)
        fputc(*c == '|' ? ' ' : *c, stdout);
}

/* A colon, a semicolon, or a point that a space or nothing follows. */
static bool ends_clause(const char *at)
{
    return *at == ':' || *at == ';' || (*at == '.' && (at[1] == ' ' || !at[1]));
}

void first_clause(const char *help, char *text, size_t size)
{
    size_t n = 0;
    for (int depth = 0; help[n] && (depth > 0 || !ends_clause(help + n)); n++)
        depth += (help[n] == '(') - (help[n] == ')');
    snprintf(text, size, "%.*s", (int)n, help);
}

static const struct {
    const char *name;
    void (*print)(void);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

static int run_completion(const arguments *given)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(given->operands[0], shells[i].name) == 0) {
            shells[i].print();
            return EXIT_DONE;
        }
    return usage_error(given->command, "'%s': only bash, zsh and fish are known",
                       given->operands[0]);
}

static const operand operands[] = {
    {"SHELL", "bash, zsh or fish"},
    {NULL, NULL},
};

const command completion_command = {
    .name = "completion",
    .summary = "print a completion script for the shell",
    .usage = "bash|zsh|fish",
    .description = "Prints a script that completes commands, options, their values and file names.",
    .option_names = "",
    .operands = operands,
    .examples = "  source <(quorum completion bash)\n"
                "  quorum completion zsh > ~/.zfunc/_quorum\n"
                "  quorum completion fish > ~/.config/fish/completions/quorum.fish\n",
    .hidden = true,
    .run = run_completion,
};
