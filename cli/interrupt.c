#include "interrupt.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t signal_seen;

static void remember_signal(int number)
{
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
