/* What settings stand for: texts checked and read, and `auto` resolved. */
#include "base/memory.h"
#include "base/plain.h"
#include "encode/made.h"
#include "linalg/blas.h"
#include "options/options.h"
#include "options/option_table.h"
#include "team/work.h"
#include "text/list.h"
#include "text/notation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const progress *options_progress(const quorum_options *options)
{
    return options ? &options->progress : NULL;
}

void options_watch(const quorum_options *options, const char *stage, progress_watch *watch)
{
    progress_watch_begin(watch, options_progress(options), stage);
    watch->only_told = !team_is_alone();
}

/* Fewer where linear algebra has no memory for so many: the result is the same. */
int options_threads(const settings *s)
{
    int wanted = s->threads > 0.0 ? (int)s->threads : team_processors();
    int ready = blas_reserve(wanted);
    return ready > 0 ? ready : 1;
}

double quorum_options_memory(const quorum_options *options)
{
    return options_memory(options_values(options));
}

double options_memory(const settings *s)
{
    if (s->memory > 0.0)
        return s->memory;
    double physical = team_memory();
    return physical > 0.0 ? 0.5 * physical : 4e9;
}

const char *options_trend_name(int trend)
{
    static const char *const names[] = {"auto", "none", "constant", "linear"};
    return names[trend];
}

const char *options_warp_name(int warp)
{
    static const char *const names[] = {"none", "log", "auto"};
    return names[warp];
}

static const char *const train_names[] = {"neighbours", "parts", "random", "subset"};
enum { TRAIN_NAMES = sizeof train_names / sizeof *train_names };

const char *options_train_name(int train)
{
    return train >= 0 && train < TRAIN_NAMES ? train_names[train] : NULL;
}

int options_train_number(const char *name)
{
    for (int i = 0; name && i < TRAIN_NAMES; i++)
        if (strcmp(name, train_names[i]) == 0)
            return i;
    return -1;
}

/* *method NULL: auto. */
static quorum_status find_method(const char *text, const rule **method, int *starred)
{
    size_t length = strlen(text);
    *starred = length > 0 && text[length - 1] == '*';
    *method = rule_by_name(text, length - (size_t)*starred);
    if (*starred && *method && rule_asks_nobody(*method))
        return failure(QUORUM_E_ARGUMENT,
                       "method \"%s\": %s asks no experts, so there are none to select", text,
                       (*method)->name);
    if (*method || strcmp(text, "auto") == 0)
        return QUORUM_OK;
    char names[256] = "auto";
    for (int i = 0; i < rule_count(); i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", rule_at(i)->name);
    }
    return failure(QUORUM_E_ARGUMENT, "method \"%s\" is not known; the methods are %s", text,
                   names);
}

quorum_status option_check_method(const char *text)
{
    const rule *method;
    int starred;
    return find_method(text, &method, &starred);
}

quorum_status option_check_select(const char *text)
{
    selection chosen;
    return strcmp(text, "auto") == 0 ? QUORUM_OK : selection_parse(text, &chosen);
}

static quorum_status parse_neighbours(const char *text, size_t *count)
{
    char *end;
    unsigned long long value = plain_count(text, &end);
    if (end == text || *end != '\0' || text[0] == '-' || value > 10000)
        return failure(QUORUM_E_ARGUMENT,
                       "option neighbours: \"%s\" is not a whole number up to 10000, or auto",
                       text);
    *count = value;
    return QUORUM_OK;
}

quorum_status option_check_neighbours(const char *text)
{
    size_t count;
    return strcmp(text, "auto") == 0 ? QUORUM_OK : parse_neighbours(text, &count);
}

/* 0: auto. */
static quorum_status parse_spread(const char *text, double *prior)
{
    char *end;
    *prior = strcmp(text, "none") == 0 ? INFINITY : 0.0;
    if (*prior > 0.0 || strcmp(text, "auto") == 0)
        return QUORUM_OK;
    *prior = plain_real(text, &end);
    if (end != text && *end == '\0' && *prior > 0.0 && isfinite(*prior))
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT,
                   "option spread: \"%s\" is not a positive number, none or auto", text);
}

quorum_status option_check_spread(const char *text)
{
    double prior;
    return parse_spread(text, &prior);
}

double options_spread(const settings *s)
{
    double prior = 0.0;
    return parse_spread(s->spread, &prior) == QUORUM_OK ? prior : 0.0;
}

quorum_status option_check_thousands(const char *text)
{
    if (strcmp(text, "none") == 0 || notation_mark(text))
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT,
                   "option thousands: \"%s\" is not comma, point, space, apostrophe, underscore or "
                   "none",
                   text);
}

char options_thousands(const settings *s)
{
    return notation_mark(s->thousands);
}

/* A character that begins no number, no name and no cell. */
quorum_status option_check_comment(const char *text)
{
    if (strcmp(text, "none") == 0 ||
        (text[0] && !text[1] && strchr("#%!@$&*/:<=>?\\^`|~", text[0])))
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT,
                   "option comment: \"%s\" is not none or a single character such as # or %%",
                   text);
}

