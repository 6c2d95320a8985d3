/* The list of a fit's evaluations, as a file and in memory: recalled in order as long as it
 * lasts, then written down. */
#include "train/checkpoint.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "archive/npz.h"
#include "team/work.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A record: status, whether there is a gradient, value, x (P), gradient (P); a search with fewer
 * parameters than P leaves the rest 0. */
enum { STATUS, WITH_GRADIENT, VALUE, X };
static const char FORMAT_LINE[] = "format: quorum checkpoint 1\n";
static const double SHARE_OF_TIME = 0.01; /* that writing may take ...    */
static const double SECONDS_FREE = 0.5;   /* ... beyond so many seconds   */

struct checkpoint {
    char *path, *fit;
    size_t P, width;      /* parameters; numbers of a record */
    size_t count, room;   /* records                         */
    size_t used;          /* of them, answered so far        */
    size_t saved;         /* of them, in the file            */
    int writes;           /* 1: this process reads and writes the file */
    double *records;      /* room x width                    */
    double opened, spent; /* when; seconds that writing took since */
};

static void release(checkpoint *c)
{
    if (!c)
        return;
    mem_free(c->path);
    mem_free(c->fit);
    mem_free(c->records);
    mem_free(c);
}

static quorum_status no_memory(void)
{
    return failure(QUORUM_E_MEMORY, "out of memory for the checkpoint");
}

/* ---- The file ---- */

static quorum_status write_file(checkpoint *c)
{
    npz_writer *w = npz_writer_new();
    size_t shape[] = {c->count, c->width};
    double start = wall_seconds();
    quorum_status status = QUORUM_OK;
    if (!w)
        return no_memory();
    TRY_OR_DONE(npz_add_text(w, "fit.txt", c->fit));
    TRY_OR_DONE(npz_add_doubles(w, "evaluations", 2, shape, c->records));
    TRY_OR_DONE(npz_writer_save(w, c->path));
    c->spent += wall_seconds() - start;
    c->saved = c->count;
done:
    npz_writer_free(w);
    return status < 0 ? failure_in(status, "checkpoint") : status;
}

static quorum_status refuse(const checkpoint *c, const char *why)
{
    return failure(QUORUM_E_FORMAT,
                   "%s is not the checkpoint of this fit (%s): remove it, or give checkpoint "
                   "another name",
                   c->path, why);
}

/* Which line of the two texts differs first, by what stands before its colon. */
static quorum_status check_fit(const checkpoint *c, const char *theirs)
{
    const char *mine = c->fit;
    char why[64];
    while (*mine) {
        size_t n = strcspn(mine, "\n"), m = strcspn(theirs, "\n");
        if (n != m || memcmp(mine, theirs, n) != 0) {
            size_t name = strcspn(mine, ":");
            snprintf(why, sizeof why, "not the same %.*s", (int)(name < 32 ? name : 32), mine);
            return refuse(c, why);
        }
        mine += n + (mine[n] != '\0');
        theirs += m + (theirs[m] != '\0');
    }
    return *theirs ? refuse(c, "it says more than this version knows") : QUORUM_OK;
}

static int is_flag(double x)
{
    return x == 0.0 || x == 1.0;
}

static quorum_status check_records(const checkpoint *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const double *r = c->records + i * c->width;
        int answered = r[STATUS] == QUORUM_OK || r[STATUS] == QUORUM_E_NUMERIC;
        if (!answered || !is_flag(r[WITH_GRADIENT]))
            return refuse(c, "it is damaged");
    }
    return QUORUM_OK;
}

static quorum_status read_members(checkpoint *c, npz_reader *npz)
{
    char *theirs = NULL;
    size_t shape[2] = {0, 0};
    if (!npz_has(npz, "fit.txt"))
        return refuse(c, "it is something else");
    TRY(npz_get_text(npz, "fit.txt", &theirs));
    quorum_status status = check_fit(c, theirs);
    mem_free(theirs);
    TRY(status);
    TRY(npz_get_doubles(npz, "evaluations", 2, shape, &c->records));
    c->count = c->room = c->saved = shape[0];
    if (shape[1] != c->width)
        return refuse(c, "it is damaged");
    return check_records(c);
}

