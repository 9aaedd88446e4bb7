/* range.h: reserving addresses, and growing the tables that describe them.
 *
 * Usually the whole range is one mapping whose pages appear when touched. Where
 * that is refused (ulimit -v, strict overcommit, valgrind) the addresses are only
 * planned, and segments and parts of tables are mapped as the range grows. */
#include "range.h"

#include "options.h"

#define GIB ((size_t)1 << 30)

struct table {
    uintptr_t base;
    size_t bytes;
    size_t mapped;
};

enum {
    TABLE_ENTRIES,
    TABLE_SEGMENTS,
    TABLE_SPANS,
    TABLE_HEAPS,
    TABLE_META,
    TABLE_STATES
};
enum { SHIFTS = MAX_SHIFT + 1 - MIN_SHIFT };
enum {
    TABLE_LENGTHS = TABLE_STATES + SHIFTS,
    TABLE_COUNT = TABLE_LENGTHS + SHIFTS
};

struct range range;

static struct {
    bool reserved;
    struct table tables[TABLE_COUNT];
    size_t meta_used;
} state;

/* --- addresses --- */

/* Bytes of every table for a range of this length; the last states of a table
 * may lie 64 bytes further. */
static void plan_tables(size_t range_bytes, size_t *bytes) {
    size_t units = range_bytes >> UNIT_SHIFT;
    bytes[TABLE_ENTRIES] = units * sizeof(uint32_t);
    bytes[TABLE_SEGMENTS] = (units / SEGMENT_UNITS) * sizeof(struct segment);
    bytes[TABLE_SPANS] = units * sizeof(struct span);
    bytes[TABLE_HEAPS] = MAX_HEAPS * sizeof(struct heap);
    bytes[TABLE_META] = range_bytes / 64;
    for (unsigned shift = MIN_SHIFT; shift <= MAX_SHIFT; shift++) {
        size_t states = (range_bytes >> shift) + UNIT_BYTES;
        bytes[TABLE_STATES + shift - MIN_SHIFT] = states;
        bytes[TABLE_LENGTHS + shift - MIN_SHIFT] =
            options.hardened ? 2 * states : 0;
    }
}

static void place_tables(uintptr_t base, size_t range_bytes,
                         const size_t *bytes, size_t mapped) {
    uintptr_t next = base + range_bytes;
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        size_t whole = round_up(bytes[i], UNIT_BYTES);
        state.tables[i] =
            (struct table){.base = next,
                           .bytes = whole,
                           .mapped = mapped < whole ? mapped : whole};
        next += whole;
    }
    for (unsigned shift = MIN_SHIFT; shift <= MAX_SHIFT; shift++) {
        /* base >> shift is a multiple of 64, so the low six bits of the
         * difference are the shift. */
        range.states[shift] =
            state.tables[TABLE_STATES + shift - MIN_SHIFT].base + shift -
            (base >> shift);
        range.lengths[shift] =
            state.tables[TABLE_LENGTHS + shift - MIN_SHIFT].base -
            2 * (base >> shift);
    }
    range.base = base;
    range.entries = (_Atomic uint32_t *)state.tables[TABLE_ENTRIES].base;
    range.spans = (struct span *)state.tables[TABLE_SPANS].base;
    range.heaps = (struct heap *)state.tables[TABLE_HEAPS].base;
    range.segments = (struct segment *)state.tables[TABLE_SEGMENTS].base;
}

static size_t plan(size_t range_bytes, size_t *bytes) {
    size_t total = range_bytes;
    plan_tables(range_bytes, bytes);
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        total += round_up(bytes[i], UNIT_BYTES);
    }
    return total;
}

static bool reserve(size_t range_bytes) {
    size_t bytes[TABLE_COUNT];
    size_t total = plan(range_bytes, bytes);
    char *got = os_reserve(total + SEGMENT_BYTES);
    if (got == NULL) {
        return false;
    }
    uintptr_t base = round_up((uintptr_t)got, SEGMENT_BYTES);
    place_tables(base, range_bytes, bytes, SIZE_MAX);
    os_refuse_huge_pages((void *)(base + range_bytes), total - range_bytes);
    state.reserved = true;
    range.bytes = range_bytes;
    return true;
}

