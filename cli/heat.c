/* Colours from dark blue over green to light yellow in the space Oklab, in which equal steps look equal:
 *
 *   L = 0.30 + 0.63 t      h = 285 - 180 t degrees      a = C cos h,  b = C sin h
 *
 * Lightness grows all the way, so that order can be read without seeing the hue, and in grey. */
#include "heat.h"

#include <math.h>
#include <stdlib.h>

enum { COLOURS = 64 };

static const double DARKEST = 0.30, LIGHTER = 0.63, CHROMA = 0.125, FIRST_HUE = 285.0, HUES = 180.0;

/* A share of red, green or blue as a byte of sRGB. */
static unsigned byte_of(double light)
{
    light = fmax(0.0, fmin(1.0, light));
    double coded = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1.0 / 2.4) - 0.055;
    return (unsigned)lround(255.0 * coded);
}

heat_colour heat_colour_at(double t)
{
    heat_colour out;
    double hue = (FIRST_HUE - HUES * t) * 3.14159265358979323846 / 180.0;
    double L = DARKEST + LIGHTER * t, a = CHROMA * cos(hue), b = CHROMA * sin(hue);
    double l = pow(L + 0.3963377774 * a + 0.2158037573 * b, 3.0);
    double m = pow(L - 0.1055613458 * a - 0.0638541728 * b, 3.0);
    double s = pow(L - 0.0894841775 * a - 1.2914855480 * b, 3.0);
    snprintf(out.text, sizeof out.text, "#%02x%02x%02x",
             byte_of(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s) & 255u,
             byte_of(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s) & 255u,
             byte_of(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s) & 255u);
    return out;
}

static int step_of(double value, double low, double high)
{
    double t = high > low ? (value - low) / (high - low) : 0.5;
    return (int)fmax(0.0, fmin(COLOURS - 1.0, floor(t * COLOURS)));
}

/* ---- Cells ---- */

/* The cells of one colour: runs in a row are one rectangle, a little larger than its cells so that no
 * gaps show. */
static void draw_colour(FILE *file, const panel *p, size_t columns, size_t rows, const int *step,
                        int colour)
{
    double width = p->width / (double)columns, height = p->height / (double)rows;
    bool begun = false;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0, end; c < columns; c = end) {
            for (end = c + 1; end < columns && step[r * columns + end] == step[r * columns + c];)
                end++;
            if (step[r * columns + c] != colour)
                continue;
            if (!begun)
                fprintf(file, "<path shape-rendering=\"crispEdges\" fill=\"%s\" d=\"",
                        heat_colour_at((colour + 0.5) / COLOURS).text);
            begun = true;
            fprintf(file, "M%.2f %.2fh%.2fv%.2fh%.2fz", p->left + width * (double)c,
                    p->top + p->height - height * (double)(r + 1), width * (double)(end - c) + 0.4,
                    height + 0.4, -width * (double)(end - c) - 0.4);
        }
    if (begun)
        fputs("\"/>\n", file);
}

void heat_cells(FILE *file, const panel *p, size_t columns, size_t rows, const double *value,
                double low, double high)
{
    int *step = calloc(columns * rows, sizeof *step);
    if (!step)
        return; /* the panel stays empty */
    for (size_t i = 0; i < columns * rows; i++)
        step[i] = step_of(value[i], low, high);
    for (int colour = 0; colour < COLOURS; colour++)
        draw_colour(file, p, columns, rows, step, colour);
    free(step);
}

void heat_fade(FILE *file, const panel *p, size_t columns, size_t rows, const double *share)
{
    double width = p->width / (double)columns, height = p->height / (double)rows;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            if (share[r * columns + c] > 0.0)
                fprintf(file,
                        "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                        "fill=\"#ffffff\" fill-opacity=\"%.2f\" "
                        "shape-rendering=\"crispEdges\"/>\n",
                        p->left + width * (double)c, p->top + p->height - height * (double)(r + 1),
                        width, height, share[r * columns + c]);
}

/* ---- The scale ---- */

void heat_scale(FILE *file, const panel *p, double low, double high)
{
    double left = p->left + p->width + 14.0, height = p->height / COLOURS;
    for (int k = 0; k < COLOURS; k++)
        fprintf(file, "<rect x=\"%.1f\" y=\"%.2f\" width=\"14\" height=\"%.2f\" fill=\"%s\"/>\n",
                left, p->top + p->height - height * (k + 1), height + 0.4,
                heat_colour_at((k + 0.5) / COLOURS).text);
    double step = nice_step(high > low ? high - low : 1.0, 6);
    for (double k = ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++)
        fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"11\">%g</text>\n", left + 19.0,
                p->top + p->height -
                    (high > low ? p->height * (k * step - low) / (high - low) : 0.0) + 4.0,
                fabs(k * step) < 1e-9 * step ? 0.0 : k * step);
    fprintf(file,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"%.1f\" fill=\"none\" "
            "stroke=\"#666666\"/>\n",
            left, p->top, p->height);
}
