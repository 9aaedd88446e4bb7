/* Implements hardened.h; the two most frequent paths are in hardened_paths.h.
 *
 * Hardened mode has caches of its own (queue.h) and shares everything beneath
 * them with default mode: entries, states, batches, spans and exchange. */
#include "hardened.h"

#include "canary.h"
#include "decay.h"
#include "guarded.h"
#include "hardened_paths.h"
#include "options.h"
#include "resting.h"
#include "queue.h"
#include "reclaim.h"

/* --- allocate --- */

/* Takes a guarded object if this allocation is sampled and a slot is free; else
 * returns NULL. */
static void *take_guarded(struct hardened_heap *own, unsigned class,
                          size_t size, size_t alignment) {
    bool wanted = queue_sample(own, class) && options.sample_every != 0;
    return UNLIKELY(wanted) ? guarded_take(size, alignment) : NULL;
}

static void *take(struct hardened_heap *own, unsigned class, size_t size,
                  size_t alignment) {
    struct queue *queue = &own->queues[class];
    if (*queue->next == NULL) {
        void *guarded = take_guarded(own, class, size, alignment);
        if (guarded != NULL || !queue_refill(own, class)) {
            return guarded;
        }
    }
    uintptr_t place = (uintptr_t)*queue->next++;
    check_poison(place, class);
    write_canary(place, class, size);
    state_write(state_of(class, place), live_mark(class, place));
    return (void *)place;
}

/* Takes one object for a thread without a heap of its own, such as one that is
 * ending, without a quarantine. */
static void *take_shared(unsigned class, size_t size) {
    void *object = shared_take(class);
    if (object != NULL) {
        uintptr_t place = (uintptr_t)object;
        write_fences(place, class);
        write_canary(place, class, size);
        state_write(state_of(class, place), live_mark(class, place));
    }
    return object;
}

static void *take_of_class(unsigned class, size_t size, size_t alignment) {
    struct heap *heap = thread_heap();
    struct hardened_heap *own = heap == NULL ? NULL : heap->hardened;
    return own != NULL ? take(own, class, size, alignment)
                       : take_shared(class, size);
}

/* Tries again when memory is out, because free memory may lie where this
 * allocation cannot take it. First it is collected from everywhere else. If that
 * is not enough, this thread's quarantine is emptied, which a trim never does. */
static SLOW void *take_last(unsigned class, size_t size, size_t alignment) {
    void *object =
        reclaim_memory() ? take_of_class(class, size, alignment) : NULL;
    if (object == NULL && thread_cache.heap != NULL) {
        heap_drain(thread_cache.heap);
        (void)end_rest();
        (void)reclaim_memory();
        object = take_of_class(class, size, alignment);
    }
    return object != NULL ? object : out_of_memory();
}

/* The first class whose blocks have this alignment, and room for the object and a
 * fence; CLASS_COUNT where there is none. */
static unsigned class_for(size_t size, size_t alignment) {
    if (size > MEDIUM_MAX - MEDIUM_FENCE_BYTES || alignment > MEDIUM_MAX) {
        return CLASS_COUNT;
    }
    size_t least = size + CANARY_BYTES;
    unsigned class = class_of(least > alignment ? least : alignment);
    while (class < CLASS_COUNT &&
           ((class_infos[class].size & (alignment - 1)) != 0 ||
            class_infos[class].size < size + fence_bytes(class))) {
        class++;
    }
    return class;
}

SLOW void *hardened_allocate(size_t size, size_t alignment) {
    decay_tick();
    if (UNLIKELY(size == 0 && alignment <= 1u << GRAIN_SHIFT)) {
        void *empty = guarded_take_empty();
        if (LIKELY(empty != NULL)) {
            return empty;
        }
    }
    unsigned class = class_for(size, alignment);
    if (UNLIKELY(class == CLASS_COUNT)) {
        return take_surrounded(size, alignment);
    }
    void *object = take_of_class(class, size, alignment);
    return LIKELY(object != NULL) ? object : take_last(class, size, alignment);
}

SLOW void *allocate_by_refill(size_t size) {
    struct hardened_heap *own = thread_cache.hardened;
    unsigned class = class_of_small(size + CANARY_BYTES);
    decay_tick();
    if (UNLIKELY(own->sample_due[class] || !queue_refill(own, class))) {
        return hardened_allocate(size, 1);
    }
    return allocate_hardened(size, allocate_by_refill);
}

