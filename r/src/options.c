/* Options by name, and the library's table of them. */
#include "binding.h"

#define QUOTED(value) #value
#define TEXT(value) QUOTED(value)

/* The library's version, and the header's that this was compiled with, major.minor. */
SEXP qr_version(void)
{
    const char *version[] = {quorum_version(),
                             TEXT(QUORUM_VERSION_MAJOR) "." TEXT(QUORUM_VERSION_MINOR)};
    return texts(version, 2);
}

static SEXP text_or_empty(const char *utf8)
{
    return Rf_mkCharCE(utf8 ? utf8 : "", CE_UTF8);
}

/* The table as columns: name, type, default, choices, min, max, used_by, help. */
SEXP qr_option_table(void)
{
    enum { TEXTS = 6 };
    static const char *const column[TEXTS] = {"name",    "type",    "default",
                                              "choices", "used_by", "help"};
    int n = quorum_option_count();
    named_list list = new_list(TEXTS + 2);
    for (int c = 0; c < TEXTS; c++)
        put(&list, column[c], Rf_allocVector(STRSXP, n));
    put(&list, "min", Rf_allocVector(REALSXP, n));
    put(&list, "max", Rf_allocVector(REALSXP, n));
    for (int i = 0; i < n; i++) {
        const quorum_option_info *o = quorum_option_at(i);
        const char *cell[TEXTS] = {o->name,    o->type,    o->default_value,
                                   o->choices, o->used_by, o->help};
        for (int c = 0; c < TEXTS; c++)
            SET_STRING_ELT(VECTOR_ELT(list.values, c), i, text_or_empty(cell[c]));
        REAL(VECTOR_ELT(list.values, TEXTS))[i] = o->min;
        REAL(VECTOR_ELT(list.values, TEXTS + 1))[i] = o->max;
    }
    UNPROTECT(2);
    return list.values;
}

static void free_options(SEXP pointer)
{
    quorum_options_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

quorum_options *options_of(SEXP options)
{
    return R_ExternalPtrAddr(options);
}

/* Names and values, both text. */
SEXP qr_options(SEXP names, SEXP values)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, free_options, TRUE);
    quorum_options *options = quorum_options_new();
    R_SetExternalPtrAddr(pointer, options);
    quorum_status status = options ? QUORUM_OK : QUORUM_E_MEMORY;
    for (R_xlen_t i = 0; i < Rf_xlength(names) && status >= 0; i++)
        status = quorum_options_set(options, Rf_translateCharUTF8(STRING_ELT(names, i)),
                                    Rf_translateCharUTF8(STRING_ELT(values, i)));
    SEXP out = reply(status, pointer);
    UNPROTECT(1);
    return out;
}
