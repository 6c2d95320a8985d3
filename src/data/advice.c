/* Sentences about cells that cannot be used: where they stand, what they are, and which options
 * of the command would read the file all the same. */
#include "data/advice.h"
#include "base/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LIST = 330, NAME = 180, PLACE = NAME + 100 };

/* A list as far as it fits: what does not is counted. */
typedef struct {
    char text[LIST];
    size_t used, count, left_out;
} name_list;

__attribute__((format(printf, 3, 4))) static void append_item(name_list *l, const char *separator,
                                                              const char *format, ...)
{
    char item[NAME + 60];
    va_list args;
    va_start(args, format);
    plain_print(item, sizeof item, format, args);
    va_end(args);
    const char *before = l->count ? separator : "";
    if (l->left_out || l->used + strlen(before) + strlen(item) >= sizeof l->text) {
        l->left_out++;
        return;
    }
    l->used += (size_t)snprintf(l->text + l->used, sizeof l->text - l->used, "%s%s", before, item);
    l->count++;
}

/* What to write after --ignore: the name where it is one plain word that only this column has,
 * otherwise the number. */
static void append_argument(const reader *r, size_t column, name_list *l)
{
    size_t place[2];
    const char *name = names_at(&r->names, column);
    int plain = r->names.given && strlen(name) < NAME;
    for (const char *p = name; plain && *p; p++)
        plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' ||
                (p > name && ((*p >= '0' && *p <= '9') || *p == '-' || *p == '.'));
    if (plain && names_count_of(&r->names, name, place) == 1)
        append_item(l, ",", "%s", name);
    else
        append_item(l, ",", "%zu", column + 1);
}

/* Of training data the columns that may have holes are the inputs; where nothing says which may, all but
 * the last, the target. */
static int is_input_at(const reader *r, size_t place)
{
    return r->holes ? r->holes[place] : place + 1 < r->n_selected;
}

static size_t count_inputs(const reader *r)
{
    size_t inputs = 0;
    for (size_t i = 0; i < r->n_selected; i++)
        inputs += (size_t)is_input_at(r, i);
    return inputs;
}

/* Whether the column of training data is a target, or of offsets, weights or noise. */
static int is_special(const reader *r, size_t column)
{
    size_t i = 0;
    while (i < r->n_selected && r->selected[i] != column)
        i++;
    return r->purpose == READ_TRAINING && i < r->n_selected && !is_input_at(r, i);
}

const char *advise_dropping(const reader *r)
{
    return r->missing == MISSING_ERROR && !r->in_memory ? ", or skip such rows with --missing drop"
                                                        : "";
}

/* A hole in a query that the model can fill. */
static const char *advise_filling(const reader *r, size_t place, int missing)
{
    int can = missing && r->missing == MISSING_ERROR && !r->in_memory &&
              r->purpose != READ_TRAINING && r->holes && r->holes[place];
    return can ? ", fill it with --missing impute" : "";
}

/* `line 3, column 2 ("b")` */
static void write_place(const reader *r, const char *unit, size_t number, size_t column,
                        char out[PLACE])
{
    char name[NAME + 8] = "";
    if (r->names.given)
        snprintf(name, sizeof name, " (\"%.*s\")", NAME, names_at(&r->names, column));
    snprintf(out, PLACE, "%s %zu, column %zu%s", unit, number, column + 1, name);
}

/* What can be done about the column of the cell; `text`: it may be a category. */
static void advise_column(const reader *r, size_t column, int text, char out[2 * NAME + 120])
{
    name_list argument = {.used = 0};
    out[0] = '\0';
    append_argument(r, column, &argument);
    if (r->purpose != READ_TRAINING || is_special(r, column))
        return;
    int used =
        snprintf(out, NAME + 60, ", leave the column out with --ignore %.*s", NAME, argument.text);
    if (text && !r->no_categories)
        snprintf(out + used, NAME + 60, ", make it a category with --categorical %.*s", NAME,
                 argument.text);
}

static void write_cell(const reader *r, const char *where, size_t column, const char *what,
                       int text, const char *filling, char out[SENTENCE])
{
    char advice[2 * NAME + 120];
    advise_column(r, column, text, advice);
    snprintf(out, SENTENCE, "%s: %s; fix it%s%s%s", where, what, advice, filling,
             advise_dropping(r));
}

void advise_cell(const reader *r, const char *unit, size_t number, size_t place, int missing,
                 const char *what, char out[SENTENCE])
{
    char where[PLACE];
    size_t column = r->selected[place];
    write_place(r, unit, number, column, where);
    write_cell(r, where, column, what, 0, advise_filling(r, place, missing), out);
}

void advise_stray_text(const reader *r, size_t line, size_t column, const char *what,
                       char out[SENTENCE])
{
    char place[PLACE];
    write_place(r, r->unit, line, column, place);
    write_cell(r, place, column, what, 1, "", out);
}