/* --- release --- */

/* Returns the class of a live object of a span, or CLASS_COUNT for an address in
 * no span: a large object, or none at all. */
static unsigned class_at(void *object) {
    uint32_t entry = in_range((uintptr_t)object)
                         ? entry_of_unit(unit_of((uintptr_t)object))
                         : ENTRY_NONE;
    if (entry >> ENTRY_OWNER_SHIFT == 0) {
        return CLASS_COUNT;
    }
    unsigned class = entry_class(entry);
    check_live(object, class);
    return class;
}

static void put(struct hardened_heap *own, unsigned class, void *object) {
    struct queue *queue = &own->queues[class];
    if (queue_is_full(queue)) {
        queue_make_room(own, class);
    }
    *queue->top++ = object;
}

SLOW void hardened_release(void *object) {
    if (object == NULL) {
        return;
    }
    decay_tick();
    if (UNLIKELY(is_guarded(object))) {
        guarded_release(object);
        return;
    }
    unsigned class = class_at(object);
    if (UNLIKELY(class == CLASS_COUNT)) {
        release_surrounded(object);
        return;
    }
    uintptr_t place = (uintptr_t)object;
    (void)check_canary(place, class);
    state_write(state_of(class, place), STATE_CACHED);
    poison(canary(place), place, second_poison(class));
    struct heap *heap = thread_heap();
    if (UNLIKELY(heap == NULL)) {
        heap_return(&object, 1);
    } else if (entry_of_unit(unit_of(place)) >> ENTRY_OWNER_SHIFT != heap->id) {
        heap_send(heap, class, object);
    } else {
        put(heap->hardened, class, object);
    }
}

SLOW void release_hardened_with_room(void *object) {
    uint32_t entry = entry_of_unit(unit_of((uintptr_t)object));
    decay_tick();
    queue_make_room(thread_cache.hardened, entry_class(entry));
    release_hardened(object, entry);
}

/* Frees a small object of another thread by adding it to the outgoing batch, as
 * release_remote of alloc.c does. */
void release_hardened_remote(void *object, uint32_t entry) {
    const struct cache *cache = &thread_cache;
    unsigned class = entry_class(entry);
    if (LIKELY(entry >> ENTRY_OWNER_SHIFT != 0 && class < SMALL_CLASSES)) {
        struct batch *batch = cache->heap->outgoing[class];
        if (LIKELY(
                batch != NULL && batch->count + 1 < class_infos[class].batch &&
                end_life(&cache->hardened->queues[class], (uintptr_t)object))) {
            batch->objects[batch->count++] = object;
            return;
        }
    }
    hardened_release(object);
}

void release_hardened_of_size(void *object, size_t expected) {
    uintptr_t place = (uintptr_t)object;
    uint32_t entry = entry_of_unit(unit_of(place));
    uint32_t offset_of_bin = entry - thread_cache.tag;
    if (LIKELY(offset_of_bin < SMALL_CLASSES << ENTRY_CLASS_SHIFT)) {
        const struct queue *queue = queue_at(&thread_cache, offset_of_bin);
        if (LIKELY(length_read(length_at(queue->lengths, queue->states,
                                         place)) == expected)) {
            release_hardened(object, entry);
            return;
        }
    }
    size_t size = hardened_usable(object);
    if (UNLIKELY(size != expected)) {
        report_damage(object, size, "delete with another size of object");
    }
    hardened_release(object);
}

size_t hardened_usable(void *object) {
    if (UNLIKELY(is_guarded(object))) {
        return guarded_size(object);
    }
    unsigned class = class_at(object);
    return class == CLASS_COUNT ? surrounded_size(object)
                                : check_canary((uintptr_t)object, class);
}

bool hardened_resize(void *object, size_t size, size_t *old_size) {
    if (UNLIKELY(is_guarded(object))) {
        *old_size = guarded_size(object);
        return false;
    }
    unsigned class = class_at(object);
    if (class == CLASS_COUNT) {
        *old_size = surrounded_size(object);
        return false;
    }
    *old_size = check_canary((uintptr_t)object, class);
    if (size > class_infos[class].size - fence_bytes(class) ||
        size < *old_size / 2) {
        return false;
    }
    write_canary((uintptr_t)object, class, size);
    return true;
}
