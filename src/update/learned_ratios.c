/* Calibration that learns.  The ratios of the new rows join those of left-out rows: h old and k new ones are h + k,
 * each counting as one, of which no more than MOST_KEPT quantiles are kept.  So the old ones weigh h / (h + k),
 * and after many updates what is kept speaks of about the last MOST_KEPT rows that were predicted.
 *
 * The factor s of std makes the mean of sqrt(2) exp(-z^2 / 2 s^2) equal to 1 (calibrate/calibrate.c), rows
 * weighted by their deviations, which of old rows are no longer known.  With s_0 the solution for the old z without such
 * weights, the new s solves it for z s_old / s_0 of the old rows and z' of the new ones together: without new rows
 * it is s_old. */
#include "update/update.h"

#include "base/memory.h"
#include "calibrate/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEPT = 5000 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Old ratios times `factor`, and new ones if they are wanted, of which a mean row counts as one. */
static quorum_status gather(const change *c, double factor, int with_new, findings *f)
{
    const calibration *old = &c->m->calibration;
    const double *z = old->z ? old->z : old->ratio;
    size_t fresh = with_new ? c->report.scored : 0;
    double all = 0.0;
    *f = (findings){0};
    if (!findings_new(old->count + fresh, f))
        return failure(QUORUM_E_MEMORY, "out of memory for calibrating on %zu rows",
                       old->count + fresh);
    for (size_t i = 0; i < fresh; i++)
        all += c->weight[i] / (double)fresh;
    for (size_t i = 0; i < old->count; i++)
        findings_add(f, factor * z[i], 1.0, 1.0, 1.0);
    for (size_t i = 0; i < fresh; i++)
        findings_add(f, c->z[i], 1.0, 1.0, c->weight[i] / all);
    findings_summarise(f);
    return QUORUM_OK;
}

static quorum_status find_scale(const change *c, double factor, int with_new, double *scale)
{
    findings f;
    quorum_status status = gather(c, factor, with_new, &f);
    *scale = f.c.scale;
    findings_free(&f);
    return status;
}

/* Quantiles of the ratios at (k + 1/2) / most. */
static void thin_out(calibration *c, size_t most)
{
    if (c->count > most)
        for (size_t k = 0; k < most; k++)
            c->z[k] = c->z[(size_t)(((double)k + 0.5) / (double)most * (double)c->count)];
    c->count = c->count < most ? c->count : most;
    for (size_t i = 0; i < c->count; i++)
        c->ratio[i] = fabs(c->z[i]);
    qsort(c->ratio, c->count, sizeof *c->ratio, ascending);
}

/* Older files have ratios without signs. */
static void forget_signs(calibration *c)
{
    mem_free(c->z);
    c->z = NULL;
}

static quorum_status learn(const change *c, calibration *out)
{
    const calibration *old = &c->m->calibration;
    size_t n = c->next.rows.n, most = n < MOST_KEPT ? n : MOST_KEPT;
    double plain, scale = old->scale;
    findings f;
    if (c->report.scored > 0) {
        TRY(find_scale(c, 1.0, 0, &plain));
        TRY(find_scale(c, old->scale / plain, 1, &scale));
    }
    quorum_status status = gather(c, 1.0, 1, &f);
    if (status >= 0) {
        *out = findings_take(&f);
        out->scale = scale;
        out->unasked = old->unasked;
        thin_out(out, most);
        if (!old->z)
            forget_signs(out);
    }
    findings_free(&f);
    return status;
}

/* A calibration of one expert alone has no meaning where experts are gone. */
static int is_lost(const change *c)
{
    const calibration *old = &c->m->calibration;
    return c->next.rows.n < LEAST_HELD_OUT ||
           (old->how.chosen.kind == SELECT_ONE && c->next.M != c->m->M);
}

quorum_status change_calibrate(change *c)
{
    char text[NEIGHBOURS_TEXT];
    const calibration *old = &c->m->calibration;
    settings s = *options_values(NULL);
    if (old->count == 0 || !old->how.rule || is_lost(c))
        return QUORUM_OK;
    change_prediction(c->m, text, &s);
    TRY(learn(c, &c->next.calibration));
    return calibration_is_for(&c->next.calibration, &c->next, &s);
}
