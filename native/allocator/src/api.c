/* The rest of the malloc family, by POSIX, C11 and glibc's manual.
 *
 * Sizes are checked for overflow before anything is taken, and a failure leaves
 * the old object as it was. */
#include "alloc.h"

#include "decay.h"
#include "hardened.h"
#include "large.h"
#include "names.h"
#include "options.h"
#include "paceline_alloc.h"
#include "reclaim.h"
#include "report.h"
#include "resting.h"
#include "start.h"

#include <errno.h>
#include <string.h>

static bool is_power_of_two(size_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

/* Bytes of a live object; an address that is none ends the process. */
static size_t usable_size(void *object) {
    uintptr_t place = (uintptr_t)object;
    if (UNLIKELY(options.hardened)) {
        return hardened_usable(object);
    }
    uint32_t entry =
        in_range(place) ? entry_of_unit(unit_of(place)) : ENTRY_NONE;
    if (entry >> ENTRY_OWNER_SHIFT != 0) {
        unsigned class = entry_class(entry);
        check_live(object, class);
        return class_infos[class].size;
    }
    size_t size = large_usable(object);
    if (size == 0) {
        report_bad_free(object, NULL);
    }
    return size;
}

/* Larger ones are often tables of which little is ever touched: their pages are
 * given back, not written to. */
#define WRITTEN_MAX ((size_t)32 << 20)

void *paceline_calloc(size_t count, size_t size) {
    size_t bytes;
    if (UNLIKELY(__builtin_mul_overflow(count, size, &bytes))) {
        return out_of_memory();
    }
    bool zero = false;
    void *object;
    if (bytes > MEDIUM_MAX && started() && !options.hardened) {
        decay_tick();
        object = allocate_large(bytes, 1, &zero);
        zero = zero ||
               (object != NULL && bytes > WRITTEN_MAX && large_discard(object));
    } else {
        object = allocate(bytes);
    }
    return object == NULL || zero ? object : memset(object, 0, bytes);
}

/* Moving costs a copy, staying costs the bytes behind the new end: an object
 * stays while it is half used. */
static SLOW void *move(void *object, size_t old_size, size_t size) {
    void *moved = allocate(size);
    if (LIKELY(moved != NULL)) {
        memcpy(moved, object, old_size < size ? old_size : size);
        release(object);
    }
    return moved;
}

static SLOW void *hardened_realloc(void *object, size_t size) {
    size_t old_size;
    return hardened_resize(object, size, &old_size)
               ? object
               : move(object, old_size, size);
}

void *paceline_realloc(void *object, size_t size) {
    if (object == NULL) {
        return allocate(size);
    }
    if (UNLIKELY(size == 0)) {
        release_slowly(object);
        return NULL;
    }
    if (UNLIKELY(options.hardened)) {
        return hardened_realloc(object, size);
    }
    size_t old_size = usable_size(object);
    if (old_size <= MEDIUM_MAX) {
        return size <= old_size && size >= old_size / 2
                   ? object
                   : move(object, old_size, size);
    }
    void *resized = large_resize(object, size);
    return resized != NULL ? resized : move(object, old_size, size);
}

void *paceline_reallocarray(void *object, size_t count, size_t size) {
    size_t bytes;
    if (UNLIKELY(__builtin_mul_overflow(count, size, &bytes))) {
        return out_of_memory();
    }
    return paceline_realloc(object, bytes);
}

/* --- aligned --- */

void *paceline_memalign(size_t alignment, size_t size) {
    /* As glibc: an alignment that is no power of two is raised to the next. */
    if (alignment > PTRDIFF_MAX || size > PTRDIFF_MAX) {
        return out_of_memory();
    }
    size_t power = 16;
    while (power < alignment) {
        power *= 2;
    }
    return allocate_aligned(power, size);
}

void *paceline_aligned_alloc(size_t alignment, size_t size) {
    if (!is_power_of_two(alignment)) {
        errno = EINVAL;
        return NULL;
    }
    return paceline_memalign(alignment, size);
}

int paceline_posix_memalign(void **object, size_t alignment, size_t size) {
    if (!is_power_of_two(alignment) || alignment % sizeof(void *) != 0) {
        return EINVAL;
    }
    int saved = errno;
    void *made = paceline_memalign(alignment, size);
    errno = saved;
    if (made == NULL) {
        return ENOMEM;
    }
    *object = made;
    return 0;
}

void *paceline_valloc(size_t size) {
    return paceline_memalign(os_page_bytes(), size);
}

void *paceline_pvalloc(size_t size) {
    size_t page = os_page_bytes();
    if (size > PTRDIFF_MAX) {
        return out_of_memory();
    }
    return paceline_memalign(page, size == 0 ? page
                                             : (size + page - 1) / page * page);
}

/* --- about memory --- */

size_t paceline_malloc_usable_size(void *object) {
    return object == NULL ? 0 : usable_size(object);
}

int paceline_malloc_trim(size_t pad) {
    (void)pad;
    if (!started()) {
        return 0;
    }
    bool rested = options.hardened && end_rest();
    return reclaim_memory() || rested;
}

int paceline_alloc_is_hardened(void) { return started() && options.hardened; }

PACELINE_NAME(void *, calloc, (size_t count, size_t size), paceline_calloc)
PACELINE_NAME(void *, realloc, (void *object, size_t size), paceline_realloc)
PACELINE_NAME(void *, reallocarray, (void *object, size_t count, size_t size),
              paceline_reallocarray)
PACELINE_NAME(void *, aligned_alloc, (size_t alignment, size_t size),
              paceline_aligned_alloc)
PACELINE_NAME(void *, memalign, (size_t alignment, size_t size),
              paceline_memalign)
PACELINE_NAME(int, posix_memalign,
              (void **object, size_t alignment, size_t size),
              paceline_posix_memalign)
PACELINE_NAME(void *, valloc, (size_t size), paceline_valloc)
PACELINE_NAME(void *, pvalloc, (size_t size), paceline_pvalloc)
PACELINE_NAME(size_t, malloc_usable_size, (void *object),
              paceline_malloc_usable_size)
PACELINE_NAME(int, malloc_trim, (size_t pad), paceline_malloc_trim)
