/* malloc and free: the slow paths behind alloc.h, and the functions themselves.
 *
 * Slow are a thread's first operation, an empty or full magazine, objects over
 * 3,840 bytes, objects of other threads, hardened mode and every error. Every path
 * checks the same things. */
#include "alloc.h"

#include "decay.h"
#include "hardened.h"
#include "names.h"
#include "options.h"
#include "paceline_alloc.h"
#include "reclaim.h"
#include "report.h"
#include "start.h"

static void *take_cached(unsigned class) {
    struct heap *heap = thread_heap();
    if (UNLIKELY(heap == NULL)) {
        return shared_take(class);
    }
    struct bin *bin = &thread_cache.bins[class];
    void *object = bin->top[-1];
    if (object == NULL) {
        return heap_refill(heap, class);
    }
    bin->top--;
    return object;
}

static void *allocate_class(unsigned class) {
    void *object = take_cached(class);
    if (UNLIKELY(object == NULL)) {
        /* What is free may be in the wrong place: in caches, in spans of other
         * classes, kept mappings. */
        (void)reclaim_memory();
        object = take_cached(class);
        if (object == NULL) {
            return out_of_memory();
        }
    }
    uintptr_t place = (uintptr_t)object;
    state_write(state_of(class, place), live_mark(class, place));
    return object;
}

SLOW void *allocate_slowly(size_t size) {
    if (UNLIKELY(!started())) {
        return out_of_memory();
    }
    if (UNLIKELY(options.hardened)) {
        return hardened_allocate(size, 1);
    }
    decay_tick();
    if (LIKELY(size <= MEDIUM_MAX)) {
        return allocate_class(class_of(size));
    }
    bool zero;
    return allocate_large(size, 1, &zero);
}

void *allocate_aligned(size_t alignment, size_t size) {
    if (UNLIKELY(!started())) {
        return out_of_memory();
    }
    if (UNLIKELY(options.hardened)) {
        return hardened_allocate(size, alignment);
    }
    decay_tick();
    size_t least = size > alignment ? size : alignment;
    if (least <= MEDIUM_MAX) {
        /* Objects of a class are aligned to the largest power of two that
         * divides its size. */
        unsigned class = class_of(least);
        while (class_infos[class].size & (alignment - 1)) {
            class++;
        }
        return allocate_class(class);
    }
    bool zero;
    return allocate_large(size > MEDIUM_MAX ? size : MEDIUM_MAX + 1, alignment,
                          &zero);
}

/* --- free --- */

static void release_object(void *object, uint32_t entry) {
    unsigned class = entry_class(entry);
    check_live(object, class);
    state_write(state_of(class, (uintptr_t)object), STATE_CACHED);
    struct heap *heap = thread_heap();
    if (UNLIKELY(heap == NULL)) {
        heap_return(&object, 1);
    } else if (entry >> ENTRY_OWNER_SHIFT != heap->id) {
        heap_send(heap, class, object);
    } else {
        struct bin *bin = &thread_cache.bins[class];
        if (((uintptr_t)bin->top & (MAGAZINE_BYTES - 1)) == 0) {
            heap_make_room(heap, class);
        }
        *bin->top++ = object;
    }
}

SLOW void release_slowly(void *object) {
    if (object == NULL) {
        return;
    }
    if (UNLIKELY(!started())) {
        report_bad_free(object, NULL);
    }
    if (UNLIKELY(options.hardened)) {
        hardened_release(object);
        return;
    }
    decay_tick();
    uint32_t entry = ENTRY_NONE;
    if (in_range((uintptr_t)object)) {
        entry = entry_of_unit(unit_of((uintptr_t)object));
    }
    if (LIKELY(entry >> ENTRY_OWNER_SHIFT != 0)) {
        release_object(object, entry);
    } else {
        large_give(object);
    }
}

SLOW void release_with_room(void *object) {
    unsigned class = entry_class(entry_of_unit(unit_of((uintptr_t)object)));
    decay_tick();
    heap_make_room(thread_cache.heap, class);
    state_write(state_of(class, (uintptr_t)object), STATE_CACHED);
    *thread_cache.bins[class].top++ = object;
}

/* The usual free of another thread's small object: into the outgoing batch, if
 * that has room for two. */
void release_remote(void *object, uint32_t offset) {
    const struct cache *cache = &thread_cache;
    unsigned class = entry_class(offset);
    if (LIKELY(offset + cache->tag >= 1u << ENTRY_OWNER_SHIFT &&
               class < SMALL_CLASSES)) {
        struct batch *batch = cache->heap->outgoing[class];
        state_t *state = state_at(cache->bins[class].states, (uintptr_t)object);
        if (LIKELY(batch != NULL &&
                   batch->count + 1 < class_infos[class].batch &&
                   state_read(state) == live_mark_small((uintptr_t)object))) {
            state_write(state, STATE_CACHED);
            batch->objects[batch->count++] = object;
            return;
        }
    }
    release_slowly(object);
}

/* --- the functions --- */

#define ALIGNED __attribute__((aligned(64)))

/* From the begin of a cache line, wherever the linker puts them: how fast they
 * are is no matter of luck. */
ALIGNED void *paceline_malloc(size_t size) { return allocate(size); }

ALIGNED void paceline_free(void *object) { release(object); }

PACELINE_NAME(void *, malloc, (size_t size), paceline_malloc)
PACELINE_NAME(void, free, (void *object), paceline_free)
