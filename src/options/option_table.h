/* The table of options (option_table.c), and what reads it. */
#ifndef QRM_OPTIONS_OPTION_TABLE_H
#define QRM_OPTIONS_OPTION_TABLE_H

#include "base/status.h"

#include <stddef.h>

typedef enum { COUNT, REAL, BYTES, CHOICE, TEXT, FLAG } option_type;

typedef struct {
    const char *name;
    option_type type;
    size_t field; /* offset in settings */
    const char *default_value, *choices;
    double min, max;
    const char *placeholder, *used_by, *help;
    quorum_status (*check)(const char *text); /* of a TEXT, or NULL */
} option;

/* The i-th of quorum_option_count(). */
const option *option_at(int i);

/* Checks of texts (values.c). */
quorum_status option_check_method(const char *text);
quorum_status option_check_select(const char *text);
quorum_status option_check_lambda(const char *text);
quorum_status option_check_neighbours(const char *text);
quorum_status option_check_spread(const char *text);
quorum_status option_check_thousands(const char *text);
quorum_status option_check_comment(const char *text);
quorum_status option_check_periodic(const char *text);
quorum_status option_check_lonlat(const char *text);

#endif
