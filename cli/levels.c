/* Levels by position: neighbours in the list are alike for the model (docs/data.md, "Categories"). */
#include "levels.h"

#include "command.h"
#include "hyperparameters.h"
#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_placed(const void *a, const void *b)
{
    const placed_level *x = a, *y = b;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return strcmp(x->name, y->name);
}

placed_level *levels_in_order(const arguments *given, const quorum_info *info, size_t d)
{
    size_t levels = info->levels[d];
    placed_level *list = malloc(levels * sizeof *list);
    if (!list) {
        failure(given, "out of memory for %zu levels", levels);
        return NULL;
    }
    for (size_t l = 0; l < levels; l++)
        list[l] = (placed_level){info->level[d][l], info->position[d][l]};
    qsort(list, levels, sizeof *list, compare_placed);
    return list;
}

static void print_list(const placed_level *list, size_t levels)
{
    for (size_t l = 0; l < levels; l++) {
        if (levels > SHOWN_LEVELS && l == SHOWN_LEVELS / 2) {
            printf("  %8s  (%zu more)\n", "...", levels - SHOWN_LEVELS);
            l = levels - SHOWN_LEVELS / 2;
        }
        printf("  %8.4f  %s\n", list[l].position, shown(list[l].name).text);
    }
}

int print_levels(const arguments *given, const quorum_info *info)
{
    for (size_t d = 0; info->levels && d < info->inputs; d++) {
        if (info->levels[d] == 0)
            continue;
        if (is_apart(info, d)) {
            printf("\nCategory %s: %zu level%s, any two as far from each other as any others\n",
                   input_name(info, d).text, info->levels[d], plural(info->levels[d]));
            continue;
        }
        if (tells_nothing(info, d)) {
            printf("\nCategory %s: %zu levels, which tell no more of the target than chance does\n",
                   input_name(info, d).text, info->levels[d]);
            continue;
        }
        placed_level *list = levels_in_order(given, info, d);
        if (!list)
            return EXIT_FAILED;
        printf("\nCategory %s: %zu level%s by position, those that are alike beside each other\n",
               input_name(info, d).text, info->levels[d], plural(info->levels[d]));
        print_list(list, info->levels[d]);
        free(list);
    }
    return EXIT_DONE;
}

static void put_category(json_writer *w, const quorum_info *info, size_t d,
                         const placed_level *list)
{
    json_begin_object(w);
    json_member_text(w, "input", info->names[d]);
    json_member_text(w, "encoding", is_apart(info, d) ? "distance" : "position");
    json_key(w, "levels");
    json_begin_list(w);
    for (size_t l = 0; l < info->levels[d]; l++)
        json_put_text(w, list[l].name);
    json_end(w);
    json_key(w, "positions");
    json_begin_list(w);
    for (size_t l = 0; l < info->levels[d]; l++)
        json_put_number(w, list[l].position);
    json_end(w);
    json_end(w);
}

int put_levels(json_writer *w, const arguments *given, const quorum_info *info)
{
    if (!info->levels)
        return EXIT_DONE;
    json_key(w, "categories");
    json_begin_list(w);
    for (size_t d = 0; d < info->inputs; d++) {
        placed_level *list = info->levels[d] > 0 ? levels_in_order(given, info, d) : NULL;
        if (info->levels[d] > 0 && !list)
            return EXIT_FAILED;
        if (list)
            put_category(w, info, d, list);
        free(list);
    }
    json_end(w);
    return EXIT_DONE;
}

void note_encoding(const arguments *given, const quorum_info *info)
{
    const char *asked = quorum_options_get(given->options, "encoding");
    if (info->first_level && asked && strcmp(asked, "auto") == 0)
        note(given, "levels of categories stand apart, which predicted left-out rows better than "
                    "positions did; --encoding says otherwise");
}
