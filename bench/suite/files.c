#include "files.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

scratch scratch_new(void)
{
    scratch s;
    const char *place = getenv("TMPDIR");
    snprintf(s.directory, sizeof s.directory, "%s/quorum_bench.XXXXXX", place ? place : "/tmp");
    if (!mkdtemp(s.directory)) {
        perror(s.directory);
        exit(1);
    }
    return s;
}

void scratch_path(const scratch *s, const char *name, char *path, unsigned long room)
{
    snprintf(path, room, "%s/%s", s->directory, name);
}

void scratch_remove(const scratch *s, const char *name)
{
    char path[512];
    if (!name) {
        rmdir(s->directory);
        return;
    }
    scratch_path(s, name, path, sizeof path);
    unlink(path);
}
