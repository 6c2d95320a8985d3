/* The numbers of an exported predictor: what quorum_info says, and the training rows as the
 * predictor has them,
 *
 *   Z = R ((x - mean) / scale) / l      y = (target - mean) / scale */
#include "export/exported.h"

#include "export/predictor.h"
#include "export/slopes.h"
#include "hyperparameters.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NEIGHBOURS = 512 }; /* of neighbours=auto where the fit does not know better */

typedef struct {
    qx_model model;
    double *Z, *y; /* the model's    */
    double *space; /* of predictions */
    size_t *places;
    double *middle;
    double *slopes; /* alpha, gamma, and three rows of inputs */
} contents;

static void contents_free(contents *c)
{
    if (!c)
        return;
    free(c->Z);
    free(c->y);
    free(c->space);
    free(c->places);
    free(c->middle);
    free(c->slopes);
    free(c);
}

void exported_free(exported *e)
{
    contents_free(e->numbers);
    e->numbers = NULL;
}

static int kernel_order(const char *kernel)
{
    const char *digits = kernel + strcspn(kernel, "0123456789");
    return strncmp(kernel, "matern", 6) == 0 ? *digits - '0'
                                             : 0; /* matern52, matern52x2: 5, twice 5/2 */
}

static size_t neighbours_of(const quorum_info *info, const quorum_options *options)
{
    const char *text = quorum_options_get(options, "neighbours");
    size_t known = info->neighbours > 0 ? info->neighbours : MOST_NEIGHBOURS;
    size_t m = text && strcmp(text, "auto") != 0 ? (size_t)strtoul(text, NULL, 10) : known;
    return m < info->rows ? m : info->rows;
}

/* Calibrated, std is multiplied; where that is less than 1, what no row has tested is not. */
static void take_calibration(const quorum_model *model, const quorum_info *info,
                             const quorum_options *options, int calibrated, qx_model *m)
{
    const char *text = quorum_options_get(options, "interval");
    double tail = 0.5 - 0.5 * (text ? strtod(text, NULL) : 0.95);
    m->scale = calibrated ? info->calibration_scale : 1.0;
    m->untested = info->untested > 0.0 ? info->untested : 1.0;
    m->surrounded = info->untested > 0.0 ? 1.0 : 0.0;
    if (info->untested > 0.0 && m->scale < 1.0) {
        m->untested /= m->scale * m->scale;
        m->surrounded /= m->scale * m->scale;
    }
    m->lower = quorum_quantile_factor(model, options, tail);
    m->upper = quorum_quantile_factor(model, options, 1.0 - tail);
}

static void take_info(const quorum_info *info, qx_model *m)
{
    m->rows = info->rows;
    m->inputs = info->inputs;
    m->kernel = kernel_order(info->kernel);
    m->scales = count_scales(info);
    m->share = info->long_share;
    m->reach = info->long_reach;
    m->signal = info->signal_variance;
    m->noise = info->noise_variance;
    m->local_noise = info->local_noise;
    m->spread = isinf(info->spread) ? -1.0 : info->spread;
    m->y_mean = info->y_mean;
    m->y_scale = info->y_scale;
    m->is_log = strcmp(info->warp, "log") == 0;
    m->shift = info->warp_shift;
    m->x_mean = info->x_mean;
    m->x_scale = info->x_scale;
    m->bend_at = info->bend_at;
    m->bend_width = info->bend_width;
    m->lengthscale = info->lengthscale;
    m->rotation = info->rotation;
}

static void take_rows(const double *table, const double *y, contents *c)
{
    const qx_model *m = &c->model;
    qx_space s = qx_lay_out(m, c->space, c->places);
    for (size_t i = 0; i < m->rows; i++) {
        double target = m->is_log ? log(y[i] + m->shift) : y[i];
        c->y[i] = (target - m->y_mean) / m->y_scale;
        qx_take_query(m, table + i * m->inputs, &s);
        memcpy(c->Z + i * m->inputs, s.z, m->inputs * sizeof *c->Z);
    }
}

/* Rows are in the order of their experts. */
static void find_middles(const quorum_info *info, contents *c)
{
    size_t D = info->inputs;
    for (size_t e = 0; e < c->model.parts; e++)
        for (size_t i = info->offset[e]; i < info->offset[e + 1]; i++)
            for (size_t d = 0; d < D; d++)
                c->middle[e * D + d] +=
                    c->Z[i * D + d] / (double)(info->offset[e + 1] - info->offset[e]);
}

