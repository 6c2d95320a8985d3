/* modelDescription.xml of an FMU: the variables by name, first the inputs, then mean, std, lower and upper.
 *
 * Names are what the table calls its columns: anything.  XML has no control characters and FMI wants every name once,
 * so those become blanks, and a name that is there already gets underscores. */
#include "export/fmu.h"

#include "io/utf8.h"

#include <stdlib.h>
#include <string.h>

static const char *const endings[FMU_OUTPUTS] = {"", "_std", "_lower", "_upper"};
static const char *const meanings[FMU_OUTPUTS] = {"predicted mean", "predicted standard deviation",
                                                  "lower end of the predicted interval",
                                                  "upper end of the predicted interval"};

/* ---- Names ---- */

/* U+FFFE and U+FFFF, which are characters of UTF-8 and not of XML: EF BF BE, EF BF BF. */
static bool is_no_character(const char *p, size_t length)
{
    return length == 3 && memcmp(p, "\xef\xbf", 2) == 0 && (unsigned char)p[2] >= 0xbe;
}

/* In place: what XML cannot have becomes a blank, what is not UTF-8 a question mark. */
static void clean(char *name)
{
    const char *end = name + strlen(name);
    for (char *p = name; p < end;) {
        size_t length = utf8_length(p, end);
        if (length == 0)
            *p = '?';
        else if (length == 1 && (unsigned char)*p < 0x20)
            *p = ' ';
        else if (is_no_character(p, length))
            memset(p, '?', length);
        p += length ? length : 1;
    }
}

static bool is_taken(char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* names[count] = text and ending, cleaned, and with as many underscores as make it new: at most count. */
static bool add_name(char **names, size_t count, const char *text, const char *ending)
{
    size_t length = strlen(text) + strlen(ending);
    char *name = malloc(length + count + 2);
    if (!name)
        return false;
    snprintf(name, length + count + 2, "%s%s", text, ending);
    clean(name);
    for (; !*name || is_taken(names, count, name); name[++length] = '\0')
        name[length] = '_';
    names[count] = name;
    return true;
}

static void names_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* inputs + FMU_OUTPUTS of them; NULL: out of memory. */
static char **names_new(const quorum_info *info)
{
    size_t D = info->inputs, count = D + FMU_OUTPUTS;
    char **names = count > D ? calloc(count, sizeof *names) : NULL;
    if (!names)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!add_name(names, i, info->names[i < D ? i : D], i < D ? "" : endings[i - D])) {
            names_free(names, count);
            return NULL;
        }
    return names;
}

/* ---- XML ---- */

static void write_text(const char *text, FILE *file)
{
    for (; text && *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", file); break;
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        case '"': fputs("&quot;", file); break;
        default: fputc(*text, file);
        }
}

static void write_input(const fmu *f, const char *name, size_t d, FILE *file)
{
    fprintf(file, "    <ScalarVariable name=\"");
    write_text(name, file);
    fprintf(file,
            "\" valueReference=\"%zu\" causality=\"input\" variability=\"continuous\" "
            "description=\"from %.9g to %.9g in the training rows\">\n"
            "      <Real start=\"%.17g\"/>\n    </ScalarVariable>\n",
            d, f->low[d], f->high[d], f->start[d]);
}

static void write_output(const char *name, size_t place, const char *meaning, FILE *file)
{
    fprintf(file, "    <ScalarVariable name=\"");
    write_text(name, file);
    fprintf(file,
            "\" valueReference=\"%zu\" causality=\"output\" variability=\"continuous\" "
            "initial=\"calculated\" description=\"%s\">\n"
            "      <Real/>\n    </ScalarVariable>\n",
            place, meaning);
}

/* What both kinds of use have in common. */
static void write_kind(const fmu *f, const char *kind, const char *more, FILE *file)
{
    fprintf(file,
            "  <%s modelIdentifier=\"%s\"%s canNotUseMemoryManagementFunctions=\"true\" "
            "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\" "
            "providesDirectionalDerivative=\"true\">\n"
            "    <SourceFiles>\n      <File name=\"%s.c\"/>\n    </SourceFiles>\n  </%s>\n",
            kind, f->name, more, f->name, kind);
}

/* Every output depends on every input; places count from 1. */
static void write_unknowns(const char *list, size_t D, FILE *file)
{
    fprintf(file, "    <%s>\n", list);
    for (size_t k = 0; k < FMU_OUTPUTS; k++) {
        fprintf(file, "      <Unknown index=\"%zu\" dependencies=\"", D + k + 1);
        for (size_t d = 0; d < D; d++)
            fprintf(file, "%s%zu", d ? " " : "", d + 1);
        fprintf(file, "\"/>\n");
    }
    fprintf(file, "    </%s>\n", list);
}

bool fmu_write_description(const fmu *f, const quorum_info *info, FILE *file)
{
    size_t D = info->inputs;
    char **names = names_new(info);
    if (!names)
        return false;
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"%s\" guid=\"%s\" "
            "description=\"Gaussian process on the nearest of %zu rows\" "
            "generationTool=\"quorum %s\" variableNamingConvention=\"flat\" "
            "numberOfEventIndicators=\"0\">\n",
            f->name, f->guid, info->rows, quorum_version());
    write_kind(f, "ModelExchange", " completedIntegratorStepNotNeeded=\"true\"", file);
    write_kind(f, "CoSimulation", " canHandleVariableCommunicationStepSize=\"true\"", file);
    fprintf(file, "  <LogCategories>\n    <Category name=\"logStatusError\"/>\n"
                  "  </LogCategories>\n  <ModelVariables>\n");
    for (size_t d = 0; d < D; d++)
        write_input(f, names[d], d, file);
    for (size_t k = 0; k < FMU_OUTPUTS; k++)
        write_output(names[D + k], D + k, meanings[k], file);
    fprintf(file, "  </ModelVariables>\n  <ModelStructure>\n");
    write_unknowns("Outputs", D, file);
    write_unknowns("InitialUnknowns", D, file);
    fprintf(file, "  </ModelStructure>\n</fmiModelDescription>\n");
    names_free(names, D + FMU_OUTPUTS);
    return true;
}
