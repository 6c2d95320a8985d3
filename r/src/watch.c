/* While a call of the library runs: R's interrupts and lines of progress.
 *
 * The library calls back from R's own thread, several times a second.  An interrupt, or an error or a
 * restart in the function that is told of progress, wants to jump out of there, across the library.
 * R_UnwindProtect stops the jump in our callback; the library is asked to stop and returns; then the
 * jump goes on (end_watch), with all handlers of R in their place. */
#include "binding.h"

static SEXP ask(void *user)
{
    const watch *w = user;
    R_CheckUserInterrupt();
    if (Rf_isNull(w->say))
        return R_NilValue;
    SEXP stage = PROTECT(text(w->stage)), detail = PROTECT(text(w->detail));
    SEXP fraction = PROTECT(Rf_ScalarReal(w->fraction));
    SEXP call = PROTECT(Rf_lang4(w->say, stage, fraction, detail));
    Rf_eval(call, R_GlobalEnv);
    UNPROTECT(4);
    return R_NilValue;
}

static void stop_jump(void *user, Rboolean jumping)
{
    watch *w = user;
    if (jumping)
        longjmp(w->back, 1);
}

static int on_progress(void *user, const char *stage, double fraction, const char *detail)
{
    watch *w = user;
    if (w->unwinding)
        return 1;
    w->stage = stage;
    w->fraction = fraction;
    w->detail = detail;
    if (setjmp(w->back)) {
        w->unwinding = 1;
        return 1;
    }
    R_UnwindProtect(ask, w, stop_jump, w, w->token);
    return 0;
}

void start_watch(watch *w, SEXP options, SEXP say)
{
    w->options = options_of(options);
    w->say = say;
    w->unwinding = 0;
    w->token = PROTECT(R_MakeUnwindCont());
    quorum_options_set_progress(w->options, on_progress, w);
}

void end_watch(watch *w)
{
    quorum_options_set_progress(w->options, NULL, NULL);
    if (w->unwinding)
        R_ContinueUnwind(w->token);
}
