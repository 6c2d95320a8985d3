/* The options of reading, as the reader takes them, and lists of columns. */
#include "api/reading.h"

#include "base/memory.h"
#include "text/list.h"

#include <string.h>

reader_options how_to_read(const quorum_options *options, reading_purpose purpose)
{
    const settings *s = options_values(options);
    reader_options how = {.header = (header_mode)s->header,
                          .missing = (missing_mode)s->missing,
                          .purpose = purpose,
                          .decimal = (decimal_mode)s->decimal,
                          .thousands = options_thousands(s),
                          .comment = options_comment(s),
                          .memory = options_memory(s),
                          .query = s->query,
                          .no_categories = strcmp(s->categorical, "none") == 0};
    if (options)
        how.asked = *options_progress(options);
    return how;
}

quorum_status mark_columns(const reader *r, const char *what, const char *list, char *marked)
{
    char *name;
    quorum_status status = QUORUM_OK;
    if (!NEW_ARRAY(name, strlen(list) + 1))
        return failure(QUORUM_E_MEMORY, "out of memory for column names");
    while (*list && status >= 0) {
        size_t column;
        list = list_take(list, name);
        if (!list) {
            status =
                failure(QUORUM_E_ARGUMENT,
                        "%s: a name in quotes ends with a quote, before a comma or the end", what);
            break;
        }
        status = name[0] ? reader_find(r, name, &column) : QUORUM_OK;
        if (name[0] && status >= 0)
            marked[column] = 1;
    }
    mem_free(name);
    return status;
}
