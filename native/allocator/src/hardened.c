/* hardened.h. Entries, states, batches, spans and exchange are those of default mode.
 *
 * The two paths most operations take are allocate_unlike and release_unlike: those of alloc.h, with a queue
 * in place of a magazine, a length, a canary and poison. */
#include "hardened.h"

#include "alloc.h"
#include "canary.h"
#include "decay.h"
#include "guarded.h"
#include "large.h"
#include "options.h"
#include "paceline_alloc.h"
#include "queue.h"

uint64_t canary_secret;

/* Odd: an address is a multiple of 16, so the first byte of its canary is not the zero of a string's end. */
void hardened_start(void) { canary_secret = os_random() | 1; }

void hardened_check(void *const *objects, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        check_poison((uintptr_t)objects[i]);
    }
}

/* --- allocate --- */

static void *take_large(size_t size, size_t alignment) {
    bool zero;
    unsigned char *object = allocate_large(size + CANARY_BYTES, alignment, &zero);
    if (object != NULL) {
        write_key(canary((uintptr_t)object), (uintptr_t)object + size);
    }
    return object;
}

/* A sampled object, if this allocation is to be one and there can be one. */
static void *take_guarded(struct hardened_heap *own, unsigned class, size_t size, size_t alignment) {
    bool wanted = queue_sample(own, class) && options.sample_every != 0;
    return UNLIKELY(wanted) ? guarded_take(size, alignment) : NULL;
}

static void *take(struct hardened_heap *own, unsigned class, size_t size, size_t alignment) {
    struct queue *queue = &own->queues[class];
    if (*queue->next == NULL) {
        void *guarded = take_guarded(own, class, size, alignment);
        if (guarded != NULL || !queue_refill(own, class)) {
            return guarded;
        }
    }
    uintptr_t place = (uintptr_t)*queue->next++;
    check_poison(place);
    write_canary(place, class, size);
    state_write(state_of(class, place), live_mark(class, place));
    return (void *)place;
}

/* A thread that has ended: one at a time, without a quarantine. */
static void *take_shared(unsigned class, size_t size) {
    void *object = shared_take(class);
    if (object != NULL) {
        uintptr_t place = (uintptr_t)object;
        write_canary(place, class, size);
        state_write(state_of(class, place), live_mark(class, place));
    }
    return object;
}

static void *take_of_class(unsigned class, size_t size, size_t alignment) {
    struct heap *heap = thread_heap();
    struct hardened_heap *own = heap == NULL ? NULL : heap->hardened;
    return own != NULL ? take(own, class, size, alignment) : take_shared(class, size);
}

/* Memory is out: what is free may be in the wrong place. First what is nobody's; then, since nothing else can
 * stand in for it, what this thread keeps: that ends its quarantine, which a trim leaves alone. */
static SLOW void *take_last(unsigned class, size_t size, size_t alignment) {
    void *object = paceline_malloc_trim(0) ? take_of_class(class, size, alignment) : NULL;
    if (object == NULL && thread_cache.heap != NULL) {
        heap_drain(thread_cache.heap);
        (void)paceline_malloc_trim(0);
        object = take_of_class(class, size, alignment);
    }
    return object != NULL ? object : out_of_memory();
}

static unsigned class_for(size_t size, size_t alignment) {
    unsigned class = class_of(size > alignment ? size : alignment);
    while (class < CLASS_COUNT && (class_infos[class].size & (alignment - 1)) != 0) {
        class ++;
    }
    return class;
}

SLOW void *hardened_allocate(size_t size, size_t alignment) {
    decay_tick();
    unsigned class = CLASS_COUNT;
    if (size <= MEDIUM_MAX - CANARY_BYTES && alignment <= MEDIUM_MAX) {
        class = class_for(size + CANARY_BYTES, alignment);
    }
    if (UNLIKELY(class == CLASS_COUNT)) {
        return size > PTRDIFF_MAX - CANARY_BYTES ? out_of_memory() : take_large(size, alignment);
    }
    void *object = take_of_class(class, size, alignment);
    return LIKELY(object != NULL) ? object : take_last(class, size, alignment);
}

/* The queue is empty: mostly that is a turn. */
static SLOW void *allocate_by_turn(size_t size, struct cache *cache) {
    if (UNLIKELY(!queue_turn(cache->hardened, class_of_small(size + CANARY_BYTES)))) {
        return hardened_allocate(size, 1);
    }
    decay_tick();
    return allocate_unlike(size, cache);
}

