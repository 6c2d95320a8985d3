/* SVG is what the command draws itself; librsvg's program makes PNG of it, two pixels for one so that
 * letters are sharp.  It is a program and not a library of ours: librsvg brings forty others, which
 * every start of the command would load, and which end the process where memory is short. */
#include "picture.h"

#include "output.h"
#include "quorum.h"
#include "team.h"

static const char *const argv[] = {"rsvg-convert", "--format=png", "--zoom=2", NULL};
static const program converter = {
    .argv = argv,
    .called = "librsvg's 'rsvg-convert'",
    .missing = "drawing .png needs librsvg, whose program 'rsvg-convert' is not found: "
               "apt install librsvg2-bin, or write .svg",
    .failed = "librsvg's 'rsvg-convert' failed; write .svg to see the picture as it got it"};

static bool is_png(const char *path)
{
    return path && has_extension(path, ".png");
}

/* Of several processes only the first writes. */
static bool converts(const char *path)
{
    return is_png(path) && quorum_team_rank() == 0;
}

bool is_picture(const char *path)
{
    return is_png(path) || has_extension(path, ".svg");
}

int picture_check(const arguments *given, const char *path)
{
    int code = output_check(given, path);
    return code != EXIT_DONE
               ? code
               : team_code(converts(path) ? program_check(&converter, given) : EXIT_DONE);
}

static int draw_to(FILE *file, const arguments *given, const char *path, drawing *draw,
                   const void *of)
{
    if (converts(path))
        return program_draw(&converter, given, file, draw, of);
    if (!is_png(path))
        draw(of, file);
    return EXIT_DONE;
}

int picture_write(const arguments *given, const char *path, drawing *draw, const void *of)
{
    output out = {0};
    int code = output_open(&out, given, path);
    if (code == EXIT_DONE)
        code = team_code(draw_to(out.file, given, path, draw, of));
    if (code == EXIT_DONE)
        code = output_commit(&out, given);
    output_discard(&out);
    return code;
}
