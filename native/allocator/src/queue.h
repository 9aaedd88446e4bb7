/* Hardened mode's caches: per class of a thread a queue in place of a magazine.
 *
 * A queue is two arrays that change roles: freed objects are put at `top` of one, objects are taken at `next`
 * of the other, which ends with NULL. Both end at a multiple of MAGAZINE_BYTES, as magazines do. When the
 * second is empty they are turned: what was freed first is taken first, without a count or a wrap on the
 * way. What the turn leaves behind, the newest quarter of a magazine at least, is the quarantine.
 *
 * Invariants: an object in a queue or a batch is poisoned; the poison is checked when it is taken, and when
 * it goes back to its span. A queue has no more objects to take than allocations are left until the next
 * sampled one. An operation draws no random number; each turn draws a few. */
#ifndef PACELINE_QUEUE_H
#define PACELINE_QUEUE_H

#include "canary.h"
#include "heap.h"

struct queue {
    void **next;
    void **top;
    states_t states;
    uintptr_t lengths;
};

struct hardened_heap {
    struct queue queues[CLASS_COUNT];
    uint32_t until_sample; /* allocations; 0: the next that finds its queue empty is guarded, if any is */
    struct heap *heap;
    uint64_t seed;
    alignas(MAGAZINE_BYTES) void *arrays[CLASS_COUNT][2][MAGAZINE_SLOTS];
    void *behind_the_last; /* slot 0 of an array is where the one before it ends with NULL */
};

/* Turns the queue if that is worth it; true: there is something to take. */
bool queue_turn(struct hardened_heap *own, unsigned class);
/* Makes the empty queue have something to take; until_sample is not 0. False: memory is out. */
bool queue_refill(struct hardened_heap *own, unsigned class);
/* Makes room at the full queue's top. */
void queue_make_room(struct hardened_heap *own, unsigned class);
/* Counts anew towards the next sampled allocation. */
void draw_sample(struct hardened_heap *own);

static inline bool queue_is_full(const struct queue *queue) {
    return ((uintptr_t)queue->top & (MAGAZINE_BYTES - 1)) == 0;
}

#endif
