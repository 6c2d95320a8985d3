/* The parser of a command's words: flags, their values, operands; what is wrong is said with
 * what might have been meant. */
#include "arguments.h"

#include "spelling.h"
#include "talk.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Where the parser is in the list of words. */
typedef struct {
    char **argv;
    int argc, next;
    arguments *given;
} scanner;

/* ---- Finding flags ------------------------------------------------------- */

/* Compares names as the library does: '_' and '-' are the same. */
static bool same_name(const char *known, const char *typed, size_t length)
{
    if (strlen(known) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        char t = (char)(typed[i] == '_' ? '-' : typed[i]);
        if (known[i] != t)
            return false;
    }
    return true;
}

static int find_flag(const arguments *given, const char *name, size_t length)
{
    for (size_t i = 0; i < given->flag_count; i++)
        if (same_name(given->flags[i].name, name, length))
            return (int)i;
    return -1;
}

static int find_letter(const arguments *given, char letter)
{
    for (size_t i = 0; i < given->flag_count; i++)
        if (given->flags[i].letter == letter)
            return (int)i;
    return -1;
}

/* "no-latent" for "latent": only the library's flags can be switched off. */
static int find_negated(const arguments *given, const char *name, size_t length)
{
    if (length <= 3 || strncmp(name, "no-", 3) != 0)
        return -1;
    int i = find_flag(given, name + 3, length - 3);
    return i >= 0 && given->flags[i].library && !given->flags[i].placeholder ? i : -1;
}

static int unknown_flag(const arguments *given, const char *name, size_t length)
{
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", (int)length, name);
    suggestion s = suggestion_for(typed);
    for (size_t i = 0; i < given->flag_count; i++)
        suggestion_offer(&s, given->flags[i].name);
    const char *best = suggestion_best(&s);
    if (best)
        return usage_error(given->command, "--%.*s: no such option (did you mean --%s?)",
                           (int)length, name, best);
    return usage_error(given->command, "--%.*s: no such option", (int)length, name);
}

/* ---- Setting flags ------------------------------------------------------- */

const char *library_complaint(const char *name)
{
    const char *message = quorum_message();
    size_t length = strlen(name);
    if (strncmp(message, "option ", 7) == 0)
        message += 7;
    if (strncmp(message, name, length) != 0)
        return message;
    if (strncmp(message + length, ": ", 2) == 0)
        return message + length + 2;
    return strncmp(message + length, " \"", 2) == 0 ? message + length + 1 : message;
}

static int set_flag(arguments *given, int i, const char *value)
{
    const flag *f = &given->flags[i];
    given->values[i] = value;
    if (!f->library)
        return EXIT_DONE;
    quorum_status status = quorum_options_set(given->options, f->name, value);
    return status < 0 ? option_failure(given, f->name, status) : EXIT_DONE;
}

static int needs_value(const arguments *given, int i)
{
    const flag *f = &given->flags[i];
    return usage_error(given->command, "--%s: needs a value, %s", f->name, f->placeholder);
}

/* A switch that has more values than true and false takes one of them as its next word. */
static const char *value_of_switch(scanner *s, const flag *f)
{
    const char *next = s->next < s->argc ? s->argv[s->next] : NULL, *p = f->choices;
    size_t length = next ? strlen(next) : 0;
    while (p && next) {
        size_t n = strcspn(p, "|");
        if (n == length && strncmp(p, next, n) == 0)
            return s->argv[s->next++];
        p = p[n] ? p + n + 1 : NULL;
    }
    return "true";
}

