/* Width and colours of a terminal, asked every time: it may have been resized. */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL = 80, NARROWEST = 20, WIDEST = 10000 };

static int width_by_environment(void)
{
    const char *text = getenv("COLUMNS");
    char *end = NULL;
    long columns = text && *text ? strtol(text, &end, 10) : 0;
    return end && !*end && columns >= NARROWEST && columns <= WIDEST ? (int)columns : 0;
}

/* mpirun gives the processes it starts a terminal of its own making, wherever their output goes. */
static bool is_launched(void)
{
    static const char *const marks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if (getenv(marks[k]))
            return true;
    return false;
}

bool is_terminal(FILE *file)
{
    return isatty(fileno(file)) && !is_launched();
}

int terminal_width(FILE *file)
{
    struct winsize size;
    int columns = width_by_environment();
    if (!is_terminal(file))
        return 0;
    if (columns > 0)
        return columns;
    if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col >= NARROWEST)
        return size.ws_col;
    return USUAL;
}

bool terminal_has_colour(FILE *file)
{
    const char *refused = getenv("NO_COLOR"), *kind = getenv("TERM");
    return is_terminal(file) && !(refused && *refused) && kind && *kind &&
           strcmp(kind, "dumb") != 0;
}

const char *ink_begin(FILE *file, terminal_ink ink)
{
    static const char *const code[] = {[INK_ERROR] = "\033[31m",
                                       [INK_NOTE] = "\033[33m",
                                       [INK_BAR] = "\033[36m",
                                       [INK_HEAD] = "\033[1m"};
    return terminal_has_colour(file) ? code[ink] : "";
}

const char *ink_end(FILE *file)
{
    return terminal_has_colour(file) ? "\033[0m" : "";
}
