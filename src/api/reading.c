/* The options of reading, as the reader takes them, and lists of columns. */
#include "api/reading.h"

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
                          .no_categories = strcmp(s->categorical, "none") == 0};
    if (options)
        how.asked = *options_progress(options);
    return how;
}

quorum_status mark_columns(const reader *r, const char *what, const char *list, char *marked)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        char name[512];
        if (n >= sizeof name)
            return failure(QUORUM_E_ARGUMENT, "%s: a column name is too long", what);
        memcpy(name, list, n);
        name[n] = '\0';
        size_t column;
        if (n > 0) {
            TRY(reader_find(r, name, &column));
            marked[column] = 1;
        }
        list += n + (list[n] == ',');
    }
    return QUORUM_OK;
}
