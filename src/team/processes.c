/* The public side of a team: a process among those that do one job, and what it has used. */
#include "team/team.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static double started; /* seconds on the clock of wall_seconds */
static atomic_size_t most_rows;

void team_note_rows(size_t rows)
{
    size_t most = atomic_load(&most_rows);
    while (rows > most && !atomic_compare_exchange_weak(&most_rows, &most, rows))
        ;
}

int quorum_team_rank(void)
{
    return team_rank();
}

int quorum_team_size(void)
{
    return team_size();
}

/* Processors of different make round differently: ranks that disagree by a bit would take
 * different decisions. */
static quorum_status check_kernels(void)
{
    char first[64];
    const char *mine = quorum_blas_kernel();
    snprintf(first, sizeof first, "%s", mine);
    team_send(first, sizeof first);
    if (strncmp(first, mine, sizeof first - 1) == 0)
        return QUORUM_OK;
    return failure(QUORUM_E_ARGUMENT,
                   "rank 0 has BLAS kernels %s, rank %d has %s: set OPENBLAS_CORETYPE to one that "
                   "all machines can run, such as Haswell",
                   first, team_rank(), mine);
}

quorum_status quorum_team_start(int *argc, char ***argv)
{
    started = wall_seconds();
    team_start(argc, argv);
    return team_agree(check_kernels());
}

int quorum_team_finish(int code)
{
    return team_finish(code);
}

quorum_status quorum_team_agree(quorum_status status)
{
    return team_agree(status);
}

void quorum_team_account(quorum_team_usage *usage)
{
    struct rusage used = {0};
    team_traffic spent = team_spent();
    getrusage(RUSAGE_SELF, &used);
    usage[team_rank()] = (quorum_team_usage){.seconds = wall_seconds() - started,
                                             .waited = spent.seconds,
                                             .computed = processor_seconds() - spent.processor,
                                             .sent = spent.sent,
                                             .received = spent.received,
                                             .peak_memory = 1024.0 * (double)used.ru_maxrss,
                                             .rows = (double)atomic_load(&most_rows)};
    team_share_slices(usage, sizeof *usage, (size_t)team_size(), 1);
}
