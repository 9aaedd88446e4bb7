/* Spans: one unit of objects of one class. Everything here is called under the lock of the owning heap.
 *
 * Invariants: 2 (cached <-> free happens only here) and 4 (`used`). A span knows which objects are free from
 * their states alone; there is no free list to tamper with and no block is touched. */
#ifndef PACELINE_SPAN_H
#define PACELINE_SPAN_H

#include "range.h"

/* A new span of this class in a fresh unit; NULL when memory is out. heap_take_over gives it an owner, and
 * its unit an entry. */
struct span *span_begin(unsigned class);
/* Ends a span that has no used objects: its unit is anybody's again. */
void span_end(struct span *span);

/* Takes up to `want` free objects, lowest address last, and marks them cached. Answers how many. */
unsigned span_take(struct span *span, void **out, unsigned want, uint64_t *refaulted);
/* Takes the object of this state back. It must be `cached`: false, a second free raced the first. */
static inline bool span_put(struct span *span, _Atomic uint8_t *state) {
    if (UNLIKELY(state_read(state) != STATE_CACHED)) {
        return false;
    }
    state_write(state, STATE_FREE);
    span->used--;
    return true;
}

/* Gives back the pages that hold no used object; how many. */
unsigned span_purge(struct span *span);

/* The object that contains this address, or 0: for messages about interior pointers. */
uintptr_t span_object_at(const struct span *span, uintptr_t place);

#endif
