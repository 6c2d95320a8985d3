/* A team of MPI processes.  The only file that knows MPI. */
#include "team/team.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    SMALL_PIECE = 1 << 16,   /* bytes; up to here pieces travel together           */
    MOST_TOGETHER = 1 << 30, /* bytes of one message: MPI counts them in an int    */
    MESSAGE_ROOM = 1024
};
#if SIZE_MAX == UINT64_MAX
#define MPI_SIZE MPI_UINT64_T
#else
#define MPI_SIZE MPI_UINT32_T
#endif
static const double PATIENCE = 10.0; /* seconds that a failed rank waits for the others */

static struct {
    int rank, size, processors;
    double memory;
    MPI_Comm work, end; /* two, so that a failed rank disturbs no message           */
    FILE *voice;        /* stderr, also where rank > 0 is silent                    */
    team_traffic spent;
    char *packed;         /* small pieces on their way                                */
    size_t packed_bytes;  /* its size                                                 */
    int *counts, *starts; /* size                                                    */
} team = {.size = 1, .processors = 1};

int team_rank(void)
{
    return team.rank;
}

int team_size(void)
{
    return team.size;
}

int team_processors(void)
{
    return team.processors;
}

double team_memory(void)
{
    return team.memory;
}

team_traffic team_spent(void)
{
    return team.spent;
}

/* ---- Start and end ---- */

static _Noreturn void give_up(const char *why)
{
    fprintf(team.voice ? team.voice : stderr,
            "quorum: rank %d failed alone (%s), so the whole job ends\n", team.rank, why);
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    _Exit(EXIT_FAILURE);
}

/* Only rank 0 speaks; the others keep a voice for their last words. */
static void fall_silent(void)
{
    int voice = dup(STDERR_FILENO), nothing = open("/dev/null", O_WRONLY);
    if (voice >= 0)
        team.voice = fdopen(voice, "w");
    if (team.rank > 0 && nothing >= 0) {
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
    }
    if (nothing > STDERR_FILENO)
        close(nothing);
}

/* Ranks on the same machine share its processors and its memory. */
static void divide_machine(void)
{
    MPI_Comm machine;
    int here = 1;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, team.rank, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &here);
    MPI_Comm_free(&machine);
    int mine = parallel_processors(), each = (int)sysconf(_SC_NPROCESSORS_ONLN) / here;
    team.processors = mine < each || each < 1 ? mine : each;
    if (each < 1)
        team.processors = 1;
    double memory = mem_physical() / here;
    MPI_Allreduce(&memory, &team.memory, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
}

void team_start(int *argc, char ***argv)
{
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &team.size);
    MPI_Comm_dup(MPI_COMM_WORLD, &team.work);
    MPI_Comm_dup(MPI_COMM_WORLD, &team.end);
    fall_silent();
    divide_machine();
    NEW_ARRAY(team.counts, (size_t)team.size);
    NEW_ARRAY(team.starts, (size_t)team.size);
    if (!team.counts || !team.starts)
        give_up("out of memory");
}

static int came_together(MPI_Request *all)
{
    double start = wall_seconds();
    int done = 0;
    while (!done && wall_seconds() - start < PATIENCE) {
        MPI_Test(all, &done, MPI_STATUS_IGNORE);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return done;
}

int team_finish(int code)
{
    MPI_Request all;
    int worst = code;
    MPI_Iallreduce(&code, &worst, 1, MPI_INT, MPI_MAX, team.end, &all);
    if (code != 0 && !came_together(&all))
        give_up(quorum_message()); /* NOLINT(clang-analyzer-optin.mpi.MPI-Checker) */
    MPI_Wait(&all, MPI_STATUS_IGNORE);
    mem_free(team.packed);
    mem_free(team.counts);
    mem_free(team.starts);
    MPI_Comm_free(&team.work);
    MPI_Comm_free(&team.end);
    MPI_Finalize();
    return worst;
}

/* ---- Messages ---- */

typedef struct {
    double wall, processor; /* seconds */
} moment;

static moment now(void)
{
    return (moment){wall_seconds(), processor_seconds()};
}

static void account(moment start, double sent, double received)
{
    moment end = now();
    team.spent.seconds += end.wall - start.wall;
    team.spent.processor += end.processor - start.processor;
    team.spent.sent += sent;
    team.spent.received += received;
}

quorum_status team_common_status(quorum_status mine)
{
    moment start = now();
    int failed = mine < 0 ? team.rank : team.size, first = team.size;
    MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, team.work);
    if (first < team.size) {
        char message[MESSAGE_ROOM];
        int status = mine;
        snprintf(message, sizeof message, "%s", quorum_message());
        MPI_Bcast(&status, 1, MPI_INT, first, team.work);
        MPI_Bcast(message, MESSAGE_ROOM, MPI_CHAR, first, team.work);
        mine = failure((quorum_status)status, "%s", message);
    }
    account(start, sizeof failed, sizeof first);
    return mine;
}

static void send_from(int owner, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += MOST_TOGETHER) {
        size_t some = bytes - at < MOST_TOGETHER ? bytes - at : MOST_TOGETHER;
        MPI_Bcast((char *)data + at, (int)some, MPI_BYTE, owner, team.work);
    }
}

