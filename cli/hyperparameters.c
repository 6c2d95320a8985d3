/* Names of inputs and hyperparameters, and hyperparameters in the units of the user's columns. */
#include "hyperparameters.h"

#include "io/plain_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

name_text input_name(const quorum_info *info, size_t d)
{
    name_text name;
    if (info->names)
        plain_text_copy(name.text, sizeof name.text, info->names[d]);
    else
        snprintf(name.text, sizeof name.text, "x%zu", d + 1);
    return name;
}

const char *target_name(const quorum_info *info)
{
    return info->names ? info->names[info->inputs] : "y";
}

shown_text target_unit(const quorum_info *info)
{
    char unit[2048];
    if (strcmp(info->warp, "none") == 0)
        return shown(target_name(info));
    if (info->warp_shift == 0.0)
        snprintf(unit, sizeof unit, "log(%s)", target_name(info));
    else
        snprintf(unit, sizeof unit, "log(%s + %.4g)", target_name(info), info->warp_shift);
    return shown(unit);
}

name_text hyperparameter_name(const quorum_info *info, size_t i)
{
    static const char *const others[] = {"signal_variance", "noise_variance", "long_share",
                                         "long_reach"};
    name_text name;
    snprintf(name.text, sizeof name.text, "%s",
             i < info->inputs ? "lengthscale:" : others[i - info->inputs]);
    size_t used = strlen(name.text);
    if (i < info->inputs && info->rotation)
        snprintf(name.text + used, sizeof name.text - used, "direction %zu", i + 1);
    else if (i < info->inputs)
        plain_text_copy(name.text + used, sizeof name.text - used, input_name(info, i).text);
    return name;
}

bool is_apart(const quorum_info *info, size_t d)
{
    return info->first_level && info->first_level[d] > 0;
}

bool is_level(const quorum_info *info, size_t d)
{
    for (size_t c = 0; info->first_level && c < info->columns; c++)
        if (is_apart(info, c) && d >= info->first_level[c] &&
            d - info->first_level[c] < info->levels[c])
            return true;
    return false;
}

bool is_flat(const quorum_info *info, size_t d)
{
    return !info->rotation && info->at_bound[d] > 0;
}

bool is_of_place(const quorum_info *info, size_t d)
{
    return info->place > 0 && (d == info->longitude || d == info->latitude);
}

bool tells_nothing(const quorum_info *info, size_t d)
{
    return info->levels && info->levels[d] > 1 && info->constant[d] && !is_apart(info, d);
}

static bool is_constant(const quorum_info *info, size_t d)
{
    return info->constant[d] && !is_apart(info, d) && !is_of_place(info, d) &&
           !tells_nothing(info, d);
}

static name_list names_of(const quorum_info *info, bool (*wanted)(const quorum_info *, size_t))
{
    name_list list = {""};
    for (size_t d = 0; d < info->inputs; d++) {
        size_t used = strlen(list.text);
        if (!wanted(info, d))
            continue;
        name_text name = input_name(info, d);
        bool fits = used + strlen(name.text) + 8 < sizeof list.text;
        snprintf(list.text + used, sizeof list.text - used, "%s%s", used ? ", " : "",
                 fits ? name.text : "...");
        if (!fits)
            break;
    }
    return list;
}

name_list constant_names(const quorum_info *info)
{
    return names_of(info, is_constant);
}

name_list idle_names(const quorum_info *info)
{
    return names_of(info, tells_nothing);
}

double effective_lengthscale(const quorum_info *info, size_t d)
{
    if (is_apart(info, d))
        d = info->first_level[d];
    else if (is_level(info, d))
        return INFINITY; /* its category has it */
    return info->constant[d] ? INFINITY : info->input_lengthscale[d];
}

bool is_bent(const quorum_info *info, size_t d)
{
    return info->bend_width && info->bend_width[d] > 0.0;
}

double input_unit(const quorum_info *info, size_t d)
{
    return info->x_scale[d] * (is_bent(info, d) ? info->bend_width[d] : 1.0);
}

double standardised_input(const quorum_info *info, size_t d, double x)
{
    double t = is_bent(info, d) ? asinh((x - info->bend_at[d]) / info->bend_width[d]) : x;
    return (t - info->x_mean[d]) / info->x_scale[d];
}

double input_middle(const quorum_info *info, size_t d)
{
    double t = info->x_mean[d];
    return is_bent(info, d) ? info->bend_at[d] + info->bend_width[d] * sinh(t) : t;
}

double inverse_lengthscale_share(const quorum_info *info, size_t d)
{
    double sum = 0.0;
    for (size_t i = 0; i < info->inputs; i++)
        sum += 1.0 / effective_lengthscale(info, i);
    return 1.0 / (effective_lengthscale(info, d) * sum);
}

double direction_share(const quorum_info *info, size_t k)
{
    double sum = 0.0;
    for (size_t i = 0; i < info->inputs; i++)
        sum += info->constant[i] ? 0.0 : 1.0 / info->lengthscale[i];
    return info->constant[k] ? 0.0 : 1.0 / (info->lengthscale[k] * sum);
}

bool has_scales(const quorum_info *info)
{
    return info->long_share > 0.0;
}

int count_scales(const quorum_info *info)
{
    const char *times = strrchr(info->kernel, 'x'); /* matern32x3 */
    return times ? times[1] - '0' : 1;
}

double signal_deviation(const quorum_info *info)
{
    return sqrt(info->signal_variance) * info->y_scale;
}

double noise_deviation(const quorum_info *info)
{
    return sqrt(info->noise_variance) * info->y_scale;
}
