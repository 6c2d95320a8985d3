/* Options: lines of NAME=VALUE.  What is taken can be read back, and set again with the same
 * result; what is refused changes nothing and has a sentence. */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

enum { MOST_TEXT = 1024 };

static void set_option(quorum_options *o, const char *name, const char *value)
{
    char before[MOST_TEXT], after[MOST_TEXT];
    const char *old = quorum_options_get(o, name);
    snprintf(before, sizeof before, "%s", old ? old : "");
    quorum_status status = quorum_options_set(o, name, value);
    const char *now = quorum_options_get(o, name);
    REQUIRE((old != NULL) == (now != NULL));
    if (status < 0) {
        require_failure(status);
        REQUIRE(status == QUORUM_E_ARGUMENT);
        REQUIRE(!now || strcmp(before, now) == 0);
        return;
    }
    REQUIRE(status == QUORUM_OK && now);
    snprintf(after, sizeof after, "%s", now);
    REQUIRE(quorum_options_set(o, name, after) == QUORUM_OK);
    REQUIRE(strcmp(quorum_options_get(o, name), after) == 0);
}

static void set_line(quorum_options *o, const char *line, size_t size)
{
    char name[MOST_TEXT] = "", value[MOST_TEXT] = "";
    const char *equals = memchr(line, '=', size);
    size_t n = equals ? (size_t)(equals - line) : size;
    if (size >= MOST_TEXT)
        return;
    memcpy(name, line, n);
    if (equals)
        memcpy(value, equals + 1, size - n - 1);
    set_option(o, name, value);
    if (n == 1) /* a short name for a number in the table */
        set_option(o, quorum_option_at((unsigned char)name[0] % quorum_option_count())->name,
                   value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    quorum_options *o = quorum_options_new();
    REQUIRE(o != NULL);
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t n = end ? (size_t)(end - data) : size;
        set_line(o, (const char *)data, n);
        n += end != NULL;
        data += n;
        size -= n;
    }
    quorum_options_free(o);
    return 0;
}
