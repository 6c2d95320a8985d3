/* The signal handler remembers the first signal and lets the second end the program. */
#include "interrupt.h"

#include "quorum.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t signal_seen;

/* One process of a team cannot stop in an orderly way while the others go on, and a signal
 * to all of them most often means that one was lost: say so and leave. */
static void leave_team(int number)
{
    static const char text[] =
        "quorum: this process was told to stop: the job was cancelled, or another process of it "
        "was lost; a fit with --checkpoint goes on from there when it is started again\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(written < 0 ? 1 : 128 + number);
}

static void remember_signal(int number)
{
    if (quorum_team_size() > 1)
        leave_team(number);
    signal_seen = number;
}

void catch_interrupts(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = remember_signal;
    action.sa_flags = (int)SA_RESETHAND | SA_RESTART; /* the second signal acts as usual */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int interrupted(void)
{
    return signal_seen;
}
