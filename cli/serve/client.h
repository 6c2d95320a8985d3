/* One who asks: lines that came and answers that are to go, over a socket or over standard input and
 * output. */
#ifndef QUORUM_CLI_SERVE_CLIENT_H
#define QUORUM_CLI_SERVE_CLIENT_H

#include "quorum.h"
#include "serve/bytes.h"

typedef struct {
    int in, out; /* descriptors; of a socket the same one         */
    bool is_socket;
    bool ended;            /* nothing more comes                            */
    bool failed;           /* nothing more can be sent: it is gone          */
    bool passing;          /* over the rest of a line that is too long      */
    bytes input;           /* lines, and the beginning of the next          */
    size_t scanned;        /* bytes of input without a line end             */
    bytes output;          /* answers that are not sent yet                 */
    quorum_stream *stream; /* reads the lines; NULL: none yet, or the model is new */
    char *header;          /* csv: the first line, by which a stream begins anew; NULL: none yet */
    size_t header_bytes;
} client;

typedef enum { NO_LINE, WHOLE_LINE, LONG_LINE } line_kind;

client *client_new(int in, int out, bool is_socket); /* owns a socket; NULL: out of memory */
void client_free(client *c);

/* The stream is closed: the model that it is for goes. */
void client_forget_stream(client *c);

/* Takes what has come, without waiting.  `draining`: what comes later is not waited for. */
void client_read(client *c, bool draining);

/* Sends what can be sent without waiting. */
void client_write(client *c);

/* The next line with its end, until the next call for this client: it is taken out.  One of more than
 * `most` bytes is passed over, and said to be long once. */
line_kind client_line(client *c, size_t most, const char **line, size_t *n);

/* Whether client_line would give one, and its answer would find room. */
bool client_has_work(client *c, size_t most);

bool client_wants_input(client *c, size_t most);
bool client_wants_output(const client *c);
bool client_is_done(client *c, size_t most); /* to be freed */

#endif
