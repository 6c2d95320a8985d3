/* What a model file is made of: one table of its arrays, one of the values of its meta.json
 * (members.c).  Saving, loading, the room they take (file_sizes.c), quorum_inspect and the tables
 * of docs/model-file.md all walk these two; what is irregular about a member is a function of its
 * own (array_rules.c, meta_rules.c) that its line names. */
#ifndef QRM_MODEL_MEMBERS_H
#define QRM_MODEL_MEMBERS_H

#include "archive/json.h"
#include "model/model.h"

/* ---- Format versions ---- */

/* A part that readers of earlier versions would overlook has a version of its own (the table in
 * members.c): a file is of the highest version among the parts that its model has, and may have those
 * of the versions below.  Without any it is of version 1.  Version 9 is of a file of several models,
 * one for each target, which have versions of their own.  Version 14 is of a model whose method auto is cells. */
enum {
    FORMAT_VERSION = 1,
    FORMAT_VERSION_OVERLAP = 2,
    FORMAT_VERSION_METRIC = 3,
    FORMAT_VERSION_PARTS = 4,
    FORMAT_VERSION_WARP = 5,
    FORMAT_VERSION_LEVELS = 6,
    FORMAT_VERSION_WEIGHTS = 7,
    FORMAT_VERSION_TABLE = 8,
    FORMAT_VERSION_SEVERAL = 9,
    FORMAT_VERSION_HOLES = 10,
    FORMAT_VERSION_AROUND = 11,
    FORMAT_VERSION_APART = 12,
    FORMAT_VERSION_PLACE = 13,
    FORMAT_VERSION_CELLS = 14,
    FORMAT_VERSION_BENDS = 15,
    FORMAT_VERSION_LAST = FORMAT_VERSION_BENDS
};

/* The version that a file of this model has; has_own: whether its rows, which need not be there yet,
 * have weights or known errors. */
int64_t version_needed(const quorum_model *m, int has_own);

/* Fails where a file says another. */
quorum_status version_check(int64_t said, const quorum_model *m, int has_own);

/* ---- Arrays ---- */

/* The sides of arrays, and how long each is in one model. */
typedef enum {
    NO_SIDE,
    SIDE_ROWS,
    SIDE_INPUTS,
    SIDE_EXPERTS,
    SIDE_OFFSETS,    /* one more than there are experts                               */
    SIDE_LINE,       /* one more than there are inputs                                */
    SIDE_EXTRAS,     /* these four: as the array says that has them; 0: there is none */
    SIDE_REFERENCES, /* ...                                                           */
    SIDE_HELD_OUT,   /* ... but no more than there are rows, ...                      */
    SIDE_CELLS,      /* ... and so                                                    */
    SIDES
} side;

typedef struct {
    size_t length[SIDES];
} model_sizes;

typedef enum { NUMBERS /* double */, INDICES /* size_t; one side */ } array_type;

typedef enum {
    ALWAYS,
    WITH_OVERLAP,       /* format version 2, and later where it has them */
    WITH_ROTATION,      /* format version 3, and 4 where it has one  */
    WITH_BENDS,         /* format version 15                         */
    WITH_SCALES,        /* where the kernel has several              */
    WITH_TREND,         /* format version 4 where it has one         */
    WHERE_LEARNED,      /* where the model has one                   */
    WITH_CALIBRATION,   /* where meta.json has one too               */
    WITH_SIGNED_RATIOS, /* and where the model has them              */
    WITH_CELLS          /* format version 14                         */
} presence;

enum { PRESENCES = WITH_CELLS + 1 };

typedef struct {
    const char *name;
    array_type type;
    side side[2];
    presence when;
    int of_rows;  /* 1: one entry a row, of which a process of a team has its own experts' */
    size_t place; /* in the model: of the pointer to the array, or of a number          */
    double *(*within)(const quorum_model *m); /* instead: a part of an array that is there */
    size_t shown;                             /* in quorum_info; 0: not there            */
    quorum_status (*check)(const quorum_model *m, const model_sizes *sizes); /* once read */
    int positive;        /* 1: numbers above 0 only                                        */
    double least, most;  /* most above 0: numbers from least to most only                  */
    const char *allowed; /* what is checked, in words; NULL: any finite number            */
    const char *doc;
} array_member;

enum { MOST_ARRAYS = 32 };
extern const array_member array_members[]; /* in the order of the file */
extern const int ARRAYS;

model_sizes sizes_of_model(const quorum_model *m);

/* The shape that the array has in a model of these sizes; the number of its sides. */
int array_shape(const array_member *a, const model_sizes *sizes, size_t shape[2]);

/* Where its numbers or indices are in the model; NULL: not there. */
double *numbers_of(const array_member *a, const quorum_model *m);
size_t *indices_of(const array_member *a, const quorum_model *m);

/* ---- Values of meta.json ---- */

typedef enum {
    NUMBER,  /* double */
    INTEGER, /* int    */
    COUNT,   /* size_t */
    FLAG,    /* int    */
    TEXT,    /* char * */
    OWN      /* by put and read */
} value_type;

typedef struct {
    const char *object, *key; /* the object it is in; NULL: meta.json itself                 */
    value_type type;
    size_t place, shown;                    /* as of an array */
    int (*is_there)(const quorum_model *m); /* whether it is written; NULL: always        */
    void (*put)(json_writer *w, const quorum_model *m);
    quorum_status (*read)(const json_node *value /* NULL: missing */, quorum_model *m);
    quorum_status (*check)(const quorum_model *m); /* once read                              */
    const char *kind;                              /* of an OWN value, in words              */
    const char *doc;
} meta_member;

extern const meta_member meta_members[]; /* in the order of the file */
extern const int META_MEMBERS;

/* Copies into *info what the tables have shown. */
void members_show(const quorum_model *m, quorum_info *info);

/* "the model file is damaged or was altered: what" */
quorum_status damaged(const char *what);

#endif
