/* Paceline's allocator: the standard functions under names of their own, and
 * what is beyond the standard.
 *
 * libpaceline_alloc.so and libpaceline_alloc.a also define malloc, free and
 * their kin, so linking or LD_PRELOADing them is enough. This header is for
 * programs that want both, or statistics.
 *
 * Errors follow POSIX and glibc: no memory is NULL with errno ENOMEM; free
 * changes no errno; malloc(0) is a distinct address; realloc(p, 0) frees p. A
 * double, invalid, interior or foreign free ends the process with one line on
 * stderr. Nothing here may be called from a signal handler. */
#ifndef PACELINE_ALLOC_H
#define PACELINE_ALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PACELINE_API __attribute__((visibility("default")))

PACELINE_API void *paceline_malloc(size_t size)
    __attribute__((malloc, alloc_size(1)));
PACELINE_API void paceline_free(void *object);
PACELINE_API void *paceline_calloc(size_t count, size_t size)
    __attribute__((malloc, alloc_size(1, 2)));
PACELINE_API void *paceline_realloc(void *object, size_t size)
    __attribute__((alloc_size(2)));
PACELINE_API void *paceline_reallocarray(void *object, size_t count,
                                         size_t size);
PACELINE_API void *paceline_aligned_alloc(size_t alignment, size_t size)
    __attribute__((malloc));
PACELINE_API void *paceline_memalign(size_t alignment, size_t size)
    __attribute__((malloc));
PACELINE_API int paceline_posix_memalign(void **object, size_t alignment,
                                         size_t size);
PACELINE_API void *paceline_valloc(size_t size) __attribute__((malloc));
PACELINE_API void *paceline_pvalloc(size_t size) __attribute__((malloc));

/* Bytes that may be used, at least those asked for; 0 for NULL. */
PACELINE_API size_t paceline_malloc_usable_size(void *object);

/* Gives free memory back to the system, this thread's caches first. 1 if there
 * was any. `pad` is ignored. */
PACELINE_API int paceline_malloc_trim(size_t pad);

/* Writes a JSON object of at most `capacity` bytes with its end; the length it
 * has, as snprintf counts. */
PACELINE_API size_t paceline_alloc_stats_json(char *text, size_t capacity);

/* 1 in hardened mode. */
PACELINE_API int paceline_alloc_is_hardened(void);

#ifdef __cplusplus
}
#endif
#endif
