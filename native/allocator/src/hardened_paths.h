/* The two most frequent paths of hardened mode, inlined into those of alloc.h.
 *
 * They use a queue in place of a magazine, and touch the thread's cache, one entry,
 * one state, one length, and of a block its first and third word, the one behind the
 * size asked for and, to free it, the one in front. Everything else is in
 * hardened.c. */
#ifndef PACELINE_HARDENED_PATHS_H
#define PACELINE_HARDENED_PATHS_H

#include "hardened.h"
#include "queue.h"

/* Where the paths below go on: the queue has nothing left to take, or no room;
 * the span is another's. */
void *allocate_by_refill(size_t size);
void release_hardened_with_room(void *object);
void release_hardened_remote(void *object, uint32_t entry);
/* An object that is deleted as one of this size, if the caller knows it. */
void release_hardened_of_size(void *object, size_t expected);
enum { ANY_SIZE = 0 };

/* An entry minus the tag is the offset of a bin; a queue is so many times as
 * long. */
enum { QUEUE_BYTES_PER_BIN_BYTE = sizeof(struct queue) / sizeof(struct bin) };
_Static_assert(sizeof(struct queue) % sizeof(struct bin) == 0,
               "queues follow one another as bins do");

static inline struct queue *queue_at(const struct cache *cache,
                                     size_t offset_of_bin) {
    return (struct queue *)((char *)cache->hardened->queues +
                            offset_of_bin * QUEUE_BYTES_PER_BIN_BYTE);
}

/* The cache's thread has a heap, and `size` is at most HARDENED_SMALL_MAX. */
ALWAYS_INLINE void *allocate_hardened(size_t size, void *(*by_refill)(size_t)) {
    struct queue *queue =
        queue_at(&thread_cache, bin_of_small(size + CANARY_BYTES));
    __asm__("" : "+r"(queue)); /* or it is computed twice */
    void **next = queue->next;
    uintptr_t place = (uintptr_t)*next;
    if (UNLIKELY(place == 0)) {
        return by_refill(size);
    }
    queue->next = next + 1;
    uint64_t key = canary(place);
    if (UNLIKELY(!is_poisoned(key, place, queue->second_poison))) {
        return report_late_write(place);
    }
    states_t states = queue->states;
    length_write(length_at(queue->lengths, states, place), size);
    state_write(state_at(states, place), live_mark_small(place));
    write_end(key, place, size);
    return (void *)place;
}

/* From live to cached and poisoned; false, and nothing is changed, unless the
 * object is what it should be. */
static inline bool end_life(const struct queue *queue, uintptr_t place) {
    states_t states = queue->states;
    state_t *state = state_at(states, place);
    if (UNLIKELY(state_read(state) != live_mark_small(place))) {
        return false;
    }
    uint64_t mixed = key_mixed(place);
    uint64_t key = key_of_mixed(mixed);
    size_t size = length_read(length_at(queue->lengths, states, place));
    if (UNLIKELY(!has_end(key, place, size))) {
        return false;
    }
    if (UNLIKELY(fence_read(place - 8) !=
                 key_of_mixed(mixed - queue->to_front))) {
        return false;
    }
    state_write(state, STATE_CACHED);
    poison(key, place, queue->second_poison);
    return true;
}

/* Of an address in the range, in a unit with this entry. */
static inline void release_hardened(void *object, uint32_t entry) {
    struct cache *cache = &thread_cache;
    uint32_t offset_of_bin = entry - cache->tag;
    if (UNLIKELY(offset_of_bin >= SMALL_CLASSES << ENTRY_CLASS_SHIFT)) {
        release_hardened_remote(object, entry);
        return;
    }
    struct queue *queue = queue_at(cache, offset_of_bin);
    void **top = queue->top;
    if (UNLIKELY(((uintptr_t)top & (MAGAZINE_BYTES - 1)) == 0)) {
        release_hardened_with_room(object);
        return;
    }
    if (UNLIKELY(!end_life(queue, (uintptr_t)object))) {
        hardened_release(object);
        return;
    }
    *top = object;
    queue->top = top + 1;
}

#endif
