#pragma once

// Internal: which instructions a loop may use, by what the CPU that runs it has ("arch=haswell" would mean that
// generation alone).

/// Compiles a function a second time for CPUs with AVX2, where that version is taken. Not under sanitizers: they
/// instrument the code that chooses, which runs before they are ready.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PARETOPIPE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PARETOPIPE_CLONES
#endif

/// For a function that may be called only where __builtin_cpu_supports("avx2").
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define PARETOPIPE_AVX2 __attribute__((target("avx2,popcnt")))
#endif
