/* The calling thread's cache, and how the paths every operation takes address it.
 *
 * On x86-64 that is by the thread's segment register and an offset: neither path computes the cache's
 * address, which is two instructions of each. Elsewhere, and under sanitizers, whose instrumentation does not
 * know such accesses, it is by the address. */
#ifndef PACELINE_CACHE_H
#define PACELINE_CACHE_H

#include "types.h"

/* Initial-exec: the general model calls a function per access. */
extern _Thread_local struct cache thread_cache __attribute__((tls_model("initial-exec")));

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PACELINE_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PACELINE_SANITIZED
#endif

#if defined(__x86_64__) && defined(__ELF__) && defined(__SEG_FS) && !defined(__STRICT_ANSI__) && \
    !defined(PACELINE_SANITIZED)
/* Of what lies in the calling thread's own storage: a pointer to it is an offset from the thread's. */
#define NEAR __seg_fs

static inline struct cache NEAR *near_cache(void) {
    uintptr_t offset;
    __asm__("movq thread_cache@gottpoff(%%rip), %0" : "=r"(offset));
    return (struct cache NEAR *)offset;
}
#else
#define NEAR

static inline struct cache NEAR *near_cache(void) { return &thread_cache; }
#endif

#endif
