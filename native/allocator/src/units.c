/* range.h: units of the range by bitmap, and their decay.
 *
 * Each segment has a word with a bit for every free unit and one with a bit for
 * every free dirty unit; a free unit that is not dirty reads as zeros. One lock
 * covers it all, taken once per span or large object. */
#include "range.h"

#include "options.h"

enum {
    RUN_HINTS = 6,
    LONG_HINT = RUN_HINTS,
    /* Runs of more units are long: they may reach over segments, and begin with a
     * huge page. */
    SHORT_UNITS = 32,
    LONG_STEP = (int)(HUGE_PAGE >> UNIT_SHIFT)
};

static struct {
    struct os_lock lock;
    size_t segment_count; /* in use, from the first */
    /* No segment below run_hints[k] has 2^k free units in a row; none below the
     * last where a long run may begin with a huge page. */
    size_t run_hints[RUN_HINTS + 1];
    size_t units_used, units_dirty, units_purged, unmapped_count;
    size_t regretted;  /* units that runs took again soon after their purge */
    size_t most_dirty; /* the most units that were dirty in this decay period */
    uint64_t aged_ms;
} state;

void range_lock(void) { os_lock(&state.lock); }

void range_unlock(void) { os_unlock(&state.lock); }

/* --- growth, under the lock --- */

static void lower_hints(size_t segment) {
    for (unsigned k = 0; k <= LONG_HINT; k++) {
        state.run_hints[k] =
            segment < state.run_hints[k] ? segment : state.run_hints[k];
    }
}

/* A segment that was given back, mapped again. */
static bool regrow(void) {
    for (size_t i = 0; i < state.segment_count && state.unmapped_count > 0;
         i++) {
        struct segment *segment = &range.segments[i];
        if (segment->unmapped &&
            os_map_at(range.base + (i << SEGMENT_SHIFT), SEGMENT_BYTES)) {
            *segment = (struct segment){.free = ~(uint64_t)0,
                                        .permitted = SEGMENT_UNITS};
            state.unmapped_count--;
            lower_hints(i);
            return true;
        }
    }
    return false;
}

/* Hardened: units of small programs that were never used may not be touched. */
static bool forbid_segment(size_t segment) {
    return os_forbid((void *)(range.base + (segment << SEGMENT_SHIFT)),
                     SEGMENT_BYTES);
}

/* Lets the first units of a segment be touched, up to `end` or a few more. */
static bool permit_units(size_t index, unsigned end) {
    enum { STEP = 4 }; /* a system call for each */
    struct segment *segment = &range.segments[index];
    unsigned begin = segment->permitted;
    end = (end + STEP - 1) / STEP * STEP;
    if (!os_permit((void *)(range.base + (index << SEGMENT_SHIFT) +
                            ((uintptr_t)begin << UNIT_SHIFT)),
                   (size_t)(end - begin) << UNIT_SHIFT)) {
        return false;
    }
    segment->permitted = (uint8_t)end;
    return true;
}

/* From this segment on huge pages are asked for, where they are at all. */
static size_t first_huge_segment(void) {
    return round_up(options.huge_after << 20, SEGMENT_BYTES) >> SEGMENT_SHIFT;
}

static bool grow(void) {
    while ((state.segment_count + 1) << SEGMENT_SHIFT <= range.bytes) {
        size_t segment = state.segment_count;
        if (segment_map(segment)) {
            range.segments[segment].free = ~(uint64_t)0;
            range.segments[segment].permitted = SEGMENT_UNITS;
            state.segment_count++;
            /* A program that came this far will use most of the next segment:
             * one fault instead of 512. A small one keeps small pages, and its
             * memory. */
            if (options.huge_after != 0 && segment >= first_huge_segment()) {
                os_ask_huge_pages(
                    (void *)(range.base + (segment << SEGMENT_SHIFT)),
                    SEGMENT_BYTES);
            } else if (options.hardened && forbid_segment(segment)) {
                range.segments[segment].permitted = 0;
            }
            return true;
        }
        /* Out of memory, or somebody else is at this place; then the next one
         * may be free. */
        void *probe = os_map(2 * SEGMENT_BYTES);
        if (probe == NULL) {
            return false;
        }
        os_unmap(probe, 2 * SEGMENT_BYTES);
        state.segment_count++;
    }
    return false;
}

