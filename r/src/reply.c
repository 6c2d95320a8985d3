/* Replies, and values of R made of the library's and the other way round. */
#include "binding.h"

#include <string.h>

SEXP text(const char *utf8)
{
    return utf8 ? Rf_ScalarString(Rf_mkCharCE(utf8, CE_UTF8)) : R_NilValue;
}

SEXP texts(const char *const *utf8, size_t n)
{
    if (!utf8)
        return R_NilValue;
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
    for (size_t i = 0; i < n; i++)
        SET_STRING_ELT(out, (R_xlen_t)i, utf8[i] ? Rf_mkCharCE(utf8[i], CE_UTF8) : NA_STRING);
    UNPROTECT(1);
    return out;
}

SEXP reals(const double *values, size_t n)
{
    if (!values)
        return R_NilValue;
    SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)n);
    if (n)
        memcpy(REAL(out), values, n * sizeof(double));
    return out;
}

SEXP counts(const size_t *values, size_t n)
{
    if (!values)
        return R_NilValue;
    SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)n);
    for (size_t i = 0; i < n; i++)
        REAL(out)[i] = (double)values[i];
    return out;
}

SEXP member(SEXP list, const char *name)
{
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(names); i++)
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
            return VECTOR_ELT(list, i);
    return R_NilValue;
}

double *reals_of(SEXP values)
{
    return Rf_isNull(values) ? NULL : REAL(values);
}

char *copy_of(const char *bytes)
{
    size_t size = strlen(bytes) + 1;
    return memcpy(R_alloc(size, 1), bytes, size);
}

char *utf8_of(SEXP texts, R_xlen_t i)
{
    if (Rf_isNull(texts) || STRING_ELT(texts, i) == NA_STRING)
        return NULL;
    return copy_of(Rf_translateCharUTF8(STRING_ELT(texts, i)));
}

char **utf8s_of(SEXP texts)
{
    if (Rf_isNull(texts))
        return NULL;
    char **out = (char **)R_alloc((size_t)Rf_xlength(texts) + 1, sizeof *out);
    for (R_xlen_t i = 0; i < Rf_xlength(texts); i++)
        out[i] = utf8_of(texts, i);
    return out;
}

named_list new_list(int size)
{
    named_list list = {.used = 0};
    list.values = PROTECT(Rf_allocVector(VECSXP, size));
    list.names = PROTECT(Rf_allocVector(STRSXP, size));
    Rf_setAttrib(list.values, R_NamesSymbol, list.names);
    return list;
}

void put(named_list *list, const char *name, SEXP value)
{
    PROTECT(value);
    SET_VECTOR_ELT(list->values, list->used, value);
    SET_STRING_ELT(list->names, list->used, Rf_mkChar(name));
    list->used++;
    UNPROTECT(1);
}

SEXP reply(quorum_status status, SEXP value)
{
    PROTECT(value);
    SEXP sentence = PROTECT(status == QUORUM_OK ? R_NilValue : text(quorum_message()));
    named_list list = new_list(4);
    put(&list, "status", Rf_ScalarInteger(status));
    put(&list, "kind", text(quorum_status_name(status)));
    put(&list, "sentence", sentence);
    put(&list, "value", value);
    UNPROTECT(4);
    return list.values;
}
