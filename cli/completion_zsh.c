/* The completion script of zsh: the specifications of _arguments for each command. */
#include "command.h"
#include "quorum.h"
#include "shells.h"

#include <stdio.h>
#include <string.h>

/* Text inside '...' of a specification, where [ ] : \ end a part and ' the whole. */
static void print_part(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
            continue;
        }
        if (strchr("[]:\\", *text))
            fputc('\\', stdout);
        fputc(*text, stdout);
    }
}

/* What follows the flag's name: its help, and of a value its name and what it may be. */
static void print_rest(const flag *f)
{
    char text[256];
    first_clause(f->help, text, sizeof text);
    printf("[");
    print_part(text);
    printf("]");
    if (f->placeholder) {
        printf(":");
        print_part(f->placeholder);
        printf(":");
        if (has_choices(f)) {
            printf("(");
            print_choices(f);
            printf(")");
        } else {
            printf("_files");
        }
    }
    printf("' \\\n");
}

static void print_flag(const flag *f)
{
    printf("            '--%s%s", f->name, f->placeholder ? "=" : "");
    print_rest(f);
    if (f->library && !f->placeholder) {
        printf("            '--no-%s", f->name);
        print_rest(f);
    }
    if (f->letter) {
        printf("            '-%c", f->letter);
        print_rest(f);
    }
}

static void print_command(const command *c)
{
    flag flags[MAX_FLAGS];
    size_t count = collect_flags(c, flags);
    printf("        %s)\n        _arguments \\\n", c->name);
    for (size_t i = 0; i < count; i++)
        print_flag(&flags[i]);
    printf("            '*:file:_files' ;;\n");
}

static void print_names(void)
{
    for (const command *const *c = all_commands; *c; c++)
        if (!(*c)->hidden) {
            printf("        '%s:", (*c)->name);
            print_part((*c)->summary);
            printf("'\n");
        }
}

void print_zsh(void)
{
    printf("#compdef quorum\n"
           "# zsh completion for quorum %s, made by 'quorum completion zsh'.\n\n"
           "_quorum() {\n"
           "    local -a commands\n"
           "    commands=(\n",
           quorum_version());
    print_names();
    printf("        'help:explain a command'\n    )\n"
           "    if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    local command=$words[2]\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    case $command in\n");
    for (const command *const *c = all_commands; *c; c++)
        if (!(*c)->hidden)
            print_command(*c);
    printf("    esac\n}\n\n"
           "if [[ $funcstack[1] == _quorum ]]; then\n"
           "    _quorum \"$@\"\n"
           "else\n"
           "    compdef _quorum quorum\n"
           "fi\n");
}
