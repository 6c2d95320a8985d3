/* quorum serve: predictions line by line, for programs that ask again and again.  The server itself is
 * in serve/. */
#include "serve/server.h"

#include "arguments.h"
#include "command.h"
#include "talk.h"

#include <stdlib.h>
#include <string.h>

/* A whole number from 1 to `most`, of a flag that has a default. */
static int read_count(const arguments *given, const char *name, size_t otherwise, size_t most,
                      size_t *value)
{
    const char *text = argument_value(given, name);
    char *end = NULL;
    double number = text ? strtod(text, &end) : (double)otherwise;
    if (text && (end == text || *end || !(number >= 1.0 && number <= (double)most) ||
                 number != (double)(size_t)number))
        return usage_error(given->command, "--%s: '%s' is not a whole number from 1 to %zu", name,
                           shown(text).text, most);
    *value = (size_t)number;
    return EXIT_DONE;
}

static int read_format(const arguments *given, bool *json)
{
    const char *format = argument_value(given, "format");
    *json = format && strcmp(format, "jsonl") == 0;
    if (format && !*json && strcmp(format, "csv") != 0)
        return usage_error(given->command, "--format: '%s' is neither csv nor jsonl",
                           shown(format).text);
    return EXIT_DONE;
}

/* Every row has its answer. */
static int check_options(const arguments *given)
{
    if (strcmp(quorum_options_get(given->options, "missing"), "drop") == 0)
        return usage_error(given->command,
                           "--missing drop: every row has an answer here; give error or nan");
    return EXIT_DONE;
}

/* Reads the flags; `batch` is of rows. */
static int read_flags(server *s, const arguments *given, bool *json, size_t *batch)
{
    int code = read_format(given, json);
    if (code == EXIT_DONE)
        code = read_count(given, "batch", 1024, 1000000, batch);
    if (code == EXIT_DONE)
        code = read_count(given, "max-line", 1048576, 1 << 26, &s->longest);
    if (code == EXIT_DONE)
        code = read_count(given, "max-clients", 100, 10000, &s->most_clients);
    if (code == EXIT_DONE)
        code = check_options(given);
    answers tried = {0}; /* what is wrong with flags is said before a model is waited for */
    if (code == EXIT_DONE)
        code = answers_parse(&tried, given);
    answers_free(&tried);
    return code;
}

static int run_serve(const arguments *given)
{
    server s = {.given = given, .listener = {.fd = -1}};
    const char *where = argument_value(given, "listen");
    bool json = false;
    size_t batch = 0;
    detail_settings(given);
    int code = read_flags(&s, given, &json, &batch);
    if (code == EXIT_DONE)
        code = served_model_open(&s.model, given);
    if (code == EXIT_DONE)
        code = round_open(&s.round, given, json, batch + 1, &s.model.targets);
    if (code == EXIT_DONE && where)
        code = listener_open(&s.listener, where, given);
    if (code == EXIT_DONE)
        code = serve_all(&s);
    listener_close(&s.listener);
    round_free(&s.round);
    served_model_free(&s.model);
    free(s.clients);
    free(s.polled);
    return code;
}

static const operand operands[] = {
    {"MODEL", "A model file written by 'quorum fit'. When another takes its place, as a fit with "
              "the same -o does, that one answers from then on, without a request being lost."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"listen", 0, "WHERE", NULL, NULL,
     "Serve many clients over a socket instead of standard input and output: unix:PATH, or "
     "HOST:PORT of this machine (127.0.0.1, [::1], localhost; port 0: any free one, which is "
     "said). Who reaches the socket is answered: the rights of PATH decide."},
    {"format", 0, "csv|jsonl", "csv|jsonl", "csv",
     "What a line is, in and out. csv: as in a query file, with a header first or the columns of "
     "the training file; the first answer is the header of the answers. jsonl: an object of names "
     "and values, or a list of values by column; each answer is an object."},
    {"batch", 0, "N", NULL, "1024",
     "Rows that are predicted together at most. Answers go out as soon as their rows are "
     "predicted; rows that come meanwhile are the next batch."},
    {"max-line", 0, "BYTES", NULL, "1048576",
     "A longer line is answered by an error, and passed over."},
    {"max-clients", 0, "N", NULL, "100", "Clients at once; more are turned away with an error."},
    {"keep", 0, "COLS", NULL, NULL,
     "Columns of the requests to pass on with the answers, such as an id: names or numbers from 1, "
     "separated by commas, or 'all'."},
    TARGET_FLAG_LIST,
    {"quantiles", 0, "LIST", NULL, NULL, "As in 'quorum predict': columns of quantiles."},
    {"gradient", 0, NULL, NULL, NULL, "As in 'quorum predict': derivatives by each input."},
    {"novelty", 0, NULL, NULL, NULL, "As in 'quorum predict': how little is known there."},
    {"above", 0, "V", NULL, NULL, "As in 'quorum predict': probability of more than V."},
    {"below", 0, "V", NULL, NULL, "As in 'quorum predict': probability of less than V."},
    {"improvement-above", 0, "V", NULL, NULL, "As in 'quorum predict': expected max(0, y - V)."},
    {"improvement-below", 0, "V", NULL, NULL, "As in 'quorum predict': expected max(0, V - y)."},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command serve_command = {
    .name = "serve",
    .summary = "answer rows as they come, over a pipe or a socket",
    .usage = "MODEL [--listen unix:PATH|HOST:PORT] [--format csv|jsonl] [options]",
    .description =
        "Loads the model once and predicts rows as they come, one line in, one line out, with the "
        "numbers that 'quorum predict' writes, bit for bit. Without --listen lines come from "
        "standard input and answers go to standard output. A line that cannot be used is answered "
        "by '# error: ...' (csv) or {\"error\": ...} (jsonl), and the next one is served. SIGTERM "
        "or SIGINT ends the server after all that has come is answered; SIGHUP, or a new model "
        "file "
        "in the place of the old, makes it load that.",
    .option_names = "header missing decimal thousands comment noise-std unseen method select "
                    "neighbours space interval interval-shape calibration latent mean-only threads "
                    "memory",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum serve model.npz < rows.csv\n"
                "  quorum serve model.npz --listen unix:/run/quorum.sock --format jsonl\n"
                "  echo '{\"lon\": 13.4, \"lat\": 52.5}' | nc -N -U /run/quorum.sock\n"
                "  quorum serve model.npz --listen 127.0.0.1:8000 --keep id --quantiles 0.05,0.95\n"
                "\n"
                "  # Python: a connection stays open, and each line has its answer\n"
                "  import json, socket\n"
                "  wire = socket.create_connection((\"127.0.0.1\", 8000)).makefile(\"rw\")\n"
                "  print(json.dumps({\"lon\": 13.4, \"lat\": 52.5}), file=wire, flush=True)\n"
                "  answer = json.loads(wire.readline())        # of --format jsonl\n",
    .lists_methods = true,
    .run = run_serve,
};