void team_send(void *data, size_t bytes)
{
    moment start = now();
    if (team.size == 1)
        return;
    send_from(0, data, bytes);
    account(start, team.rank == 0 ? (double)bytes : 0.0, team.rank == 0 ? 0.0 : (double)bytes);
}

/* Where each rank's small pieces stand when all are packed, in the list's order. */
static size_t lay_out(const team_piece *pieces, size_t count)
{
    size_t total = 0;
    memset(team.counts, 0, (size_t)team.size * sizeof *team.counts);
    for (size_t i = 0; i < count; i++)
        if (pieces[i].bytes <= SMALL_PIECE)
            team.counts[pieces[i].owner] += (int)pieces[i].bytes;
    for (int r = 0; r < team.size; r++) {
        team.starts[r] = (int)total;
        total += (size_t)team.counts[r];
    }
    if (total > team.packed_bytes) {
        mem_free(team.packed);
        if (!NEW_ARRAY(team.packed, total))
            give_up("out of memory for a message");
        team.packed_bytes = total;
    }
    return total;
}

/* Between the pieces and their places in the message: mine go in, others' come out. */
static void copy_small(const team_piece *pieces, size_t count, int inward)
{
    int *next = team.starts;
    for (size_t i = 0; i < count; i++) {
        const team_piece *p = &pieces[i];
        if (p->bytes > SMALL_PIECE)
            continue;
        if (inward && p->owner == team.rank)
            memcpy(team.packed + next[p->owner], p->data, p->bytes);
        else if (!inward && p->owner != team.rank)
            memcpy(p->data, team.packed + next[p->owner], p->bytes);
        next[p->owner] += (int)p->bytes;
    }
    for (int r = 0; r < team.size; r++)
        next[r] -= team.counts[r];
}

static void share_small(const team_piece *pieces, size_t count)
{
    if (lay_out(pieces, count) == 0)
        return;
    copy_small(pieces, count, 1);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, team.packed, team.counts, team.starts,
                   MPI_BYTE, team.work);
    copy_small(pieces, count, 0);
}

/* How many pieces from the front fit into one message. */
static size_t one_message(const team_piece *pieces, size_t count)
{
    size_t taken = 0, bytes = 0;
    while (taken < count) {
        size_t more = pieces[taken].bytes <= SMALL_PIECE ? pieces[taken].bytes : 0;
        if (bytes + more > MOST_TOGETHER)
            break;
        bytes += more;
        taken++;
    }
    return taken;
}

void team_share(const team_piece *pieces, size_t count)
{
    moment start = now();
    double sent = 0.0, received = 0.0;
    if (team.size == 1)
        return;
    for (size_t done = 0, some; done < count; done += some) {
        some = one_message(pieces + done, count - done);
        share_small(pieces + done, some);
    }
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].bytes > SMALL_PIECE)
            send_from(pieces[i].owner, pieces[i].data, pieces[i].bytes);
        *(pieces[i].owner == team.rank ? &sent : &received) += (double)pieces[i].bytes;
    }
    account(start, sent, received);
}

void team_add(size_t *counts, size_t n)
{
    moment start = now();
    if (team.size == 1)
        return;
    for (size_t at = 0; at < n; at += MOST_TOGETHER) {
        size_t some = n - at < MOST_TOGETHER ? n - at : MOST_TOGETHER;
        MPI_Allreduce(MPI_IN_PLACE, counts + at, (int)some, MPI_SIZE, MPI_SUM, team.work);
    }
    account(start, (double)(n * sizeof *counts), (double)(n * sizeof *counts));
}

/* The bytes of one message of many: empty beyond the last. */
static int one_of(size_t bytes, size_t at)
{
    size_t left = bytes > at ? bytes - at : 0;
    return (int)(left < MOST_TOGETHER ? left : MOST_TOGETHER);
}

/* Where the bytes for or from rank r begin. */
static size_t items_before(const size_t *count, int r)
{
    size_t sum = 0;
    for (int i = 0; i < r; i++)
        sum += count[i];
    return sum;
}

/* In round k rank r sends to rank r + k and receives from rank r - k. */
void team_exchange(const void *out, const size_t *out_count, void *in, const size_t *in_count,
                   size_t width)
{
    moment start = now();
    double sent = 0.0, received = 0.0;
    for (int k = 0; k < team.size; k++) {
        int to = (team.rank + k) % team.size, from = (team.rank - k + team.size) % team.size;
        size_t gives = out_count[to] * width, takes = in_count[from] * width;
        const char *source = (const char *)out + items_before(out_count, to) * width;
        char *target = (char *)in + items_before(in_count, from) * width;
        for (size_t at = 0; at < gives || at < takes; at += MOST_TOGETHER)
            MPI_Sendrecv(source + (at < gives ? at : 0), one_of(gives, at), MPI_BYTE,
                         at < gives ? to : MPI_PROC_NULL, 0, target + (at < takes ? at : 0),
                         one_of(takes, at), MPI_BYTE, at < takes ? from : MPI_PROC_NULL, 0,
                         team.work, MPI_STATUS_IGNORE);
        sent += k > 0 ? (double)gives : 0.0;
        received += k > 0 ? (double)takes : 0.0;
    }
    account(start, sent, received);
}
