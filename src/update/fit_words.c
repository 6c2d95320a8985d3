/* The options of a fit, of which the model has the text. */
#include "update/fit_words.h"

#include "archive/json.h"

#include <string.h>

/* The option was called metric before there was another of that name. */
static int read_metric(const json_node *options)
{
    const char *text = json_as_text(json_member(options, "partition-metric"));
    const char *older = json_as_text(json_member(options, "metric"));
    int is_input = text ? strcmp(text, "input") == 0 : older && strcmp(older, "input") == 0;
    return is_input ? PARTITION_INPUT : PARTITION_LEARNED;
}

static double read_overlap(const json_node *options)
{
    const char *text = json_as_text(json_member(options, "overlap"));
    double value;
    size_t count = 0;
    if (!text || parse_numbers(text, &value, 1, &count) < 0 || count != 1)
        return 0.0;
    return value >= 0.0 && value <= 1e6 ? value : 0.0;
}

quorum_status fit_words_read(const quorum_model *m, fit_words *out)
{
    json_tree tree;
    *out = (fit_words){.metric = PARTITION_LEARNED};
    if (!m->history.options)
        return QUORUM_OK;
    TRY(json_parse(m->history.options, strlen(m->history.options), &tree));
    out->metric = read_metric(tree.root);
    out->overlap = read_overlap(tree.root);
    json_free(&tree);
    return QUORUM_OK;
}