static contents *contents_new(const quorum_info *info, size_t neighbours)
{
    contents *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    take_info(info, &c->model);
    c->model.neighbours = neighbours;
    c->Z = calloc(info->rows * info->inputs, sizeof *c->Z);
    c->y = calloc(info->rows, sizeof *c->y);
    c->space = calloc(QX_NUMBERS(neighbours, info->inputs), sizeof *c->space);
    c->places = calloc(neighbours, sizeof *c->places);
    c->slopes = calloc(2 * neighbours + 3 * info->inputs, sizeof *c->slopes);
    c->middle = calloc(info->experts * info->inputs, sizeof *c->middle);
    c->model.middle = c->middle;
    c->model.parts = info->experts;
    c->model.Z = c->Z;
    c->model.y = c->y;
    if (c->Z && c->y && c->space && c->places && c->slopes && c->middle)
        return c;
    contents_free(c);
    return NULL;
}

quorum_status exported_new(const quorum_model *model, const quorum_info *info,
                           const quorum_options *options, const double *table, const double *y,
                           exported *out)
{
    quorum_report report = {0};
    quorum_status status =
        quorum_predict(model, table, 0, options, &(quorum_prediction){0}, &report);
    if (status < 0)
        return status;
    contents *c = contents_new(info, neighbours_of(info, options));
    *out = (exported){.numbers = c};
    if (!c)
        return QUORUM_OK;
    take_calibration(model, info, options, report.calibrated, &c->model);
    take_rows(table, y, c);
    find_middles(info, c);
    out->model.rows = c->model.rows;
    out->model.inputs = c->model.inputs;
    out->model.neighbours = c->model.neighbours;
    return QUORUM_OK;
}

int exported_predict(const exported *e, const double *x, double answer[4])
{
    const contents *c = e->numbers;
    qx_space s = qx_lay_out(&c->model, c->space, c->places);
    qx_found found;
    qx_answer told;
    int failed = qx_find(&c->model, x, &s, &found);
    if (failed)
        return failed;
    qx_tell(&c->model, &found, &told);
    memcpy(answer, (double[]){told.mean, told.std, told.lower, told.upper}, 4 * sizeof *answer);
    return 0;
}

int exported_slopes(const exported *e, const double *x, double *mean, double *std)
{
    const contents *c = e->numbers;
    size_t n = c->model.neighbours, D = c->model.inputs;
    qx_space s = qx_lay_out(&c->model, c->space, c->places);
    qx_weights w = {c->slopes, c->slopes + n};
    double *dx = c->slopes + 2 * n, *dz = dx + D, *plain = dz + D;
    qx_found found;
    int failed = qx_find(&c->model, x, &s, &found);
    if (failed)
        return failed;
    qx_weigh(&c->model, &s, &w);
    memset(dx, 0, D * sizeof *dx);
    for (size_t d = 0; d < D; d++) {
        qx_answer slope;
        dx[d] = 1.0;
        qx_change change = qx_change_along(&c->model, dx, &s, &w, dz, plain);
        qx_slope(&c->model, &found, &change, &slope);
        dx[d] = 0.0;
        mean[d] = slope.mean;
        std[d] = slope.std;
    }
    return 0;
}

/* ---- The file ---- */

/* With 17 digits a number is read back as it is. */
static void write_array(const char *name, size_t n, const double *values, FILE *file)
{
    fprintf(file, "static const double %s[%zu] = {", name, n);
    for (size_t i = 0; i < n; i++)
        fprintf(file, "%s%.17g", i == 0 ? "\n    " : i % 4 ? ", " : ",\n    ", values[i]);
    fprintf(file, "\n};\n");
}

/* A name inside a comment, which it must not end, nor begin another. */
static void write_comment(const char *name, FILE *file)
{
    for (; *name; name++) {
        fputc(*name == '\n' || *name == '\r' ? ' ' : *name, file);
        if ((*name == '*' && name[1] == '/') || (*name == '/' && name[1] == '*'))
            fputc(' ', file);
    }
}

void exported_write_inputs(const quorum_info *info, FILE *file)
{
    for (size_t d = 0; d < info->inputs; d++) {
        fprintf(file, " *     x[%zu]  ", d);
        write_comment(info->names[d], file);
        fputc('\n', file);
    }
    fprintf(file, " * and what is predicted is ");
    write_comment(info->names[info->inputs], file);
    fprintf(file, ". */\n\n");
}

static void write_head(const quorum_info *info, const char *name, const char *upper, FILE *file)
{
    fprintf(file,
            "/* Made by 'quorum export-c' of quorum %s: %zu rows, %zu inputs.  C99 and libm only; "
            "nothing is\n * allocated.\n *\n"
            " *     int %s_predict(const double x[%zu], double *mean, double *std, double *lower, "
            "double *upper);\n *\n"
            " * gives 0, or 1 where there is no answer; any of the four may be NULL.  It works in "
            "memory of this\n"
            " * file, one call at a time.  With -D%s_MAIN it is a program: lines of inputs in, "
            "lines of\n * mean, std, lower and upper out.\n *\n * x is\n",
            quorum_version(), info->rows, info->inputs, name, info->inputs, upper);
    exported_write_inputs(info, file);
}

