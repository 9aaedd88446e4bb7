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
    atomic_thread_fence(memory_order_acquire);
    return heap_is_alone();
}

SAME_BYTES bool words_hold(uint64_t key, uintptr_t place, size_t bytes) {
    bool whole = true;
    for (size_t at = 0; at < bytes; at += 8) {
        whole &= *(const volatile fence_t *)(place + at) == key;
    }
    return whole;
}

/* Byte by byte, since a canary begins anywhere. */
SAME_BYTES bool canary_holds(uint64_t key, uintptr_t place, size_t size) {
    bool whole = true;
    for (size_t at = size; at < size + CANARY_BYTES; at++) {
        uint8_t byte = *(const volatile uint8_t *)(place + at);
        whole &= byte == (uint8_t)(key >> at % 8 * 8);
    }
    return whole;
}

static void look_at(uintptr_t place, unsigned class) {
    uint8_t state = state_read(state_of(class, place));
    size_t block = class_infos[class].size;
    uint64_t key = canary(place);
    if (state == STATE_CACHED) {
        if (UNLIKELY(!words_hold(key, place, 8) ||
                     !words_hold(key, place + second_poison(class), 8)) &&
            stayed_alone()) {
            (void)report_late_write(place);
        }
    } else if (state == live_mark(class, place)) {
        size_t size = length_read(length_of(class, place));
        if (UNLIKELY(!canary_holds(key, place, size)) && stayed_alone()) {
            report_damage((void *)place, size,
                          "overflow behind the end of object");
        }
        if (UNLIKELY(!front_holds(place, class)) && stayed_alone()) {
            report_damage((void *)place, size, "write in front of object");
        }
    } else {
        return;
    }
    size_t fence = fence_bytes(class);
    if (UNLIKELY(!words_hold(key, place + block - fence, fence)) &&
        stayed_alone()) {
        report_damage((void *)place, block, "overflow behind block");
    }
}

/* The place of the next object and its class, or 0 where there is none; that is a
 * look, too. Reads a span without its lock. */
SAME_BYTES uintptr_t next_object(unsigned *class) {
    const struct span *span = &range.spans[next.unit];
    if (entry_of_unit(next.unit) >> ENTRY_OWNER_SHIFT == 0 ||
        next.index >= span->carved) {
        next.unit = units_next_used(next.unit + 1);
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
