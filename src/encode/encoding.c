/* Levels and their positions: made, copied, applied, freed (encoding.h). */
#include "encode/encoding.h"

#include "base/memory.h"
#include "data/levels.h"
#include "text/text.h"
#include "io/utf8.h"

#include <math.h>
#include <string.h>

void encoding_free(encoding *e)
{
    for (size_t d = 0; e->of && d < e->inputs; d++) {
        for (size_t l = 0; e->of[d].name && l < e->of[d].levels; l++)
            mem_free(e->of[d].name[l]);
        mem_free(e->of[d].name);
        mem_free(e->of[d].position);
    }
    mem_free(e->of);
    *e = (encoding){0};
}

static quorum_status fail_memory(size_t levels)
{
    return failure(QUORUM_E_MEMORY, "out of memory for %zu levels", levels);
}

static quorum_status check_name(const char *name, const char *before, size_t input)
{
    const char *end = name ? name + strlen(name) : NULL;
    if (!name || *name == '\0' || utf8_find_fault(name, end) != end || utf8_find_control(name, end))
        return failure(QUORUM_E_ARGUMENT,
                       "input %zu: a level's name is empty, not UTF-8 or has a control character",
                       input + 1);
    if (before && strcmp(before, name) >= 0)
        return failure(QUORUM_E_ARGUMENT,
                       "input %zu: its levels are not sorted bytewise, or two are alike",
                       input + 1);
    return QUORUM_OK;
}

static quorum_status copy_levels(char *const *names, size_t levels, size_t input, category *c)
{
    if (levels > MOST_LEVELS || !names)
        return failure(QUORUM_E_ARGUMENT, "input %zu: %zu levels without names, or more than %d",
                       input + 1, levels, MOST_LEVELS);
    if (!NEW_ZEROED(c->name, levels) || !NEW_ZEROED(c->position, levels))
        return fail_memory(levels);
    c->levels = levels;
    for (size_t l = 0; l < levels; l++) {
        TRY(check_name(names[l], l > 0 ? names[l - 1] : NULL, input));
        if (!(c->name[l] = mem_copy_text(names[l])))
            return fail_memory(levels);
    }
    return QUORUM_OK;
}

/* What a model file can hold of them. */
static quorum_status check_size(const encoding *e)
{
    static const double MOST_BYTES = 24 << 20, EACH = 32;
    double bytes = 0.0;
    for (size_t d = 0; d < e->inputs; d++)
        for (size_t l = 0; l < e->of[d].levels; l++)
            bytes += (double)strlen(e->of[d].name[l]) + EACH;
    return bytes <= MOST_BYTES
               ? QUORUM_OK
               : failure(QUORUM_E_DATA,
                         "the levels of the categories take %.0f MB together, and a model has room "
                         "for %.0f: leave some columns out with --ignore",
                         bytes / (1 << 20), MOST_BYTES / (1 << 20));
}

quorum_status encoding_new(size_t inputs, const size_t *levels, char *const *const *names,
                           encoding *out)
{
    *out = (encoding){.inputs = inputs};
    if (!NEW_ZEROED(out->of, inputs))
        return fail_memory(inputs);
    for (size_t d = 0; d < inputs; d++)
        if (levels[d] > 0)
            TRY(copy_levels(names ? names[d] : NULL, levels[d], d, &out->of[d]));
    return check_size(out);
}

void encoding_take_positions(const encoding *from, encoding *e)
{
    for (size_t d = 0; d < e->inputs; d++)
        if (e->of[d].levels > 0)
            memcpy(e->of[d].position, from->of[d].position,
                   e->of[d].levels * sizeof *e->of[d].position);
    encoding_settle(e);
}

void encoding_settle(encoding *e)
{
    for (size_t d = 0; d < e->inputs; d++) {
        category *c = &e->of[d];
        c->unknown = 0.0;
        for (size_t l = 0; l < c->levels; l++)
            c->unknown += c->position[l] / (double)c->levels;
    }
}

int category_has(const category *c, double x)
{
    return x >= 0.0 && x < (double)c->levels && x == floor(x);
}

static double position_of(const category *c, double x)
{
    return category_has(c, x) ? c->position[(size_t)x] : c->unknown;
}

void encoding_apply(const encoding *e, size_t n, const double *X, double *Z)
{
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < e->inputs; d++) {
            double x = X[i * e->inputs + d];
            Z[i * e->inputs + d] = e->of[d].levels > 0 ? position_of(&e->of[d], x) : x;
        }
}

int encoding_is_new(const encoding *e, const double *x)
{
    for (size_t d = 0; e->of && d < e->inputs; d++)
        if (e->of[d].levels > 0 && !category_has(&e->of[d], x[d]))
            return 1;
    return 0;
}

int encoding_needs_nodes(const encoding *e, const double *x)
{
    for (size_t d = 0; e->of && d < e->inputs; d++)
        if (category_needs_nodes(&e->of[d], x[d]))
            return 1;
    return 0;
}

int category_needs_nodes(const category *c, double x)
{
    return c->levels > 0 && !c->apart && !category_has(c, x);
}

void encoding_stand_apart(encoding *e, const made_inputs *made)
{
    for (size_t d = 0; e->of && d < e->inputs; d++)
        e->of[d].apart = e->of[d].levels > 0 ? made_first_level(made, d) : 0;
}
