/* The range of addresses that holds all objects up to 2 MiB, its flat tables, and
 * its units.
 *
 * Invariants 1 (entries), 2 and 3 (states) and 6 (clean units are zero) of
 * README.md. Units are handed out lowest address first, so the range stays short
 * and its tables share pages. */
#ifndef PACELINE_RANGE_H
#define PACELINE_RANGE_H

#include "classes.h"
#include "types.h"

struct range {
    uintptr_t base;
    size_t bytes; /* 0 until range_prepare succeeded */
    _Atomic uint32_t *entries;
    struct span *spans;
    struct segment *segments;
    states_t states[MAX_SHIFT + 1];
    uintptr_t lengths[MAX_SHIFT +
                      1]; /* hardened: two bytes where the states have one */
    struct heap *heaps;   /* by id; 1 is the shared heap */
    size_t page_bytes;
};

extern struct range range;

struct range_counts {
    size_t segments, units_used, units_dirty, units_purged, meta_bytes;
    bool reserved; /* in one piece, not mapped piece by piece */
};

/* Finds the addresses. Once per process, before anything else. */
bool range_prepare(void);

/* `count` units (1 to 4,096) whose first is a multiple of `alignment` units (a
 * power of two up to a segment's); 0 when there are none. *clean: they read as
 * zeros. The caller writes their entries. */
uintptr_t units_take(unsigned count, unsigned alignment, bool *clean);
void units_give(uintptr_t place, unsigned count);
/* Purges what was dirty when this last did something, if that is a decay period
 * ago. */
void units_age(uint64_t now);
/* Takes the `more` units behind a run of `count`, if they are free. */
bool units_extend(uintptr_t place, unsigned count, unsigned more, bool *clean);
/* The first unit from this one on that is used, or else from the range's begin; 0
 * where there is none. */
size_t units_next_used(size_t unit);
/* Gives the pages of all free units back; the number of units that had any. */
size_t units_purge(void);
/* Unmaps segments without objects, but for one, where there is a limit on
 * address space: then the addresses themselves are short. Bytes. */
size_t segments_unmap(void);

/* Zeroed memory for batches and the like at a multiple of MAGAZINE_BYTES, never
 * given back; NULL when there is none. */
void *meta_take(size_t bytes);
/* Makes the tables of this heap usable; false when memory is out. */
bool heap_storage_ensure(uint32_t id);

/* With the range's lock held. */
struct range_counts range_count(void);
bool range_is_reserved(void);
size_t meta_bytes(void);
/* Makes a segment and its tables usable, once for each; under the lock. */
bool segment_map(size_t segment);
void range_lock(void);
void range_unlock(void);

static inline size_t unit_of(uintptr_t place) {
    return (place - range.base) >> UNIT_SHIFT;
}

static inline struct span *span_of(uintptr_t place) {
    return &range.spans[unit_of(place)];
}

static inline uint32_t entry_of_unit(size_t unit) {
    return atomic_load_explicit(&range.entries[unit], memory_order_relaxed);
}

static inline uint32_t entry_for(uint32_t owner, unsigned class) {
    return owner << ENTRY_OWNER_SHIFT | class << ENTRY_CLASS_SHIFT;
}

static inline unsigned entry_class(uint32_t entry) {
    return (entry & ((1u << ENTRY_OWNER_SHIFT) - 1)) >> ENTRY_CLASS_SHIFT;
}

static inline void entry_set(size_t unit, uint32_t entry) {
    atomic_store_explicit(&range.entries[unit], entry, memory_order_relaxed);
}

static inline bool in_range(uintptr_t place) {
    return place - range.base < range.bytes;
}

/* --- states --- */

static inline state_t *state_at(states_t states, uintptr_t place) {
    return (state_t *)(states + (place >> (states & 63)));
}

/* The index of an object's state in its table is that of its length. */
static inline _Atomic uint16_t *length_at(uintptr_t lengths, states_t states,
                                          uintptr_t place) {
    return (_Atomic uint16_t *)(lengths + 2 * (place >> (states & 63)));
}

static inline uint8_t state_read(const state_t *state) {
    return __atomic_load_n(state, __ATOMIC_RELAXED);
}

static inline void state_write(state_t *state, uint8_t value) {
    __atomic_store_n(state, value, __ATOMIC_RELAXED);
}

/* `place` is a multiple of 8 in a table of states. */
static inline uint64_t eight_states_read(uintptr_t place) {
    return __atomic_load_n((eight_states_t *)place, __ATOMIC_RELAXED);
}

static inline void eight_states_write(uintptr_t place, uint64_t value) {
    __atomic_store_n((eight_states_t *)place, value, __ATOMIC_RELAXED);
}

static inline uint8_t live_mark_small(uintptr_t place) {
    return (uint8_t)(STATE_LIVE | place >> GRAIN_SHIFT);
}

static inline uint8_t live_mark_medium(uintptr_t place) {
    return (uint8_t)(STATE_LIVE | place >> MEDIUM_GRAIN_SHIFT);
}

static inline uint8_t live_mark(unsigned class, uintptr_t place) {
    return class < SMALL_CLASSES ? live_mark_small(place)
                                 : live_mark_medium(place);
}

static inline state_t *state_of(unsigned class, uintptr_t place) {
    return state_at(range.states[class_infos[class].shift], place);
}

static inline _Atomic uint16_t *length_of(unsigned class, uintptr_t place) {
    unsigned shift = class_infos[class].shift;
    return length_at(range.lengths[shift], range.states[shift], place);
}

#endif
