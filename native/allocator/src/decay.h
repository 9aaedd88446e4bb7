/* Gives memory back that nobody used for a while, even when few frees happen.
 *
 * There is no thread for this. Every sixteenth slow call of a thread reads a
 * coarse clock, and once per decay period the thread gives up spares it did not
 * need, batches that others sent in vain, its empty spans, units that nobody took
 * for one to two periods, and kept mappings. A thread that sleeps gives up nothing.
 *
 * Called with no lock held, and before the caller took anything from a cache.
 */
#ifndef PACELINE_DECAY_H
#define PACELINE_DECAY_H

#include "heap.h"
#include "large.h"

/* What is due, if a decay period has passed. `heap` is the calling thread's, or
 * NULL. */
void decay_look(struct heap *heap);

/* From slow paths; not from frees that only fill an outgoing batch, of which
 * each thirtieth is slow. */
static inline void decay_tick(void) {
    enum { SLOW_CALLS_PER_LOOK = 16 };
    struct cache *cache = &thread_cache;
    if (UNLIKELY(++cache->slow_calls % SLOW_CALLS_PER_LOOK == 0)) {
        decay_look(cache->heap);
    }
}

#endif
