/* A directory for files that a stage writes, removed afterwards. */
#ifndef QRM_BENCH_FILES_H
#define QRM_BENCH_FILES_H

typedef struct {
    char directory[256];
} scratch;

scratch scratch_new(void);
void scratch_path(const scratch *s, const char *name, char *path, unsigned long room);
void scratch_remove(const scratch *s, const char *name); /* NULL: the directory itself */

#endif