static quorum_status read_file(void *context)
{
    checkpoint *c = context;
    npz_reader *npz = NULL;
    c->writes = 1;
    if (access(c->path, F_OK) != 0) {
        c->room = 64;
        if (!NEW_ARRAY(c->records, c->room * c->width))
            return no_memory();
        return write_file(c); /* says early that it can be written */
    }
    quorum_status status = npz_open(c->path, &npz);
    if (status == QUORUM_E_FORMAT)
        return refuse(c, "it is no .npz, or damaged");
    TRY(status);
    status = read_members(c, npz);
    npz_close(npz);
    return status == QUORUM_E_FORMAT && !strstr(quorum_message(), "give checkpoint")
               ? refuse(c, "it is damaged")
               : status;
}

static quorum_status name_file(checkpoint *c, const char *path, const char *fit)
{
    size_t size = sizeof FORMAT_LINE + strlen(fit);
    c->path = mem_copy_text(path);
    if (!c->path || !NEW_ARRAY(c->fit, size))
        return no_memory();
    snprintf(c->fit, size, "%s%s", FORMAT_LINE, fit);
    return QUORUM_OK;
}

/* A checkpoint without records. */
static quorum_status begin(const char *path, const char *fit, size_t parameters, checkpoint **out)
{
    checkpoint *c;
    if (!NEW_ZEROED(c, 1))
        return no_memory();
    *out = c;
    c->opened = wall_seconds();
    c->P = parameters;
    c->width = X + 2 * parameters;
    return name_file(c, path, fit);
}

/* The records of the process that has read them, to all. */
static quorum_status send_records(checkpoint *c)
{
    void *records = c->records;
    quorum_status status =
        team_send_array(QUORUM_OK, &records, &c->count, c->width * sizeof *c->records);
    c->records = records;
    c->room = c->room > c->count ? c->room : c->count;
    return status;
}

quorum_status checkpoint_open(const char *path, const char *fit, size_t parameters,
                              checkpoint **out)
{
    checkpoint *c = NULL;
    quorum_status ready = begin(path, fit, parameters, &c);
    quorum_status status = team_first(ready, read_file, c);
    if (status == QUORUM_OK && c)
        status = send_records(c);
    *out = NULL;
    if (status < 0)
        release(c);
    else
        *out = c;
    return status;
}

/* ---- Evaluations ---- */

/* Whether a record's numbers are these, and 0 behind them. */
static int is_same_x(const checkpoint *c, const double *recorded, const double *x, size_t count)
{
    for (size_t i = count; i < c->P; i++)
        if (recorded[i] != 0.0)
            return 0;
    return memcmp(recorded, x, count * sizeof *x) == 0;
}

quorum_status checkpoint_recall(checkpoint *c, const double *x, evaluation *e, int *known)
{
    *known = 0;
    if (!c || c->used == c->count)
        return QUORUM_OK;
    const double *r = c->records + c->used * c->width;
    if (!is_same_x(c, r + X, x, e->parameters) ||
        (e->gradient != NULL) != (r[WITH_GRADIENT] == 1.0))
        return refuse(c, "its evaluations are of another search");
    e->status = (quorum_status)r[STATUS];
    e->value = r[VALUE];
    if (e->gradient)
        memcpy(e->gradient, r + X + c->P, e->parameters * sizeof *x);
    c->used++;
    *known = 1;
    return QUORUM_OK;
}

static quorum_status append(checkpoint *c, const double *x, const evaluation *e)
{
    if (c->count == c->room) {
        size_t room = c->room < 32 ? 64 : 2 * c->room;
        double *more = mem_grow(c->records, c->room * c->width, room * c->width, sizeof *more);
        if (!more)
            return no_memory();
        c->records = more;
        c->room = room;
    }
    double *r = c->records + c->count * c->width;
    r[STATUS] = e->status;
    r[WITH_GRADIENT] = e->gradient != NULL;
    r[VALUE] = e->value;
    memset(r + X, 0, 2 * c->P * sizeof *r);
    memcpy(r + X, x, e->parameters * sizeof *x);
    if (e->gradient)
        memcpy(r + X + c->P, e->gradient, e->parameters * sizeof *x);
    c->used = ++c->count;
    return QUORUM_OK;
}

static quorum_status write_if_due(void *context)
{
    checkpoint *c = context;
    int due = c->spent < SECONDS_FREE + SHARE_OF_TIME * (wall_seconds() - c->opened);
    return due ? write_file(c) : QUORUM_OK;
}

quorum_status checkpoint_record(checkpoint *c, const double *x, const evaluation *e)
{
    return c ? team_first(append(c, x, e), write_if_due, c) : QUORUM_OK;
}

/* Nobody need hear of it: a process may close what others go on with. */
void checkpoint_close(checkpoint *c)
{
    if (c && c->writes && c->saved < c->count)
        (void)write_file(c); /* what the file has already is still good */
    release(c);
}
