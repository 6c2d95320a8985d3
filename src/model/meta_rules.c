/* The values of meta.json that are more than a number or a text in the model (members.h).
 * Reading believes nothing before it is checked. */
#include "model/member_rules.h"

#include "base/memory.h"
#include "base/text_buffer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_member_text(json_writer *w, const char *key, const char *text)
{
    json_key(w, key);
    json_put_text(w, text);
}

static void put_member_number(json_writer *w, const char *key, double value)
{
    json_key(w, key);
    json_put_number(w, value);
}

static const char NESTED[] = "nested", LOCAL[] = "local";

/* ---- What it is ---- */

void put_version(json_writer *w, const quorum_model *m)
{
    json_put_integer(w, version_needed(m, m->rows.weight || m->rows.error));
}

void put_library(json_writer *w, const quorum_model *m)
{
    (void)m;
    json_put_text(w, "quorum");
}

void put_library_version(json_writer *w, const quorum_model *m)
{
    (void)m;
    json_put_text(w, quorum_version());
}

void put_kernel(json_writer *w, const quorum_model *m)
{
    json_put_text(w, m->theta.kernel->name);
}

quorum_status read_kernel(const json_node *value, quorum_model *m)
{
    const char *name = json_as_text(value);
    m->theta.kernel = name ? kernel_by_name(name) : NULL;
    return m->theta.kernel ? QUORUM_OK : damaged("its kernel or partition is not known");
}

void put_partition(json_writer *w, const quorum_model *m)
{
    json_put_text(w, m->partition->name);
}

quorum_status read_partition(const json_node *value, quorum_model *m)
{
    const char *name = json_as_text(value);
    m->partition = name ? partition_by_name(name) : NULL;
    return m->partition ? QUORUM_OK : damaged("its kernel or partition is not known");
}

/* ---- Columns ---- */

void put_columns(json_writer *w, const quorum_model *m)
{
    json_begin_list(w);
    for (size_t i = 0; i <= m->rows.D; i++)
        json_put_text(w, m->columns.names[i]);
    json_end(w);
}

