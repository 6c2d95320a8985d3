/* "Did you mean ...": the nearest of some known words. */
#ifndef QUORUM_CLI_SPELLING_H
#define QUORUM_CLI_SPELLING_H

#include <stddef.h>

typedef struct {
    const char *word; /* what was typed      */
    const char *best; /* nearest so far      */
    size_t distance;  /* edits between them  */
} suggestion;

suggestion suggestion_for(const char *word);
void suggestion_offer(suggestion *s, const char *candidate);

/* The nearest word offered, or NULL when none is near enough to be meant. */
const char *suggestion_best(const suggestion *s);

/* Insertions, deletions, replacements and swaps of neighbours between a and b. */
size_t edit_distance(const char *a, const char *b);

#endif
