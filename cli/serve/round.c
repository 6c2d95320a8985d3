/* Lines become rows, rows predictions, predictions lines.  What one line has wrong is its answer, and
 * nobody else's. */
#include "serve/round.h"

#include "cells.h"
#include "io/plain_text.h"
#include "kept.h"
#include "talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum { ANSWER_HEADER, ANSWER_ROW, ANSWER_HOLE, ANSWER_ERROR } answer_kind;

struct answer {
    client *to;
    answer_kind kind;
    size_t row;  /* of X, of ANSWER_ROW                                        */
    char *text;  /* of an error its sentence; else name and text of each kept cell, each with its
                    final zero; NULL: none are kept                            */
    size_t kept; /* cells                                                      */
};

/* ---- Room ---- */

static bool make_room(service_round *r)
{
    r->X = malloc(r->most * r->inputs * sizeof *r->X);
    r->offset = malloc(r->most * sizeof *r->offset);
    r->noise = malloc(r->most * sizeof *r->noise);
    r->queue = malloc(r->most * sizeof *r->queue);
    return r->X && r->offset && r->noise && r->queue;
}

int round_open(service_round *r, const arguments *given, bool json, size_t most,
               const chosen_targets *targets)
{
    quorum_info info;
    r->given = given;
    r->json = json;
    r->most = most;
    quorum_status status = quorum_inspect(targets->model[0], &info);
    if (status < 0)
        return library_failure(given, status);
    r->inputs = info.inputs;
    r->with_offset = info.offset_name != NULL;
    r->leaves_holes = strcmp(quorum_options_get(given->options, "missing"), "nan") == 0;
    if (!make_room(r))
        return failure(given, "out of memory for %zu rows", most);
    return round_targets_open(&r->targets, given, most, targets);
}

static void clear_queue(service_round *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->queue[i].text);
    r->count = r->rows = 0;
    r->with_noise = false;
}

void round_free(service_round *r)
{
    clear_queue(r);
    round_targets_free(&r->targets);
    free(r->X);
    free(r->offset);
    free(r->noise);
    free(r->queue);
}

void round_begin(service_round *r, const chosen_targets *targets)
{
    clear_queue(r);
    round_targets_take(&r->targets, targets);
    r->model = targets->model[0];
}

/* A first line can have two answers: the header and a row's. */
bool round_is_full(const service_round *r)
{
    return r->count + 2 > r->most;
}

/* ---- Lines in ---- */

static answer *add(service_round *r, client *c, answer_kind kind)
{
    answer *a = &r->queue[r->count++];
    *a = (answer){.to = c, .kind = kind};
    return a;
}

/* Without memory for the sentence the answer has none; see sentence_of. */
static void add_error(service_round *r, client *c, const char *sentence)
{
    add(r, c, ANSWER_ERROR)->text = strdup(sentence);
    r->errors++;
}

static bool is_blank(const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strchr(" \t\r\n", line[i]) || line[i] == '\0')
            return false;
    return true;
}

/* The csv's first line, by which a stream for another model begins. */
static bool keep_header(client *c, const char *line, size_t n)
{
    c->header = malloc(n);
    if (c->header)
        memcpy(c->header, line, n);
    c->header_bytes = n;
    return c->header != NULL;
}

/* What the header's own row was, has been answered. */
static quorum_status repeat_header(service_round *r, client *c)
{
    size_t rows;
    double *X = r->X + r->rows * r->inputs;
    quorum_status status = quorum_stream_feed(c->stream, c->header, c->header_bytes);
    if (status >= 0)
        quorum_stream_next(c->stream, 1, X, NULL, &rows);
    return status;
}

static quorum_status open_stream(service_round *r, client *c)
{
    quorum_stream_request wanted = {.keep = argument_value(r->given, "keep")};
    if (c->stream)
        return QUORUM_OK;
    quorum_status status =
        quorum_stream_open_lines(r->model, r->json, &wanted, r->given->options, &c->stream);
    if (status >= 0 && c->header)
        status = repeat_header(r, c);
    if (status < 0)
        client_forget_stream(c);
    return status;
}

