/* What the fuzzing harnesses share: libFuzzer's entry points, bytes as files and as
 * choices, and the checks that every success and every failure has to pass. */
#ifndef QRM_TESTS_FUZZ_H
#define QRM_TESTS_FUZZ_H

#include "quorum.h"

#include <stddef.h>
#include <stdint.h>

/* ---- libFuzzer ---- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *two,
                                 size_t two_size, uint8_t *out, size_t max_out, unsigned seed);
extern size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* ---- Checks ---- */

/* Says what does not hold, and aborts: libFuzzer keeps the input. */
#define REQUIRE(condition) require((condition), #condition, __FILE__, __LINE__)
void require(int condition, const char *what, const char *file, int line);

/* Options in use, which REQUIRE prints where they are not the defaults; NULL: none. */
extern const quorum_options *options_in_use;

/* A failure has a sentence and is no defect of quorum's own. */
void require_failure(quorum_status status);

/* count finite numbers; count numbers that are all NaN. */
void require_finite(const double *x, size_t count);
void require_nan(const double *x, size_t count);

/* ---- Files ---- */

/* The bytes as a file in memory; the path holds until the next call with this slot. */
enum { FILE_SLOTS = 2 };
const char *file_of(int slot, const uint8_t *data, size_t size);

/* A name in a directory of this process's own under $TMPDIR or /dev/shm. */
const char *private_path(const char *name);

/* The whole file, to be freed. */
uint8_t *read_whole(const char *path, size_t *size);

/* ---- Bytes as choices ---- */

typedef struct {
    const uint8_t *at;
    size_t left;
} choices;

unsigned take_byte(choices *c);            /* 0 when none is left                        */
unsigned take_below(choices *c, unsigned); /* 0 .. n - 1                                 */
double take_number(choices *c);            /* finite; ordinary, extreme, or any bits     */

/* The same from a mutator's own random numbers. */
typedef struct {
    uint64_t state;
} dice;

uint64_t roll(dice *d);
size_t roll_below(dice *d, size_t n); /* n > 0 */
double odd_number(uint64_t pick);     /* an extreme number, not always finite */

#endif