static bool table_ensure(struct table *table, size_t bytes) {
    if (bytes <= table->mapped) {
        return true;
    }
    size_t target = round_up(bytes, UNIT_BYTES);
    if (target > table->bytes ||
        !os_map_at(table->base + table->mapped, target - table->mapped)) {
        return false;
    }
    table->mapped = target;
    return true;
}

/* The system maps downwards from where a probe lands; below all that this
 * process may still map, the addresses stay ours without holding them. */
static bool plan_piecewise(size_t limit) {
    size_t bytes[TABLE_COUNT];
    size_t range_bytes =
        limit < 32 * GIB ? round_up(limit, 64 * SEGMENT_BYTES) : 32 * GIB;
    size_t total = plan(range_bytes, bytes);
    void *probe = os_map(UNIT_BYTES);
    if (probe == NULL) {
        return false;
    }
    os_unmap(probe, UNIT_BYTES);
    if ((uintptr_t)probe < total + range_bytes + SEGMENT_BYTES) {
        return false;
    }
    uintptr_t base = ((uintptr_t)probe - total - range_bytes) &
                     ~(uintptr_t)(SEGMENT_BYTES - 1);
    place_tables(base, range_bytes, bytes, 0);
    if (!table_ensure(&state.tables[TABLE_ENTRIES], bytes[TABLE_ENTRIES]) ||
        !table_ensure(&state.tables[TABLE_SEGMENTS], bytes[TABLE_SEGMENTS])) {
        return false;
    }
    range.bytes = range_bytes;
    return true;
}

bool range_prepare(void) {
    size_t limit = os_address_space_limit();
    range.page_bytes = os_page_bytes();
    if (limit == SIZE_MAX) {
        for (size_t size = options.range_gib * GIB; size >= 16 * GIB;
             size /= 4) {
            if (reserve(size)) {
                return true;
            }
        }
    }
    return plan_piecewise(limit);
}

/* --- growth, under the lock --- */

static bool describe_segment(size_t segment) {
    size_t end = (segment + 1) << SEGMENT_SHIFT;
    if (!table_ensure(&state.tables[TABLE_SPANS],
                      (end >> UNIT_SHIFT) * sizeof(struct span))) {
        return false;
    }
    for (unsigned shift = MIN_SHIFT; shift <= MAX_SHIFT; shift++) {
        struct table *states = &state.tables[TABLE_STATES + shift - MIN_SHIFT];
        struct table *lengths =
            &state.tables[TABLE_LENGTHS + shift - MIN_SHIFT];
        size_t count = (end >> shift) + 64;
        if (!table_ensure(states, count) ||
            (options.hardened && !table_ensure(lengths, 2 * count))) {
            return false;
        }
    }
    return true;
}

bool segment_map(size_t segment) {
    uintptr_t place = range.base + (segment << SEGMENT_SHIFT);
    return state.reserved ||
           (describe_segment(segment) && os_map_at(place, SEGMENT_BYTES));
}

void *meta_take(size_t bytes) {
    void *place = NULL;
    struct table *table = &state.tables[TABLE_META];
    bytes = round_up(
        bytes,
        MAGAZINE_BYTES); /* what lies in it may end where a magazine does */
    range_lock();
    if (state.meta_used + bytes <= table->bytes &&
        table_ensure(table, state.meta_used + bytes)) {
        place = (void *)(table->base + state.meta_used);
        state.meta_used += bytes;
    }
    range_unlock();
    return place;
}

bool heap_storage_ensure(uint32_t id) {
    range_lock();
    bool done = id < MAX_HEAPS && table_ensure(&state.tables[TABLE_HEAPS],
                                               (id + 1) * sizeof(struct heap));
    range_unlock();
    return done;
}

bool range_is_reserved(void) { return state.reserved; }

size_t meta_bytes(void) { return state.meta_used; }
