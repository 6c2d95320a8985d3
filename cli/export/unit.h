/* The predictor as a unit of FMI 2.0, for model exchange and co-simulation: a map without states, whose outputs
 * follow its inputs at once.  Behind export/fmi2.h, predictor.h, slopes.h and the numbers qx_this, it wants
 *
 *   QX_GUID, QX_INPUTS, QX_NEIGHBOURS      and qx_start (inputs): the inputs' first values
 *
 * Variables 0 .. QX_INPUTS - 1 are the inputs; then mean, std, lower, upper.  An instance's memory is its own: any number may
 * work at a time, each in one thread. */
#include <stdlib.h>
#include <string.h>

enum { QX_OUTPUTS = 4 };

typedef struct {
    double x[QX_INPUTS];
    double time;
} qx_inside; /* all that a state is */

typedef struct {
    qx_inside now;
    int is_known, is_weighed; /* the answer; what its derivatives need */
    qx_found found;
    double answer[QX_OUTPUTS];
    double numbers[QX_NUMBERS(QX_NEIGHBOURS, QX_INPUTS)];
    double alpha[QX_NEIGHBOURS], gamma[QX_NEIGHBOURS];
    size_t places[QX_NEIGHBOURS];
    fmi2CallbackFunctions functions;
    char *name;
} qx_unit;

static fmi2Status qx_refuse(const qx_unit *u, const char *message)
{
    if (u && u->functions.logger)
        u->functions.logger(u->functions.componentEnvironment, u->name, fmi2Error, "logStatusError",
                            "%s", message);
    return fmi2Error;
}

static void qx_begin(qx_unit *u)
{
    memcpy(u->now.x, qx_start, sizeof u->now.x);
    u->now.time = 0.0;
    u->is_known = u->is_weighed = 0;
}

static void qx_spell(const qx_answer *from, double out[QX_OUTPUTS])
{
    out[0] = from->mean;
    out[1] = from->std;
    out[2] = from->lower;
    out[3] = from->upper;
}

static fmi2Status qx_ask(qx_unit *u)
{
    qx_space s = qx_lay_out(&qx_this, u->numbers, u->places);
    qx_answer answer;
    if (u->is_known)
        return fmi2OK;
    if (qx_find(&qx_this, u->now.x, &s, &u->found))
        return qx_refuse(u, "there is no answer: an input is not a finite number");
    qx_tell(&qx_this, &u->found, &answer);
    qx_spell(&answer, u->answer);
    u->is_known = 1;
    u->is_weighed = 0;
    return fmi2OK;
}

/* ---- Life ---- */

const char *FMI2(GetTypesPlatform)(void)
{
    return "default";
}

const char *FMI2(GetVersion)(void)
{
    return "2.0";
}

fmi2Component FMI2(Instantiate)(fmi2String instance, fmi2Type type, fmi2String guid,
                                fmi2String resources, const fmi2CallbackFunctions *functions,
                                fmi2Boolean visible, fmi2Boolean logging)
{
    static const fmi2CallbackFunctions none = {NULL, NULL, NULL, NULL, NULL};
    qx_unit early;
    (void)type, (void)resources, (void)visible, (void)logging;
    early.functions = functions ? *functions : none;
    early.name = (char *)"";
    if (!instance || !*instance) {
        qx_refuse(&early, "an instance needs a name");
        return NULL;
    }
    early.name = (char *)instance;
    if (!guid || strcmp(guid, QX_GUID) != 0) {
        qx_refuse(&early, "modelDescription.xml is that of another unit: its guid is not " QX_GUID);
        return NULL;
    }
    qx_unit *u = calloc(1, sizeof *u);
    char *name = malloc(strlen(instance) + 1);
    if (!u || !name) {
        free(u);
        free(name);
        qx_refuse(&early, "out of memory");
        return NULL;
    }
    u->functions = early.functions;
    u->name = strcpy(name, instance);
    qx_begin(u);
    return u;
}

