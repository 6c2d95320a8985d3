#include "base/progress.h"

#include "base/plain.h"

#include <stdarg.h>
#include <stdio.h>

quorum_status progress_report(const progress *p, const char *stage, double fraction,
                              const char *format, ...)
{
    if (!p || !p->callback)
        return QUORUM_OK;
    char detail[256];
    va_list args;
    va_start(args, format);
    plain_print(detail, sizeof detail, format, args);
    va_end(args);
    if (p->callback(p->user, stage, fraction, detail) != 0)
        return failure(QUORUM_E_CANCELLED, "cancelled during %s", stage);
    return QUORUM_OK;
}
