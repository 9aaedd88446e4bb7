/* Memory that nobody used for a while goes back to the system, also where frees
 * no longer drive it: a program that had its burst and now works at a low rate.
 *
 * There is no thread for this: every few slow calls of a thread read a coarse
 * clock, and once per decay period a thread gives up the spares it did not
 * need, what others sent it in vain, the empty spans it kept, the units that
 * nobody took for one to two periods, and kept mappings. A thread that sleeps,
 * or never leaves its magazines, gives up nothing.
 *
 * Invariant: called with no lock held, and before the call that ticks took
 * anything from a cache. */
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
