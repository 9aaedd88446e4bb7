/* Spans: one unit of objects of one class. All calls need the owner's lock.
 *
 * A span knows its free objects from their states alone (invariants 2 and 4): there
 * is no free list to tamper with, and no block is touched. */
#ifndef PACELINE_SPAN_H
#define PACELINE_SPAN_H

#include "range.h"

/* A new span of this class in a fresh unit; NULL when memory is out.
 * heap_take_over gives it an owner, and its unit an entry. */
struct span *span_begin(unsigned class);
/* Ends a span that has no used objects: its unit is anybody's again. */
void span_end(struct span *span);

/* Takes up to `want` free objects, lowest address last, and marks them cached.
 * Answers how many. */
unsigned span_take(struct span *span, void **out, unsigned want,
                   uint64_t *refaulted);
/* Takes back the objects in front, one at least, that are of this span, whose
 * class has these states; how many. It ends before one that is not `cached`: a
 * second free of it raced the first. */
static inline unsigned span_put(struct span *span, void *const *objects,
                                unsigned count, states_t states) {
    uintptr_t unit = (uintptr_t)objects[0] >> UNIT_SHIFT;
    unsigned put = 0;
    for (; put < count && (uintptr_t)objects[put] >> UNIT_SHIFT == unit;
         put++) {
        state_t *state = state_at(states, (uintptr_t)objects[put]);
        if (UNLIKELY(state_read(state) != STATE_CACHED)) {
            break;
        }
        state_write(state, STATE_FREE);
    }
    span->used -= put;
    return put;
}

/* Gives back the pages that hold no used object; how many. */
unsigned span_purge(struct span *span);

/* The object that contains this address, or 0: for messages about interior
 * pointers. */
uintptr_t span_object_at(const struct span *span, uintptr_t place);

#endif
