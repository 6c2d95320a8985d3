/* What a unit of the Functional Mock-up Interface 2.0 has to offer (fmi-standard.org), as far as C needs it:
 * types, and each function with its arguments in the standard's order and under its name.
 *
 * Compiled together with other units, functions begin with the unit's name, FMI2_FUNCTION_PREFIX; a shared library has them
 * without it, by -DFMI2_OVERRIDE_FUNCTION_PREFIX. */
#include <stddef.h>

typedef void *fmi2Component, *fmi2ComponentEnvironment, *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer, fmi2Boolean;
typedef char fmi2Char, fmi2Byte;
typedef const fmi2Char *fmi2String;

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum {
    fmi2DoStepStatus,
    fmi2PendingStatus,
    fmi2LastSuccessfulTime,
    fmi2Terminated
} fmi2StatusKind;

typedef struct {
    void (*logger)(fmi2ComponentEnvironment, fmi2String instance, fmi2Status, fmi2String category,
                   fmi2String message, ...);
    void *(*allocateMemory)(size_t count, size_t size);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged,
        valuesOfContinuousStatesChanged, nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

#if defined(_WIN32)
#define FMI2_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define FMI2_EXPORT __attribute__((visibility("default")))
#else
#define FMI2_EXPORT
#endif

#if defined(FMI2_FUNCTION_PREFIX) && !defined(FMI2_OVERRIDE_FUNCTION_PREFIX)
#define FMI2_JOIN(a, b) a##b
#define FMI2_JOINED(a, b) FMI2_JOIN(a, b)
#define FMI2(name) FMI2_JOINED(FMI2_FUNCTION_PREFIX, fmi2##name)
#else
#define FMI2(name) fmi2##name
#endif

/* ---- Common ---- */

FMI2_EXPORT const char *FMI2(GetTypesPlatform)(void);
FMI2_EXPORT const char *FMI2(GetVersion)(void);
FMI2_EXPORT fmi2Component FMI2(Instantiate)(fmi2String instance, fmi2Type type, fmi2String guid,
                                            fmi2String resources,
                                            const fmi2CallbackFunctions *functions,
                                            fmi2Boolean visible, fmi2Boolean logging);
FMI2_EXPORT void FMI2(FreeInstance)(fmi2Component c);
FMI2_EXPORT fmi2Status FMI2(SetDebugLogging)(fmi2Component c, fmi2Boolean on, size_t n,
                                             const fmi2String *categories);
FMI2_EXPORT fmi2Status FMI2(SetupExperiment)(fmi2Component c, fmi2Boolean has_tolerance,
                                             fmi2Real tolerance, fmi2Real start,
                                             fmi2Boolean has_stop, fmi2Real stop);
FMI2_EXPORT fmi2Status FMI2(EnterInitializationMode)(fmi2Component c);
FMI2_EXPORT fmi2Status FMI2(ExitInitializationMode)(fmi2Component c);
FMI2_EXPORT fmi2Status FMI2(Terminate)(fmi2Component c);
FMI2_EXPORT fmi2Status FMI2(Reset)(fmi2Component c);
FMI2_EXPORT fmi2Status FMI2(GetReal)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                                     fmi2Real *value);
FMI2_EXPORT fmi2Status FMI2(GetInteger)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                                        fmi2Integer *value);
FMI2_EXPORT fmi2Status FMI2(GetBoolean)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                                        fmi2Boolean *value);
FMI2_EXPORT fmi2Status FMI2(GetString)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                                       fmi2String *value);
FMI2_EXPORT fmi2Status FMI2(SetReal)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                                     const fmi2Real *value);
FMI2_EXPORT fmi2Status FMI2(SetInteger)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                                        const fmi2Integer *value);
FMI2_EXPORT fmi2Status FMI2(SetBoolean)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                                        const fmi2Boolean *value);
FMI2_EXPORT fmi2Status FMI2(SetString)(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                                       const fmi2String *value);
FMI2_EXPORT fmi2Status FMI2(GetFMUstate)(fmi2Component c, fmi2FMUstate *state);
FMI2_EXPORT fmi2Status FMI2(SetFMUstate)(fmi2Component c, fmi2FMUstate state);
FMI2_EXPORT fmi2Status FMI2(FreeFMUstate)(fmi2Component c, fmi2FMUstate *state);
FMI2_EXPORT fmi2Status FMI2(SerializedFMUstateSize)(fmi2Component c, fmi2FMUstate state,
                                                    size_t *size);
