/* The fast paths of malloc, calloc and free: some fifteen instructions, inlined.
 *
 * In default mode they read and write the thread's cache, one entry and one state,
 * never a block or a lock, and call alloc.c for everything unusual, a thread
 * without a heap included. Hardened mode leaves them at their first comparison
 * (hardened_paths.h) and costs default mode nothing. */
#ifndef PACELINE_ALLOC_INTERNAL_H
#define PACELINE_ALLOC_INTERNAL_H

#include "hardened_paths.h"
#include "heap.h"
#include "report.h"

void *allocate_slowly(size_t size);
void *allocate_aligned(size_t alignment, size_t size);
void release_slowly(void *object);
/* A live object of an own span, when its magazine is full. */
void release_with_room(void *object);
/* Of an object in a unit whose entry less the tag is this offset, and no own
 * bin's. */
void release_remote(void *object, uint32_t offset);

static inline struct bin *bin_at(struct cache *cache, size_t offset) {
    return (struct bin *)((char *)cache->bins + offset);
}

typedef void *allocate_t(size_t size);

/* What is unusual goes to `slowly`, or in hardened mode to `by_refill`: calls
 * in the last place, for which nothing is kept. Both are constants, inlined. */
ALWAYS_INLINE void *allocate_or(size_t size, allocate_t *slowly,
                                allocate_t *by_refill) {
    struct cache *cache = &thread_cache;
    if (LIKELY(size < cache->small_end)) {
        struct bin *bin = bin_at(cache, bin_of_small(size));
        void **top = bin->top;
        void *object = top[-1];
        if (LIKELY(object != NULL)) {
            bin->top = top - 1;
            uintptr_t place = (uintptr_t)object;
            state_write(state_at(bin->states, place), live_mark_small(place));
            return object;
        }
        return slowly(size);
    }
    if (LIKELY(size - 1 < HARDENED_SMALL_MAX)) { /* none of 0 bytes */
        return allocate_hardened(size, by_refill);
    }
    return slowly(size);
}

ALWAYS_INLINE void *allocate(size_t size) {
    return allocate_or(size, allocate_slowly, allocate_by_refill);
}

_Static_assert(HARDENED_SMALL_MAX <= (int)SMALL_MAX,
               "default mode serves such sizes from its bins");
_Static_assert(sizeof(struct bin) == 1 << ENTRY_CLASS_SHIFT,
               "an entry minus the tag is the offset of a bin");

/* `expected` is looked at in hardened mode only; a constant costs nothing. */
ALWAYS_INLINE void release_of_size(void *object, size_t expected) {
    struct cache *cache = &thread_cache;
    uintptr_t place = (uintptr_t)object;
    uintptr_t offset = place - cache->base;
    /* Rotated, an address that is no multiple of 16 is as far out of the range
     * as one below it. The range begins at a segment, so the low bits of an
     * object's are those of its mark. */
    uintptr_t grain = offset >> GRAIN_SHIFT | offset << (64 - GRAIN_SHIFT);
    if (LIKELY(grain < cache->grains)) {
        uint32_t entry = atomic_load_explicit(
            &cache->entries[grain >> (UNIT_SHIFT - GRAIN_SHIFT)],
            memory_order_relaxed);
        uint32_t offset_of_bin = entry - cache->tag;
        if (LIKELY(offset_of_bin < SMALL_CLASSES << ENTRY_CLASS_SHIFT)) {
            struct bin *bin = bin_at(cache, offset_of_bin);
            state_t *state = state_at(bin->states, place);
            void **top = bin->top;
            if (LIKELY(state_read(state) == (uint8_t)(STATE_LIVE | grain))) {
                if (UNLIKELY(((uintptr_t)top & (MAGAZINE_BYTES - 1)) == 0)) {
                    release_with_room(object);
                    return;
                }
                state_write(state, STATE_CACHED);
                *top = object;
                bin->top = top + 1;
                return;
            }
        } else {
            release_remote(object, offset_of_bin);
            return;
        }
    } else if (UNLIKELY(grain <
                        cache->hardened_grains)) { /* or default mode takes a
                                                      third line of code */
        if (expected != ANY_SIZE) {
            release_hardened_of_size(object, expected);
            return;
        }
        size_t unit = grain >> (UNIT_SHIFT - GRAIN_SHIFT);
        uint32_t entry =
            atomic_load_explicit(&cache->entries[unit], memory_order_relaxed);
        release_hardened(object, entry);
        return;
    }
    release_slowly(object);
}

ALWAYS_INLINE void release(void *object) { release_of_size(object, ANY_SIZE); }

#endif
