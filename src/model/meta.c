/* meta.json written from a model, and read into one: every member is checked before it is
 * believed. */
#include "model/meta.h"

#include "base/memory.h"
#include "base/text_buffer.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

quorum_status damaged(const char *what)
{
    return failure(QUORUM_E_FORMAT, "the model file is damaged or was altered: %s", what);
}

/* ---- Writing ---- */

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

static void put_member_integer(json_writer *w, const char *key, int64_t value)
{
    json_key(w, key);
    json_put_integer(w, value);
}

static void put_identity(json_writer *w, const quorum_model *m)
{
    put_member_integer(w, "format_version",
                       m->extra.offset ? FORMAT_VERSION_OVERLAP : FORMAT_VERSION);
    put_member_text(w, "library", "quorum");
    put_member_text(w, "library_version", quorum_version());
    put_member_text(w, "kernel", m->theta.kernel->name);
    put_member_text(w, "partition", m->partition->name);
}

static void put_columns(json_writer *w, const quorum_model *m)
{
    json_key(w, "columns");
    json_begin_list(w);
    for (size_t i = 0; i <= m->D; i++)
        json_put_text(w, m->names[i]);
    json_end(w);
    json_key(w, "named_columns");
    json_put_flag(w, m->has_names);
    put_member_integer(w, "target_place", (int64_t)m->target);
}

/* Only where there are any. */
static void put_constants(json_writer *w, const quorum_model *m)
{
    if (model_varying(m) == m->D)
        return;
    json_key(w, "constant_inputs");
    json_begin_list(w);
    for (size_t d = 0; d < m->D; d++)
        if (m->constant[d])
            json_put_count(w, d);
    json_end(w);
}

static void put_training(json_writer *w, const quorum_model *m)
{
    json_key(w, "training");
    json_begin_object(w);
    put_member_number(w, "nlml", m->nlml);
    put_member_integer(w, "evaluations", m->evaluations);
    put_member_integer(w, "experts", (int64_t)m->train_experts);
    put_member_text(w, "rule", options_train_name(m->train));
    put_member_integer(w, "rows", (int64_t)m->train_rows);
    json_end(w);
}

static void put_graph(json_writer *w, const quorum_model *m)
{
    json_key(w, "graph");
    json_begin_object(w);
    put_member_number(w, "lambda", m->graph.lambda);
    put_member_integer(w, "edges", (int64_t)m->graph.edges);
    json_key(w, "ranking");
    json_begin_list(w);
    for (size_t i = 0; i < m->M; i++)
        json_put_count(w, m->graph.ranking[i]);
    json_end(w);
    if (m->graph.trouble)
        put_member_text(w, "trouble", m->graph.trouble);
    json_end(w);
}

static void put_seconds(json_writer *w, const quorum_model *m)
{
    json_key(w, "seconds");
    json_begin_object(w);
    put_member_number(w, "partition", m->seconds_partition);
    put_member_number(w, "train", m->seconds_train);
    put_member_number(w, "graph", m->seconds_graph);
    put_member_number(w, "calibrate", m->seconds_calibrate);
    put_member_number(w, "total", m->seconds_total);
    json_end(w);
}

static void put_kernel_scores(json_writer *w, const kernel_choice *c)
{
    json_key(w, "kernel_scores");
    json_begin_object(w);
    for (int i = 0; i < c->count; i++)
        put_member_number(w, c->name[i], c->score[i]);
    json_end(w);
}

static void put_calibration(json_writer *w, const calibration *c)
{
    char neighbours[32];
    snprintf(neighbours, sizeof neighbours, "%zu", c->how.neighbours);
    json_key(w, "calibration");
    json_begin_object(w);
    put_member_text(w, "method", c->how.rule->name);
    put_member_text(w, "select", c->select);
    put_member_text(w, "neighbours", neighbours);
    put_member_text(w, "space", c->how.space == SPACE_OBSERVED ? "observed" : "latent");
    put_member_text(w, "graph_on", c->how.graph_on == GRAPH_ON_TEST ? "test" : "train");
    put_member_number(w, "scale", c->scale);
    json_end(w);
}

