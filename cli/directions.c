/* Which inputs a direction is made of, the heaviest first. */
#include "directions.h"

#include "hyperparameters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_INPUTS = 4 };
static const double LEAST_WEIGHT = 0.25; /* of an input in it, against the largest one */

/* The input of largest weight in a direction among those not taken yet; inputs: none is left. */
static size_t next_input(const quorum_info *info, const double *weight, const size_t *taken,
                         size_t count)
{
    size_t best = info->inputs;
    for (size_t d = 0; d < info->inputs; d++) {
        bool is_taken = false;
        for (size_t i = 0; i < count; i++)
            is_taken = is_taken || taken[i] == d;
        if (!is_taken && (best == info->inputs || fabs(weight[d]) > fabs(weight[best])))
            best = d;
    }
    return best;
}

void describe_direction(const quorum_info *info, size_t k, char *text, size_t size)
{
    const double *weight = info->rotation + k * info->inputs;
    size_t taken[SHOWN_INPUTS], count = 0, used = 0;
    text[0] = '\0';
    while (count < SHOWN_INPUTS && count < info->inputs) {
        size_t d = next_input(info, weight, taken, count);
        double w = weight[d];
        if (count > 0 && fabs(w) < LEAST_WEIGHT * fabs(weight[taken[0]]))
            break;
        const char *sign = count == 0 ? (w < 0.0 ? "-" : "") : w < 0.0 ? " - " : " + ";
        snprintf(text + used, size - used, "%s%.2f %s", sign, fabs(w), input_name(info, d).text);
        used = strlen(text);
        taken[count++] = d;
    }
}
