/* The options of reading, as the reader takes them. */
#include "api/reading.h"

reader_options how_to_read(const quorum_options *options, reading_purpose purpose)
{
    const settings *s = options_values(options);
    reader_options how = {.header = (header_mode)s->header,
                          .missing = (missing_mode)s->missing,
                          .purpose = purpose,
                          .decimal = (decimal_mode)s->decimal,
                          .thousands = options_thousands(s),
                          .comment = options_comment(s),
                          .memory = options_memory(s)};
    if (options)
        how.asked = *options_progress(options);
    return how;
}
