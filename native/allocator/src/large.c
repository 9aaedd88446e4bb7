/* Implements large.h for runs of units; huge.c does so for mappings.
 *
 * In a run's span structure, `capacity` is the number of units and `start` is
 * the requested size in bytes. */
#include "large.h"

#include "report.h"

#include <string.h>

static unsigned units_for(size_t size) {
    return (unsigned)((size + UNIT_BYTES - 1) >> UNIT_SHIFT);
}

static bool is_run(uintptr_t place) {
    return in_range(place) && place % UNIT_BYTES == 0 &&
           entry_of_unit(unit_of(place)) == ENTRY_RUN;
}

/* Returns whether `place` can only be a huge object, which lies outside of the
 * range or in an unmapped part of it: the range's addresses are not reserved,
 * so the system may choose one of them in a process that maps some TiB. */
static bool is_outside(uintptr_t place) {
    return !in_range(place) || entry_of_unit(unit_of(place)) == ENTRY_NONE;
}

void *large_take(size_t size, size_t alignment, bool *zero) {
    if (size > LARGE_MAX || alignment > SEGMENT_BYTES) {
        return huge_take(size, alignment, zero);
    }
    unsigned count = units_for(size);
    unsigned step = alignment > UNIT_BYTES ? units_for(alignment) : 1;
    uintptr_t place = units_take(count, step, zero);
    if (place == 0) {
        return huge_take(size, alignment, zero);
    }
    struct span *run = span_of(place);
    run->capacity = count;
    run->start = size;
    entry_set(unit_of(place), ENTRY_RUN);
    return (void *)place;
}

void large_give(void *object) {
    uintptr_t place = (uintptr_t)object;
    if (is_outside(place)) {
        huge_give(object);
        return;
    }
    if (place % UNIT_BYTES != 0) {
        report_bad_free(object, NULL);
    }
    /* This is an exchange, so that only one of two threads that free the run
     * succeeds. */
    if (atomic_exchange_explicit(&range.entries[unit_of(place)], ENTRY_NONE,
                                 memory_order_relaxed) != ENTRY_RUN) {
        report_bad_free(object, NULL);
    }
    units_give(place, span_of(place)->capacity);
}

size_t large_usable(void *object) {
    uintptr_t place = (uintptr_t)object;
    if (is_outside(place)) {
        return huge_usable(object);
    }
    if (!is_run(place)) {
        return 0;
    }
    size_t size = span_of(place)->start;
    return (size + range.page_bytes - 1) & ~(range.page_bytes - 1);
}

size_t large_size(void *object) {
    uintptr_t place = (uintptr_t)object;
    return is_outside(place) ? huge_size(object)
           : is_run(place)   ? span_of(place)->start
                             : 0;
}

size_t large_room(void *object) {
    uintptr_t place = (uintptr_t)object;
    return is_outside(place) ? huge_usable(object)
                             : (size_t)span_of(place)->capacity << UNIT_SHIFT;
}

bool large_discard(void *object) {
    return os_purge(object, large_room(object));
}

static bool resize_run(uintptr_t place, size_t size) {
    struct span *run = span_of(place);
    unsigned count = units_for(size);
    bool clean;
    if (count > run->capacity &&
        !units_extend(place, run->capacity, count - run->capacity, &clean)) {
        return false;
    }
    if (count < run->capacity) {
        units_give(place + ((uintptr_t)count << UNIT_SHIFT),
                   run->capacity - count);
    }
    run->capacity = count;
    run->start = size;
    return true;
}

/* What outgrew its run gets a mapping of its own: the next time its pages move
 * without a copy. */
static void *move_out(void *object, size_t size) {
    bool zero;
    size_t old_size = large_usable(object);
    void *moved = huge_take(size, 1, &zero);
    if (moved != NULL) {
        memcpy(moved, object, old_size);
        large_give(object);
    }
    return moved;
}

void *large_resize(void *object, size_t size) {
    uintptr_t place = (uintptr_t)object;
    if (size <= MEDIUM_MAX) {
        return NULL;
    }
    if (is_outside(place)) {
        return size > HUGE_PAGE ? huge_resize(object, size) : NULL;
    }
    if (size <= LARGE_MAX && resize_run(place, size)) {
        return object;
    }
    return size > HUGE_PAGE ? move_out(object, size) : NULL;
}
