/* range.h: reserving addresses, growing the tables that describe them, and units by bitmap.
 *
 * Two ways to have a range. Usually all of it is one mapping whose pages appear when touched, and nothing is
 * ever mapped again. Where that is refused (ulimit -v, strict overcommit, valgrind) the same addresses are
 * only planned: segments and the parts of tables that describe them are mapped as the range grows. */
#include "range.h"

#include "options.h"

#define GIB ((size_t)1 << 30)

struct table {
    uintptr_t base;
    size_t bytes;
    size_t mapped;
};

enum { TABLE_ENTRIES, TABLE_SEGMENTS, TABLE_SPANS, TABLE_HEAPS, TABLE_META, TABLE_STATES, RUN_HINTS = 6 };
enum { TABLE_COUNT = TABLE_STATES + MAX_SHIFT + 1 - MIN_SHIFT };

struct range range;

static struct {
    struct os_lock lock;
    bool reserved;
    struct table tables[TABLE_COUNT];
    struct segment *segments;
    size_t segment_count; /* in use, from the first */
    size_t meta_used;
    /* No segment below run_hints[k] has 2^k free units in a row. */
    size_t run_hints[RUN_HINTS];
    size_t units_used, units_dirty, units_purged, unmapped_count;
    uint64_t decayed_ms;
    uint32_t ticks;
} state;

/* --- addresses --- */

static size_t round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/* Bytes of every table for a range of this length; the last states of a table may lie 64 bytes further. */
static void plan_tables(size_t range_bytes, size_t *bytes) {
    size_t units = range_bytes >> UNIT_SHIFT;
    bytes[TABLE_ENTRIES] = units * sizeof(uint32_t);
    bytes[TABLE_SEGMENTS] = (units / SEGMENT_UNITS) * sizeof(struct segment);
    bytes[TABLE_SPANS] = units * sizeof(struct span);
    bytes[TABLE_HEAPS] = MAX_HEAPS * sizeof(struct heap);
    bytes[TABLE_META] = range_bytes / 64;
    for (unsigned shift = MIN_SHIFT; shift <= MAX_SHIFT; shift++) {
        bytes[TABLE_STATES + shift - MIN_SHIFT] = (range_bytes >> shift) + UNIT_BYTES;
    }
}

static void place_tables(uintptr_t base, size_t range_bytes, const size_t *bytes, size_t mapped) {
    uintptr_t next = base + range_bytes;
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        size_t whole = round_up(bytes[i], UNIT_BYTES);
        state.tables[i] = (struct table){.base = next, .bytes = whole, .mapped = mapped < whole ? mapped : whole};
        next += whole;
    }
    for (unsigned shift = MIN_SHIFT; shift <= MAX_SHIFT; shift++) {
        /* base >> shift is a multiple of 64, so the low six bits of the difference are the shift. */
        range.states[shift] = state.tables[TABLE_STATES + shift - MIN_SHIFT].base + shift - (base >> shift);
    }
    range.base = base;
    range.entries = (_Atomic uint32_t *)state.tables[TABLE_ENTRIES].base;
    range.spans = (struct span *)state.tables[TABLE_SPANS].base;
    range.heaps = (struct heap *)state.tables[TABLE_HEAPS].base;
    state.segments = (struct segment *)state.tables[TABLE_SEGMENTS].base;
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
    if (options.huge_pages) {
        os_ask_huge_pages((void *)base, range_bytes);
    }
    state.reserved = true;
    range.bytes = range_bytes;
    return true;
}

static bool table_ensure(struct table *table, size_t bytes) {
    if (bytes <= table->mapped) {
        return true;
    }
    size_t target = round_up(bytes, UNIT_BYTES);
    if (target > table->bytes || !os_map_at(table->base + table->mapped, target - table->mapped)) {
        return false;
    }
    table->mapped = target;
    return true;
}

/* The system maps downwards from where a probe lands; below all that this process may still map, the
 * addresses stay ours without holding them. */