FMI2_EXPORT fmi2Status FMI2(SerializeFMUstate)(fmi2Component c, fmi2FMUstate state, fmi2Byte *bytes,
                                               size_t size);
FMI2_EXPORT fmi2Status FMI2(DeSerializeFMUstate)(fmi2Component c, const fmi2Byte *bytes,
                                                 size_t size, fmi2FMUstate *state);
FMI2_EXPORT
fmi2Status FMI2(GetDirectionalDerivative)(fmi2Component c, const fmi2ValueReference *unknown,
                                          size_t unknowns, const fmi2ValueReference *known,
                                          size_t knowns, const fmi2Real *change, fmi2Real *out);

/* ---- Model exchange ---- */

FMI2_EXPORT fmi2Status FMI2(EnterEventMode)(fmi2Component c);
FMI2_EXPORT fmi2Status FMI2(NewDiscreteStates)(fmi2Component c, fmi2EventInfo *info);
FMI2_EXPORT fmi2Status FMI2(EnterContinuousTimeMode)(fmi2Component c);
FMI2_EXPORT fmi2Status FMI2(CompletedIntegratorStep)(fmi2Component c, fmi2Boolean keeps,
                                                     fmi2Boolean *event, fmi2Boolean *terminate);
FMI2_EXPORT fmi2Status FMI2(SetTime)(fmi2Component c, fmi2Real time);
FMI2_EXPORT fmi2Status FMI2(SetContinuousStates)(fmi2Component c, const fmi2Real *x, size_t n);
FMI2_EXPORT fmi2Status FMI2(GetDerivatives)(fmi2Component c, fmi2Real *x, size_t n);
FMI2_EXPORT fmi2Status FMI2(GetEventIndicators)(fmi2Component c, fmi2Real *x, size_t n);
FMI2_EXPORT fmi2Status FMI2(GetContinuousStates)(fmi2Component c, fmi2Real *x, size_t n);
FMI2_EXPORT fmi2Status FMI2(GetNominalsOfContinuousStates)(fmi2Component c, fmi2Real *x, size_t n);

/* ---- Co-simulation ---- */

FMI2_EXPORT fmi2Status FMI2(SetRealInputDerivatives)(fmi2Component c, const fmi2ValueReference *vr,
                                                     size_t n, const fmi2Integer *order,
                                                     const fmi2Real *value);
FMI2_EXPORT fmi2Status FMI2(GetRealOutputDerivatives)(fmi2Component c, const fmi2ValueReference *vr,
                                                      size_t n, const fmi2Integer *order,
                                                      fmi2Real *value);
FMI2_EXPORT fmi2Status FMI2(DoStep)(fmi2Component c, fmi2Real time, fmi2Real step,
                                    fmi2Boolean keeps);
FMI2_EXPORT fmi2Status FMI2(CancelStep)(fmi2Component c);
FMI2_EXPORT fmi2Status FMI2(GetStatus)(fmi2Component c, const fmi2StatusKind kind,
                                       fmi2Status *value);
FMI2_EXPORT fmi2Status FMI2(GetRealStatus)(fmi2Component c, const fmi2StatusKind kind,
                                           fmi2Real *value);
FMI2_EXPORT fmi2Status FMI2(GetIntegerStatus)(fmi2Component c, const fmi2StatusKind kind,
                                              fmi2Integer *value);
FMI2_EXPORT fmi2Status FMI2(GetBooleanStatus)(fmi2Component c, const fmi2StatusKind kind,
                                              fmi2Boolean *value);
FMI2_EXPORT fmi2Status FMI2(GetStringStatus)(fmi2Component c, const fmi2StatusKind kind,
                                             fmi2String *value);