static bool keep_cells(answer *a, const quorum_stream *s)
{
    size_t room = 0;
    a->kept = quorum_stream_kept_columns(s);
    for (size_t k = 0; k < a->kept; k++)
        room += strlen(quorum_stream_kept_name(s, k)) + strlen(quorum_stream_kept(s, 0, k)) + 2;
    if (a->kept == 0)
        return true;
    char *to = a->text = malloc(room);
    for (size_t k = 0; to && k < a->kept; k++) {
        to = stpcpy(to, quorum_stream_kept_name(s, k)) + 1;
        to = stpcpy(to, quorum_stream_kept(s, 0, k)) + 1;
    }
    return a->text != NULL;
}

/* The row that was just read, whose inputs are in their place already. */
static void add_row(service_round *r, client *c)
{
    const double *x = r->X + r->rows * r->inputs, *noise = quorum_stream_noise_std(c->stream);
    bool hole = r->leaves_holes && isnan(x[0]);
    answer *a = add(r, c, hole ? ANSWER_HOLE : ANSWER_ROW);
    if (!keep_cells(a, c->stream)) {
        r->count--;
        add_error(r, c, "out of memory");
        return;
    }
    if (hole)
        return;
    r->offset[r->rows] = r->with_offset ? quorum_stream_offset(c->stream)[0] : 0.0;
    r->noise[r->rows] = noise ? noise[0] : 0.0;
    r->with_noise = r->with_noise || noise;
    a->row = r->rows++;
}

/* Names of the answer must differ, or nobody can tell them apart. */
static bool is_own_name(const service_round *r, const char *name)
{
    size_t length = strlen(name);
    bool found = false;
    for (const char *at = r->targets.names; at && !found;) {
        size_t n = strcspn(at, ",");
        found = n == length && memcmp(at, name, n) == 0;
        at = at[n] ? at + n + 1 : NULL;
    }
    return found;
}

static bool names_differ(service_round *r, client *c)
{
    char sentence[ERROR_ROOM];
    for (size_t k = 0; k < quorum_stream_kept_columns(c->stream); k++) {
        const char *name = quorum_stream_kept_name(c->stream, k);
        if (!is_own_name(r, name))
            continue;
        snprintf(sentence, sizeof sentence,
                 "request: column \"%.200s\" that is kept has the name of a predicted one; rename "
                 "it",
                 name);
        add_error(r, c, sentence);
        client_forget_stream(c);
        return false;
    }
    return true;
}

/* The first line of csv is understood: its columns are answered with those of the answers. */
static bool introduce(service_round *r, client *c, const char *line, size_t n)
{
    if (r->json || c->header)
        return true;
    if (!names_differ(r, c))
        return false;
    if (!keep_header(c, line, n)) {
        add_error(r, c, "out of memory");
        client_forget_stream(c);
        return false;
    }
    answer *a = add(r, c, ANSWER_HEADER);
    keep_cells(a, c->stream);
    return true;
}

static void take_line(service_round *r, client *c, const char *line, size_t n)
{
    size_t rows = 0;
    quorum_status status = open_stream(r, c);
    if (status >= 0)
        status = quorum_stream_feed(c->stream, line, n);
    if (status >= 0 && !introduce(r, c, line, n))
        return;
    if (status >= 0)
        status = quorum_stream_next(c->stream, 1, r->X + r->rows * r->inputs, NULL, &rows);
    if (status < 0)
        add_error(r, c, quorum_message());
    else if (rows > 0)
        add_row(r, c);
}

void round_take(service_round *r, client *c, const char *line, size_t n)
{
    char sentence[100];
    if (!line) {
        snprintf(sentence, sizeof sentence, "request: the line is longer than %zu bytes", n);
        add_error(r, c, sentence);
    } else if (!is_blank(line, n)) {
        take_line(r, c, line, n);
    }
}