void *allocate_unlike(size_t size, struct cache *cache) {
    struct hardened_heap *own = cache->hardened;
    if (own == NULL) {
        return allocate_slowly(size);
    }
    if (LIKELY(size <= SMALL_MAX - CANARY_BYTES)) {
        struct queue *queue = &own->queues[class_of_small(size + CANARY_BYTES)];
        __asm__("" : "+r"(queue)); /* or it is computed twice */
        void **next = queue->next;
        uintptr_t place = (uintptr_t)*next;
        if (LIKELY(place != 0)) {
            queue->next = next + 1;
            uint64_t key = canary(place);
            if (UNLIKELY(!has_key(key, place))) {
                return report_late_write(place);
            }
            states_t states = queue->states;
            length_write(length_at(queue->lengths, states, place), size);
            state_write(state_at(states, place), live_mark_small(place));
            write_key(key, place + size);
            return (void *)place;
        }
        return allocate_by_turn(size, cache);
    }
    return hardened_allocate(size, 1);
}

/* --- release --- */

static size_t check_large(void *object) {
    size_t size = large_size(object);
    if (size == 0) {
        report_bad_free(object, NULL);
    }
    size -= CANARY_BYTES;
    check_end((uintptr_t)object, size);
    return size;
}

/* The class of a live object of a span, or CLASS_COUNT: then it is large, or an error. */
static unsigned class_at(void *object) {
    uint32_t entry = in_range((uintptr_t)object) ? entry_of_unit(unit_of((uintptr_t)object)) : ENTRY_NONE;
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
        (void)check_large(object);
        large_give(object);
        return;
    }
    uintptr_t place = (uintptr_t)object;
    (void)check_canary(place, class);
    state_write(state_of(class, place), STATE_CACHED);
    poison(place);
    struct heap *heap = thread_heap();
    if (UNLIKELY(heap == NULL)) {
        heap_return(&object, 1);
    } else if (entry_of_unit(unit_of(place)) >> ENTRY_OWNER_SHIFT != heap->id) {
        heap_send(heap, class, object);
    } else {
        put(heap->hardened, class, object);
    }
}

/* From live to cached and poisoned; false, and nothing is changed, unless the object is what it should be. */
static inline bool end_life(const struct queue *queue, uintptr_t place) {
    states_t states = queue->states;
    _Atomic uint8_t *state = state_at(states, place);
    if (UNLIKELY(state_read(state) != live_mark_small(place))) {
        return false;
    }
    uint64_t key = canary(place);
    if (UNLIKELY(!has_key(key, place + length_read(length_at(queue->lengths, states, place))))) {
        return false;
    }
    state_write(state, STATE_CACHED);
    write_key(key, place);
    return true;
}

/* alloc.c's release_remote. */
static bool send_small(void *object, uint32_t offset, const struct cache *cache) {
    unsigned class = entry_class(offset - HARDENED_TAG);
    if (offset + cache->tag < 1u << ENTRY_OWNER_SHIFT || class >= SMALL_CLASSES) {
        return false;
    }
    struct batch *batch = cache->heap->outgoing[class];
    if (batch == NULL || batch->count + 1 >= class_infos[class].batch ||
        !end_life(&cache->hardened->queues[class], (uintptr_t)object)) {
        return false;
    }
    batch->objects[batch->count++] = object;
    return true;
}

/* An entry minus the tag is the offset of a bin; a queue is so many times as long. */
enum { QUEUE_BYTES_PER_BIN_BYTE = sizeof(struct queue) / sizeof(struct bin) };
_Static_assert(sizeof(struct queue) % sizeof(struct bin) == 0, "queues follow one another as bins do");

void release_unlike(void *object, uint32_t offset, struct cache *cache) {
    uint32_t offset_of_bin = offset - HARDENED_TAG;
    if (LIKELY(offset_of_bin < SMALL_CLASSES << ENTRY_CLASS_SHIFT)) {
        size_t offset_of_queue = (size_t)offset_of_bin * QUEUE_BYTES_PER_BIN_BYTE;
        struct queue *queue = (struct queue *)((char *)cache->hardened->queues + offset_of_queue);
        void **top = queue->top;
        if (LIKELY(((uintptr_t)top & (MAGAZINE_BYTES - 1)) != 0 && end_life(queue, (uintptr_t)object))) {
            *top = object;
            queue->top = top + 1;
            return;
        }
    } else if ((offset & HARDENED_TAG) == 0) {
        release_remote(object, offset, cache);
        return;
    } else if (send_small(object, offset, cache)) {
        return;
    }
    hardened_release(object);
}

size_t hardened_usable(void *object) {
    if (UNLIKELY(is_guarded(object))) {
        return guarded_size(object);
    }
    unsigned class = class_at(object);
    return class == CLASS_COUNT ? check_large(object) : check_canary((uintptr_t)object, class);
}

bool hardened_resize(void *object, size_t size, size_t *old_size) {
    if (UNLIKELY(is_guarded(object))) {
        *old_size = guarded_size(object);
        return false;
    }
    unsigned class = class_at(object);
    if (class == CLASS_COUNT) {
        *old_size = check_large(object);
        return false;
    }
    *old_size = check_canary((uintptr_t)object, class);
    if (size > class_infos[class].size - CANARY_BYTES || size < *old_size / 2) {
        return false;
    }
    write_canary((uintptr_t)object, class, size);
    return true;
}
