/* range.h: choosing addresses, and mapping the range and its tables as it grows.
 *
 * The addresses are planned, not reserved: a limit that a process sets for itself
 * after the start (RLIMIT_AS) counts reserved addresses too, and would leave no
 * room for threads or huge objects. They lie far below where the system maps on
 * its own. Where addresses are too few for such a distance the whole range is one
 * mapping instead, whose pages appear when touched. */
#include "range.h"

#include "options.h"

#define GIB ((size_t)1 << 30)

/* Where the system maps below this (Android's 39 bits of addresses) a range has
 * no room far from everything else. */
#define FAR_ENOUGH ((uintptr_t)1 << 46)

/* Without a limit tables grow for this many segments, and this much metadata,
 * at once. */
enum { SEGMENTS_A_STEP = 16, META_STEP = 1 << 20 };

/* Around each table, so that running on from objects or from one table does not
 * reach another. */
#define GUARD_BYTES UNIT_BYTES

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
    uintptr_t next = base + range_bytes + GUARD_BYTES;
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        size_t whole = round_up(bytes[i], UNIT_BYTES);
        state.tables[i] =
            (struct table){.base = next,
                           .bytes = whole,
                           .mapped = mapped < whole ? mapped : whole};
        next += whole + GUARD_BYTES;
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
    size_t total = range_bytes + GUARD_BYTES;
    plan_tables(range_bytes, bytes);
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        total += round_up(bytes[i], UNIT_BYTES) + GUARD_BYTES;
    }
    return total;
}

/* Of a range in one mapping; where tables are mapped as they grow, nothing is
 * mapped between them. */
static void forbid_guards(void) {
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        const struct table *table = &state.tables[i];
        (void)os_forbid((void *)(table->base - GUARD_BYTES), GUARD_BYTES);
        (void)os_forbid((void *)(table->base + table->bytes), GUARD_BYTES);
    }
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
    forbid_guards();
    state.reserved = true;
    range.bytes = range_bytes;
    return true;
}

static bool table_grow(struct table *table, size_t target) {
    if (target > table->bytes ||
        !os_map_at(table->base + table->mapped, target - table->mapped)) {
        return false;
    }
    table->mapped = target;
    if (target >= HUGE_PAGE) {
        os_refuse_huge_pages((void *)table->base, target);
    }
    return true;
}

/* The first `bytes` of the table are mapped; without a limit on addresses `ahead`
 * more, so that growing is rare. */
static bool table_ensure(struct table *table, size_t bytes, size_t ahead) {
    if (bytes <= table->mapped) {
        return true;
    }
    return (os_address_space_limit() == SIZE_MAX &&
            table_grow(table, round_up(bytes + ahead, UNIT_BYTES))) ||
           table_grow(table, round_up(bytes, UNIT_BYTES));
}

/* Plans the range to end `distance` below where the system maps now; it maps
 * downwards from there. Nothing else comes to the planned addresses until this
 * process has mapped that much. */
static bool plan_below(uintptr_t top, size_t range_bytes, size_t distance) {
    size_t bytes[TABLE_COUNT];
    size_t total = plan(range_bytes, bytes);
    if (top < total + distance + SEGMENT_BYTES) {
        return false;
    }
    uintptr_t base = (top - total - distance) & ~(uintptr_t)(SEGMENT_BYTES - 1);
    place_tables(base, range_bytes, bytes, 0);
    struct table *entries = &state.tables[TABLE_ENTRIES];
    struct table *segments = &state.tables[TABLE_SEGMENTS];
    if (!table_grow(entries, entries->bytes)) {
        return false;
    }
    if (!table_grow(segments, segments->bytes)) {
        os_unmap((void *)entries->base, entries->bytes);
        return false;
    }
    range.bytes = range_bytes;
    return true;
}

/* Where the system maps now; 0 when it maps nothing. */
static uintptr_t find_top(void) {
    void *probe = os_map(UNIT_BYTES);
    if (probe != NULL) {
        os_unmap(probe, UNIT_BYTES);
    }
    return (uintptr_t)probe;
}

bool range_prepare(void) {
    size_t limit = os_address_space_limit();
    uintptr_t top = find_top();
    range.page_bytes = os_page_bytes();
    if (limit == SIZE_MAX) {
        if (top >= FAR_ENOUGH && !os_refuses_far_mappings() &&
            plan_below(top, options.range_gib * GIB, top / 16)) {
            return true;
        }
        for (size_t size = options.range_gib * GIB; size >= 16 * GIB;
             size /= 4) {
            if (reserve(size)) {
                return true;
            }
        }
    }
    size_t range_bytes =
        limit < 32 * GIB ? round_up(limit, 64 * SEGMENT_BYTES) : 32 * GIB;
    return plan_below(top, range_bytes, range_bytes);
}

/* --- growth, under the lock --- */

static bool describe_segment(size_t segment) {
    size_t end = (segment + 1) << SEGMENT_SHIFT;
    size_t ahead = (size_t)SEGMENTS_A_STEP << SEGMENT_SHIFT;
    if (!table_ensure(&state.tables[TABLE_SPANS],
                      (end >> UNIT_SHIFT) * sizeof(struct span),
                      (ahead >> UNIT_SHIFT) * sizeof(struct span))) {
        return false;
    }
    for (unsigned shift = MIN_SHIFT; shift <= MAX_SHIFT; shift++) {
        struct table *states = &state.tables[TABLE_STATES + shift - MIN_SHIFT];
        struct table *lengths =
            &state.tables[TABLE_LENGTHS + shift - MIN_SHIFT];
        size_t count = (end >> shift) + 64;
        if (!table_ensure(states, count, ahead >> shift) ||
            (options.hardened &&
             !table_ensure(lengths, 2 * count, 2 * ahead >> shift))) {
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
        table_ensure(table, state.meta_used + bytes, META_STEP)) {
        place = (void *)(table->base + state.meta_used);
        state.meta_used += bytes;
    }
    range_unlock();
    return place;
}

bool heap_storage_ensure(uint32_t id) {
    range_lock();
    size_t bytes = (id + 1) * sizeof(struct heap);
    bool done =
        id < MAX_HEAPS && table_ensure(&state.tables[TABLE_HEAPS], bytes, 0);
    range_unlock();
    return done;
}

bool range_is_reserved(void) { return state.reserved; }

size_t meta_bytes(void) { return state.meta_used; }