/* "--name value", "--name=value", "--switch", "--no-switch", "--switch=false". */
static int parse_long(scanner *s, const char *word)
{
    arguments *given = s->given;
    size_t length = strcspn(word, "=");
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    int i = find_flag(given, word, length);
    int negated = i < 0 ? find_negated(given, word, length) : -1;
    if (i < 0 && negated < 0)
        return unknown_flag(given, word, length);
    if (negated >= 0)
        return value ? usage_error(given->command, "--%.*s: takes no value", (int)length, word)
                     : set_flag(given, negated, "false");
    const flag *f = &given->flags[i];
    if (!f->placeholder && value && !f->library)
        return usage_error(given->command, "--%s: takes no value", f->name);
    if (!f->placeholder)
        return set_flag(given, i, value ? value : value_of_switch(s, f));
    if (!value && s->next >= s->argc)
        return needs_value(given, i);
    return set_flag(given, i, value ? value : s->argv[s->next++]);
}

/* "-o value", "-ovalue", "-qv". */
static int parse_letters(scanner *s, const char *word)
{
    arguments *given = s->given;
    for (const char *letter = word; *letter; letter++) {
        int i = find_letter(given, *letter);
        if (i < 0)
            return usage_error(given->command, "-%c: no such option", *letter);
        if (!given->flags[i].placeholder) {
            int code = set_flag(given, i, "true");
            if (code != EXIT_DONE)
                return code;
            continue;
        }
        if (letter[1])
            return set_flag(given, i, letter + 1);
        if (s->next >= s->argc)
            return needs_value(given, i);
        return set_flag(given, i, s->argv[s->next++]);
    }
    return EXIT_DONE;
}

/* ---- Operands ------------------------------------------------------------- */

static size_t operands_wanted(const command *c)
{
    size_t count = 0;
    while (c->operands && c->operands[count].name)
        count++;
    return count;
}

static int add_operand(arguments *given, const char *word)
{
    if (given->operand_count >= operands_wanted(given->command))
        return usage_error(given->command, "unexpected argument '%s'", word);
    given->operands[given->operand_count++] = word;
    return EXIT_DONE;
}

static int check_operands(const arguments *given)
{
    const command *c = given->command;
    if (given->operand_count + c->may_lack >= operands_wanted(c))
        return EXIT_DONE;
    return usage_error(c, "%s is missing", c->operands[given->operand_count].name);
}

/* ---- All of it -------------------------------------------------------------- */

static int parse_words(scanner *s)
{
    bool only_operands = false;
    int code = EXIT_DONE;
    while (code == EXIT_DONE && s->next < s->argc) {
        const char *word = s->argv[s->next++];
        if (only_operands || word[0] != '-' || word[1] == '\0')
            code = add_operand(s->given, word);
        else if (strcmp(word, "--") == 0)
            only_operands = true;
        else if (word[1] == '-')
            code = parse_long(s, word + 2);
        else
            code = parse_letters(s, word + 1);
        if (argument_value(s->given, "help"))
            return EXIT_DONE;
    }
    return code;
}

int arguments_parse(const command *c, int argc, char **argv, arguments *given)
{
    memset(given, 0, sizeof *given);
    given->command = c;
    given->flag_count = collect_flags(c, given->flags);
    given->options = quorum_options_new();
    if (!given->options)
        return failure(given, "out of memory for the options");
    scanner s = {argv, argc, 0, given};
    int code = parse_words(&s);
    given->help = argument_value(given, "help") != NULL;
    given->quiet = argument_value(given, "quiet") != NULL;
    given->verbose = argument_value(given, "verbose") != NULL && !given->quiet;
    if (code != EXIT_DONE || given->help)
        return code;
    return check_operands(given);
}

void arguments_free(arguments *given)
{
    quorum_options_free(given->options);
    given->options = NULL;
}

bool option_is_on(const arguments *given, const char *name)
{
    const char *value = quorum_options_get(given->options, name);
    return value && !strchr("fFnN0", value[0]) && strcasecmp(value, "off") != 0 &&
           strcasecmp(value, "auto") != 0;
}

const char *argument_value(const arguments *given, const char *name)
{
    int i = find_flag(given, name, strlen(name));
    return i >= 0 ? given->values[i] : NULL;
}