quorum_status read_columns(const json_node *value, quorum_model *m)
{
    size_t i = 0;
    if (json_list_size(value) != m->rows.D + 1)
        return damaged("columns do not fit the inputs");
    if (!NEW_ZEROED(m->columns.names, m->rows.D + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    for (const json_node *c = json_first(value); c; c = json_next(c), i++) {
        if (!json_as_text(c))
            return damaged("a column has no name");
        if (!(m->columns.names[i] = mem_copy_text(json_as_text(c))))
            return failure(QUORUM_E_MEMORY, "out of memory for column names");
    }
    return QUORUM_OK;
}

quorum_status check_target(const quorum_model *m)
{
    return m->columns.target <= m->rows.D ? QUORUM_OK : damaged("target_place is out of range");
}

int has_offset(const quorum_model *m)
{
    return m->columns.offset != NULL;
}

/* Whether a column beside them, or NULL, has the name of an input or of the target. */
static int has_taken_name(const quorum_model *m, const char *name)
{
    for (size_t i = 0; name && i <= m->rows.D; i++)
        if (strcmp(name, m->columns.names[i]) == 0)
            return 1;
    return 0;
}

quorum_status check_offset_name(const quorum_model *m)
{
    return has_taken_name(m, m->columns.offset) ? damaged("offset_column is an input or the target")
                                                : QUORUM_OK;
}

quorum_status check_offset_place(const quorum_model *m)
{
    return m->columns.offset_place <= m->rows.D + 1 ? QUORUM_OK
                                                    : damaged("offset_place is out of range");
}

int has_weights_column(const quorum_model *m)
{
    return m->columns.weights != NULL;
}

quorum_status check_weights_name(const quorum_model *m)
{
    return has_taken_name(m, m->columns.weights)
               ? damaged("weights_column is an input or the target")
               : QUORUM_OK;
}

quorum_status check_weights_place(const quorum_model *m)
{
    return m->columns.weights_place <= m->rows.D + 3 ? QUORUM_OK
                                                     : damaged("weights_place is out of range");
}

int has_noise_column(const quorum_model *m)
{
    return m->columns.noise_std != NULL;
}

quorum_status check_noise_name(const quorum_model *m)
{
    return has_taken_name(m, m->columns.noise_std)
               ? damaged("noise_column is an input or the target")
               : QUORUM_OK;
}

quorum_status check_noise_place(const quorum_model *m)
{
    return m->columns.noise_place <= m->rows.D + 3 ? QUORUM_OK
                                                   : damaged("noise_place is out of range");
}

int has_categories(const quorum_model *m)
{
    return m->encoding.of != NULL;
}

void put_categories(json_writer *w, const quorum_model *m)
{
    encoding_put(w, &m->encoding);
}

quorum_status read_categories(const json_node *value, quorum_model *m)
{
    const char *what;
    if (!value)
        return QUORUM_OK;
    quorum_status status = encoding_read(value, m->rows.D, &m->encoding, &what);
    return status == QUORUM_E_FORMAT ? damaged(what) : status;
}

int has_dates(const quorum_model *m)
{
    return m->columns.date != NULL;
}

void put_dates(json_writer *w, const quorum_model *m)
{
    json_begin_list(w);
    for (size_t d = 0; d < m->rows.D; d++) {
        if (!m->columns.date[d])
            continue;
        json_begin_object(w);
        json_key(w, "input");
        json_put_count(w, d);
        put_member_text(w, "form", m->columns.date[d]);
        json_end(w);
    }
    json_end(w);
}

quorum_status read_dates(const json_node *value, quorum_model *m)
{
    char **date = NULL;
    if (!value)
        return QUORUM_OK;
    if (json_list_size(value) == 0)
        return damaged("dates is not a list of columns");
    if (!NEW_ZEROED(m->columns.date, m->rows.D))
        return failure(QUORUM_E_MEMORY, "out of memory for columns of dates");
    date = m->columns.date;
    for (const json_node *c = json_first(value); c; c = json_next(c)) {
        int64_t d = json_as_integer(json_member(c, "input"), -1);
        const char *form = json_as_text(json_member(c, "form"));
        if (d < 0 || (uint64_t)d >= m->rows.D || date[d] || !form ||
            date_form_parse(form).orders == 0)
            return damaged("a column of dates is of no input, or its form is not known");
        if (m->encoding.of && m->encoding.of[d].levels > 0)
            return damaged("a column of dates is a category");
        if (!(date[d] = mem_copy_text(form)))
            return failure(QUORUM_E_MEMORY, "out of memory for columns of dates");
    }
    return QUORUM_OK;
}

int has_made(const quorum_model *m)
{
    return m->made.count > 0;
}

void put_made(json_writer *w, const quorum_model *m)
{
    made_put(w, &m->made);
}

/* What is made is a number, and so is what it is made of, but for inputs of a category's levels; the
 * columns come first. */
static int suits_columns(const quorum_model *m)
{
    for (size_t d = m->made.columns; d < m->rows.D; d++)
        if ((m->encoding.of && m->encoding.of[d].levels > 0) ||
            (m->columns.date && m->columns.date[d]))
            return 0;
    for (size_t k = 0; k < m->made.count; k++) {
        const made_input *in = &m->made.of[k];
        size_t levels = m->encoding.of ? m->encoding.of[in->column].levels : 0;
        int is_place = made_is_place(in);
        if (levels != in->levels ||
            (is_place && m->encoding.of && m->encoding.of[in->other].levels > 0))
            return 0;
    }
    return m->columns.target <= m->made.columns && m->columns.offset_place <= m->made.columns + 1;
}

quorum_status read_made(const json_node *value, quorum_model *m)
{
    const char *what;
    if (!value)
        return QUORUM_OK;
    quorum_status status = made_read(value, m->rows.D, &m->made, &what);
    if (status == QUORUM_E_FORMAT)
        return damaged(what);
    m->place = made_place(&m->made);
    if (status >= 0 && suits_columns(m)) {
        encoding_stand_apart(&m->encoding, &m->made);
        return QUORUM_OK;
    }
    TRY(status);
    return damaged("made_inputs do not suit the columns");
}

int has_holes(const quorum_model *m)
{
    return m->holes.of != NULL;
}

void put_holes(json_writer *w, const quorum_model *m)
{
    holes_put(w, &m->holes);
}

/* A category's fill is one of its levels, or none. */
static int suits_levels(const quorum_model *m)
{
    for (size_t d = 0; m->encoding.of && d < m->holes.columns; d++) {
        const category *c = &m->encoding.of[d];
        if (c->levels > 0 && m->holes.of[d].fill != -1.0 && !category_has(c, m->holes.of[d].fill))
            return 0;
    }
    return 1;
}

static int tells_of_holes(const made_inputs *made)
{
    for (size_t k = 0; k < made->count; k++)
        if (made->of[k].kind == MADE_HOLE)
            return 1;
    return 0;
}

quorum_status read_holes(const json_node *value, quorum_model *m)
{
    const char *what;
    if (!value)
        return tells_of_holes(&m->made)
                   ? damaged("made_inputs tell of holes, and there is no rule for them")
                   : QUORUM_OK;
    quorum_status status = holes_read(value, model_table_columns(m), &m->holes, &what);
    if (status == QUORUM_E_FORMAT)
        return damaged(what);
    TRY(status);
    if (!suits_levels(m))
        return damaged("holes do not suit the levels of categories");
    for (size_t d = 0; d < m->holes.columns; d++)
        holes_settle(&m->holes, &m->made, d, m->encoding.of ? m->encoding.of[d].levels : 0);
    return QUORUM_OK;
}

int has_warp(const quorum_model *m)
{
    return m->units.warp != WARP_NONE;
}

void put_warp(json_writer *w, const quorum_model *m)
{
    json_put_text(w, options_warp_name(m->units.warp));
}

quorum_status read_warp(const json_node *value, quorum_model *m)
{
    const char *name = value ? json_as_text(value) : NULL;
    if (value && (!name || strcmp(name, options_warp_name(WARP_LOG)) != 0))
        return damaged("its warp is not known");
    m->units.warp = value ? WARP_LOG : WARP_NONE;
    return QUORUM_OK;
}

quorum_status check_warp(const quorum_model *m)
{
    double shift = m->units.shift;
    if (!isfinite(shift) || shift < 0.0 || (shift > 0.0 && !has_warp(m)))
        return damaged("warp_shift is out of range");
    return has_warp(m) && has_offset(m) ? damaged("a warp does not go with an offset") : QUORUM_OK;
}

int has_target_units(const quorum_model *m)
{
    return m->units.target_scale > 0.0;
}

quorum_status check_target_scale(const quorum_model *m)
{
    const unit_change *u = &m->units;
    int good = isfinite(u->target_mean) && isfinite(u->target_scale) && u->target_scale >= 0.0;
    return good ? QUORUM_OK : damaged("the target's mean or scale is out of range");
}

int has_constants(const quorum_model *m)
{
    return model_varying(m) < m->rows.D;
}

void put_constants(json_writer *w, const quorum_model *m)
{
    json_begin_list(w);
    for (size_t d = 0; d < m->rows.D; d++)
        if (m->units.constant[d])
            json_put_count(w, d);
    json_end(w);
}

/* Older files say of no input that it is constant. */
quorum_status read_constants(const json_node *value, quorum_model *m)
{
    if (!NEW_ZEROED(m->units.constant, m->rows.D))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu inputs", m->rows.D);
    if (value && json_list_size(value) == 0)
        return damaged("constant_inputs is not a list of inputs");
    for (const json_node *c = json_first(value); c; c = json_next(c)) {
        int64_t d = json_as_integer(c, -1);
        if (d < 0 || (uint64_t)d >= m->rows.D || m->units.constant[d])
            return damaged("constant_inputs is not a list of inputs");
        m->units.constant[d] = 1;
    }
    return QUORUM_OK;
}

/* ---- Options of the fit ---- */

/* The model has them as text, which it made itself: only memory can be missing here. */
void put_options(json_writer *w, const quorum_model *m)
{
    json_tree options;
    if (json_parse(m->history.options, strlen(m->history.options), &options) < 0) {
        w->error = JSON_NOT_TAKEN;
        return;
    }
    json_put_node(w, options.root);
    json_free(&options);
}

/* What is now the option partition-metric was called metric, when that was no option of its own. */
static const char *option_name(const json_node *o)
{
    const char *value = json_as_text(o);
    int is_old = strcmp(o->key, "metric") == 0 && value &&
                 (strcmp(value, "learned") == 0 || strcmp(value, "input") == 0);
    return is_old ? "partition-metric" : o->key;
}

/* Each option that this library knows; others are kept as they are. */
static quorum_status set_options(const json_node *list, quorum_options *options)
{
    for (const json_node *o = json_first(list); o; o = json_next(o)) {
        if (!json_as_text(o))
            return damaged("an option is not a text");
        if (quorum_options_get(NULL, option_name(o)))
            TRY(quorum_options_set(options, option_name(o), json_as_text(o)));
    }
    return QUORUM_OK;
}

static quorum_status copy_options_text(const json_node *list, quorum_model *m)
{
    text_buffer buffer = {0};
    json_writer w = json_writer_to(text_buffer_put, &buffer, 0);
    json_begin_object(&w);
    for (const json_node *o = json_first(list); o; o = json_next(o)) {
        json_key(&w, option_name(o));
        json_put_text(&w, json_as_text(o));
    }
    json_end(&w);
    quorum_status status = json_status(json_finish(&w), "the options");
    if (status >= 0)
        m->history.options = text_buffer_take(&buffer);
    text_buffer_free(&buffer);
    return status;
}

/* What later commands need of them, and the text itself. */
quorum_status read_options(const json_node *value, quorum_model *m)
{
    quorum_options *options = NULL;
    quorum_status status = QUORUM_OK;
    if (value && !json_is_object(value))
        return damaged("options is not an object");
    if (!(options = quorum_options_new()))
        return failure(QUORUM_E_MEMORY, "out of memory for the options");
    TRY_OR_DONE(set_options(value, options));
    TRY_OR_DONE(options_graph(options_values(options), &m->graph_how));
    m->history.trend = options_values(options)->trend;
    TRY_OR_DONE(copy_options_text(value, m));
done:
    quorum_options_free(options);
    return status;
}

/* ---- How it came about ---- */

void put_train(json_writer *w, const quorum_model *m)
{
    json_put_text(w, options_train_name(m->history.train));
}

/* Older files do not say: there was no other. */
quorum_status read_train(const json_node *value, quorum_model *m)
{
    int train = options_train_number(json_as_text(value));
    m->history.train = train < 0 ? TRAIN_PARTS : train;
    return QUORUM_OK;
}

void put_seed(json_writer *w, const quorum_model *m)
{
    json_put_integer(w, (int64_t)m->seed);
}

quorum_status read_seed(const json_node *value, quorum_model *m)
{
    m->seed = (uint64_t)json_as_integer(value, 0);
    return QUORUM_OK;
}

int has_spread(const quorum_model *m)
{
    return isfinite(m->spread);
}

quorum_status check_spread(const quorum_model *m)
{
    return m->spread > 0.0 ? QUORUM_OK : damaged("spread is not a positive number");
}

int has_untested(const quorum_model *m)
{
    return m->untested > 0.0;
}

quorum_status check_untested(const quorum_model *m)
{
    return m->untested == 0.0 || (m->untested >= 1.0 && m->untested <= LARGEST_UNTESTED)
               ? QUORUM_OK
               : damaged("untested is not a number from 1 to 1e6");
}

int has_nested_spread(const quorum_model *m)
{
    return m->nested_spread && has_spread(m);
}

void put_nested_spread(json_writer *w, const quorum_model *m)
{
    (void)m;
    json_put_text(w, NESTED);
}

/* A word that says what the rows around a query are for, or nothing. */
static quorum_status read_word(const json_node *value, const char *word, int *out)
{
    const char *name = value ? json_as_text(value) : NULL;
    *out = value != NULL;
    return value && (!name || strcmp(name, word) != 0)
               ? damaged("what it says of the spread or the noise around a query is not known")
               : QUORUM_OK;
}

quorum_status read_nested_spread(const json_node *value, quorum_model *m)
{
    return read_word(value, NESTED, &m->nested_spread);
}

int has_local_noise(const quorum_model *m)
{
    return m->local_noise;
}

void put_local_noise(json_writer *w, const quorum_model *m)
{
    (void)m;
    json_put_text(w, LOCAL);
}

quorum_status read_local_noise(const json_node *value, quorum_model *m)
{
    return read_word(value, LOCAL, &m->local_noise);
}

int knows_neighbours(const quorum_model *m)
{
    return m->neighbours > 0;
}

int has_method_choice(const quorum_model *m)
{
    return m->method.compared;
}

void put_method_choice(json_writer *w, const quorum_model *m)
{
    json_put_text(w, m->method.by_cells ? rule_cells.name : rule_nearest.name);
}

quorum_status read_method_choice(const json_node *value, quorum_model *m)
{
    const char *name = value ? json_as_text(value) : NULL;
    if (!value)
        return QUORUM_OK;
    m->method.compared = 1;
    m->method.by_cells = name && strcmp(name, rule_cells.name) == 0;
    return m->method.by_cells || (name && strcmp(name, rule_nearest.name) == 0)
               ? QUORUM_OK
               : damaged("method_choice is not known");
}

quorum_status check_method_choice(const quorum_model *m)
{
    return isfinite(m->method.error) && m->method.error >= 0.0 && isfinite(m->method.gain)
               ? QUORUM_OK
               : damaged("method_choice is out of range");
}

int has_kernel_scores(const quorum_model *m)
{
    return m->history.kernel_choice.count > 0;
}

void put_kernel_scores(json_writer *w, const quorum_model *m)
{
    const kernel_choice *c = &m->history.kernel_choice;
    json_begin_object(w);
    for (int i = 0; i < c->count; i++)
        put_member_number(w, c->name[i], c->score[i]);
    json_end(w);
}

/* Of the kernels that this library knows; names are its own. */
quorum_status read_kernel_scores(const json_node *value, quorum_model *m)
{
    kernel_choice *c = &m->history.kernel_choice;
    for (int i = 0; i < kernel_count() && c->count < MOST_KERNELS; i++) {
        double score = json_as_number(json_member(value, kernel_at(i)->name), NAN);
        if (!isfinite(score))
            continue;
        c->name[c->count] = kernel_at(i)->name;
        c->score[c->count++] = score;
    }
    return QUORUM_OK;
}

/* ---- The graph ---- */

/* It may not be learned yet (model_graph). */
int graph_is_learned(const quorum_model *m)
{
    return m->learned.graph.ranking != NULL;
}

int has_trouble(const quorum_model *m)
{
    return m->learned.graph.trouble != NULL;
}

void put_ranking(json_writer *w, const quorum_model *m)
{
    json_begin_list(w);
    for (size_t i = 0; i < m->M; i++)
        json_put_count(w, m->learned.graph.ranking[i]);
    json_end(w);
}

quorum_status read_ranking(const json_node *value, quorum_model *m)
{
    char *seen = NULL;
    size_t i = 0;
    if (!value)
        return QUORUM_OK; /* not learned yet */
    if (json_list_size(value) != m->M)
        return damaged("the ranking has not one entry an expert");
    if (!NEW_ARRAY(m->learned.graph.ranking, m->M) || !NEW_ZEROED(seen, m->M))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", m->M);
    quorum_status status = QUORUM_OK;
    for (const json_node *r = json_first(value); r && status == QUORUM_OK; r = json_next(r)) {
        int64_t e = json_as_integer(r, -1);
        if (e < 0 || (uint64_t)e >= m->M || seen[e])
            status = damaged("the ranking is not a permutation of the experts");
        else
            seen[m->learned.graph.ranking[i++] = (size_t)e] = 1;
    }
    mem_free(seen);
    return status;
}

/* ---- Calibration ---- */

int has_calibration(const quorum_model *m)
{
    return m->calibration.count > 0;
}

void put_calibration(json_writer *w, const quorum_model *m)
{
    const calibration *c = &m->calibration;
    char neighbours[32];
    snprintf(neighbours, sizeof neighbours, "%zu", c->how.neighbours);
    json_begin_object(w);
    put_member_text(w, "method", c->how.rule->name);
    put_member_text(w, "select", c->select);
    put_member_text(w, "neighbours", neighbours);
    put_member_text(w, "space", c->how.space == SPACE_OBSERVED ? "observed" : "latent");
    put_member_text(w, "graph_on", c->how.graph_on == GRAPH_ON_TEST ? "test" : "train");
    put_member_number(w, "scale", c->scale);
    if (c->unasked)
        put_member_number(w, "unasked", 1.0);
    json_end(w);
}

/* One of the words that say what a calibration is for; older files have only the first three. */
static quorum_status take_word(const json_node *how, const char *key, int required,
                               quorum_options *options)
{
    const char *text = json_as_text(json_member(how, key));
    if (!text)
        return required ? damaged("its calibration does not say what it holds for") : QUORUM_OK;
    quorum_status status = quorum_options_set(options, key, text);
    return status == QUORUM_E_ARGUMENT
               ? damaged("its calibration is for a prediction that is not known")
               : status;
}

/* Older files have what was given, select auto as well, and then npae was what auto is now. */
static quorum_status read_old_default(quorum_options *options)
{
    const settings *s = options_values(options);
    int was_default = strcmp(s->method, "npae") == 0 && strcmp(s->select, "auto") == 0;
    return was_default ? quorum_options_set(options, "method", "auto") : QUORUM_OK;
}

quorum_status read_calibration(const json_node *how, quorum_model *m)
{
    calibration *c = &m->calibration;
    quorum_options *options = NULL;
    quorum_status status = QUORUM_OK;
    if (!how)
        return QUORUM_OK;
    if (!(options = quorum_options_new()))
        return failure(QUORUM_E_MEMORY, "out of memory for the calibration");
    TRY_OR_DONE(take_word(how, "method", 1, options));
    TRY_OR_DONE(take_word(how, "select", 1, options));
    TRY_OR_DONE(take_word(how, "neighbours", 1, options));
    TRY_OR_DONE(take_word(how, "space", 0, options));
    TRY_OR_DONE(take_word(how, "graph_on", 0, options));
    TRY_OR_DONE(read_old_default(options));
    c->unasked = json_as_number(json_member(how, "unasked"), 0.0) != 0.0;
    TRY_OR_DONE(calibration_is_for(c, m, options_values(options)));
    c->scale = json_as_number(json_member(how, "scale"), 0.0);
    status = c->scale >= 1.0 / LARGEST_RATIO && c->scale <= LARGEST_RATIO
                 ? QUORUM_OK
                 : damaged("calibration is out of range");
done:
    quorum_options_free(options);
    return status;
}
