/* The routines that R may call, registered by name. */
#include "binding.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define ROUTINE(name, arguments)                                                                   \
    {                                                                                              \
#name, (DL_FUNC)(void (*)(void)) & name, arguments                                         \
    }

static const R_CallMethodDef routines[] = {
    ROUTINE(qr_version, 0),       ROUTINE(qr_option_table, 0), ROUTINE(qr_options, 2),
    ROUTINE(qr_fit, 3),           ROUTINE(qr_load, 3),         ROUTINE(qr_save, 3),
    ROUTINE(qr_copy, 3),          ROUTINE(qr_targets, 1),      ROUTINE(qr_info, 2),
    ROUTINE(qr_training_rows, 2), ROUTINE(qr_inputs, 3),       ROUTINE(qr_predict, 7),
    ROUTINE(qr_sample, 6),        ROUTINE(qr_update, 5),       {NULL, NULL, 0}};

void attribute_visible R_init_quorum(DllInfo *library)
{
    R_registerRoutines(library, NULL, routines, NULL, NULL);
    R_useDynamicSymbols(library, FALSE);
    R_forceSymbols(library, TRUE);
    register_handle(library);
}