/* --- decay, under the lock --- */

static uint64_t mask_of(unsigned first, unsigned count) {
    return (count == 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1) << first;
}

/* Purges the dirty units of one segment that `which` names, a system call for
 * each stretch of them. Clean units beside them go with them: a huge page that was
 * touched elsewhere may lie under them. */
static void purge_units(size_t index, uint64_t which) {
    struct segment *segment = &range.segments[index];
    which &= segment->dirty;
    uint64_t rest = (segment->free & ~segment->dirty) | which;
    while ((rest & which) != 0) {
        unsigned first = (unsigned)__builtin_ctzll(rest);
        uint64_t behind = ~(rest >> first);
        unsigned count = behind == 0 ? 64u : (unsigned)__builtin_ctzll(behind);
        uint64_t mask = mask_of(first, count);
        uint64_t dirty = which & mask;
        uintptr_t place = range.base + (index << SEGMENT_SHIFT) +
                          ((uintptr_t)first << UNIT_SHIFT);
        rest &= ~mask;
        if (dirty != 0 &&
            os_purge((void *)place, (size_t)count << UNIT_SHIFT)) {
            size_t purged = (size_t)__builtin_popcountll(dirty);
            segment->dirty &= ~dirty;
            segment->old_dirty &= ~dirty;
            segment->purged |= dirty;
            state.units_dirty -= purged;
            state.units_purged += purged;
        }
    }
}

/* Highest addresses first: they are taken last. */
static void purge_down_to(size_t units) {
    for (size_t i = state.segment_count;
         i-- > 0 && state.units_dirty > units;) {
        purge_units(i, ~(uint64_t)0);
    }
}

static size_t lesser(size_t one, size_t other) {
    return one < other ? one : other;
}

/* Called when units change hands. A purge costs a system call and later faults,
 * so it must be earned: by more free memory than a quarter of what is used, or
 * by a whole period without use (units_age). What was purged in vain is allowed
 * on top. */
static void decay(void) {
    size_t allowed = options.dirty_units + state.units_used / 4;
    if (state.units_dirty > allowed + state.regretted) {
        purge_down_to(allowed / 2 + state.regretted);
    }
}

static void regret(size_t units) {
    enum { MOST_REGRETTED = 8 }; /* times the option */
    state.regretted =
        lesser(state.regretted + units, MOST_REGRETTED * options.dirty_units);
}

/* So much as a whole period did not need is allowed no longer. */
static void forget_regrets(void) {
    size_t needed =
        state.most_dirty - lesser(state.most_dirty, options.dirty_units);
    state.regretted = lesser(state.regretted, needed);
    state.most_dirty = state.units_dirty;
}

void units_age(uint64_t now) {
    os_lock(&state.lock);
    bool due = state.units_dirty > 0 && period_is_over(state.aged_ms, now);
    for (size_t i = 0; due && i < state.segment_count; i++) {
        struct segment *segment = &range.segments[i];
        segment->purged = 0;
        if (segment->dirty != 0) {
            purge_units(i, segment->old_dirty);
            segment->old_dirty = segment->dirty;
        }
    }
    if (due) {
        state.aged_ms = now;
        forget_regrets();
    }
    os_unlock(&state.lock);
}

