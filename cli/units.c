/* Columns whose texts are numbers with a sign before them or a unit behind (units.h):
 *
 *   level = sign number unit,   the same sign and unit in all levels of the column
 *
 * A sign has no letter: C12 is a name. */
#include "units.h"

#include "talk.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char number_marks[] = "0123456789.,";
enum { FEWEST_LEVELS = 3, NAMES = 400, LONGEST_NAME = 140 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Bytes before the number, and those behind it in *unit; SIZE_MAX: it is no such text. */
static size_t sign_of(const char *level, const char **unit)
{
    size_t sign = strcspn(level, "0123456789"), number = strspn(level + sign, number_marks);
    *unit = level + sign + number;
    sign -= sign > 0 && level[sign - 1] == '-';
    for (size_t i = 0; i < sign; i++)
        if (is_letter(level[i]))
            return SIZE_MAX;
    return number > 0 && (*unit)[strcspn(*unit, "0123456789")] == '\0' ? sign : SIZE_MAX;
}

static bool has_units(char *const *level, size_t levels)
{
    const char *unit, *other;
    size_t sign = levels < FEWEST_LEVELS ? SIZE_MAX : sign_of(level[0], &unit);
    if (sign == SIZE_MAX || sign + strlen(unit) == 0)
        return false;
    for (size_t l = 1; l < levels; l++)
        if (sign_of(level[l], &other) != sign || strncmp(level[l], level[0], sign) != 0 ||
            strcmp(other, unit) != 0)
            return false;
    return true;
}

void note_units(const arguments *given, const quorum_data *data)
{
    char list[NAMES] = "", made_up[32];
    for (size_t d = 0; data->levels && d < data->inputs; d++) {
        size_t used = strlen(list);
        if (data->levels[d] == 0 || !has_units(data->level[d], data->levels[d]) ||
            used + LONGEST_NAME > sizeof list)
            continue;
        snprintf(made_up, sizeof made_up, "x%zu", d + 1);
        snprintf(list + used, sizeof list - used, "%s%.60s (%.40s)", used ? ", " : "",
                 shown(data->names ? data->names[d] : made_up).text, shown(data->level[d][0]).text);
    }
    if (list[0])
        note(given,
             "taken for categories, though their texts are numbers with a sign or unit: %s; write "
             "the "
             "numbers alone for what grows with them",
             list);
}
