/* The frame of the page: head, contents, sections, scripts.  Nothing is loaded from anywhere: the policy
 * in the head forbids it. */
#include "report/page.h"

#include "hyperparameters.h"
#include "report/assets.h"
#include "report/html.h"
#include "report/sections.h"

static const struct {
    const char *id, *title;
    section_writer *write;
} sections[] = {
    {"short", "In short", write_short},
    {"warnings", "What to look after", write_warnings},
    {"fitted", "What was fitted", write_fitted},
    {"good", "How good is it?", write_good},
    {"sure", "How sure is it?", write_sure},
    {"matters", "What matters?", write_matters},
    {"where", "Where are the data?", write_where},
    {"experts", "The experts", write_experts},
};

enum { SECTIONS = sizeof sections / sizeof sections[0] };

bool page_has_library(void)
{
    return asset_library_size > 0;
}

static void write_asset(FILE *file, const unsigned char *bytes, size_t size)
{
    fwrite(bytes, 1, size, file);
}

static void write_head(FILE *file, const facts *f)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; "
          "form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          file);
    html_say(file, "Report: %s", target_label(&f->info).text);
    fputs("</title>\n<style>\n", file);
    write_asset(file, asset_style, asset_style_size);
    fputs("</style>\n</head>\n<body>\n<header>\n<h1>", file);
    html_say(file, "A model of %s", target_label(&f->info).text);
    fputs("</h1>\n<nav aria-label=\"Contents\"><ul>\n", file);
    for (size_t k = 0; k < SECTIONS; k++)
        fprintf(file, "<li><a href=\"#%s\">%s</a></li>\n", sections[k].id, sections[k].title);
    fputs("</ul></nav>\n</header>\n<main>\n", file);
}

/* The library's licence goes where it goes. */
static void write_foot(FILE *file)
{
    fputs("</main>\n<footer>\n<p>", file);
    html_say(file, "Made by quorum %s.", quorum_version());
    if (!page_has_library())
        html_say(file, " This quorum was built without Chart.js: charts are pictures that do not "
                       "answer the pointer.");
    fputs("</p>\n", file);
    if (!page_has_library())
        return;
    fputs("<details><summary>Charts by Chart.js: its licence</summary><pre>", file);
    write_asset(file, asset_licence, asset_licence_size); /* plain words, no markup */
    fputs("</pre></details>\n", file);
}

static void write_scripts(FILE *file)
{
    fputs("</footer>\n", file);
    if (page_has_library()) {
        fputs("<script>\n", file);
        write_asset(file, asset_library, asset_library_size);
        fputs("\n</script>\n<script>\n", file);
        write_asset(file, asset_script, asset_script_size);
        fputs("</script>\n", file);
    }
    fputs("</body>\n</html>\n", file);
}

int write_page(FILE *file, const facts *f)
{
    int code = EXIT_DONE;
    write_head(file, f);
    for (size_t k = 0; k < SECTIONS && code == EXIT_DONE; k++)
        code = sections[k].write(file, f);
    if (code == EXIT_DONE)
        code = write_numbers(file, f);
    write_foot(file);
    write_scripts(file);
    return code;
}
