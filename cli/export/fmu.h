/* The members of an FMU of FMI 2.0: an archive that simulation tools read.
 *
 *     modelDescription.xml         variables by name                     fmu_write_description
 *     sources/NAME.c               the whole of it in C99                fmu_write_source
 *     binaries/linux64/NAME.so     the same as a shared library          fmu_compile */
#ifndef QUORUM_CLI_FMU_H
#define QUORUM_CLI_FMU_H

#include "arguments.h"
#include "export/exported.h"

enum { FMU_OUTPUTS = 4 }; /* mean, std, lower, upper */

typedef struct {
    const char *name;   /* of the unit: an identifier of C                                      */
    char guid[40];      /* of the source's text: description and library belong together        */
    double *start;      /* inputs: their means                                                  */
    double *low, *high; /* inputs: as far as the training rows go                               */
} fmu;

/* The inputs' ranges, of table (rows x inputs); false: out of memory.  Free in any case. */
bool fmu_new(fmu *f, const char *name, const quorum_info *info, const double *table);
void fmu_free(fmu *f);

/* The C file, whose guid is that of f once fmu_sign has made it of the same text. */
void fmu_write_source(const fmu *f, const quorum_info *info, const exported *e, FILE *file);
void fmu_sign(fmu *f, const char *text, size_t bytes);

/* modelDescription.xml; false: out of memory. */
bool fmu_write_description(const fmu *f, const quorum_info *info, FILE *file);

/* Compiles the source's text with `compiler`; *out is the library's bytes, the caller's to free.  An exit code. */
int fmu_compile(const arguments *given, const char *compiler, const char *text, size_t bytes,
                char **out, size_t *out_bytes);

/* "binaries/linux64", as the standard calls the system that this command runs on. */
extern const char fmu_binaries[];

#endif
