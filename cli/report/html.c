/* Escaping for HTML text, quoted attributes and JSON in a script element.
 *
 * In JSON the characters < > & stand only inside texts, where \u003C is the same character: so neither
 * "</script>" nor "<!--" can appear. */
#include "report/html.h"

#include "io/plain_text.h"

#include <stdarg.h>
#include <string.h>

enum { LONGEST = 4096 };

static const char *entity(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

void html_text(FILE *file, const char *text)
{
    char plain[LONGEST];
    plain_text_copy(plain, sizeof plain, text);
    for (const char *c = plain; *c; c++) {
        if (entity(*c))
            fputs(entity(*c), file);
        else
            fputc(*c, file);
    }
}

__attribute__((format(printf, 2, 0))) static void say(FILE *file, const char *format,
                                                      va_list values)
{
    char text[LONGEST];
    vsnprintf(text, sizeof text, format, values);
    html_text(file, text);
}

void html_say(FILE *file, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    say(file, format, values);
    va_end(values);
}

/* ---- Tables ---- */

static void begin_table(FILE *file, const char *kind, const char *caption,
                        const char *const *titles, size_t count)
{
    fprintf(file, "<div class=\"wide\" tabindex=\"0\"><table%s>", kind);
    if (*caption) {
        fputs("<caption><span>", file);
        html_text(file, caption);
        fputs("</span></caption>", file);
    }
    fputs("<thead><tr>", file);
    for (size_t k = 0; k < count; k++) {
        fputs("<th scope=\"col\">", file);
        html_text(file, titles[k]);
        fputs("</th>", file);
    }
    fputs("</tr></thead><tbody>\n", file);
}

void html_table_begin(FILE *file, const char *caption, const char *const *titles, size_t count)
{
    begin_table(file, "", caption, titles, count);
}

void html_word_table_begin(FILE *file, const char *caption, const char *const *titles, size_t count)
{
    begin_table(file, " class=\"words\"", caption, titles, count);
}

void html_row(FILE *file)
{
    fputs("<tr>", file);
}

void html_cell(FILE *file, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs("<td>", file);
    say(file, format, values);
    fputs("</td>", file);
    va_end(values);
}

void html_text_cell(FILE *file, const char *text)
{
    fputs("<td class=\"text\">", file);
    html_text(file, text);
    fputs("</td>", file);
}

void html_head_cell(FILE *file, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs("<th scope=\"row\">", file);
    say(file, format, values);
    fputs("</th>", file);
    va_end(values);
}

void html_bar_cell(FILE *file, double share, const char *format, ...)
{
    va_list values;
    double percent = share > 0.0 ? (share < 1.0 ? 100.0 * share : 100.0) : 0.0;
    va_start(values, format);
    fprintf(file, "<td class=\"barred\"><span class=\"bar\" style=\"width:%.1f%%\"></span>",
            percent);
    say(file, format, values);
    fputs("</td>", file);
    va_end(values);
}

void html_table_end(FILE *file)
{
    fputs("</tbody></table></div>\n", file);
}

/* ---- JSON ---- */

/* U+2028 and U+2029 are E2 80 A8 and E2 80 A9. */
static int write_escaped(void *context, const char *bytes, size_t n)
{
    FILE *file = context;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '<' || c == '>' || c == '&')
            fprintf(file, "\\u%04X", (unsigned)c);
        else if (i + 2 < n && c == 0xE2 && (unsigned char)bytes[i + 1] == 0x80 &&
                 ((unsigned char)bytes[i + 2] & 0xFE) == 0xA8) {
            fprintf(file, "\\u%04X", 0x2000u + ((unsigned char)bytes[i + 2] - 0x80u));
            i += 2;
        } else
            fputc(c, file);
    }
    return ferror(file);
}

json_writer html_json(FILE *file)
{
    return json_writer_to(write_escaped, file, 0);
}