size_t segments_unmap(void) {
    size_t bytes = 0;
    if (range_is_reserved() || os_address_space_limit() == SIZE_MAX) {
        return 0;
    }
    os_lock(&state.lock);
    /* One stays for small objects: a limit that is lower than what is mapped
     * already lets no segment come back. */
    bool kept = false;
    for (size_t i = 0; i < state.segment_count; i++) {
        struct segment *segment = &range.segments[i];
        if (segment->free == ~(uint64_t)0 && !kept) {
            kept = true;
        } else if (segment->free == ~(uint64_t)0) {
            os_unmap((void *)(range.base + (i << SEGMENT_SHIFT)),
                     SEGMENT_BYTES);
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

/* How many of `count` units lie in the segment of the first. */
static unsigned in_segment(size_t unit, unsigned count) {
    unsigned room = SEGMENT_UNITS - (unsigned)(unit % SEGMENT_UNITS);
    return count < room ? count : room;
}

/* Takes units that are free; whether they are clean. */
static bool claim(size_t unit, unsigned count) {
    size_t dirty = 0, purged = 0;
    for (unsigned left = count, part; left > 0; left -= part, unit += part) {
        part = in_segment(unit, left);
        struct segment *segment = &range.segments[unit / SEGMENT_UNITS];
        uint64_t mask = mask_of((unsigned)(unit % SEGMENT_UNITS), part);
        dirty += (size_t)__builtin_popcountll(segment->dirty & mask);
        purged += (size_t)__builtin_popcountll(segment->purged & mask);
        segment->free &= ~mask;
        segment->dirty &= ~mask;
        segment->old_dirty &= ~mask;
        segment->purged &= ~mask;
    }
    state.units_dirty -= dirty;
    state.units_used += count;
    /* Spans regret nothing: bursts of small objects are to fall each time. */
    if (count > 1) {
        regret(purged);
    }
    return dirty == 0;
}

/* Whether units may be touched from now on. */
static bool permit(size_t unit, unsigned count) {
    for (unsigned part; count > 0; count -= part, unit += part) {
        part = in_segment(unit, count);
        size_t segment = unit / SEGMENT_UNITS;
        unsigned end = (unsigned)(unit % SEGMENT_UNITS) + part;
        if (UNLIKELY(end > range.segments[segment].permitted) &&
            !permit_units(segment, end)) {
            return false;
        }
    }
    return true;
}

static uintptr_t take_at(size_t unit, unsigned count, bool *clean) {
    if (!permit(unit, count)) {
        return 0;
    }
    *clean = claim(unit, count);
    return range.base + ((uintptr_t)unit << UNIT_SHIFT);
}

/* Lowest address first. `aligned` has a bit for each unit of a segment a run
 * may begin at. */
static uintptr_t find_short(unsigned count, uint64_t aligned, bool *clean) {
    unsigned floor_log = 31u - (unsigned)__builtin_clz(count);
    unsigned ceil_log = floor_log + ((count & (count - 1)) != 0);
    size_t i = state.run_hints[floor_log];
    uint64_t starts = 0;
    while (i < state.segment_count &&
           (starts = starts_of_runs(range.segments[i].free, count) & aligned) ==
               0) {
        i++;
    }
    if (aligned == ~(uint64_t)0 && ceil_log < RUN_HINTS &&
        state.run_hints[ceil_log] < i) {
        state.run_hints[ceil_log] = i;
    }
    if (starts == 0) {
        return 0;
    }
    return take_at(i * SEGMENT_UNITS + (unsigned)__builtin_ctzll(starts), count,
                   clean);
}

static uintptr_t take_short(unsigned count, unsigned alignment, bool *clean) {
    uint64_t aligned = alignment == 1 ? ~(uint64_t)0 : 0;
    for (unsigned unit = 0; unit < SEGMENT_UNITS && alignment > 1;
         unit += alignment) {
        aligned |= (uint64_t)1 << unit;
    }
    uintptr_t place = find_short(count, aligned, clean);
    if (place == 0 && regrow()) {
        place = find_short(count, aligned, clean);
    }
    while (place == 0 && grow()) {
        place = find_short(count, aligned, clean);
    }
    return place;
}

/* A long run, lowest address first; where huge pages are asked for at all, only
 * in segments that have them. */
static uintptr_t find_long(unsigned count, unsigned step, bool *clean) {
    size_t *hint = &state.run_hints[LONG_HINT];
    size_t begin = first_huge_segment();
    begin = (begin > *hint ? begin : *hint) * SEGMENT_UNITS;
    /* The hint is of the first place a run of any alignment may begin at. */
    bool sought = step == LONG_STEP;
    for (size_t at = begin; at < state.segment_count * SEGMENT_UNITS;) {
        unsigned first = (unsigned)(at % SEGMENT_UNITS);
        uint64_t used = ~(range.segments[at / SEGMENT_UNITS].free >> first);
        unsigned free = in_segment(
            at, used == 0 ? SEGMENT_UNITS : (unsigned)__builtin_ctzll(used));
        if (sought && free >= LONG_STEP) {
            *hint = at / SEGMENT_UNITS;
            sought = false;
        }
        at += free;
        if (at - begin >= count) {
            return take_at(begin, count, clean);
        }
        if (free == 0 || at % SEGMENT_UNITS != 0) {
            begin = at = (at / step + 1) * step;
        }
    }
    return 0;
}

/* Long runs and growing ones take no new addresses where these are limited: what
 * is mapped for one object alone ends with it. */
static bool grow_unlimited(void) {
    return os_address_space_limit() == SIZE_MAX && grow();
}

/* Grows by what the run needs and a little more, and not to the range's end, if
 * others' mappings lie in between. */
static uintptr_t take_long(unsigned count, unsigned alignment, bool *clean) {
    enum { MOST_SKIPPED = 16 }; /* segments in front, without huge pages */
    if (first_huge_segment() > MOST_SKIPPED) {
        return 0;
    }
    unsigned step = alignment > LONG_STEP ? alignment : LONG_STEP;
    unsigned most = MOST_SKIPPED + count / SEGMENT_UNITS + 2;
    uintptr_t place = find_long(count, step, clean);
    while (place == 0 && most-- > 0 && grow_unlimited()) {
        place = find_long(count, step, clean);
    }
    return place;
}

/* Whether units are free, of which the last may be new. */
static bool are_free(size_t unit, unsigned count) {
    for (unsigned part; count > 0; count -= part, unit += part) {
        size_t segment = unit / SEGMENT_UNITS;
        if (segment >= state.segment_count && !grow_unlimited()) {
            return false;
        }
        part = in_segment(unit, count);
        uint64_t mask = mask_of((unsigned)(unit % SEGMENT_UNITS), part);
        if ((range.segments[segment].free & mask) != mask) {
            return false;
        }
    }
    return true;
}

uintptr_t units_take(unsigned count, unsigned alignment, bool *clean) {
    os_lock(&state.lock);
    uintptr_t place = count <= SHORT_UNITS ? take_short(count, alignment, clean)
                                           : take_long(count, alignment, clean);
    decay();
    os_unlock(&state.lock);
    return place;
}

bool units_extend(uintptr_t place, unsigned count, unsigned more, bool *clean) {
    size_t unit = unit_of(place) + count;
    os_lock(&state.lock);
    bool free = are_free(unit, more) && permit(unit, more);
    if (free) {
        *clean = claim(unit, more);
    }
    os_unlock(&state.lock);
    return free;
}

void units_give(uintptr_t place, unsigned count) {
    size_t unit = unit_of(place);
    os_lock(&state.lock);
    lower_hints(unit / SEGMENT_UNITS);
    state.units_used -= count;
    state.units_dirty += count;
    if (state.most_dirty < state.units_dirty) {
        state.most_dirty = state.units_dirty;
    }
    for (unsigned part; count > 0; count -= part, unit += part) {
        part = in_segment(unit, count);
        struct segment *segment = &range.segments[unit / SEGMENT_UNITS];
        uint64_t mask = mask_of((unsigned)(unit % SEGMENT_UNITS), part);
        segment->free |= mask;
        segment->dirty |= mask;
    }
    decay();
    os_unlock(&state.lock);
}

static size_t next_used(size_t unit) {
    for (size_t i = unit / SEGMENT_UNITS; i < state.segment_count; i++) {
        const struct segment *segment = &range.segments[i];
        uint64_t used = segment->unmapped ? 0 : ~segment->free;
        if (i == unit / SEGMENT_UNITS) {
            used &= ~(uint64_t)0 << unit % SEGMENT_UNITS;
        }
        if (used != 0) {
            return i * SEGMENT_UNITS + (unsigned)__builtin_ctzll(used);
        }
    }
    return SIZE_MAX;
}

size_t units_next_used(size_t unit) {
    os_lock(&state.lock);
    size_t found = next_used(unit);
    found = found != SIZE_MAX ? found : next_used(0);
    os_unlock(&state.lock);
    return found != SIZE_MAX ? found : 0;
}

/* --- for statistics --- */

struct range_counts range_count(void) {
    struct range_counts counts = {
        .segments = state.segment_count,
        .units_used = state.units_used,
        .units_dirty = state.units_dirty,
        .units_purged = state.units_purged,
        .meta_bytes = meta_bytes(),
        .reserved = range_is_reserved(),
    };
    return counts;
}