void FMI2(FreeInstance)(fmi2Component c)
{
    qx_unit *u = c;
    if (!u)
        return;
    free(u->name);
    free(u);
}

fmi2Status FMI2(SetDebugLogging)(fmi2Component c, fmi2Boolean on, size_t n,
                                 const fmi2String *categories)
{
    (void)on, (void)n,
        (void)categories; /* errors are told in any case, and there is nothing else to tell */
    return c ? fmi2OK : fmi2Error;
}

fmi2Status FMI2(SetupExperiment)(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance,
                                 fmi2Real start, fmi2Boolean has_stop, fmi2Real stop)
{
    qx_unit *u = c;
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    if (!u)
        return fmi2Error;
    u->now.time = start;
    return fmi2OK;
}

fmi2Status FMI2(EnterInitializationMode)(fmi2Component c)
{
    return c ? fmi2OK : fmi2Error;
}

fmi2Status FMI2(ExitInitializationMode)(fmi2Component c)
{
    return c ? fmi2OK : fmi2Error;
}

fmi2Status FMI2(Terminate)(fmi2Component c)
{
    return c ? fmi2OK : fmi2Error;
}

fmi2Status FMI2(Reset)(fmi2Component c)
{
    if (!c)
        return fmi2Error;
    qx_begin(c);
    return fmi2OK;
}

/* ---- Variables ---- */

fmi2Status FMI2(GetReal)(fmi2Component c, const fmi2ValueReference *vr, size_t n, fmi2Real *value)
{
    qx_unit *u = c;
    if (!u)
        return fmi2Error;
    for (size_t i = 0; i < n; i++) {
        if (vr[i] >= QX_INPUTS + QX_OUTPUTS)
            return qx_refuse(u, "there is no such variable to get");
        if (vr[i] >= QX_INPUTS && qx_ask(u) != fmi2OK)
            return fmi2Error;
        value[i] = vr[i] < QX_INPUTS ? u->now.x[vr[i]] : u->answer[vr[i] - QX_INPUTS];
    }
    return fmi2OK;
}

fmi2Status FMI2(SetReal)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                         const fmi2Real *value)
{
    qx_unit *u = c;
    if (!u)
        return fmi2Error;
    for (size_t i = 0; i < n; i++) {
        if (vr[i] >= QX_INPUTS)
            return qx_refuse(u, "only inputs can be set");
        if (u->now.x[vr[i]] != value[i])
            u->is_known = 0;
        u->now.x[vr[i]] = value[i];
    }
    return fmi2OK;
}

/* Of these there are none. */
static fmi2Status qx_none(fmi2Component c, size_t n, const char *message)
{
    return !c ? fmi2Error : n == 0 ? fmi2OK : qx_refuse(c, message);
}

fmi2Status FMI2(GetInteger)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                            fmi2Integer *value)
{
    (void)vr, (void)value;
    return qx_none(c, n, "there are no variables that are integers");
}

fmi2Status FMI2(GetBoolean)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                            fmi2Boolean *value)
{
    (void)vr, (void)value;
    return qx_none(c, n, "there are no variables that are Boolean");
}

fmi2Status FMI2(GetString)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                           fmi2String *value)
{
    (void)vr, (void)value;
    return qx_none(c, n, "there are no variables that are strings");
}

fmi2Status FMI2(SetInteger)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                            const fmi2Integer *value)
{
    (void)vr, (void)value;
    return qx_none(c, n, "there are no variables that are integers");
}

fmi2Status FMI2(SetBoolean)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                            const fmi2Boolean *value)
{
    (void)vr, (void)value;
    return qx_none(c, n, "there are no variables that are Boolean");
}

fmi2Status FMI2(SetString)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                           const fmi2String *value)
{
    (void)vr, (void)value;
    return qx_none(c, n, "there are no variables that are strings");
}

/* ---- Derivatives ---- */

