/* Implements sweep.h. It goes round all spans, object by object. */
#include "sweep.h"

#include "canary.h"
#include "heap.h"

static struct {
    size_t unit;
    uint32_t index; /* of the object in the unit's span */
} next;

/* What was seen may be the work of a thread that began meanwhile. Its first
 * operation attached it, and what it writes to blocks came later. */
static bool stayed_alone(void) {
#if !defined(__SANITIZE_THREAD__) /* which knows no fences */
    atomic_thread_fence(memory_order_acquire);
#endif
    return heap_is_alone();
}

/* A canary begins anywhere. */
typedef uint64_t __attribute__((may_alias, aligned(1))) word_t;

SAME_BYTES bool word_holds(uint64_t key, uintptr_t place) {
    return *(const volatile word_t *)place == key;
}

static bool fence_holds(uint64_t key, uintptr_t end, size_t bytes) {
    bool whole = true;
    for (size_t back = 8; back <= bytes; back += 8) {
        whole &= word_holds(key, end - back);
    }
    return whole;
}

static void look_at(uintptr_t place, unsigned class) {
    uint8_t state = state_read(state_of(class, place));
    size_t block = class_infos[class].size;
    uint64_t key = canary(place);
    if (state == STATE_CACHED) {
        if (UNLIKELY(!word_holds(key, place) ||
                     !word_holds(key, place + second_poison(class))) &&
            stayed_alone()) {
            (void)report_late_write(place);
        }
    } else if (state == live_mark(class, place)) {
        size_t size = length_read(length_of(class, place));
        if (UNLIKELY(!word_holds(key_at(key, size), place + size)) &&
            stayed_alone()) {
            report_damage((void *)place, size,
                          "overflow behind the end of object");
        }
        if (UNLIKELY(!front_holds(place, class)) && stayed_alone()) {
            report_damage((void *)place, size, "write in front of object");
        }
    } else {
        return;
    }
    if (UNLIKELY(!fence_holds(key, place + block, fence_bytes(class))) &&
        stayed_alone()) {
        report_damage((void *)place, block, "overflow behind block");
    }
}

/* The place of the next object and its class, or 0 where there is none; that is a
 * look, too. Reads a span without its lock. */
SAME_BYTES uintptr_t next_object(unsigned *class) {
    const struct span *span = &range.spans[next.unit];
    uint32_t entry = entry_of_unit(next.unit);
    if (entry >> ENTRY_OWNER_SHIFT == 0 || next.index >= span->carved) {
        size_t units = entry == ENTRY_RUN ? span->capacity : 1;
        next.unit = units_next_used(next.unit + units);
        next.index = 0;
        return 0;
    }
    *class = span->class;
    return span->start + (uintptr_t)next.index++ * class_infos[*class].size;
}

void sweep(unsigned looks) {
    for (; looks > 0 && heap_is_alone(); looks--) {
        unsigned class = 0;
        uintptr_t place = next_object(&class);
        if (place != 0) {
            look_at(place, class);
        }
    }
}
