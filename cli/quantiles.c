/* --quantiles: a list of probabilities, and the columns that come of it. */
#include "quantiles.h"

#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One probability, `length` characters of text. */
static bool add_quantile(quantiles *q, const char *text, size_t length)
{
    char word[sizeof q->name[0] - 1], *end;
    if (length == 0 || length >= sizeof word)
        return false;
    memcpy(word, text, length);
    word[length] = '\0';
    double p = strtod(word, &end);
    if (*end != '\0' || !(p > 0.0 && p < 1.0))
        return false;
    snprintf(q->name[q->count], sizeof q->name[0], "q%s", word);
    q->probability[q->count++] = p;
    return true;
}

int quantiles_read(quantiles *q, const arguments *given)
{
    const char *text = argument_value(given, "quantiles");
    memset(q, 0, sizeof *q);
    if (text && option_is_on(given, "mean-only"))
        return usage_error(given->command, "--quantiles: --mean-only predicts none");
    while (text) {
        text += strspn(text, " ");
        size_t length = strcspn(text, ", ");
        if (q->count == MOST_QUANTILES)
            return usage_error(given->command, "--quantiles: more than %d", MOST_QUANTILES);
        if (!add_quantile(q, text, length))
            return usage_error(given->command,
                               "--quantiles: '%.*s' is not a probability between 0 and 1",
                               (int)(length < 40 ? length : 40), text);
        text += length + strspn(text + length, " ");
        if (*text != ',' && *text != '\0')
            return usage_error(given->command, "--quantiles: separate probabilities by commas");
        text = *text == ',' ? text + 1 : NULL;
    }
    return EXIT_DONE;
}

void quantiles_free(quantiles *q)
{
    free(q->values);
    memset(q, 0, sizeof *q);
}

bool quantiles_ask(quantiles *q, size_t rows, quorum_prediction *out)
{
    if (q->count == 0)
        return true;
    if (rows > q->rows) {
        double *grown = realloc(q->values, rows * q->count * sizeof *grown);
        if (!grown)
            return false;
        q->values = grown;
        q->rows = rows;
    }
    out->probability = q->probability;
    out->probabilities = q->count;
    out->quantile = q->values;
    return true;
}

void quantiles_write_names(const quantiles *q, FILE *file)
{
    for (size_t k = 0; k < q->count; k++)
        fprintf(file, ",%s", q->name[k]);
}

void quantiles_write_row(const quantiles *q, size_t row, FILE *file)
{
    for (size_t k = 0; k < q->count; k++)
        fprintf(file, ",%.17g", q->values[row * q->count + k]);
}

void quantiles_put_row(const quantiles *q, const size_t *row, json_writer *w)
{
    for (size_t k = 0; k < q->count; k++)
        json_member_number(w, q->name[k], row ? q->values[*row * q->count + k] : NAN);
}
