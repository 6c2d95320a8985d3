/* The classic format: a header that lists dimensions, attributes and variables with the place of each one's
 * values, then the values, all numbers with the high byte first and all texts filled up to four bytes.
 *
 *   header     "CDF" 2, number of records (none), dimensions, attributes, variables
 *   a list     its tag and length, or two zeros; then its members
 *   a variable name, dimensions, attributes, type, bytes, place
 *
 * The header is written twice, the first time to see how long it is. */
#include "archive/netcdf.h"

#include "archive/sink.h"

#include <stdint.h>
#include <string.h>

enum { TAG_DIMENSION = 10, TAG_VARIABLE = 11, TAG_ATTRIBUTE = 12, TYPE_CHAR = 2, TYPE_DOUBLE = 6 };

static const uint64_t MOST_BYTES = 0xFFFFFFFCu; /* of a variable */

static void put_padding(sink *s)
{
    while (s->written % 4)
        sink_put(s, 0);
}

/* ---- The header ---- */

static void put_text(sink *s, const char *text, int is_name)
{
    sink_put_high(s, strlen(text), 4);
    for (; *text; text++)
        sink_put(s, (unsigned char)(is_name && *text == '/' ? '_' : *text));
    put_padding(s);
}

static void put_list(sink *s, int tag, size_t count)
{
    sink_put_high(s, count ? (uint64_t)tag : 0, 4);
    sink_put_high(s, count, 4);
}

static void put_attributes(sink *s, const netcdf_attribute *list)
{
    size_t count = 0;
    for (size_t i = 0; i < NETCDF_MOST_ATTRIBUTES && list[i].name; i++)
        count += list[i].value != NULL;
    put_list(s, TAG_ATTRIBUTE, count);
    for (size_t i = 0; i < NETCDF_MOST_ATTRIBUTES && list[i].name; i++) {
        if (!list[i].value)
            continue;
        put_text(s, list[i].name, 1);
        sink_put_high(s, TYPE_CHAR, 4);
        put_text(s, list[i].value, 0);
    }
}

static uint64_t bytes_of(const netcdf_file *f, const netcdf_variable *v)
{
    uint64_t bytes = v->text ? 1 : sizeof(double);
    for (size_t d = 0; d < v->ndim; d++)
        bytes *= f->dimension[v->dimension[d]].length;
    return (bytes + 3) / 4 * 4;
}

static void put_variable(sink *s, const netcdf_file *f, const netcdf_variable *v, uint64_t place)
{
    put_text(s, v->name, 1);
    sink_put_high(s, v->ndim, 4);
    for (size_t d = 0; d < v->ndim; d++)
        sink_put_high(s, v->dimension[d], 4);
    put_attributes(s, v->attribute);
    sink_put_high(s, v->text ? TYPE_CHAR : TYPE_DOUBLE, 4);
    sink_put_high(s, bytes_of(f, v), 4);
    sink_put_high(s, place, 8);
}

/* `place`: where the values begin. */
static void put_header(sink *s, const netcdf_file *f, uint64_t place)
{
    sink_put_high(s, 0x43444602, 4); /* "CDF" 2 */
    sink_put_high(s, 0, 4);
    put_list(s, TAG_DIMENSION, f->dimensions);
    for (size_t d = 0; d < f->dimensions; d++) {
        put_text(s, f->dimension[d].name, 1);
        sink_put_high(s, f->dimension[d].length, 4);
    }
    put_attributes(s, f->attribute);
    put_list(s, TAG_VARIABLE, f->variables);
    for (size_t v = 0; v < f->variables; v++) {
        put_variable(s, f, &f->variable[v], place);
        place += bytes_of(f, &f->variable[v]);
    }
}

/* ---- Values ---- */

static void put_values(sink *s, const netcdf_file *f, const netcdf_variable *v)
{
    size_t bytes = (size_t)bytes_of(f, v);
    if (v->text) {
        size_t length = strlen(v->text);
        for (size_t i = 0; i < bytes; i++)
            sink_put(s, i < length ? (unsigned char)v->text[i] : 0);
        return;
    }
    for (size_t i = 0; i < bytes / sizeof(double); i++)
        sink_put_high(s, double_bits(v->values[i]), 8);
}

static quorum_status check_sizes(const netcdf_file *f, const char *path)
{
    for (size_t v = 0; v < f->variables; v++)
        if (bytes_of(f, &f->variable[v]) > MOST_BYTES)
            return failure(QUORUM_E_ARGUMENT,
                           "%s: a variable of NetCDF's classic format has 4 GB at most; make the "
                           "grid smaller, or write csv or npz",
                           path);
    return QUORUM_OK;
}

/* Counted at first. */
static void write_all(const void *what, sink *s, int fd)
{
    const netcdf_file *f = what;
    sink_begin(s, -1);
    put_header(s, f, 0);
    uint64_t place = s->written;
    sink_begin(s, fd);
    put_header(s, f, place);
    for (size_t v = 0; v < f->variables; v++)
        put_values(s, f, &f->variable[v]);
}

quorum_status netcdf_save(const netcdf_file *f, const char *path)
{
    TRY(check_sizes(f, path));
    return sink_save(path, write_all, f);
}
