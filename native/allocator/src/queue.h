/* The caches of hardened mode: per class of a thread a queue instead of a magazine.
 *
 * A queue is two arrays that swap roles. Freed objects are put at `top` of one,
 * objects are taken at `next` of the other, which ends with NULL. When the second
 * is empty they are *turned*: what was freed first is taken first, without a count
 * or a wrap. What a turn leaves behind, at least the newest quarter of a magazine,
 * is the quarantine. Both arrays end at a multiple of MAGAZINE_BYTES.
 *
 * An object in a queue or batch is poisoned; the poison is checked when it is taken
 * and when it returns to its span. Allocations that could be guarded are counted
 * when a turn makes their objects available, never more than are left until the
 * next sample: so each class gets its share of samples, and no operation draws a
 * random number. Each turn draws a few. */
#ifndef PACELINE_QUEUE_H
#define PACELINE_QUEUE_H

#include "canary.h"
#include "heap.h"

/* What the two frequent paths read of a class is in one cache line. */
struct queue {
    alignas(64) void **next;
    void **top;
    states_t states;
    uintptr_t lengths;
    uint64_t
        to_front; /* from a block's mixed key to that of the one in front */
    size_t second_poison;
};

struct hardened_heap {
    struct queue queues[CLASS_COUNT];
    uint32_t
        until_sample; /* allocations, those counted taken off; at least 1 */
    bool sample_due[CLASS_COUNT]; /* the next that finds the class's queue empty
                                     is guarded, if one can be */
    struct heap *heap;
    uint64_t seed;
    alignas(MAGAZINE_BYTES) void *arrays[CLASS_COUNT][2][MAGAZINE_SLOTS];
    void *behind_the_last; /* slot 0 of an array is where the one before it ends
                              with NULL */
};

/* Makes the empty queue have something to take, mostly by a turn; no sample is
 * due. False: memory is out. */
bool queue_refill(struct hardened_heap *own, unsigned class);
/* Makes room at the full queue's top. */
void queue_make_room(struct hardened_heap *own, unsigned class);
/* Whether the class's queue, which is empty, is at a sampled allocation; it is
 * no longer then. */
bool queue_sample(struct hardened_heap *own, unsigned class);

/* Prepares a heap that a thread is about to have; false when memory is out. */
bool queues_prepare(struct heap *heap);
/* Objects in queues go back to their spans. */
void queues_drain(struct heap *heap);

static inline bool queue_is_full(const struct queue *queue) {
    return ((uintptr_t)queue->top & (MAGAZINE_BYTES - 1)) == 0;
}

#endif