void advise_level(const reader *r, size_t line, size_t column, const char *what, char out[SENTENCE])
{
    char place[PLACE];
    write_place(r, r->unit, line, column, place);
    snprintf(out, SENTENCE, "%s: %s; fix it, or predict such rows with --unseen predict%s", place,
             what, advise_dropping(r));
}

void advise_date(const reader *r, size_t line, size_t place, int turns, const char *what,
                 char out[SENTENCE])
{
    char position[PLACE], form[DATE_FORM_ROOM], advice[2 * NAME + 120];
    size_t column = r->selected[place];
    int training = r->purpose == READ_TRAINING;
    write_place(r, r->unit, line, column, position);
    date_form_text(r->dates[place], form);
    advise_column(r, column, 0, advice);
    if (turns)
        snprintf(out, SENTENCE, "%s: %s: give --dates mdy if the month comes first", position,
                 what);
    else
        snprintf(out, SENTENCE, "%s: %s of the column's form, %s; fix it%s%s%s", position, what,
                 form, advice, training ? ", take dates for text with --dates none" : "",
                 advise_dropping(r));
}

void advise_notation(const reader *r, size_t line, size_t column, const char *what,
                     char out[SENTENCE])
{
    char place[PLACE];
    write_place(r, r->unit, line, column, place);
    snprintf(out, SENTENCE, "%s: %s; give the option that is meant, or fix the cell", place, what);
}

/* ---- Columns of text ---- */

typedef struct {
    name_list shown, ignored; /* `3 ("city")`; what --ignore takes */
    size_t count;
    int special; /* of these, that are no inputs */
} text_columns;

static void list_text_columns(const reader *r, const char *is_text, text_columns *t)
{
    *t = (text_columns){.count = 0};
    for (size_t i = 0; i < r->n_selected; i++) {
        size_t column = r->selected[i];
        if (!is_text[i])
            continue;
        t->count++;
        t->special += is_special(r, column);
        if (r->names.given)
            append_item(&t->shown, ", ", "%zu (\"%.*s\")", column + 1, 40,
                        names_at(&r->names, column));
        else
            append_item(&t->shown, ", ", "%zu", column + 1);
        if (!is_special(r, column))
            append_argument(r, column, &t->ignored);
    }
}

/* What to do; without --ignore where the list is too long or nothing would be left; `alone`: what is no
 * input is the target. */
static void advise_training(const text_columns *t, size_t inputs, int alone, char *out, size_t size)
{
    size_t text = t->count - (size_t)t->special;
    const char *them = text == 1 ? "it" : "them";
    char ignore[LIST + 60] = "", other[120] = "";
    if (t->special)
        snprintf(other, sizeof other, "%s%s",
                 alone ? "choose another target with --target"
                       : "choose others with --target, --offset, --weights or --noise-std",
                 text > 0 && text < inputs ? ", and " : "");
    if (text > 0 && text < inputs && t->ignored.left_out)
        snprintf(ignore, sizeof ignore, "leave %s out with --ignore",
                 t->special ? "the others" : them);
    else if (text > 0 && text < inputs)
        snprintf(ignore, sizeof ignore, "leave %s out with --ignore %s",
                 t->special ? "the others" : them, t->ignored.text);
    snprintf(out, size, "%s%s%s%swrite numbers there", other, ignore,
             other[0] || ignore[0] ? ", or " : "",
             text > 0 ? "take text for categories with --categorical auto, or " : "");
}

/* ", the target," behind the columns of text, or what else they are. */
static const char *tell_special(const text_columns *t, int alone)
{
    if (!t->special)
        return "";
    if ((size_t)t->special == t->count)
        return alone ? ", the target," : ", no input,";
    return alone ? ", the target among them," : ", not all of them inputs,";
}

void advise_text(const reader *r, size_t line, const char *is_text, const char *what,
                 char out[SENTENCE])
{
    text_columns t;
    char more[40] = "", advice[LIST + 200] = "the model needs numbers there";
    list_text_columns(r, is_text, &t);
    if (t.count == r->n_selected && t.count > 1) {
        snprintf(out, SENTENCE,
                 "%s %zu: %s; no column has numbers: are the file and its delimiter right (comma, "
                 "semicolon, tab or blanks)?",
                 r->unit, line, what);
        return;
    }
    if (t.shown.left_out)
        snprintf(more, sizeof more, " and %zu more", t.shown.left_out);
    size_t inputs = count_inputs(r);
    int alone = inputs + 1 == r->n_selected;
    if (r->purpose == READ_TRAINING)
        advise_training(&t, inputs, alone, advice, sizeof advice);
    snprintf(out, SENTENCE, "%s %zu: %s; column%s %s%s%s %s text: %s", r->unit, line, what,
             t.count == 1 ? "" : "s", t.shown.text, more, tell_special(&t, alone),
             t.count == 1 ? "is" : "are", advice);
}