static void put_model(json_writer *w, const quorum_model *m, const json_node *options)
{
    json_begin_object(w);
    put_identity(w, m);
    put_columns(w, m);
    put_constants(w, m);
    json_key(w, "options");
    json_put_node(w, options);
    put_training(w, m);
    put_graph(w, m);
    put_seconds(w, m);
    put_member_integer(w, "seed", (int64_t)m->seed);
    if (isfinite(m->spread))
        put_member_number(w, "spread", m->spread);
    if (m->kernel_choice.count > 0)
        put_kernel_scores(w, &m->kernel_choice);
    if (m->calibration.count > 0)
        put_calibration(w, &m->calibration);
    json_end(w);
}

quorum_status meta_make(const quorum_model *m, char **text)
{
    text_buffer buffer = {0};
    json_writer w = json_writer_to(text_buffer_put, &buffer, 1);
    json_tree options;
    *text = NULL;
    TRY(json_parse(m->options, strlen(m->options), &options));
    put_model(&w, m, options.root);
    json_free(&options);
    quorum_status status = json_status(json_finish(&w), "the model's meta.json");
    if (status >= 0)
        *text = text_buffer_take(&buffer);
    text_buffer_free(&buffer);
    return status;
}

/* ---- Reading: nothing is believed before it is checked ---- */

static int64_t integer_of(const json_node *object, const char *key)
{
    return json_as_integer(json_member(object, key), 0);
}

static double number_of(const json_node *object, const char *key)
{
    return json_as_number(json_member(object, key), 0.0);
}

static const char *text_of(const json_node *object, const char *key)
{
    return json_as_text(json_member(object, key));
}

static quorum_status check_version(int64_t version)
{
    if (version >= FORMAT_VERSION && version <= FORMAT_VERSION_OVERLAP)
        return QUORUM_OK;
    return failure(
        QUORUM_E_FORMAT,
        "the model file has format version %lld and this quorum reads versions %d to %d: %s",
        (long long)version, FORMAT_VERSION, FORMAT_VERSION_OVERLAP,
        version > FORMAT_VERSION ? "use a newer quorum" : "fit the model again");
}

quorum_status meta_parse(const char *text, model_meta *meta)
{
    *meta = (model_meta){0};
    if (strlen(text) > MOST_META)
        return damaged("meta.json is too long");
    quorum_status status = json_parse(text, strlen(text), &meta->tree);
    if (status == QUORUM_E_FORMAT)
        return failure_in(status, "the model file is damaged or was altered: meta.json");
    TRY(status);
    if (!json_is_object(meta->tree.root))
        return damaged("meta.json is not a JSON object");
    meta->version = integer_of(meta->tree.root, "format_version");
    return check_version(meta->version);
}

void meta_free(model_meta *meta)
{
    json_free(&meta->tree);
}

quorum_status meta_apply_first(const model_meta *meta, quorum_model *m)
{
    const char *covariance = text_of(meta->tree.root, "kernel");
    const char *split = text_of(meta->tree.root, "partition");
    m->theta.kernel = covariance ? kernel_by_name(covariance) : NULL;
    m->partition = split ? partition_by_name(split) : NULL;
    if (!m->theta.kernel || !m->partition)
        return damaged("its kernel or partition is not known");
    return QUORUM_OK;
}

