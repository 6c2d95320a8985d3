/* What to do where no training row is near a slice: the inputs that stand still are moved to where one is.  At
 * their medians they often are alone if they are many. */
#include "slice.h"

#include "date_values.h"
#include "grid.h"
#include "hyperparameters.h"
#include "talk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As --at reads it: in double quotes where a mark of its own may be in the text. */
static void write_word(const char *text, FILE *file)
{
    bool plain = strcspn(text, ",=:\"") == strlen(text);
    if (!plain)
        fputc('"', file);
    for (const char *c = text; *c; c++)
        fprintf(file, *c == '"' ? "\"\"" : "%c", *c);
    if (!plain)
        fputc('"', file);
}

static void write_value(const slice *s, size_t d, double value, FILE *file)
{
    if (s->info.levels && s->info.levels[d] > 0)
        write_word(s->info.level[d][(size_t)value], file);
    else if (s->info.date && s->info.date[d])
        write_date(value, s->info.date[d], file);
    else
        fprintf(file, "%.6g", value);
}

/* An input nearer than this to its middle stays there, in length-scales: of 100 such ones a row is half of one
 * away at most. */
static const double HARDLY = 0.05;

/* A number of which nothing else is made. */
static bool is_number(const slice *s, size_t d)
{
    return !(s->info.levels && s->info.levels[d] > 0) && !(s->info.date && s->info.date[d]) &&
           !is_of_place(&s->info, d);
}

static bool is_elsewhere(const slice *s, size_t d, double value)
{
    if (!is_number(s, d))
        return value != s->middle[d];
    double apart =
        standardised_input(&s->info, d, value) - standardised_input(&s->info, d, s->middle[d]);
    return fabs(apart) > HARDLY * s->info.input_lengthscale[d];
}

/* Whether the input is to be moved to the value: it may have none that could be said. */
static bool is_said(const slice *s, size_t d, double value)
{
    bool known = isfinite(value) && (!s->info.levels || s->info.levels[d] == 0 ||
                                     (value >= 0.0 && value < (double)s->info.levels[d]));
    bool matters = !s->info.constant[d] || is_of_place(&s->info, d);
    return known && matters && !slice_varies(s, d) && is_elsewhere(s, d, value);
}

/* "b=2.1,city=Oslo": where the row is and the middle is not; of how many inputs. */
static size_t write_place(const slice *s, const double *row, FILE *file)
{
    size_t count = 0;
    for (size_t d = 0; d < s->info.columns; d++) {
        if (!is_said(s, d, row[d]))
            continue;
        fputs(count++ ? "," : "", file);
        write_word(s->info.names[d], file);
        fputc('=', file);
        write_value(s, d, row[d], file);
    }
    if (s->offset != 0.0) {
        fputs(count++ ? "," : "", file);
        write_word(s->info.offset_name, file);
        fprintf(file, "=%.6g", s->offset);
    }
    return count;
}

void slice_note(const slice *s)
{
    char *text = NULL;
    size_t bytes, count = 0;
    if (s->nears > 0)
        return;
    FILE *file = open_memstream(&text, &bytes);
    if (file)
        count = write_place(s, s->table + s->nearest * s->info.columns, file);
    bool whole = file && fclose(file) == 0 && count > 0 && count <= MOST_AXES;
    note(s->given,
         "no training row is near this slice, within a length-scale of it and of the same levels: "
         "what is drawn comes from rows farther away; --at %s%s%s puts it %s",
         whole ? "'" : "NAME=VALUE,...", whole ? text : "", whole ? "'" : "",
         whole ? "through the nearest one" : "where rows are");
    free(text);
}
