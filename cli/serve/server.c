/* One thread waits, reads and writes; the library takes as many as it is given for the rows of a
 * round.  While a round is predicted new lines gather, and are the next round: the more clients ask,
 * the more rows go together. */
#include "serve/server.h"

#include "clock.h"
#include "talk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const double GRACE = 5.0; /* seconds that slow readers have at the end */
enum { PATIENCE = 1000 /* milliseconds between two looks at the model's file */ };

static volatile sig_atomic_t told_to_stop, told_to_reload;

/* ---- Signals: held back but while the server waits, so that none is missed ---- */

static void remember(int number)
{
    if (number == SIGHUP)
        told_to_reload = 1;
    else
        told_to_stop = 1;
}

static void catch_signals(server *s)
{
    static const int caught[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_handler = remember};
    sigset_t held;
    sigemptyset(&action.sa_mask);
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        sigaction(caught[i], &action, NULL);
        sigaddset(&held, caught[i]);
    }
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &held, &s->waiting);
}

/* From now on a second signal ends the program at once. */
static void let_signals_end(const server *s)
{
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    sigprocmask(SIG_SETMASK, &s->waiting, NULL);
}

/* ---- Clients ---- */

/* Says so where that can be sent at once. */
static void refuse_client(server *s, int fd)
{
    char *text = NULL, unread[4096];
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file) {
        write_error(s->round.json, "too many clients at once; try again later", file);
        if (fclose(file) == 0)
            send(fd, text, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    free(text);
    while (recv(fd, unread, sizeof unread, MSG_DONTWAIT) > 0)
        continue; /* closed with something unread, a socket loses what was sent */
    close(fd);
    s->refused++;
}

static void add_client(server *s, int in, int out, bool is_socket)
{
    client *c = client_new(in, out, is_socket);
    if (c) {
        s->clients[s->count++] = c;
        s->seen++;
    } else if (is_socket) {
        close(in);
    }
}

static void accept_clients(server *s)
{
    int fd;
    while (s->listener.fd >= 0 && (fd = listener_accept(&s->listener)) >= 0) {
        if (s->count < s->most_clients)
            add_client(s, fd, fd, true);
        else
            refuse_client(s, fd);
    }
}

static void drop_done(server *s)
{
    size_t left = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->output_failed |= s->clients[i]->failed && !s->clients[i]->is_socket;
        if (client_is_done(s->clients[i], s->longest))
            client_free(s->clients[i]);
        else
            s->clients[left++] = s->clients[i];
    }
    s->count = left;
}

/* ---- Rounds ---- */

static bool has_work(const server *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (client_has_work(s->clients[i], s->longest))
            return true;
    return false;
}

/* Up to `share` lines of one client. */
static void take_lines(server *s, client *c, size_t share)
{
    const char *line;
    size_t n;
    for (size_t i = 0; i < share && !round_is_full(&s->round); i++) {
        if (!client_has_work(c, s->longest))
            return;
        line_kind kind = client_line(c, s->longest, &line, &n);
        if (kind == WHOLE_LINE)
            round_take(&s->round, c, line, n);
        else if (kind == LONG_LINE)
            round_take(&s->round, c, NULL, s->longest);
    }
}

/* Lines of all clients in turn, so that one with many does not hold up the others. */
static void serve_round(server *s)
{
    if (!has_work(s))
        return;
    size_t share = s->round.most / s->count;
    round_begin(&s->round, &s->model.targets);
    for (size_t i = 0; i < s->count; i++)
        take_lines(s, s->clients[(s->turn + i) % s->count], share ? share : 1);
    round_answer(&s->round);
    s->turn++;
}

static void write_all(server *s)
{
    for (size_t i = 0; i < s->count; i++)
        client_write(s->clients[i]);
}

