/* Which levels of a category are alike for the model: a line for each, with its levels in the order of their
 * positions. */
#include "hyperparameters.h"
#include "io/plain_text.h"
#include "levels.h"
#include "report/html.h"
#include "report/sections.h"
#include "talk.h"

#include <stdio.h>
#include <stdlib.h>

/* "Ulm (-0.59), Berlin (-0.01), Rome (0.88)" */
static void write_list(FILE *file, const placed_level *list, size_t levels)
{
    char name[128];
    for (size_t l = 0; l < levels; l++) {
        if (levels > SHOWN_LEVELS && l == SHOWN_LEVELS / 2) {
            fprintf(file, ", ... (%zu more)", levels - SHOWN_LEVELS);
            l = levels - SHOWN_LEVELS / 2;
        }
        plain_text_copy(name, sizeof name, list[l].name);
        fprintf(file, "%s%s (%.2f)", l ? ", " : "", name, list[l].position);
    }
}

static int write_category(FILE *file, const facts *f, size_t d)
{
    char *text = NULL;
    size_t bytes;
    placed_level *list = levels_in_order(f->given, &f->info, d);
    FILE *room = list ? open_memstream(&text, &bytes) : NULL;
    if (room)
        write_list(room, list, f->info.levels[d]);
    bool whole = room && fclose(room) == 0;
    if (whole)
        html_cell(file, "%s", text);
    free(text);
    free(list);
    return whole ? EXIT_DONE : failure(f->given, "out of memory for %zu levels", f->info.levels[d]);
}

int write_alike(FILE *file, const facts *f)
{
    static const char *const titles[] = {"category",
                                         "levels, those that are alike beside each other"};
    const quorum_info *info = &f->info;
    int code = EXIT_DONE, begun = 0;
    for (size_t d = 0; info->levels && d < info->inputs && code == EXIT_DONE; d++) {
        if (info->levels[d] == 0)
            continue;
        if (!begun++)
            html_word_table_begin(file, "Which levels are alike for the model (their positions)",
                                  titles, 2);
        html_row(file);
        html_head_cell(file, "%s", input_name(info, d).text);
        if (is_apart(info, d))
            html_cell(file, "any two are as far from each other as any others");
        else if (tells_nothing(info, d))
            html_cell(file, "they tell no more of the target than chance does");
        else
            code = write_category(file, f, d);
    }
    if (begun)
        html_table_end(file);
    return code;
}
