/* What the files of the binding share: R's values in, the library's calls, a reply out.
 *
 * Every routine returns a reply, list(status, kind, sentence, value), and never raises an R error
 * for what the library refuses: R/reply.R does, with a class.  What is not R's (options, models) hangs on
 * external pointers with finalizers, so that an error of R in between loses nothing.  Matrices
 * come and go as inputs x rows: R's columns are then the library's rows. */
#ifndef BINDING_H
#define BINDING_H

#include <quorum.h>

#define R_NO_REMAP
#define STRICT_R_HEADERS
#include <R.h>
#include <Rinternals.h>

#include <setjmp.h>

/* ---- reply.c ------------------------------------------------------------ */
SEXP reply(quorum_status status, SEXP value);  /* with this thread's last sentence     */
SEXP text(const char *utf8);                   /* of NULL: NULL                        */
SEXP texts(const char *const *utf8, size_t n); /* of NULL: NULL                        */
SEXP reals(const double *values, size_t n);    /* of NULL: NULL                        */
SEXP counts(const size_t *values, size_t n);   /* as doubles; of NULL: NULL            */
SEXP member(SEXP list, const char *name);      /* R_NilValue: there is none            */
double *reals_of(SEXP values);                 /* of NULL: NULL                        */
char *copy_of(const char *bytes);              /* until the routine returns */
char *utf8_of(SEXP texts, R_xlen_t i);         /* until the routine returns; NA: NULL  */
char **utf8s_of(SEXP texts);                   /* likewise; of NULL: NULL              */

/* A list that is filled one name after another. */
typedef struct {
    SEXP values, names;
    int used;
} named_list;

named_list new_list(int size); /* leaves two values protected */
void put(named_list *list, const char *name, SEXP value);

/* ---- handle.c: a model as a value of R ---------------------------------- */
void register_handle(DllInfo *library);
SEXP new_handle(void);                             /* of no model yet                      */
void give_model(SEXP handle, quorum_model *model); /* which it owns from now on            */
quorum_model *model_of(SEXP handle, SEXP target);  /* target from 0; an R error: gone      */

/* ---- watch.c: progress and interrupts during a call --------------------- */
typedef struct {
    quorum_options *options;
    SEXP say;   /* a function of stage, fraction and detail, or NULL */
    SEXP token; /* of the unwinding that waits until the library has returned */
    jmp_buf back;
    int unwinding;
    const char *stage, *detail;
    double fraction;
} watch;

quorum_options *options_of(SEXP options);
void start_watch(watch *w, SEXP options, SEXP say); /* leaves one value protected */
void end_watch(watch *w);                           /* does not return where R unwinds */

/* ---- the routines of init.c --------------------------------------------- */
SEXP qr_version(void);
SEXP qr_option_table(void);
SEXP qr_options(SEXP names, SEXP values);
SEXP qr_fit(SEXP data, SEXP options, SEXP say);
SEXP qr_load(SEXP path, SEXP options, SEXP say);
SEXP qr_save(SEXP handle, SEXP target, SEXP path);
SEXP qr_copy(SEXP handle, SEXP target, SEXP path);
SEXP qr_targets(SEXP handle);
SEXP qr_info(SEXP handle, SEXP target);
SEXP qr_training_rows(SEXP handle, SEXP target);
SEXP qr_inputs(SEXP handle, SEXP target, SEXP table);
SEXP qr_predict(SEXP handle, SEXP target, SEXP X, SEXP options, SEXP wanted, SEXP given, SEXP say);
SEXP qr_sample(SEXP handle, SEXP target, SEXP X, SEXP options, SEXP count, SEXP say);
SEXP qr_update(SEXP handle, SEXP rows, SEXP window, SEXP options, SEXP say);

#endif
