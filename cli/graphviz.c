/* Graphviz draws the graph; says what to do when it is not installed. */
#include "graphviz.h"

#include "output.h"
#include "through.h"

static const char *const svg_argv[] = {"neato", "-Tsvg", NULL};
static const char *const png_argv[] = {"neato", "-Tpng", NULL};

static program neato(const char *path)
{
    return (program){.argv = has_extension(path, ".png") ? png_argv : svg_argv,
                     .called = "Graphviz's 'neato'",
                     .missing = "drawing .svg and .png needs Graphviz, whose program 'neato' is "
                                "not found: apt install graphviz, or write .dot or .json",
                     .failed = "Graphviz's 'neato' failed; write .dot to see the graph as it "
                               "got it"};
}

static void draw_dot(const void *of, FILE *file)
{
    write_dot(file, of);
}

int draw_with_graphviz(const arguments *given, FILE *file, const char *path, const expert_graph *g)
{
    program p = neato(path);
    return program_draw(&p, given, file, draw_dot, g);
}
