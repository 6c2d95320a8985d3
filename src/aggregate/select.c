/* The texts of --select understood: all, none, graph:A, best:A, expert:I, local:K, knn:K, or two of
 * them joined; and the experts that they mean, in ascending order. */
#include "aggregate/select.h"

#include "base/plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number after "graph:" and the like. */
static quorum_status parse_share(const char *text, const char *prefix, const char *number,
                                 double *share)
{
    char *end;
    *share = plain_real(number, &end);
    if (end != number && *end == '\0' && *share > 1.0 && *share <= 100.0)
        return failure(QUORUM_E_ARGUMENT,
                       "select \"%s\": the share must be in (0, 1]; did you mean %s%.6g?", text,
                       prefix, *share / 100.0);
    if (end == number || *end != '\0' || !(*share > 0.0 && *share <= 1.0))
        return failure(QUORUM_E_ARGUMENT,
                       "select \"%s\": the share must be in (0, 1], as in graph:0.8", text);
    return QUORUM_OK;
}

static quorum_status parse_expert(const char *text, const char *number, size_t *expert)
{
    char *end;
    unsigned long long value = plain_count(number, &end);
    if (end == number || *end != '\0' || value < 1 || number[0] == '-')
        return failure(QUORUM_E_ARGUMENT,
                       "select \"%s\": experts are counted from 1, as in expert:3", text);
    *expert = (size_t)value - 1;
    return QUORUM_OK;
}

/* The number after "local:" and "knn:"; that of local may be auto. */
static quorum_status parse_local(const char *text, const char *number, int by_centre,
                                 selection *out)
{
    char *end;
    out->by_centre = by_centre;
    if (strcmp(number, "auto") == 0 && !by_centre) {
        out->local_auto = 1;
        return QUORUM_OK;
    }
    unsigned long long value = plain_count(number, &end);
    if (end == number || *end != '\0' || value < 1 || value > 10000 || number[0] == '-')
        return failure(QUORUM_E_ARGUMENT,
                       "select \"%s\": the number of experts must be 1 to 10000%s, as in %s:4",
                       text, by_centre ? "" : " or auto", by_centre ? "knn" : "local");
    out->local = (size_t)value;
    return QUORUM_OK;
}

/* The part before "+local" or "+knn". */
static quorum_status parse_global(const char *text, const char *part, selection *out)
{
    static const struct {
        const char *prefix;
        selection_kind kind;
    } shares[] = {{"graph:", SELECT_MOST}, {"best:", SELECT_MOST}, {"worst:", SELECT_LEAST}};
    if (strcmp(part, "all") == 0)
        return QUORUM_OK;
    if (strcmp(part, "none") == 0) {
        out->kind = SELECT_NONE;
        return QUORUM_OK;
    }
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        if (strncmp(part, shares[i].prefix, strlen(shares[i].prefix)) == 0) {
            out->kind = shares[i].kind;
            return parse_share(text, shares[i].prefix, part + strlen(shares[i].prefix),
                               &out->share);
        }
    if (strncmp(part, "expert:", 7) == 0) {
        out->kind = SELECT_ONE;
        return parse_expert(text, part + 7, &out->expert);
    }
    return failure(
        QUORUM_E_ARGUMENT,
        "select \"%s\" is not known; use auto, all, none, graph:A, best:A, worst:A (A in "
        "(0, 1]), expert:I, local:K, local:auto, knn:K, or two joined as in graph:0.8+local:4",
        text);
}

quorum_status selection_parse(const char *text, selection *out)
{
    char part[64];
    const char *local = strstr(text, "local:"), *knn = local ? NULL : strstr(text, "knn:");
    const char *number = local ? local + 6 : knn ? knn + 4 : NULL;
    local = local ? local : knn;
    *out = (selection){.kind = SELECT_ALL, .share = 1.0};
    if (!local)
        return parse_global(text, text, out);
    TRY(parse_local(text, number, knn != NULL, out));
    if (local == text)
        return QUORUM_OK;
    size_t length = (size_t)(local - text);
    if (local[-1] != '+' || length > sizeof part)
        return parse_global(text, text, out); /* says what is known */
    memcpy(part, text, length - 1);
    part[length - 1] = '\0';
    return parse_global(text, part, out);
}

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

size_t selection_count(const selection *s, size_t M)
{
    if (s->kind == SELECT_NONE || s->kind == SELECT_ONE)
        return s->kind == SELECT_ONE;
    /* ceil, but 0.8 x 15 must give 12 although the product is a little over */
    size_t k = (size_t)ceil(s->share * (double)M - 1e-9);
    return k < 1 ? 1 : k > M ? M : k;
}

int selection_is_by_rank(const selection *s)
{
    return s->kind == SELECT_MOST || s->kind == SELECT_LEAST;
}

quorum_status selection_members(const selection *s, size_t M, const size_t *ranking,
                                size_t *experts, size_t *count)
{
    *count = selection_count(s, M);
    if (s->kind == SELECT_NONE)
        return QUORUM_OK;
    if (s->kind == SELECT_ONE) {
        if (s->expert >= M)
            return failure(QUORUM_E_ARGUMENT, "select expert:%zu: the model has %zu experts",
                           s->expert + 1, M);
        experts[0] = s->expert;
        return QUORUM_OK;
    }
    for (size_t i = 0; i < *count; i++)
        experts[i] = *count == M ? i : s->kind == SELECT_MOST ? ranking[i] : ranking[M - 1 - i];
    qsort(experts, *count, sizeof *experts, ascending);
    return QUORUM_OK;
}