static void refresh_model(server *s)
{
    bool asked = told_to_reload;
    told_to_reload = 0;
    chosen_targets fresh;
    if (!served_model_refresh(&s->model, asked, s->given, &fresh))
        return;
    for (size_t i = 0; i < s->count; i++)
        client_forget_stream(s->clients[i]);
    served_model_replace(&s->model, &fresh, s->given);
}

/* ---- Waiting ---- */

static struct pollfd poll_for(int fd, short what, bool wanted)
{
    return (struct pollfd){.fd = wanted ? fd : -1, .events = what};
}

static size_t fill_polled(server *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) {
        client *c = s->clients[i];
        s->polled[n++] = poll_for(c->in, POLLIN, client_wants_input(c, s->longest));
        s->polled[n++] = poll_for(c->out, POLLOUT, client_wants_output(c));
    }
    s->polled[n++] = poll_for(s->listener.fd, POLLIN, s->listener.fd >= 0);
    return n;
}

/* Until something can be done, or the model's file is to be looked at. */
static void wait_for_work(server *s)
{
    size_t n = fill_polled(s);
    long wait = has_work(s) ? 0 : PATIENCE;
    struct timespec time = {.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1000000L};
    ppoll(s->polled, n, &time, &s->waiting);
}

static void read_all(server *s, bool draining)
{
    for (size_t i = 0; i < s->count; i++)
        if (client_wants_input(s->clients[i], s->longest))
            client_read(s->clients[i], draining);
}

/* ---- The end ---- */

/* From now on nothing more is read. */
static void end_all(server *s)
{
    for (size_t i = 0; i < s->count; i++)
        s->clients[i]->ended = true;
}

/* What has come before is answered, however long that takes, and sent to who takes it in time.  One
 * who goes on sending is read from for that time only. */
static void drain(server *s)
{
    double read_until = seconds_now() + GRACE, until = read_until;
    accept_clients(s);
    listener_close(&s->listener);
    let_signals_end(s);
    while (s->count > 0 && seconds_now() < until) {
        read_all(s, true);
        if (seconds_now() > read_until)
            end_all(s);
        if (has_work(s)) {
            serve_round(s);
            until = seconds_now() + GRACE;
        }
        write_all(s);
        drop_done(s);
        if (s->count > 0 && !has_work(s))
            poll(s->polled, fill_polled(s), 10);
    }
}

static void run(server *s)
{
    bool alone = s->listener.fd < 0;
    while (!told_to_stop && (!alone || s->count > 0)) {
        wait_for_work(s);
        read_all(s, false);
        drop_done(s); /* before others are turned away */
        accept_clients(s);
        refresh_model(s);
        serve_round(s);
        write_all(s);
        drop_done(s);
    }
    drain(s);
}

static bool make_room(server *s)
{
    s->clients = calloc(s->most_clients, sizeof *s->clients);
    s->polled = calloc(2 * s->most_clients + 1, sizeof *s->polled);
    return s->clients && s->polled;
}

static void tell(const server *s)
{
    if (s->given->quiet)
        return;
    fprintf(stderr, "quorum serve: %zu row%s predicted, %zu line%s refused, %zu client%s",
            s->round.served, plural(s->round.served), s->round.errors, plural(s->round.errors),
            s->seen, plural(s->seen));
    if (s->refused)
        fprintf(stderr, ", %zu turned away", s->refused);
    fputc('\n', stderr);
}

int serve_all(server *s)
{
    int code = EXIT_DONE;
    if (!make_room(s))
        return failure(s->given, "out of memory for %zu clients", s->most_clients);
    catch_signals(s);
    if (s->listener.fd < 0)
        add_client(s, STDIN_FILENO, STDOUT_FILENO, false);
    else if (!s->given->quiet)
        fprintf(stderr, "quorum serve: listening at %s\n", s->listener.name);
    run(s);
    if (s->output_failed)
        code = failure(s->given, "standard input or output failed");
    for (size_t i = 0; i < s->count; i++)
        client_free(s->clients[i]);
    s->count = 0;
    tell(s);
    return code;
}