static void write_arrays(const qx_model *m, FILE *file)
{
    size_t D = m->inputs;
    fprintf(file, "\n/* ---- The model ---- */\n\n");
    write_array("qx_x_mean", D, m->x_mean, file);
    write_array("qx_x_scale", D, m->x_scale, file);
    write_array("qx_lengthscale", D, m->lengthscale, file);
    if (m->bend_width) {
        write_array("qx_bend_at", D, m->bend_at, file);
        write_array("qx_bend_width", D, m->bend_width, file);
    }
    if (m->rotation)
        write_array("qx_rotation", D * D, m->rotation, file);
    write_array("qx_Z", m->rows * D, m->Z, file);
    write_array("qx_y", m->rows, m->y, file);
    write_array("qx_middle", m->parts * D, m->middle, file);
}

static void write_model(const qx_model *m, FILE *file)
{
    fprintf(file,
            "static const qx_model qx_this = {\n"
            "    %zu, %zu, %zu, /* rows, inputs, neighbours */\n"
            "    %d, %d, %.17g, %.17g, /* kernel, scales, share, reach */\n"
            "    %.17g, %.17g, %d, /* signal, noise, local_noise */\n"
            "    %.17g, %.17g, %.17g, /* spread, untested, surrounded */\n"
            "    %.17g, %.17g, %.17g, /* y_mean, y_scale, scale */\n"
            "    %.17g, %.17g, /* lower, upper */\n"
            "    %d, %.17g, /* is_log, shift */\n"
            "    qx_x_mean, qx_x_scale, qx_lengthscale, %s, %s, qx_Z, qx_y, qx_middle, "
            "%zu\n};\n",
            m->rows, m->inputs, m->neighbours, m->kernel, m->scales, m->share, m->reach, m->signal,
            m->noise, m->local_noise, m->spread, m->untested, m->surrounded, m->y_mean, m->y_scale,
            m->scale, m->lower, m->upper, m->is_log, m->shift,
            m->bend_width ? "qx_bend_at, qx_bend_width" : "NULL, NULL",
            m->rotation ? "qx_rotation" : "NULL", m->parts);
}

static void write_functions(const qx_model *m, const char *name, const char *upper, FILE *file)
{
    fprintf(file,
            "static double qx_numbers[QX_NUMBERS(%zu, %zu)];\nstatic size_t qx_places[%zu];\n",
            m->neighbours, m->inputs, m->neighbours);
    fprintf(file,
            "\nint %s_predict(const double *x, double *mean, double *std, double *lower, double "
            "*upper);\n"
            "int %s_predict(const double *x, double *mean, double *std, double *lower, double "
            "*upper)\n{\n"
            "    qx_space space = qx_lay_out(&qx_this, qx_numbers, qx_places);\n"
            "    qx_found found;\n    qx_answer told;\n"
            "    if (qx_find(&qx_this, x, &space, &found))\n        return 1;\n"
            "    qx_tell(&qx_this, &found, &told);\n"
            "    if (mean)\n        *mean = told.mean;\n"
            "    if (std)\n        *std = told.std;\n"
            "    if (lower)\n        *lower = told.lower;\n"
            "    if (upper)\n        *upper = told.upper;\n"
            "    return 0;\n}\n",
            name, name);
    fprintf(
        file,
        "\n#ifdef %s_MAIN\n#include <stdio.h>\n\nint main(void)\n{\n"
        "    double x[%zu], mean, std, lower, upper;\n"
        "    for (size_t d = 0; scanf(\"%%lf%%*[, ]\", &x[d]) == 1;)\n"
        "        if (++d == %zu) {\n            d = 0;\n"
        "            if (%s_predict(x, &mean, &std, &lower, &upper))\n                return 1;\n"
        "            printf(\"%%.17g %%.17g %%.17g %%.17g\\n\", mean, std, lower, upper);\n"
        "        }\n    return 0;\n}\n#endif\n",
        upper, m->inputs, m->inputs, name);
}

void exported_write_model(const exported *e, FILE *file)
{
    const qx_model *m = &((const contents *)e->numbers)->model;
    write_arrays(m, file);
    write_model(m, file);
}

void exported_write(const exported *e, const quorum_info *info, const char *name, FILE *file)
{
    const qx_model *m = &((const contents *)e->numbers)->model;
    char upper[64];
    size_t n = strlen(name) < sizeof upper - 1 ? strlen(name) : sizeof upper - 1;
    for (size_t i = 0; i < n; i++)
        upper[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 'a' + 'A' : name[i]);
    upper[n] = '\0';
    write_head(info, name, upper, file);
    fputs(predictor_text, file);
    exported_write_model(e, file);
    write_functions(m, name, upper, file);
}