quorum_status option_check_periodic(const char *text)
{
    char unit[PERIOD_ROOM], *column;
    double period;
    const char *p = text;
    if (strcmp(text, "none") == 0)
        return QUORUM_OK;
    if (!NEW_ARRAY(column, strlen(text) + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for the option periodic");
    do
        p = period_next(p, column, unit, &period);
    while (p && *p);
    mem_free(column);
    return p ? QUORUM_OK
             : failure(QUORUM_E_ARGUMENT,
                       "option periodic: \"%.200s\" is not none, auto or a list of COL:PERIOD, as "
                       "in date:week,hour:24",
                       text);
}

quorum_status option_check_lonlat(const char *text)
{
    char *name;
    if (strcmp(text, "none") == 0)
        return QUORUM_OK;
    if (!NEW_ARRAY(name, strlen(text) + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for the option lonlat");
    const char *rest = list_take(text, name);
    int is_two = rest && name[0] && *rest && (rest = list_take(rest, name)) && name[0] && !*rest;
    mem_free(name);
    return is_two ? QUORUM_OK
                  : failure(QUORUM_E_ARGUMENT,
                            "option lonlat: \"%.200s\" is not none or two columns, LON,LAT", text);
}

char options_comment(const settings *s)
{
    return s->comment[1] ? '\0' : s->comment[0];
}

quorum_status option_check_lambda(const char *text)
{
    lambda_kind kind;
    double value;
    return parse_lambda(text, &kind, &value);
}

/* What select auto stands for with method auto and without neighbours. */
static const char WITHOUT_NEIGHBOURS[] = "local:4";

static int is_auto(const char *text)
{
    return strcmp(text, "auto") == 0;
}

int options_neighbours_are_auto(const settings *s)
{
    return is_auto(s->neighbours);
}

int options_method_is_auto(const settings *s)
{
    return is_auto(s->method) && is_auto(s->select);
}

/* method auto: nearest, but npae where experts are selected, where neighbours are not wanted, and
 * of one expert, which is the exact GP then. */
static const rule *automatic_method(const settings *s, size_t experts, size_t neighbours)
{
    int by_rows = is_auto(s->neighbours) ? experts > 1 : neighbours > 0;
    return is_auto(s->select) && by_rows ? &rule_nearest : &rule_npae;
}

/* options_method, with the selection as text. */
static quorum_status resolve(const settings *s, size_t experts, const rule **method,
                             const char **select, size_t *neighbours)
{
    int starred, automatic;
    *neighbours = 0;
    TRY(find_method(s->method, method, &starred));
    if (!is_auto(s->neighbours))
        TRY(parse_neighbours(s->neighbours, neighbours));
    automatic = !*method;
    if (automatic)
        *method = automatic_method(s, experts, *neighbours);
    if (*method == &rule_npae && strcmp(s->select, "none") == 0)
        *method = &rule_nearest; /* which was called that once */
    if (rule_asks_nobody(*method) && is_auto(s->neighbours))
        *neighbours = *method == &rule_cells ? CELL_NEIGHBOURS : OWN_NEIGHBOURS;
    *select = !is_auto(s->select)         ? s->select
              : rule_asks_nobody(*method) ? "none"
              : starred                   ? "graph:0.8"
              : automatic && experts > 1  ? WITHOUT_NEIGHBOURS
                                          : "all";
    return QUORUM_OK;
}

quorum_status options_method(const settings *s, size_t experts, const rule **method,
                             selection *chosen, size_t *neighbours)
{
    const char *select;
    TRY(resolve(s, experts, method, &select, neighbours));
    return selection_parse(select, chosen);
}

const char *options_select(const settings *s, size_t experts)
{
    const rule *method;
    const char *select = s->select;
    size_t neighbours;
    (void)resolve(s, experts, &method, &select, &neighbours); /* options_set has checked them */
    return select;
}

int options_serve_calibration(const char *name)
{
    static const char *const names[] = {"method", "select", "neighbours", "space"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

quorum_status options_graph(const settings *s, graph_options *out)
{
    *out = (graph_options){.graph = (graph_kind)s->graph,
                           .free_diagonal = s->free_diagonal,
                           .rows = (size_t)s->graph_rows};
    return parse_lambda(s->lambda, &out->lambda, &out->value);
}

quorum_status parse_lambda(const char *text, lambda_kind *kind, double *value)
{
    const char *number = text;
    *kind = LAMBDA_ABSOLUTE;
    *value = 0.0;
    if (strcmp(text, "ebic") == 0) {
        *kind = LAMBDA_EBIC;
        return QUORUM_OK;
    }
    if (strncmp(text, "rel:", 4) == 0) {
        *kind = LAMBDA_RELATIVE;
        number += 4;
    }
    char *end;
    *value = plain_real(number, &end);
    if (end == number || *end != '\0' || !(*value >= 0.0) || !isfinite(*value))
        return failure(QUORUM_E_ARGUMENT,
                       "lambda \"%s\": use a number >= 0 (absolute), rel:V (a share of the largest "
                       "covariance) or ebic",
                       text);
    return QUORUM_OK;
}

quorum_status parse_numbers(const char *text, double *out, size_t room, size_t *count)
{
    *count = 0;
    while (*text) {
        text += strspn(text, ", \t");
        if (!*text)
            break;
        char *end;
        double value = plain_real(text, &end);
        if (end == text || (*end && !strchr(", \t", *end)))
            return failure(QUORUM_E_ARGUMENT, "\"%s\" does not start with a number", text);
        if (*count == room)
            return failure(QUORUM_E_ARGUMENT, "more than %zu numbers", room);
        out[(*count)++] = value;
        text = end;
    }
    return QUORUM_OK;
}

int quorum_method_count(void)
{
    return rule_count();
}

const char *quorum_method_name(int i)
{
    return rule_at(i) ? rule_at(i)->name : NULL;
}

const char *quorum_method_help(int i)
{
    return rule_at(i) ? rule_at(i)->help : NULL;
}
