/* Ctrl-C and SIGTERM ask the work to stop; a second one ends the program. */
#ifndef QUORUM_CLI_INTERRUPT_H
#define QUORUM_CLI_INTERRUPT_H

void catch_interrupts(void);

/* The signal that came in, or 0. */
int interrupted(void);

#endif
