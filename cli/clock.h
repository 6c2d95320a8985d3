/* Wall-clock time in seconds from an arbitrary start; never goes back. */
#ifndef QUORUM_CLI_CLOCK_H
#define QUORUM_CLI_CLOCK_H

double seconds_now(void);

#endif