static bool plan_piecewise(size_t limit) {
    size_t bytes[TABLE_COUNT];
    size_t range_bytes = limit < 32 * GIB ? round_up(limit, 64 * SEGMENT_BYTES) : 32 * GIB;
    size_t total = plan(range_bytes, bytes);
    void *probe = os_map(UNIT_BYTES);
    if (probe == NULL) {
        return false;
    }
    os_unmap(probe, UNIT_BYTES);
    if ((uintptr_t)probe < total + range_bytes + SEGMENT_BYTES) {
        return false;
    }
    uintptr_t base = ((uintptr_t)probe - total - range_bytes) & ~(uintptr_t)(SEGMENT_BYTES - 1);
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
        for (size_t size = options.range_gib * GIB; size >= 16 * GIB; size /= 4) {
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
    if (!table_ensure(&state.tables[TABLE_SPANS], (end >> UNIT_SHIFT) * sizeof(struct span))) {
        return false;
    }
    for (unsigned shift = MIN_SHIFT; shift <= MAX_SHIFT; shift++) {
        if (!table_ensure(&state.tables[TABLE_STATES + shift - MIN_SHIFT], (end >> shift) + 64)) {
            return false;
        }
    }
    return true;
}

static void lower_hints(size_t segment) {
    for (unsigned k = 0; k < RUN_HINTS; k++) {
        state.run_hints[k] = segment < state.run_hints[k] ? segment : state.run_hints[k];
    }
}

/* A segment that was given back, mapped again. */
static bool regrow(void) {
    for (size_t i = 0; i < state.segment_count && state.unmapped_count > 0; i++) {
        struct segment *segment = &state.segments[i];
        if (segment->unmapped && os_map_at(range.base + (i << SEGMENT_SHIFT), SEGMENT_BYTES)) {
            *segment = (struct segment){.free = ~(uint64_t)0};
            state.unmapped_count--;
            lower_hints(i);
            return true;
        }
    }
    return false;
}

static bool grow(void) {
    while ((state.segment_count + 1) << SEGMENT_SHIFT <= range.bytes) {
        size_t segment = state.segment_count;
        if (!state.reserved) {
            uintptr_t place = range.base + (segment << SEGMENT_SHIFT);
            if (!describe_segment(segment)) {
                return false;
            }
            if (!os_map_at(place, SEGMENT_BYTES)) {
                /* Out of memory, or somebody else is at this place; then the next one may be free. */
                void *probe = os_map(SEGMENT_BYTES);
                if (probe == NULL) {
                    return false;
                }
                os_unmap(probe, SEGMENT_BYTES);
                state.segment_count++;
                continue;
            }
        }
        state.segments[segment].free = ~(uint64_t)0;
        state.segment_count++;
        return true;
    }
    return false;
}

void *meta_take(size_t bytes) {
    void *place = NULL;
    struct table *table = &state.tables[TABLE_META];
    bytes = round_up(bytes, 64);
    os_lock(&state.lock);
    if (state.meta_used + bytes <= table->bytes && table_ensure(table, state.meta_used + bytes)) {
        place = (void *)(table->base + state.meta_used);
        state.meta_used += bytes;
    }
    os_unlock(&state.lock);
    return place;
}

bool heap_storage_ensure(uint32_t id) {
    os_lock(&state.lock);
    bool done = id < MAX_HEAPS && table_ensure(&state.tables[TABLE_HEAPS], (id + 1) * sizeof(struct heap));
    os_unlock(&state.lock);
    return done;
}

/* --- decay, under the lock --- */

static uint64_t mask_of(unsigned first, unsigned count) {
    return (count == 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1) << first;
}

/* Purges the dirty units of one segment that `which` names, a system call for each stretch of them. */
static void purge_units(size_t index, uint64_t which) {
    struct segment *segment = &state.segments[index];
    which &= segment->dirty;
    while (which != 0) {
        unsigned first = (unsigned)__builtin_ctzll(which);
        uint64_t rest = ~(which >> first);
        unsigned count = rest == 0 ? 64u : (unsigned)__builtin_ctzll(rest);
        uint64_t mask = mask_of(first, count);
        uintptr_t place = range.base + (index << SEGMENT_SHIFT) + ((uintptr_t)first << UNIT_SHIFT);
        if (os_purge((void *)place, (size_t)count << UNIT_SHIFT)) {
            segment->dirty &= ~mask;
            segment->old_dirty &= ~mask;
            state.units_dirty -= count;
            state.units_purged += count;
        }
        which &= ~mask;
    }
}

/* Highest addresses first: they are taken last. */
static void purge_down_to(size_t units) {
    for (size_t i = state.segment_count; i-- > 0 && state.units_dirty > units;) {
        purge_units(i, ~(uint64_t)0);
    }
}

/* Called when units change hands. A purge costs a system call and later faults, so it must be earned: by more
 * free memory than a quarter of what is used, or by a whole period without use. */
static void decay(void) {
    size_t allowed = options.dirty_units + state.units_used / 4;
    if (state.units_dirty > allowed) {
        purge_down_to(allowed / 2);
    }
    if ((++state.ticks & 63) != 0 || state.units_dirty == 0) {
        return;
    }
    uint64_t now = os_clock_ms();
    if (now - state.decayed_ms < options.decay_ms) {
        return;
    }
    state.decayed_ms = now;
    for (size_t i = 0; i < state.segment_count; i++) {
        struct segment *segment = &state.segments[i];
        if (segment->dirty != 0) {
            purge_units(i, segment->old_dirty);
            segment->old_dirty = segment->dirty;
        }
    }
}

size_t segments_unmap(void) {
    size_t bytes = 0;
    os_lock(&state.lock);
    for (size_t i = 0; i < state.segment_count && !state.reserved; i++) {
        struct segment *segment = &state.segments[i];
        if (segment->free == ~(uint64_t)0) {
            os_unmap((void *)(range.base + (i << SEGMENT_SHIFT)), SEGMENT_BYTES);
            state.units_dirty -= (size_t)__builtin_popcountll(segment->dirty);
            *segment = (struct segment){.unmapped = true};
            state.unmapped_count++;
            bytes += SEGMENT_BYTES;
        }
    }
    os_unlock(&state.lock);
    return bytes;
}

size_t units_purge(void) {
    os_lock(&state.lock);
    size_t before = state.units_dirty;
    purge_down_to(0);
    size_t purged = before - state.units_dirty;
    os_unlock(&state.lock);
    return purged;
}

/* --- units --- */

/* Bit i: the bits i to i + count - 1 of `free` are set. */
static uint64_t starts_of_runs(uint64_t free, unsigned count) {
    for (unsigned left = count; left > 1;) {
        unsigned half = left >> 1;
        free &= free >> half;
        left -= half;
    }
    return free;
}

static bool claim(struct segment *segment, uint64_t mask, unsigned count) {
    uint64_t dirty = segment->dirty & mask;
    segment->free &= ~mask;
    segment->dirty &= ~mask;
    segment->old_dirty &= ~mask;
    state.units_dirty -= (size_t)__builtin_popcountll(dirty);
    state.units_used += count;
    return dirty == 0;
}

/* Lowest address first. `aligned` has a bit for each unit of a segment a run may begin at. */
static uintptr_t find_units(unsigned count, uint64_t aligned, bool *clean) {
    unsigned floor_log = 31u - (unsigned)__builtin_clz(count);
    unsigned ceil_log = floor_log + ((count & (count - 1)) != 0);
    size_t i = state.run_hints[floor_log];
    uint64_t starts = 0;
    while (i < state.segment_count && (starts = starts_of_runs(state.segments[i].free, count) & aligned) == 0) {
        i++;
    }
    if (aligned == ~(uint64_t)0 && ceil_log < RUN_HINTS && state.run_hints[ceil_log] < i) {
        state.run_hints[ceil_log] = i;
    }
    if (starts == 0) {
        return 0;
    }
    unsigned first = (unsigned)__builtin_ctzll(starts);
    *clean = claim(&state.segments[i], mask_of(first, count), count);
    return range.base + (i << SEGMENT_SHIFT) + ((uintptr_t)first << UNIT_SHIFT);
}

uintptr_t units_take(unsigned count, unsigned alignment, bool *clean) {
    uint64_t aligned = 0;
    for (unsigned unit = 0; unit < SEGMENT_UNITS; unit += alignment) {
        aligned |= (uint64_t)1 << unit;
    }
    os_lock(&state.lock);
    uintptr_t place = find_units(count, aligned, clean);
    if (place == 0 && regrow()) {
        place = find_units(count, aligned, clean);
    }
    while (place == 0 && grow()) {
        place = find_units(count, aligned, clean);
    }
    decay();
    os_unlock(&state.lock);
    return place;
}

bool units_extend(uintptr_t place, unsigned count, unsigned more, bool *clean) {
    size_t unit = unit_of(place);
    unsigned first = (unsigned)(unit % SEGMENT_UNITS) + count;
    if (first + more > SEGMENT_UNITS) {
        return false;
    }
    uint64_t mask = mask_of(first, more);
    os_lock(&state.lock);
    struct segment *segment = &state.segments[unit / SEGMENT_UNITS];
    bool free = (segment->free & mask) == mask;
    if (free) {
        *clean = claim(segment, mask, more);
    }
    os_unlock(&state.lock);
    return free;
}

void units_give(uintptr_t place, unsigned count) {
    size_t unit = unit_of(place);
    size_t index = unit / SEGMENT_UNITS;
    uint64_t mask = mask_of((unsigned)(unit % SEGMENT_UNITS), count);
    os_lock(&state.lock);
    struct segment *segment = &state.segments[index];
    segment->free |= mask;
    segment->dirty |= mask;
    state.units_used -= count;
    state.units_dirty += count;
    lower_hints(index);
    decay();
    os_unlock(&state.lock);
}

/* --- for statistics and fork --- */

struct range_counts range_count(void) {
    os_lock(&state.lock);
    struct range_counts counts = {
        .segments = state.segment_count,
        .units_used = state.units_used,
        .units_dirty = state.units_dirty,
        .units_purged = state.units_purged,
        .meta_bytes = state.meta_used,
        .reserved = state.reserved,
    };
    os_unlock(&state.lock);
    return counts;
}

void range_lock(void) { os_lock(&state.lock); }

void range_unlock(void) { os_unlock(&state.lock); }