static quorum_status apply_names(const json_node *root, quorum_model *m)
{
    const json_node *columns = json_member(root, "columns");
    size_t i = 0;
    if (json_list_size(columns) != m->D + 1)
        return damaged("columns do not fit the inputs");
    if (!NEW_ZEROED(m->names, m->D + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    for (const json_node *c = json_first(columns); c; c = json_next(c), i++) {
        if (!json_as_text(c))
            return damaged("a column has no name");
        if (!(m->names[i] = mem_copy_text(json_as_text(c))))
            return failure(QUORUM_E_MEMORY, "out of memory for column names");
    }
    m->has_names = json_is_true(json_member(root, "named_columns"));
    m->target = (size_t)integer_of(root, "target_place");
    return m->target <= m->D ? QUORUM_OK : damaged("target_place is out of range");
}

/* Older files say of no input that it is constant. */
static quorum_status apply_constants(const json_node *root, quorum_model *m)
{
    const json_node *list = json_member(root, "constant_inputs");
    if (!NEW_ZEROED(m->constant, m->D))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu inputs", m->D);
    if (list && json_list_size(list) == 0)
        return damaged("constant_inputs is not a list of inputs");
    for (const json_node *c = json_first(list); c; c = json_next(c)) {
        int64_t d = json_as_integer(c, -1);
        if (d < 0 || (uint64_t)d >= m->D || m->constant[d])
            return damaged("constant_inputs is not a list of inputs");
        m->constant[d] = 1;
    }
    return QUORUM_OK;
}

static quorum_status apply_ranking(const json_node *ranking, quorum_model *m)
{
    char *seen = NULL;
    size_t i = 0;
    if (json_list_size(ranking) != m->M)
        return damaged("the ranking has not one entry an expert");
    if (!NEW_ARRAY(m->graph.ranking, m->M) || !NEW_ZEROED(seen, m->M))
        return failure(QUORUM_E_MEMORY, "out of memory for %zu experts", m->M);
    quorum_status status = QUORUM_OK;
    for (const json_node *r = json_first(ranking); r && status == QUORUM_OK; r = json_next(r)) {
        int64_t e = json_as_integer(r, -1);
        if (e < 0 || (uint64_t)e >= m->M || seen[e])
            status = damaged("the ranking is not a permutation of the experts");
        else
            seen[m->graph.ranking[i++] = (size_t)e] = 1;
    }
    mem_free(seen);
    return status;
}

static quorum_status apply_graph(const json_node *root, quorum_model *m)
{
    const json_node *graph = json_member(root, "graph");
    m->graph.lambda = number_of(graph, "lambda");
    m->graph.edges = (size_t)integer_of(graph, "edges");
    const char *trouble = text_of(graph, "trouble");
    if (trouble && !(m->graph.trouble = mem_copy_text(trouble)))
        return failure(QUORUM_E_MEMORY, "out of memory for the graph");
    return apply_ranking(json_member(graph, "ranking"), m);
}

/* Each option that this library knows; others are kept as they are. */
static quorum_status set_options(const json_node *list, quorum_options *options)
{
    for (const json_node *o = json_first(list); o; o = json_next(o)) {
        if (!json_as_text(o))
            return damaged("an option is not a text");
        if (quorum_options_get(NULL, o->key))
            TRY(quorum_options_set(options, o->key, json_as_text(o)));
    }
    return QUORUM_OK;
}

static quorum_status copy_options_text(const json_node *list, quorum_model *m)
{
    text_buffer buffer = {0};
    json_writer w = json_writer_to(text_buffer_put, &buffer, 0);
    if (list) {
        json_put_node(&w, list);
    } else {
        json_begin_object(&w);
        json_end(&w);
    }
    quorum_status status = json_status(json_finish(&w), "the options");
    if (status >= 0)
        m->options = text_buffer_take(&buffer);
    text_buffer_free(&buffer);
    return status;
}

/* The options of the fit: what later commands need of them, and the text itself. */
static quorum_status apply_options(const json_node *root, quorum_model *m)
{
    const json_node *list = json_member(root, "options");
    quorum_options *options = NULL;
    quorum_status status = QUORUM_OK;
    if (list && !json_is_object(list))
        return damaged("options is not an object");
    if (!(options = quorum_options_new()))
        return failure(QUORUM_E_MEMORY, "out of memory for the options");
    TRY_OR_DONE(set_options(list, options));
    TRY_OR_DONE(options_graph(options_values(options), &m->graph_how));
    TRY_OR_DONE(copy_options_text(list, m));
done:
    quorum_options_free(options);
    return status;
}

/* One of the words that say what a calibration is for; older files have only the first three. */
static quorum_status take_word(const json_node *how, const char *key, int required,
                               quorum_options *options)
{
    const char *text = text_of(how, key);
    if (!text)
        return required ? damaged("its calibration does not say what it holds for") : QUORUM_OK;
    quorum_status status = quorum_options_set(options, key, text);
    return status == QUORUM_E_ARGUMENT
               ? damaged("its calibration is for a prediction that is not known")
               : status;
}

static quorum_status apply_calibration(const json_node *root, quorum_model *m)
{
    const json_node *how = json_member(root, "calibration");
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
    TRY_OR_DONE(calibration_is_for(c, m, options_values(options)));
    c->scale = number_of(how, "scale");
    status = c->scale > 0.0 ? QUORUM_OK : damaged("calibration is out of range");
done:
    quorum_options_free(options);
    return status;
}

static quorum_status apply_spread(const json_node *root, quorum_model *m)
{
    const json_node *spread = json_member(root, "spread");
    m->spread = spread ? json_as_number(spread, 0.0) : INFINITY;
    return m->spread > 0.0 ? QUORUM_OK : damaged("spread is not a positive number");
}

/* Of the kernels that this library knows; names are its own. */
static void apply_kernel_scores(const json_node *root, kernel_choice *c)
{
    const json_node *scores = json_member(root, "kernel_scores");
    for (int i = 0; i < kernel_count() && c->count < MOST_KERNELS; i++) {
        double score = json_as_number(json_member(scores, kernel_at(i)->name), NAN);
        if (!isfinite(score))
            continue;
        c->name[c->count] = kernel_at(i)->name;
        c->score[c->count++] = score;
    }
}

static void apply_history(const json_node *root, quorum_model *m)
{
    const json_node *training = json_member(root, "training");
    const json_node *seconds = json_member(root, "seconds");
    m->seed = (uint64_t)integer_of(root, "seed");
    m->nlml = number_of(training, "nlml");
    m->evaluations = (int)integer_of(training, "evaluations");
    m->train_experts = (size_t)integer_of(training, "experts");
    m->train_rows = (size_t)integer_of(training, "rows");
    int train = options_train_number(text_of(training, "rule"));
    m->train = train < 0 ? TRAIN_PARTS : train; /* older files: there was no other */
    apply_kernel_scores(root, &m->kernel_choice);
    m->seconds_partition = number_of(seconds, "partition");
    m->seconds_train = number_of(seconds, "train");
    m->seconds_graph = number_of(seconds, "graph");
    m->seconds_calibrate = number_of(seconds, "calibrate");
    m->seconds_total = number_of(seconds, "total");
}

quorum_status meta_apply(const model_meta *meta, quorum_model *m)
{
    const json_node *root = meta->tree.root;
    TRY(apply_names(root, m));
    TRY(apply_constants(root, m));
    TRY(apply_graph(root, m));
    TRY(apply_options(root, m));
    TRY(apply_calibration(root, m));
    TRY(apply_spread(root, m));
    apply_history(root, m);
    return QUORUM_OK;
}

quorum_status meta_check(const char *text, size_t D, size_t M)
{
    model_meta meta = {0};
    quorum_status status = QUORUM_OK;
    quorum_model *m = model_new();
    if (!m)
        return failure(QUORUM_E_MEMORY, "out of memory for checking the model");
    m->D = D;
    m->M = M;
    TRY_OR_DONE(meta_parse(text, &meta));
    TRY_OR_DONE(meta_apply_first(&meta, m));
    TRY_OR_DONE(meta_apply(&meta, m));
done:
    meta_free(&meta);
    quorum_model_free(m);
    return status;
}
