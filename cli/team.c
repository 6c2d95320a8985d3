/* What the command does differently in a team: which commands may run, agreement on the exit
 * code, and what each rank has done. */
#include "team.h"

#include "quorum.h"
#include "talk.h"

#include <stdio.h>
#include <stdlib.h>

int team_check(const command *c)
{
    if (quorum_team_size() == 1 || c->in_team)
        return EXIT_DONE;
    fprintf(stderr, "quorum-mpi: '%s' is work for one process; use 'quorum %s'\n", c->name,
            c->name);
    return EXIT_USAGE;
}

void team_tell(const arguments *given)
{
    size_t size = (size_t)quorum_team_size();
    if (size <= 1 || !given->verbose)
        return;
    quorum_team_usage *usage = calloc(size, sizeof *usage);
    bool all = team_code(usage ? EXIT_DONE : EXIT_FAILED) == EXIT_DONE; /* accounts are exchanged */
    if (all)
        quorum_team_account(usage);
    else
        note(given, "out of memory for the accounts of the ranks");
    for (size_t r = 0; all && r < size; r++) {
        const quorum_team_usage *u = &usage[r];
        detail(
            given,
            "rank %zu: %.2f s, %.1f %% of it in communication, %.2f processor seconds of "
            "computation; %.3f MB sent, %.3f MB received; peak memory %.0f MB, %.0f rows at most",
            r, u->seconds, 100.0 * u->waited / u->seconds, u->computed, 1e-6 * u->sent,
            1e-6 * u->received, 1e-6 * u->peak_memory, u->rows);
    }
    free(usage);
}

int team_code(int code)
{
    quorum_status status = quorum_team_agree(code == EXIT_DONE ? QUORUM_OK : QUORUM_E_FILE);
    return code != EXIT_DONE ? code : status < 0 ? EXIT_FAILED : EXIT_DONE;
}
