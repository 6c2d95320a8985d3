/* The completion script of bash. */
#include "command.h"
#include "quorum.h"
#include "shells.h"

#include <stdio.h>

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
    if (!f->placeholder)
        return;
    printf("        %s:--%s", c->name, f->name);
    if (f->letter)
        printf("|%s:-%c", c->name, f->letter);
    printf(") ");
    if (has_choices(f)) {
        printf("_quorum_words \"");
        print_choices(f);
        printf("\"");
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

void print_bash(void)
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