/* dx (inputs) of the named inputs' changes. */
static fmi2Status qx_take_change(qx_unit *u, const fmi2ValueReference *known, size_t knowns,
                                 const fmi2Real *change, double *dx)
{
    memset(dx, 0, QX_INPUTS * sizeof *dx);
    for (size_t i = 0; i < knowns; i++) {
        if (known[i] >= QX_INPUTS)
            return qx_refuse(u, "derivatives are by inputs only");
        dx[known[i]] += change[i];
    }
    return fmi2OK;
}

/* The outputs' derivatives along dx (inputs). */
static void qx_turn(qx_unit *u, const double *dx, double slopes[QX_OUTPUTS])
{
    qx_space s = qx_lay_out(&qx_this, u->numbers, u->places);
    qx_weights w;
    double dz[QX_INPUTS], plain[QX_INPUTS];
    qx_answer slope;
    w.alpha = u->alpha;
    w.gamma = u->gamma;
    if (!u->is_weighed)
        qx_weigh(&qx_this, &s, &w);
    u->is_weighed = 1;
    qx_change change = qx_change_along(&qx_this, dx, &s, &w, dz, plain);
    qx_slope(&qx_this, &u->found, &change, &slope);
    qx_spell(&slope, slopes);
}

fmi2Status FMI2(GetDirectionalDerivative)(fmi2Component c, const fmi2ValueReference *unknown,
                                          size_t unknowns, const fmi2ValueReference *known,
                                          size_t knowns, const fmi2Real *change, fmi2Real *out)
{
    qx_unit *u = c;
    double dx[QX_INPUTS], slopes[QX_OUTPUTS];
    if (!u || qx_take_change(u, known, knowns, change, dx) != fmi2OK || qx_ask(u) != fmi2OK)
        return fmi2Error;
    qx_turn(u, dx, slopes);
    for (size_t i = 0; i < unknowns; i++) {
        if (unknown[i] < QX_INPUTS || unknown[i] >= QX_INPUTS + QX_OUTPUTS)
            return qx_refuse(u, "derivatives are of outputs only");
        out[i] = slopes[unknown[i] - QX_INPUTS];
    }
    return fmi2OK;
}

/* ---- What an instance holds, to be put back later ---- */

fmi2Status FMI2(GetFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    qx_unit *u = c;
    if (!u || !state)
        return fmi2Error;
    if (!*state)
        *state = malloc(sizeof u->now);
    if (!*state)
        return qx_refuse(u, "out of memory");
    memcpy(*state, &u->now, sizeof u->now);
    return fmi2OK;
}

fmi2Status FMI2(SetFMUstate)(fmi2Component c, fmi2FMUstate state)
{
    qx_unit *u = c;
    if (!u || !state)
        return fmi2Error;
    memcpy(&u->now, state, sizeof u->now);
    u->is_known = u->is_weighed = 0;
    return fmi2OK;
}

fmi2Status FMI2(FreeFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    if (!c || !state)
        return fmi2Error;
    free(*state);
    *state = NULL;
    return fmi2OK;
}

fmi2Status FMI2(SerializedFMUstateSize)(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    (void)state;
    *size = sizeof(qx_inside);
    return c ? fmi2OK : fmi2Error;
}

fmi2Status FMI2(SerializeFMUstate)(fmi2Component c, fmi2FMUstate state, fmi2Byte *bytes,
                                   size_t size)
{
    if (!c || !state)
        return fmi2Error;
    if (size < sizeof(qx_inside))
        return qx_refuse(c, "there is no room for a state");
    memcpy(bytes, state, sizeof(qx_inside));
    return fmi2OK;
}

fmi2Status FMI2(DeSerializeFMUstate)(fmi2Component c, const fmi2Byte *bytes, size_t size,
                                     fmi2FMUstate *state)
{
    if (!c || !state)
        return fmi2Error;
    if (size != sizeof(qx_inside))
        return qx_refuse(c, "these bytes are no state of this unit");
    if (!*state)
        *state = malloc(sizeof(qx_inside));
    if (!*state)
        return qx_refuse(c, "out of memory");
    memcpy(*state, bytes, sizeof(qx_inside));
    return fmi2OK;
}

