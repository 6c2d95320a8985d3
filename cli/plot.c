/* The chart writer: axes with round ticks, marks clipped to their panel, text escaped for XML. */
#include "plot.h"

#include "date_ticks.h"
#include "io/plain_text.h"

#include <math.h>
#include <string.h>

static double pixel_x(const panel *p, double x)
{
    return p->left + p->width * (x - p->x_min) / (p->x_max - p->x_min);
}

static double pixel_y(const panel *p, double y)
{
    return p->top + p->height * (p->y_max - y) / (p->y_max - p->y_min);
}

/* Far outside values stay drawable: clipping hides them anyway. */
static double near(double pixel)
{
    return isnan(pixel) ? -9999.0 : fmax(-9999.0, fmin(9999.0, pixel));
}

/* XML has no control characters, not even escaped. */
static void write_text(FILE *file, const char *text)
{
    char plain[512];
    plain_text_copy(plain, sizeof plain, text);
    for (const char *c = plain; *c; c++) {
        if (*c == '&')
            fputs("&amp;", file);
        else if (*c == '<')
            fputs("&lt;", file);
        else if (*c == '>')
            fputs("&gt;", file);
        else
            fputc(*c, file);
    }
}

static void write_label(FILE *file, double x, double y, const char *attributes, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    write_text(file, text);
    fputs("</text>\n", file);
}

double nice_step(double range, int parts)
{
    double rough = range / parts;
    double power = pow(10.0, floor(log10(rough)));
    double share = rough / power;
    return power * (share < 1.5 ? 1.0 : share < 3.5 ? 2.0 : share < 7.5 ? 5.0 : 10.0);
}

/* ---- Frame ---------------------------------------------------------------------------- */

void plot_begin(FILE *file, double width, double height, const char *title, const char *about)
{
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
            "viewBox=\"0 0 %g %g\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" "
            "fill=\"#222222\">\n<desc>",
            width, height, width, height);
    write_text(file, about);
    fprintf(file, "</desc>\n<rect width=\"%g\" height=\"%g\" fill=\"#ffffff\"/>\n", width, height);
    write_label(file, width / 2.0, 24.0, "font-size=\"16\" text-anchor=\"middle\"", title);
}

void plot_end(FILE *file)
{
    fputs("</svg>\n", file);
}

/* ---- Axes ------------------------------------------------------------------------------ */

enum { NUMBER_ROOM = 32 };

typedef struct {
    char text[NUMBER_ROOM];
} number_text;

static int decimals_of(double step)
{
    return step < 1.0 ? (int)fmin(20.0, ceil(-log10(step) - 1e-9)) : 0;
}

/* With the step's decimals, or with an exponent where that would be long. */
static number_text tick_number(double value, double step)
{
    number_text n;
    double shown = fabs(value) < 1e-9 * step ? 0.0 : value;
    bool is_long = fabs(shown) >= 1e7 || step < 1e-6;
    snprintf(n.text, sizeof n.text, is_long ? "%.*g" : "%.*f", is_long ? 6 : decimals_of(step),
             shown);
    return n;
}

/* Letters of the longer of the numbers at both ends. */
static int longest_number(double min, double max, double step)
{
    int low = (int)strlen(tick_number(min, step).text),
        high = (int)strlen(tick_number(max, step).text);
    return low > high ? low : high;
}

static const double LETTER = 6.7; /* width in pixels, about */

/* So that numbers below the axis do not run into each other. */
static double step_along_x(const panel *p)
{
    double range = p->x_max - p->x_min, step = nice_step(range, (int)(p->width / 55.0));
    double wide = LETTER * longest_number(p->x_min, p->x_max, step) + 12.0;
    return wide > 55.0 ? nice_step(range, (int)fmax(1.0, p->width / (1.3 * wide))) : step;
}

static double step_along_y(const panel *p)
{
    return nice_step(p->y_max - p->y_min, (int)(p->height / 45.0));
}

static void draw_tick_x(FILE *file, const panel *p, double x, const char *text)
{
    fprintf(file, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#e4e4e4\"/>\n",
            pixel_x(p, x), pixel_x(p, x), p->top, p->top + p->height);
    write_label(file, pixel_x(p, x), p->top + p->height + 16.0, "text-anchor=\"middle\"", text);
}

static void draw_tick_y(FILE *file, const panel *p, double y, const char *text)
{
    fprintf(file, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#e4e4e4\"/>\n",
            p->left, p->left + p->width, pixel_y(p, y), pixel_y(p, y));
    if (p->y_label)
        write_label(file, p->left - 6.0, pixel_y(p, y) + 4.0, "text-anchor=\"end\"", text);
}

enum { LONGEST_NAME = 18, SHORTEST_NAME = 4 }; /* letters of a name beside an axis */
static const double LINE = 13.0;               /* height of one, in pixels           */

