/* NumPy's .npz as a container of named arrays and texts (archive/zip.h underneath). */
#ifndef QRM_ARCHIVE_NPZ_H
#define QRM_ARCHIVE_NPZ_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* ---- Writing: gather members, then write all of them atomically ---- */

typedef struct npz_writer npz_writer;

npz_writer *npz_writer_new(void); /* NULL: out of memory */

/* Members that are added from now on go into this folder, such as "target2/"; "": none. */
void npz_writer_within(npz_writer *w, const char *folder);

/* Data are referenced, not copied: they must live until npz_writer_save.
 * ndim is 0, 1 or 2; a 2-d array is row-major (C order). */
quorum_status npz_add_doubles(npz_writer *w, const char *name, int ndim, const size_t *shape,
                              const double *data);
quorum_status npz_add_int64(npz_writer *w, const char *name, int ndim, const size_t *shape,
                            const int64_t *data);

/* The data come when they are written, piece by piece in their order: `pull` gives the next
 * `bytes` of them, or fails. */
typedef quorum_status (*npz_pull)(void *context, void *to, size_t bytes);
quorum_status npz_add_pulled(npz_writer *w, const char *name, int ndim, const size_t *shape,
                             npz_pull pull, void *context);
quorum_status npz_add_text(npz_writer *w, const char *name /* with its extension */,
                           const char *text);

/* More to look at, by the caller's own rules, before the file takes its place. */
typedef struct npz_reader npz_reader;
typedef quorum_status (*npz_check)(npz_reader *r, void *context);
void npz_writer_check(npz_writer *w, npz_check check, void *context);

/* Writes a file without a name, reads it back and compares it with what was meant, syncs it
 * and puts it in the place of `path` (io/whole_file.h).  On failure `path` is as it was and
 * nothing else is left.  Members are stored, not compressed. */
quorum_status npz_writer_save(npz_writer *w, const char *path);
void npz_writer_free(npz_writer *w);

/* ---- Reading: every member's CRC, header and size are checked ---- */

quorum_status npz_open(const char *path, npz_reader **out);
int npz_has(const npz_reader *r, const char *name);

/* From now on names of members are those in this folder, such as "target2/", which must be shorter than
 * 32 bytes; "": of the file itself.  `shared` (it ends with NULL, and lives as long as the reader; NULL:
 * none) are full names that stand for those in `other` where the folder has none. */
void npz_within(npz_reader *r, const char *folder, const char *other, const char *const *shared);

/* Reads member `name`.npy as double ('<f8', or any other integer or float type
 * converted) or int64; C or Fortran order, little or big endian; *data is C
 * order and freed by the caller with mem_free.  ndim must match exactly;
 * shape[ndim] is filled.  Hostile headers (huge shapes, sizes that do not
 * match the member) are QUORUM_E_FORMAT, before anything large is allocated. */
quorum_status npz_get_doubles(npz_reader *r, const char *name, int ndim, size_t *shape,
                              double **data);
quorum_status npz_get_shape(npz_reader *r, const char *name, int ndim, size_t *shape);

/* The shape, and the bytes that reading it takes at most: 8 an element whatever it is stored as,
 * twice that to turn a Fortran order round. */
quorum_status npz_measure(npz_reader *r, const char *name, int ndim, size_t *shape, double *bytes);

/* Bytes of a member as stored under its full name, unpacked; 0: there is none. */
double npz_member_bytes(const npz_reader *r, const char *name);

/* Bytes of the file. */
double npz_file_bytes(const npz_reader *r);

/* The same number for files with the same members: of their names, sizes and CRCs. */
uint64_t npz_digest(const npz_reader *r);

/* The same of some rows only (of an array in C order): those of the sections first[k] ..
 * first[k+1]-1 that are wanted.  *data has room for all, but the others take no memory. */
typedef struct {
    size_t count;
    const size_t *first; /* count + 1, ascending; the last one is the number of rows */
    const char *wanted;  /* count */
} npz_sections;

quorum_status npz_get_some_doubles(npz_reader *r, const char *name, int ndim, size_t *shape,
                                   const npz_sections *sections, double **data);
quorum_status npz_get_int64(npz_reader *r, const char *name, int ndim, size_t *shape,
                            int64_t **data);
quorum_status npz_get_text(npz_reader *r, const char *name, char **text);
void npz_close(npz_reader *r);

#endif