/* ---- Model exchange: no states, no events ---- */

fmi2Status FMI2(EnterEventMode)(fmi2Component c)
{
    return c ? fmi2OK : fmi2Error;
}

fmi2Status FMI2(NewDiscreteStates)(fmi2Component c, fmi2EventInfo *info)
{
    static const fmi2EventInfo nothing = {0, 0, 0, 0, 0, 0.0};
    *info = nothing;
    return c ? fmi2OK : fmi2Error;
}

fmi2Status FMI2(EnterContinuousTimeMode)(fmi2Component c)
{
    return c ? fmi2OK : fmi2Error;
}

fmi2Status FMI2(CompletedIntegratorStep)(fmi2Component c, fmi2Boolean keeps, fmi2Boolean *event,
                                         fmi2Boolean *terminate)
{
    (void)keeps;
    *event = *terminate = 0;
    return c ? fmi2OK : fmi2Error;
}

fmi2Status FMI2(SetTime)(fmi2Component c, fmi2Real time)
{
    qx_unit *u = c;
    if (!u)
        return fmi2Error;
    u->now.time = time;
    return fmi2OK;
}

fmi2Status FMI2(SetContinuousStates)(fmi2Component c, const fmi2Real *x, size_t n)
{
    (void)x;
    return qx_none(c, n, "there are no states");
}

fmi2Status FMI2(GetDerivatives)(fmi2Component c, fmi2Real *x, size_t n)
{
    (void)x;
    return qx_none(c, n, "there are no states");
}

fmi2Status FMI2(GetEventIndicators)(fmi2Component c, fmi2Real *x, size_t n)
{
    (void)x;
    return qx_none(c, n, "there are no events");
}

fmi2Status FMI2(GetContinuousStates)(fmi2Component c, fmi2Real *x, size_t n)
{
    (void)x;
    return qx_none(c, n, "there are no states");
}

fmi2Status FMI2(GetNominalsOfContinuousStates)(fmi2Component c, fmi2Real *x, size_t n)
{
    (void)x;
    return qx_none(c, n, "there are no states");
}

/* ---- Co-simulation: a step takes the time along ---- */

fmi2Status FMI2(SetRealInputDerivatives)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                                         const fmi2Integer *order, const fmi2Real *value)
{
    (void)vr, (void)order, (void)value;
    return qx_none(c, n, "inputs are not interpolated");
}

fmi2Status FMI2(GetRealOutputDerivatives)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                                          const fmi2Integer *order, fmi2Real *value)
{
    (void)vr, (void)order, (void)value;
    return qx_none(c, n, "outputs have no derivatives by time");
}

fmi2Status FMI2(DoStep)(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean keeps)
{
    qx_unit *u = c;
    (void)keeps;
    if (!u || qx_ask(u) != fmi2OK)
        return fmi2Error;
    u->now.time = time + step;
    return fmi2OK;
}

fmi2Status FMI2(CancelStep)(fmi2Component c)
{
    return qx_refuse(c, "a step is done when fmi2DoStep returns");
}

fmi2Status FMI2(GetStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)kind;
    *value = fmi2OK;
    return c ? fmi2Discard : fmi2Error; /* a step is never under way */
}

fmi2Status FMI2(GetRealStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    const qx_unit *u = c;
    if (!u)
        return fmi2Error;
    *value = u->now.time;
    return kind == fmi2LastSuccessfulTime ? fmi2OK : fmi2Discard;
}

fmi2Status FMI2(GetIntegerStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)kind;
    *value = 0;
    return c ? fmi2Discard : fmi2Error;
}

fmi2Status FMI2(GetBooleanStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    *value = 0;
    return !c ? fmi2Error : kind == fmi2Terminated ? fmi2OK : fmi2Discard;
}

fmi2Status FMI2(GetStringStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    (void)kind;
    *value = "";
    return c ? fmi2Discard : fmi2Error;
}
