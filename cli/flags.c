/* The flags of a command, collected from its own list and the library's table of options, and
 * the titles they stand under in the help. */
#include "flags.h"

#include "quorum.h"

#include <stdio.h>
#include <string.h>

static const own_flag common_flags[] = {
    {"quiet", 'q', NULL, NULL, NULL, "No progress and no notes; errors still appear on stderr."},
    {"verbose", 'v', NULL, NULL, NULL,
     "Also say which settings are in use and what each stage does."},
    {"help", 'h', NULL, NULL, NULL, "Show this text and exit."},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

/* Which option is shown under which title.  Only the help's layout depends on
 * this list: an option that it does not name appears under "Other options". */
static const struct {
    const char *title, *names;
} groups[] = {
    {"Options", ""},
    {"Data",
     "target share ignore offset weights noise-std header missing decimal thousands comment query "
     "categorical encoding unseen dates periodic lonlat"},
    {"Experts", "experts expert-size partition min-size max-size overlap"},
    {"Training", "kernel theta start train train-rows metric partition-metric trend warp "
                 "input-warp train-experts "
                 "restarts max-evaluations "
                 "tolerance spread local-noise calibrate"},
    {"Expert graph", "graph lambda free-diagonal graph-rows graph-on"},
    {"Prediction",
     "method select neighbours space interval interval-shape calibration latent mean-only"},
    {"Machine", "seed threads memory checkpoint"},
    {"Other options", ""},
    {NULL, NULL},
};

bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; at && (at = strstr(at, word)); at += length) {
        bool starts = at == words || at[-1] == ' ';
        bool ends = at[length] == ' ' || at[length] == '\0';
        if (starts && ends)
            return true;
    }
    return false;
}

const char *group_title(int group)
{
    return groups[group].title;
}

int group_of(const flag *f)
{
    if (!f->library)
        return 0;
    int group = 1;
    while (groups[group + 1].title && !has_word(groups[group].names, f->name))
        group++;
    return group;
}

static bool already_listed(const flag *flags, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(flags[i].name, name) == 0)
            return true;
    return false;
}

static size_t add_own(const own_flag *own, flag flags[MAX_FLAGS], size_t count)
{
    for (; own && own->name && count < MAX_FLAGS; own++)
        flags[count++] =
            (flag){own->name, own->letter, own->placeholder, own->choices, own->default_value,
                   own->help, false};
    return count;
}

/* A command's own flag of the same name wins: `evaluate --method` takes a list. */
static size_t add_library(const command *c, flag flags[MAX_FLAGS], size_t count)
{
    for (int i = 0; i < quorum_option_count() && count < MAX_FLAGS; i++) {
        const quorum_option_info *o = quorum_option_at(i);
        bool taken =
            c->option_names ? has_word(c->option_names, o->name) : has_word(o->used_by, c->name);
        if (!taken || already_listed(flags, count, o->name))
            continue;
        bool needs_value = strcmp(o->type, "flag") != 0;
        const char *placeholder = o->placeholder && *o->placeholder ? o->placeholder : "VALUE";
        flags[count++] =
            (flag){o->name, 0,   needs_value ? placeholder : NULL, o->choices, o->default_value,
                   o->help, true};
    }
    return count;
}

size_t collect_flags(const command *c, flag flags[MAX_FLAGS])
{
    size_t count = add_own(c->flags, flags, 0);
    count = add_library(c, flags, count);
    return add_own(common_flags, flags, count);
}

void flag_synopsis(const flag *f, char *text, size_t size)
{
    enum { LONGEST_CHOICES = 44 };
    char letter[8] = "";
    if (f->letter)
        snprintf(letter, sizeof letter, "-%c, ", f->letter);
    const char *no = f->library && !f->placeholder ? "[no-]" : "";
    const char *value = f->placeholder ? f->placeholder : "";
    if (f->library && f->choices && strlen(f->choices) <= LONGEST_CHOICES)
        value = f->choices;
    snprintf(text, size, "%s--%s%s%s%s", letter, no, f->name, *value ? " " : "", value);
}
