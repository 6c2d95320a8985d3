/* CLONED builds a function for AVX-512, AVX2 and the baseline, and the loader
 * picks one: the binary stays portable and the few hot loops of our own are
 * fast.  Off where the toolchain or a sanitizer cannot resolve clones: clang's clones of static functions
 * have names that clash between files. */
#ifndef QRM_LINALG_CLONES_H
#define QRM_LINALG_CLONES_H

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(QRM_NO_CLONES)
#define QRM_HAS_CLONES
#define CLONED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONED
#endif

#endif
