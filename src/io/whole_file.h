/* A file that appears whole or not at all: written without a name in its own directory,
 * synced, then put in its place at once.
 *
 * A symbolic link survives: the file that it leads to is replaced, or made where there is
 * none yet.  A file that is replaced leaves its mode to the new one, and its owner and group
 * as far as that is permitted.  A process that is killed leaves nothing behind; where the file
 * system has no files without a name, or within the instant of the replacement, a file
 * NAME.quorum-tmp..., which the next one to write NAME removes.
 *
 * Nothing is allocated or printed here.  Results are 0, a value of errno, or
 * WHOLE_FILE_SPECIAL; whole_file_reason gives the words. */
#ifndef QRM_IO_WHOLE_FILE_H
#define QRM_IO_WHOLE_FILE_H

#include <limits.h>
#include <stdbool.h>

enum { WHOLE_FILE_SPECIAL = -1 }; /* a device, a pipe, a socket: nothing to replace */

typedef struct {
    bool begun; /* all zero: nothing to commit or to discard      */
    int fd;     /* write here, and read it back                   */
    int directory;
    char name[NAME_MAX + 1];      /* in the directory             */
    char temporary[NAME_MAX + 1]; /* or "": it has no name yet    */
} whole_file;

int whole_file_begin(whole_file *f, const char *path);

/* Syncs what was written, puts it in its place and closes it; when that fails, discards it:
 * then the old file is as it was. */
int whole_file_commit(whole_file *f);
void whole_file_discard(whole_file *f);

/* Removes the file at the end of all links, which stay. */
int whole_file_remove(const char *path);

const char *whole_file_reason(int error);

#endif
