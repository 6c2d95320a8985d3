/* The completion script of fish: a line for each command and each of its flags. */
#include "command.h"
#include "quorum.h"
#include "shells.h"

#include <stdio.h>

/* Text in single quotes, in which fish knows \\ and \'. */
static void print_quoted(const char *text)
{
    fputc('\'', stdout);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', stdout);
        fputc(*text, stdout);
    }
    fputc('\'', stdout);
}

static void print_flag(const command *c, const flag *f)
{
    char text[256];
    first_clause(f->help, text, sizeof text);
    printf("complete -c quorum -n '__quorum_command %s' -l %s", c->name, f->name);
    if (f->letter)
        printf(" -s %c", f->letter);
    if (has_choices(f)) {
        printf(" -x -a '");
        print_choices(f);
        printf("'");
    } else if (f->placeholder) {
        printf(" -r");
    }
    printf(" -d ");
    print_quoted(text);
    printf("\n");
    if (f->library && !f->placeholder)
        printf("complete -c quorum -n '__quorum_command %s' -l no-%s\n", c->name, f->name);
}

static void print_command(const command *c)
{
    flag flags[MAX_FLAGS];
    size_t count = collect_flags(c, flags);
    printf("complete -c quorum -n '__quorum_first; or __quorum_command help' -f -a %s -d ",
           c->name);
    print_quoted(c->summary);
    printf("\n");
    for (size_t i = 0; i < count; i++)
        print_flag(c, &flags[i]);
}

void print_fish(void)
{
    printf("# fish completion for quorum %s, made by 'quorum completion fish'.\n\n"
           "function __quorum_first\n"
           "    test (count (commandline -opc)) -eq 1\n"
           "end\n"
           "function __quorum_command\n"
           "    set -l words (commandline -opc)\n"
           "    test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
           "end\n\n"
           "complete -c quorum -n __quorum_first -f -a help -d 'explain a command'\n"
           "complete -c quorum -n __quorum_first -f -l version -d 'print the version'\n",
           quorum_version());
    for (const command *const *c = all_commands; *c; c++)
        if (!(*c)->hidden)
            print_command(*c);
}
