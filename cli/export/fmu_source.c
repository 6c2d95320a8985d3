/* sources/NAME.c of an FMU: headers of this folder one behind the other, with the model's numbers among them. */
#include "export/fmu.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool fmu_new(fmu *f, const char *name, const quorum_info *info, const double *table)
{
    size_t D = info->inputs;
    *f = (fmu){.name = name, .start = calloc(3 * D, sizeof *f->start)};
    if (!f->start)
        return false;
    f->low = f->start + D;
    f->high = f->low + D;
    for (size_t d = 0; d < D; d++) {
        f->start[d] = info->x_mean[d];
        f->low[d] = f->high[d] = table[d];
        for (size_t i = 0; i < info->rows; i++) {
            f->low[d] = fmin(f->low[d], table[i * D + d]);
            f->high[d] = fmax(f->high[d], table[i * D + d]);
        }
    }
    return true;
}

void fmu_free(fmu *f)
{
    free(f->start);
    f->start = NULL;
}

/* FNV-1a of 64 bits, twice, from two beginnings. */
static uint64_t hash(const char *text, size_t bytes, uint64_t from)
{
    for (size_t i = 0; i < bytes; i++)
        from = (from ^ (unsigned char)text[i]) * 0x100000001b3u;
    return from;
}

void fmu_sign(fmu *f, const char *text, size_t bytes)
{
    uint64_t a = hash(text, bytes, 0xcbf29ce484222325u), b = hash(text, bytes, ~a);
    snprintf(f->guid, sizeof f->guid, "{%08x-%04x-%04x-%04x-%012" PRIx64 "}", (unsigned)(a >> 32),
             (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xffff), (unsigned)(b >> 48),
             b & 0xffffffffffffu);
}

static void write_start(const fmu *f, size_t D, FILE *file)
{
    fprintf(file, "static const double qx_start[QX_INPUTS] = {");
    for (size_t d = 0; d < D; d++)
        fprintf(file, "%s%.17g", d ? ", " : "", f->start[d]);
    fprintf(file, "};\n\n");
}

void fmu_write_source(const fmu *f, const quorum_info *info, const exported *e, FILE *file)
{
    fprintf(file,
            "/* Made by 'quorum export-fmu' of quorum %s: %zu rows, %zu inputs.  C99 and libm "
            "only.\n *\n *     cc -std=c99 -O2 -fPIC -shared -DFMI2_OVERRIDE_FUNCTION_PREFIX %s.c "
            "-o %s.so -lm\n *\n * x is\n",
            quorum_version(), info->rows, info->inputs, f->name, f->name);
    exported_write_inputs(info, file);
    fprintf(file, "#define FMI2_FUNCTION_PREFIX %s_\n", f->name);
    fputs(fmi2_text, file);
    fputs(predictor_text, file);
    fputs(slopes_text, file);
    exported_write_model(e, file);
    fprintf(file, "\n#define QX_GUID \"%s\"\nenum { QX_INPUTS = %zu, QX_NEIGHBOURS = %zu };\n",
            f->guid, info->inputs, e->model.neighbours);
    write_start(f, info->inputs, file);
    fputs(unit_text, file);
}
