/* The check that an object is live, and the last message when memory was misused.
 *
 * Messages neither allocate nor take a lock; each is one line on stderr, and the
 * process ends. */
#ifndef PACELINE_REPORT_H
#define PACELINE_REPORT_H

#include "range.h"

/* Finds out what is wrong with this address and says so. `caught` may name it;
 * NULL: look. */
_Noreturn void report_bad_free(void *place, const char *caught);
/* A block was written behind its end, or after it was freed. */
_Noreturn void report_damage(void *place, size_t size, const char *what);

/* Invariant 3: the state holds exactly the mark of this address. An address off
 * the class's grain would look up a neighbour's byte, so it is refused first.
 */
static inline void check_live(void *object, unsigned class) {
    uintptr_t place = (uintptr_t)object;
    uintptr_t grain =
        class < SMALL_CLASSES ? 1u << GRAIN_SHIFT : 1u << MEDIUM_GRAIN_SHIFT;
    if ((place & (grain - 1)) != 0 ||
        state_read(state_of(class, place)) != live_mark(class, place)) {
        report_bad_free(object, NULL);
    }
}

#endif