static bool is_first_byte(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

static int count_letters(const char *text)
{
    int letters = 0;
    for (; *text; text++)
        letters += is_first_byte(*text);
    return letters;
}

typedef struct {
    char text[4 * LONGEST_NAME + 8];
} short_name;

/* With an ellipsis for what is cut off. */
static short_name cut_name(const char *name, int letters)
{
    short_name s;
    char plain[512];
    plain_text_copy(plain, sizeof plain, name);
    bool cut = count_letters(plain) > letters;
    const char *end = plain;
    for (int left = cut ? letters - 1 : letters; *end; end++)
        if (is_first_byte(*end) && left-- == 0)
            break;
    snprintf(s.text, sizeof s.text, "%.*s%s", (int)(end - plain), plain, cut ? "\xE2\x80\xA6" : "");
    return s;
}

static double place_of(const named_places *n, size_t i)
{
    return n->at ? n->at[i] : (double)i;
}

/* Whether there is room for name i beside those that have it already. */
static bool has_room(const double *taken, size_t count, double pixel, double least)
{
    for (size_t k = 0; k < count; k++)
        if (fabs(taken[k] - pixel) < least - 1e-9)
            return false;
    return true;
}

enum { MOST_NAMES = 100 }; /* along an axis; a picture has room for fewer */

static void name_places_x(FILE *file, const panel *p)
{
    double taken[MOST_NAMES], each = p->width / (double)p->x_names.count / LETTER;
    int letters = each < SHORTEST_NAME ? SHORTEST_NAME : (int)each;
    for (size_t i = 0, count = 0; i < p->x_names.count && count < MOST_NAMES; i++) {
        double pixel = pixel_x(p, place_of(&p->x_names, i));
        if (!has_room(taken, count, pixel, LETTER * letters))
            continue;
        taken[count++] = pixel;
        write_label(file, pixel, p->top + p->height + 16.0, "text-anchor=\"middle\"",
                    cut_name(p->x_names.name[i], letters).text);
    }
}

static void name_places_y(FILE *file, const panel *p)
{
    double taken[MOST_NAMES];
    for (size_t i = 0, count = 0; i < p->y_names.count && count < MOST_NAMES; i++) {
        double pixel = pixel_y(p, place_of(&p->y_names, i));
        if (!has_room(taken, count, pixel, LINE))
            continue;
        taken[count++] = pixel;
        write_label(file, p->left - 6.0, pixel + 4.0, "text-anchor=\"end\"",
                    cut_name(p->y_names.name[i], LONGEST_NAME).text);
    }
}

double plot_names_room(const named_places *names)
{
    int longest = 0;
    for (size_t l = 0; l < names->count; l++) {
        int letters = count_letters(names->name[l]);
        longest = letters > longest ? letters : longest;
    }
    return fmax(38.0, 14.0 + LETTER * (longest < LONGEST_NAME ? longest : LONGEST_NAME));
}

static void draw_ticks_x(FILE *file, const panel *p)
{
    date_tick date[MOST_DATE_TICKS];
    double step = step_along_x(p);
    size_t dates = 0;
    if (p->x_is_date)
        dates = date_ticks(p->x_min, p->x_max, (int)(p->width / 85.0), false, date);
    for (size_t i = 0; i < dates; i++)
        draw_tick_x(file, p, date[i].at, date[i].text);
    for (double k = ceil(p->x_min / step - 1e-9);
         !p->x_is_date && k * step <= p->x_max + 1e-9 * step; k++)
        draw_tick_x(file, p, k * step, tick_number(k * step, step).text);
}

static void draw_ticks_y(FILE *file, const panel *p)
{
    date_tick date[MOST_DATE_TICKS];
    double step = step_along_y(p);
    size_t dates = 0;
    if (p->y_is_date)
        dates = date_ticks(p->y_min, p->y_max, (int)(p->height / 45.0), true, date);
    for (size_t i = 0; i < dates; i++)
        draw_tick_y(file, p, date[i].at, date[i].text);
    for (double k = ceil(p->y_min / step - 1e-9);
         !p->y_is_date && k * step <= p->y_max + 1e-9 * step; k++)
        draw_tick_y(file, p, k * step, tick_number(k * step, step).text);
}

/* From the panel to the label of y: beyond the longest number or name beside the ticks. */
static double room_beside_y(const panel *p)
{
    if (p->y_names.count > 0)
        return plot_names_room(&p->y_names);
    int longest = p->y_is_date ? 7 : longest_number(p->y_min, p->y_max, step_along_y(p));
    return fmax(38.0, fmin(58.0, 14.0 + LETTER * longest));
}

static void draw_labels(FILE *file, const panel *p)
{
    double middle = p->left + p->width / 2.0;
    if (p->title)
        write_label(file, middle, p->top - 9.0, "font-size=\"13\" text-anchor=\"middle\"",
                    p->title);
    if (p->x_label)
        write_label(file, middle, p->top + p->height + 34.0, "text-anchor=\"middle\"", p->x_label);
    if (p->y_label) {
        char turned[128];
        double x = p->left - room_beside_y(p);
        double y = p->top + p->height / 2.0;
        snprintf(turned, sizeof turned,
                 "text-anchor=\"middle\" transform=\"rotate(-90 %.1f %.1f)\"", x, y);
        write_label(file, x, y, turned, p->y_label);
    }
}

void plot_panel(FILE *file, const panel *p)
{
    if (p->x_names.count > 0)
        name_places_x(file, p);
    else
        draw_ticks_x(file, p);
    if (p->y_names.count > 0)
        name_places_y(file, p);
    else
        draw_ticks_y(file, p);
    draw_labels(file, p);
    fprintf(file,
            "<clipPath id=\"clip%.0f-%.0f\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
            "height=\"%.1f\"/></clipPath>\n<g clip-path=\"url(#clip%.0f-%.0f)\">\n",
            p->left, p->top, p->left, p->top, p->width, p->height, p->left, p->top);
}

void plot_panel_end(FILE *file, const panel *p)
{
    fprintf(file,
            "</g>\n<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
            "stroke=\"#666666\"/>\n",
            p->left, p->top, p->width, p->height);
}

/* ---- Marks --------------------------------------------------------------------------------- */

static void write_stroke(FILE *file, ink i)
{
    fprintf(file, "fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-opacity=\"%g\"", i.colour,
            i.width, i.opacity);
    if (i.dash)
        fprintf(file, " stroke-dasharray=\"%s\"", i.dash);
}

static void write_place(FILE *file, const panel *p, char step, double x, double y)
{
    fprintf(file, "%c%.1f %.1f", step, near(pixel_x(p, x)), near(pixel_y(p, y)));
}

void plot_points(FILE *file, const panel *p, size_t n, const double *x, const double *y, ink i)
{
    fputs("<path ", file);
    write_stroke(file, i);
    fputs(" stroke-linecap=\"round\" d=\"", file);
    for (size_t k = 0; k < n; k++) {
        write_place(file, p, 'M', x[k], y[k]);
        fputs("h0", file);
    }
    fputs("\"/>\n", file);
}

void plot_line(FILE *file, const panel *p, size_t n, const double *x, const double *y, ink i)
{
    fputs("<path ", file);
    write_stroke(file, i);
    fputs(" stroke-linejoin=\"round\" d=\"", file);
    for (size_t k = 0; k < n; k++)
        write_place(file, p, k ? 'L' : 'M', x[k], y[k]);
    fputs("\"/>\n", file);
}

void plot_band(FILE *file, const panel *p, size_t n, const double *x, const double *lower,
               const double *upper, ink i)
{
    fprintf(file, "<path stroke=\"none\" fill=\"%s\" fill-opacity=\"%g\" d=\"", i.colour,
            i.opacity);
    for (size_t k = 0; k < n; k++)
        write_place(file, p, k ? 'L' : 'M', x[k], upper[k]);
    for (size_t k = n; k-- > 0;)
        write_place(file, p, 'L', x[k], lower[k]);
    fputs("Z\"/>\n", file);
}

void plot_text(FILE *file, const panel *p, double x, double y, const char *text)
{
    write_label(file, pixel_x(p, x), pixel_y(p, y),
                "font-size=\"10\" fill=\"#555555\" text-anchor=\"middle\"", text);
}

void plot_note(FILE *file, double x, double y, const char *text)
{
    write_label(file, x, y, "font-size=\"12\" fill=\"#555555\" text-anchor=\"middle\"", text);
}

/* ---- Legend ---------------------------------------------------------------------------------- */

static void draw_key(FILE *file, const legend_key *key, double left, double middle)
{
    if (key->kind == KEY_BAND) {
        fprintf(file,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"26\" height=\"11\" fill=\"%s\" "
                "fill-opacity=\"%g\"/>\n",
                left, middle - 5.5, key->ink.colour, key->ink.opacity);
    } else if (key->kind == KEY_LINE) {
        fprintf(file, "<path d=\"M%.1f %.1fh26\" ", left, middle);
        write_stroke(file, key->ink);
        fputs("/>\n", file);
    } else {
        fprintf(file, "<path d=\"M%.1f %.1fh0M%.1f %.1fh0M%.1f %.1fh0\" stroke-linecap=\"round\" ",
                left + 5, middle - 2, left + 13, middle + 2, left + 21, middle - 1);
        write_stroke(file, key->ink);
        fputs("/>\n", file);
    }
    write_label(file, left + 32.0, middle + 4.0, "", key->text);
}

void plot_legend(FILE *file, const legend_key *keys, size_t count, double left, double middle)
{
    for (size_t k = 0; k < count; k++) {
        size_t letters = 0;
        for (const char *c = keys[k].text; *c; c++)
            letters++;
        draw_key(file, &keys[k], left, middle);
        left += 32.0 + 6.2 * (double)letters + 22.0; /* the mark, the text, a gap */
    }
}