/* ---- Lines out ---- */

void write_error(bool json, const char *sentence, FILE *file)
{
    char plain[ERROR_ROOM];
    plain_text_copy(plain, sizeof plain, sentence);
    if (!json) {
        fprintf(file, "# error: %s\n", plain);
        return;
    }
    json_writer w = json_to_file(file);
    w.indent = 0;
    json_begin_object(&w);
    json_member_text(&w, "error", plain);
    json_end(&w);
    fputc('\n', file);
}

/* What follows the name, or the text, of a kept cell. */
static const char *after(const char *text)
{
    return text + strlen(text) + 1;
}

static void write_header(const service_round *r, const answer *a, FILE *file)
{
    const char *name = a->text;
    for (size_t k = 0; name && k < a->kept; k++, name = after(after(name))) {
        cell_write("", name, file);
        fputc(',', file);
    }
    fputs(r->targets.names, file);
    fputc('\n', file);
}

/* Row *i of the predictions; NULL: it has a hole. */
static void write_csv(const service_round *r, const answer *a, const size_t *i, FILE *file)
{
    const char *name = a->text;
    for (size_t k = 0; k < a->kept; k++, name = after(after(name))) {
        cell_write("", after(name), file);
        fputc(',', file);
    }
    if (i) {
        round_targets_write(&r->targets, *i, file);
        fputc('\n', file);
    } else
        write_empty_cells(round_targets_count(&r->targets), a->kept > 0, file);
}

static void write_json(const service_round *r, const answer *a, const size_t *i, FILE *file)
{
    json_writer w = json_to_file(file);
    const char *name = a->text;
    w.indent = 0;
    json_begin_object(&w);
    for (size_t k = 0; k < a->kept; k++, name = after(after(name)))
        json_member_text(&w, name, after(name));
    round_targets_put(&r->targets, i, &w);
    json_end(&w);
    fputc('\n', file);
}

static void write_row(const service_round *r, const answer *a, const size_t *i, FILE *file)
{
    if (r->json)
        write_json(r, a, i, file);
    else
        write_csv(r, a, i, file);
}

static quorum_status predict(service_round *r, size_t first, size_t rows)
{
    if (rows == 0)
        return QUORUM_OK;
    return round_targets_predict(&r->targets, r->X + first * r->inputs,
                                 r->with_offset ? r->offset + first : NULL,
                                 r->with_noise ? r->noise + first : NULL, rows, r->given);
}

/* A row by itself, where all together failed. */
static void write_alone(service_round *r, const answer *a, FILE *file)
{
    const size_t alone = 0;
    if (predict(r, a->row, 1) >= 0) {
        write_row(r, a, &alone, file);
        r->served++;
        return;
    }
    write_error(r->json, quorum_message(), file);
    r->errors++;
}

/* `together`: false where that failed. */
static void write_answer(service_round *r, const answer *a, bool together, FILE *file)
{
    switch (a->kind) {
    case ANSWER_HEADER: write_header(r, a, file); break;
    case ANSWER_HOLE: write_row(r, a, NULL, file); break;
    case ANSWER_ERROR: write_error(r->json, a->text ? a->text : "out of memory", file); break;
    case ANSWER_ROW:
        if (!together) {
            write_alone(r, a, file);
            break;
        }
        write_row(r, a, &a->row, file);
        r->served++;
    }
}

/* The answer's bytes, made in a file in memory, to its client. */
static void send_answer(service_round *r, const answer *a, bool together)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file)
        write_answer(r, a, together, file);
    bool whole = file && !ferror(file);
    if (file && fclose(file) != 0)
        whole = false;
    if (!whole || !bytes_append(&a->to->output, text, size))
        a->to->failed = true; /* an answer too few would be taken for another row's */
    free(text);
}

void round_answer(service_round *r)
{
    bool all = predict(r, 0, r->rows) >= 0;
    for (size_t i = 0; i < r->count; i++)
        send_answer(r, &r->queue[i], all);
}
