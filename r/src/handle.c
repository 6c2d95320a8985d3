/* A model as a value of R: a raw vector of no length whose class is ours (ALTREP), so that saveRDS,
 * save and clusters, which know nothing of the library, keep the model as the bytes of its file.
 *
 *   data1   external pointer to the model, freed by its finalizer */
#include "binding.h"

#include <R_ext/Altrep.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static R_altrep_class_t handle_class;

static void free_model(SEXP pointer)
{
    quorum_model_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

SEXP new_handle(void)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, free_model, TRUE);
    SEXP handle = R_new_altrep(handle_class, pointer, R_NilValue);
    UNPROTECT(1);
    return handle;
}

void give_model(SEXP handle, quorum_model *model)
{
    R_SetExternalPtrAddr(R_altrep_data1(handle), model);
}

static quorum_model *own_model(SEXP handle)
{
    quorum_model *model = ALTREP(handle) && R_altrep_inherits(handle, handle_class)
                              ? R_ExternalPtrAddr(R_altrep_data1(handle))
                              : NULL;
    if (!model)
        Rf_error("this object has no model any more: fit it again, or read it by quorum_load");
    return model;
}

quorum_model *model_of(SEXP handle, SEXP target)
{
    quorum_model *model = quorum_model_target(own_model(handle), (size_t)Rf_asInteger(target));
    if (!model)
        Rf_error("this object is of a target that its model does not have");
    return model;
}

/* ---- files -------------------------------------------------------------- */

SEXP qr_save(SEXP handle, SEXP target, SEXP path)
{
    return reply(quorum_save(model_of(handle, target), Rf_translateChar(STRING_ELT(path, 0))),
                 R_NilValue);
}

SEXP qr_load(SEXP path, SEXP options, SEXP say)
{
    SEXP handle = PROTECT(new_handle());
    quorum_model *model = NULL;
    watch w;
    start_watch(&w, options, say);
    quorum_status status =
        quorum_load_with(Rf_translateChar(STRING_ELT(path, 0)), w.options, &model);
    give_model(handle, model);
    SEXP out = PROTECT(reply(status, handle));
    end_watch(&w);
    UNPROTECT(3);
    return out;
}

/* A model of its own with the same content, by way of a file at `path`, which is left there. */
SEXP qr_copy(SEXP handle, SEXP target, SEXP path)
{
    SEXP copy = PROTECT(new_handle());
    const char *file = Rf_translateChar(STRING_ELT(path, 0));
    quorum_model *model = NULL;
    quorum_status status = quorum_save(model_of(handle, target), file);
    if (status >= 0)
        status = quorum_load(file, &model);
    give_model(copy, model);
    SEXP out = reply(status, copy);
    UNPROTECT(1);
    return out;
}

SEXP qr_targets(SEXP handle)
{
    return Rf_ScalarInteger((int)quorum_model_targets(own_model(handle)));
}

/* ---- R's own serialization ---------------------------------------------- */

/* The name of a file that is not there yet, in R's directory for such; until the routine returns. */
static const char *temporary_file(void)
{
    SEXP name = PROTECT(R_ParseEvalString("tempfile(fileext = '.npz')", R_BaseEnv));
    char *path = copy_of(Rf_translateChar(STRING_ELT(name, 0)));
    UNPROTECT(1);
    return path;
}

/* The file's bytes, or R_NilValue. */
static SEXP read_bytes(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return R_NilValue;
    SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)about.st_size));
    FILE *file = fopen(path, "rb");
    size_t found = file ? fread(RAW(bytes), 1, (size_t)about.st_size, file) : 0;
    if (file)
        fclose(file);
    UNPROTECT(1);
    return file && found == (size_t)about.st_size ? bytes : R_NilValue;
}

static int write_bytes(const char *path, SEXP bytes)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return 0;
    size_t size = (size_t)Rf_xlength(bytes), written = fwrite(RAW(bytes), 1, size, file);
    return (fclose(file) == 0) & (written == size);
}

static SEXP serialized_state(SEXP handle)
{
    const char *path = temporary_file();
    if (quorum_save(own_model(handle), path) < 0)
        Rf_error("the model cannot be kept: %s", quorum_message());
    SEXP bytes = PROTECT(read_bytes(path));
    unlink(path);
    if (Rf_isNull(bytes))
        Rf_error("the model cannot be kept: %s cannot be read", path);
    UNPROTECT(1);
    return bytes;
}

static SEXP unserialize(SEXP class, SEXP bytes)
{
    (void)class;
    SEXP handle = PROTECT(new_handle());
    const char *path = temporary_file();
    quorum_model *model = NULL;
    int there = write_bytes(path, bytes);
    quorum_status status = there ? quorum_load(path, &model) : QUORUM_OK;
    unlink(path);
    if (!there)
        Rf_error("the model cannot be read: %s cannot be written", path);
    if (status < 0)
        Rf_error("the model cannot be read: %s", quorum_message());
    give_model(handle, model);
    UNPROTECT(1);
    return handle;
}

/* ---- as a vector -------------------------------------------------------- */

static R_xlen_t length(SEXP handle)
{
    (void)handle;
    return 0;
}

static void *data_pointer(SEXP handle, Rboolean writable)
{
    static Rbyte none;
    (void)handle;
    (void)writable;
    return &none;
}

/* Nothing in R changes a model: a copy is the same one. */
static SEXP duplicate(SEXP handle, Rboolean deep)
{
    (void)deep;
    return handle;
}

void register_handle(DllInfo *library)
{
    handle_class = R_make_altraw_class("quorum_model", "quorum", library);
    R_set_altrep_Length_method(handle_class, length);
    R_set_altrep_Duplicate_method(handle_class, duplicate);
    R_set_altrep_Serialized_state_method(handle_class, serialized_state);
    R_set_altrep_Unserialize_method(handle_class, unserialize);
    R_set_altvec_Dataptr_method(handle_class, data_pointer);
}
