#include "aggregate/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static quorum_status parse_share(const char *text, const char *number, double *share)
{
    char *end;
    *share = strtod(number, &end);
    if (end == number || *end != '\0' || !(*share > 0.0 && *share <= 1.0))
        return failure(QUORUM_E_ARGUMENT,
                       "select \"%s\": the share must be in (0, 1], as in graph:0.8", text);
    return QUORUM_OK;
}

static quorum_status parse_expert(const char *text, const char *number, size_t *expert)
{
    char *end;
    unsigned long long value = strtoull(number, &end, 10);
    if (end == number || *end != '\0' || value < 1 || number[0] == '-')
        return failure(QUORUM_E_ARGUMENT,
                       "select \"%s\": experts are counted from 1, as in expert:3", text);
    *expert = (size_t)value - 1;
    return QUORUM_OK;
}

quorum_status selection_parse(const char *text, selection *out)
{
    *out = (selection){.kind = SELECT_ALL, .share = 1.0};
    if (strcmp(text, "all") == 0)
        return QUORUM_OK;
    if (strncmp(text, "graph:", 6) == 0 || strncmp(text, "worst:", 6) == 0) {
        out->kind = text[0] == 'g' ? SELECT_MOST : SELECT_LEAST;
        return parse_share(text, text + 6, &out->share);
    }
    if (strncmp(text, "best:", 5) == 0) {
        out->kind = SELECT_MOST;
        return parse_share(text, text + 5, &out->share);
    }
    if (strncmp(text, "expert:", 7) == 0) {
        out->kind = SELECT_ONE;
        return parse_expert(text, text + 7, &out->expert);
    }
    return failure(QUORUM_E_ARGUMENT,
                   "select \"%s\" is not known; use all, graph:A, best:A, worst:A (A in (0, 1]) or "
                   "expert:I",
                   text);
}

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

quorum_status selection_members(const selection *s, size_t M, const size_t *ranking,
                                size_t *experts, size_t *count)
{
    if (s->kind == SELECT_ONE) {
        if (s->expert >= M)
            return failure(QUORUM_E_ARGUMENT, "select expert:%zu: the model has %zu experts",
                           s->expert + 1, M);
        experts[0] = s->expert;
        *count = 1;
        return QUORUM_OK;
    }
    /* ceil, but 0.8 x 15 must give 12 although the product is a little over */
    size_t k = (size_t)ceil(s->share * (double)M - 1e-9);
    *count = k < 1 ? 1 : k > M ? M : k;
    for (size_t i = 0; i < *count; i++)
        experts[i] = *count == M ? i : s->kind == SELECT_MOST ? ranking[i] : ranking[M - 1 - i];
    qsort(experts, *count, sizeof *experts, ascending);
    return QUORUM_OK;
}
