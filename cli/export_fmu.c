/* quorum export-fmu: a model as a unit of FMI 2.0, which simulation tools take: an archive of a description,
 * C source and a library (export/fmu.h). */
#include "arguments.h"
#include "command.h"
#include "export/exporting.h"
#include "export/fmu.h"
#include "io/zip_write.h"
#include "output.h"
#include "talk.h"
#include "targets.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMBERS = 3, NAME_BYTES = 256 };

/* What the archive is made of; a content that is NULL is left out. */
typedef struct {
    char name[MEMBERS][NAME_BYTES];
    char *content[MEMBERS];
    size_t bytes[MEMBERS];
} members;
enum { DESCRIPTION, SOURCE, BINARY };

static void members_free(members *m)
{
    for (int i = 0; i < MEMBERS; i++)
        free(m->content[i]);
}

/* ---- Contents ---- */

typedef struct {
    const fmu *unit;
    const quorum_info *info;
    const exported *numbers;
} parts;

static bool put_description(const parts *p, FILE *file)
{
    return fmu_write_description(p->unit, p->info, file);
}

static bool put_source(const parts *p, FILE *file)
{
    fmu_write_source(p->unit, p->info, p->numbers, file);
    return true;
}

/* A member as a text in memory; false: out of memory. */
static bool make_text(members *m, int which, bool (*put)(const parts *, FILE *), const parts *p)
{
    FILE *file = open_memstream(&m->content[which], &m->bytes[which]);
    if (!file)
        return false;
    bool done = put(p, file);
    return fclose(file) == 0 && done;
}

/* The source is written twice: its guid is that of the text without one. */
static bool make_texts(members *m, fmu *unit, const parts *p)
{
    if (!make_text(m, SOURCE, put_source, p))
        return false;
    fmu_sign(unit, m->content[SOURCE], m->bytes[SOURCE]);
    free(m->content[SOURCE]);
    m->content[SOURCE] = NULL;
    return make_text(m, SOURCE, put_source, p) && make_text(m, DESCRIPTION, put_description, p);
}

static int make_members(const arguments *given, members *m, fmu *unit, const parts *p)
{
    const char *compiler = argument_value(given, "compiler");
    snprintf(m->name[DESCRIPTION], NAME_BYTES, "modelDescription.xml");
    snprintf(m->name[SOURCE], NAME_BYTES, "sources/%s.c", unit->name);
    snprintf(m->name[BINARY], NAME_BYTES, "%s/%s.so", fmu_binaries, unit->name);
    if (!make_texts(m, unit, p))
        return failure(given, "out of memory");
    if (argument_value(given, "sources-only"))
        return EXIT_DONE;
    return fmu_compile(given, compiler ? compiler : "cc", m->content[SOURCE], m->bytes[SOURCE],
                       &m->content[BINARY], &m->bytes[BINARY]);
}

/* ---- The archive ---- */

/* 0 or an errno. */
static int write_zip(const members *m, int fd)
{
    zip_writer z = {.fd = fd};
    zip_written written[MEMBERS];
    size_t count = 0;
    for (int i = 0; i < MEMBERS; i++) {
        if (!m->content[i])
            continue;
        zip_written *w = &written[count++];
        *w = (zip_written){.name = m->name[i], .size = m->bytes[i]};
        zip_writer_begin(&z, w);
        zip_writer_put(&z, m->content[i], m->bytes[i]);
        zip_writer_end(&z, w);
    }
    uint64_t directory = z.position;
    for (size_t i = 0; i < count; i++)
        zip_writer_directory(&z, &written[i]);
    zip_writer_finish(&z, directory, count);
    return z.error;
}

static int write_archive(const arguments *given, const members *m, const char *path)
{
    output o;
    int code = output_open(&o, given, path);
    if (code != EXIT_DONE)
        return code;
    int error = write_zip(m, fileno(o.file));
    if (error == 0)
        return output_commit(&o, given);
    output_discard(&o);
    return failure(given, "%s: cannot be written: %s", path, strerror(error));
}

static int write_unit(const arguments *given, const quorum_info *info, const exported *e,
                      const double *table)
{
    const char *path = argument_value(given, "output");
    members m = {{""}, {NULL}, {0}};
    fmu unit;
    parts p = {&unit, info, e};
    int code = fmu_new(&unit, export_name(given), info, table) ? make_members(given, &m, &unit, &p)
                                                               : failure(given, "out of memory");
    if (code == EXIT_DONE)
        code = write_archive(given, &m, path);
    if (code == EXIT_DONE)
        export_note(given, e, path);
    if (code == EXIT_DONE)
        detail(given, "largest difference of derivatives: %.1e", e->slopes_difference);
    members_free(&m);
    fmu_free(&unit);
    return code;
}

/* ---- The command ---- */

static int run_export_fmu(const arguments *given)
{
    const char *path = argument_value(given, "output");
    if (!path)
        return usage_error(given->command, "-o FILE is needed: an FMU is an archive");
    if (output_is_direct(path))
        return usage_error(given->command, "-o %s: an FMU is an archive, which needs a file", path);
    int code = output_check(given, path);
    return code == EXIT_DONE
               ? export_run(given, &(export_way){.has_slopes = true, .write = write_unit})
               : code;
}

static const operand operands[] = {
    {"MODEL", "A model file written by 'quorum fit'."},
    {NULL, NULL},
};

static const own_flag flags[] = {
    {"output", 'o', "FILE", NULL, NULL, "Where to write the unit, such as model.fmu."},
    {"name", 0, "NAME", NULL, "model",
     "What the unit and its library are called: letters and underscores."},
    {"compiler", 0, "PROGRAM", NULL, "cc",
     "The C compiler that builds the library, taking options as gcc and clang do."},
    {"sources-only", 0, NULL, NULL, NULL,
     "Leave the library out, for tools that compile the source themselves; no compiler is needed."},
    TARGET_FLAG_ONE,
    {NULL, 0, NULL, NULL, NULL, NULL},
};

const command export_fmu_command = {
    .name = "export-fmu",
    .summary = "write a model as an FMU for simulation tools",
    .usage = "MODEL -o FILE [--name NAME] [options]",
    .description =
        "Writes a unit of FMI 2.0 for model exchange and co-simulation: a map without states from "
        "the inputs, by their names, to TARGET (the mean), TARGET_std, TARGET_lower and "
        "TARGET_upper, with directional derivatives. It answers as 'quorum predict --method "
        "nearest' does, to the digits that 'quorum export-c' does, which is compared before it is "
        "written, and needs nothing of quorum: it has the C source inside, and a library of it "
        "for this system. Refused is what export-c refuses.",
    .option_names = "neighbours interval calibration memory threads",
    .operands = operands,
    .flags = flags,
    .examples = "  quorum export-fmu model.npz -o pump.fmu --name pump\n"
                "  quorum export-fmu model.npz -o pump.fmu --name pump --sources-only\n",
    .run = run_export_fmu,
};
