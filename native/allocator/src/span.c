/* span.h: carving, finding free objects by their states, and giving back pages
 * between objects. */
#include "span.h"

#include "options.h"

enum { PAGES_PER_UNIT = 16, PAGE_SHIFT = UNIT_SHIFT - 4 };

static _Atomic uint32_t guards;

/* Where the first object lies. All spans beginning at the same offset would put
 * the most used object of every class into the same cache set; so the start
 * moves by the unit's number, in steps that keep alignment. */
static uintptr_t coloured_start(uintptr_t place, uint32_t size) {
    uint32_t step = size & (~size + 1);
    uint32_t colours = step >= 4096 ? 1 : 4096 / step;
    uint32_t slack = (uint32_t)UNIT_BYTES % size;
    if (size >= 4096) {
        colours = slack / step + 1;
    }
    return place + (uintptr_t)((uint32_t)unit_of(place) * 5u % colours) * step;
}

/* Hardened: the last page of a unit is nobody's, so running on from a span ends
 * the process. Each guard costs two of the mappings the system allows a
 * process, 65,530 by default: so there are not arbitrarily many. */
static bool guard_begin(uintptr_t place) {
    enum { MOST_GUARDS = 16384 };
    if (!options.hardened || range.page_bytes > UNIT_BYTES / 4) {
        return false;
    }
    if (atomic_fetch_add_explicit(&guards, 1, memory_order_relaxed) <
            MOST_GUARDS &&
        os_forbid((void *)(place + UNIT_BYTES - range.page_bytes),
                  range.page_bytes)) {
        return true;
    }
    atomic_fetch_sub_explicit(&guards, 1, memory_order_relaxed);
    return false;
}

static void guard_end(uintptr_t place) {
    atomic_fetch_sub_explicit(&guards, 1, memory_order_relaxed);
    (void)os_permit((void *)(place + UNIT_BYTES - range.page_bytes),
                    range.page_bytes);
}

struct span *span_begin(unsigned class) {
    bool clean;
    uintptr_t place = units_take(1, 1, &clean);
    if (place == 0) {
        return NULL;
    }
    uint32_t size = class_infos[class].size;
    struct span *span = span_of(place);
    uintptr_t start = coloured_start(place, size);
    if (options.hardened && start == place && class < SMALL_CLASSES) {
        start += size & (~size + 1); /* room for a fence in front */
    }
    bool guarded = guard_begin(place);
    uintptr_t end = place + UNIT_BYTES - (guarded ? range.page_bytes : 0);
    if (end - start < size) {
        start = place;
    }
    *span = (struct span){
        .start = start,
        .capacity = (uint32_t)((end - start) / size),
        .class = (uint8_t)class,
        .guarded = guarded,
    };
    span->purge_at = span->capacity / 4;
    return span;
}

static uintptr_t first_state(const struct span *span) {
    return (uintptr_t)state_of(span->class, span->start);
}

/* One past the state of the last carved object. */
static uintptr_t end_of_states(const struct span *span) {
    uintptr_t last = span->start + (uintptr_t)(span->carved - 1) *
                                       class_infos[span->class].size;
    return (uintptr_t)state_of(span->class, last) + 1;
}

/* Only free states and holes are left; the next class of this unit must find
 * zeros. The outermost words also hold states of the neighbouring spans, whose
 * owners read them whole: there each byte is written alone. */
static void clear_states(const struct span *span) {
    uintptr_t at = first_state(span);
    uintptr_t end = end_of_states(span);
    for (; at < end && at % 8 != 0; at++) {
        state_write((state_t *)at, STATE_FREE);
    }
    for (; end > at && end % 8 != 0; end--) {
        state_write((state_t *)(end - 1), STATE_FREE);
    }
    for (; at < end; at += 8) {
        eight_states_write(at, 0);
    }
}

void span_end(struct span *span) {
    uintptr_t place =
        range.base + ((uintptr_t)(span - range.spans) << UNIT_SHIFT);
    entry_set(unit_of(place), ENTRY_NONE);
    if (span->carved > 0) {
        clear_states(span);
    }
    if (span->guarded) {
        guard_end(place);
    }
    units_give(place, 1);
}

/* --- taking --- */

static uint16_t pages_of(uintptr_t place, uint32_t size) {
    unsigned first = (unsigned)(place >> PAGE_SHIFT) & (PAGES_PER_UNIT - 1);
    unsigned last =
        (unsigned)((place + size - 1) >> PAGE_SHIFT) & (PAGES_PER_UNIT - 1);
    return (uint16_t)((2u << last) - (1u << first));
}

/* The start of the object whose state is at `state`, or 0 if no object's is:
 * between two states of objects larger than a power of two lie bytes that are
 * nobody's. */
static uintptr_t object_of_state(const struct span *span, uintptr_t state) {
    const struct class_info *info = &class_infos[span->class];
    uintptr_t index = state - range.states[info->shift];
    uintptr_t low = index << info->shift;
    uintptr_t number = 0;
    if (low > span->start) {
        number = (uintptr_t)(((uint64_t)(low - span->start + info->size - 1) *
                              info->inverse) >>
                             32);
    }
    uintptr_t place = span->start + number * info->size;
    return place >> info->shift == index ? place : 0;
}

/* High bit of each byte of the result that is zero in `word`. */
static uint64_t zero_bytes(uint64_t word) {
    const uint64_t low7 = 0x7F7F7F7F7F7F7F7Fu;
    return ~(((word & low7) + low7) | word | low7);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "states are searched eight at a time, lowest first");

/* Finds `want` free objects among the carved, which are there, going round from
 * where the last search ended.
 */
static void take_carved(struct span *span, void **out, unsigned want) {
    const uint32_t size = class_infos[span->class].size;
    const states_t states = range.states[class_infos[span->class].shift];
    uintptr_t first = first_state(span);
    uintptr_t end = end_of_states(span);
    unsigned taken = 0;
    for (uintptr_t at = first + span->scan;;) {
        at = at < end ? at : first;
        uintptr_t word_at = at & ~(uintptr_t)7;
        uint64_t word = eight_states_read(word_at);
        uint64_t zeros = zero_bytes(word) & ~(uint64_t)0 << (at - word_at) * 8;
        at = zeros == 0 ? word_at + 8
                        : word_at + ((unsigned)__builtin_ctzll(zeros) >> 3);
        if (zeros == 0 || at >= end) {
            continue;
        }
        uintptr_t place = object_of_state(span, at);
        if (place == 0) {
            state_write((state_t *)at++, STATE_HOLE);
            continue;
        }
        /* Free ones mostly lie together: those behind it are tried in turn,
         * which takes no arithmetic. */
        do {
            state_write((state_t *)at, STATE_CACHED);
            out[want - ++taken] = (void *)place;
            if (taken == want) {
                span->scan = (uint32_t)(at + 1 - first);
                return;
            }
            place += size;
            at = (uintptr_t)state_at(states, place);
        } while (at < end && state_read((state_t *)at) == STATE_FREE);
    }
}

static unsigned note_refaults(struct span *span, void **objects,
                              unsigned count) {
    uint16_t before = span->purged;
    for (unsigned i = 0; i < count; i++) {
        span->purged &= (uint16_t)~pages_of((uintptr_t)objects[i],
                                            class_infos[span->class].size);
    }
    return (unsigned)__builtin_popcount(before ^ span->purged);
}

unsigned span_take(struct span *span, void **out, unsigned want,
                   uint64_t *refaulted) {
    const uint32_t size = class_infos[span->class].size;
    const states_t states = range.states[class_infos[span->class].shift];
    unsigned old = span->carved - span->used;
    unsigned fresh = span->capacity - span->carved;
    want = want < old + fresh ? want : old + fresh;
    fresh = want > old ? want - old : 0;
    if (want > fresh) {
        take_carved(span, out + fresh, want - fresh);
    }
    for (unsigned i = 0; i < fresh; i++, span->carved++) {
        uintptr_t place = span->start + (uintptr_t)span->carved * size;
        state_write(state_at(states, place), STATE_CACHED);
        out[fresh - 1 - i] = (void *)place;
    }
    span->used += want;
    if (span->purged != 0) {
        *refaulted += note_refaults(span, out, want);
    }
    if (span->used > span->capacity / 2) {
        span->purge_at = span->capacity / 4;
    }
    return want;
}

/* --- purging --- */

/* The state of the object that holds this byte, which lies behind the start of
 * the first. */
static uintptr_t state_of_byte(const struct span *span, uintptr_t byte) {
    const struct class_info *info = &class_infos[span->class];
    uintptr_t number =
        (uintptr_t)(((uint64_t)(byte - span->start) * info->inverse) >> 32);
    return (uintptr_t)state_of(span->class, span->start + number * info->size);
}

/* Pages with an object that is not free, and those behind all that was carved.
 * Eight states are looked at at once, and none of objects that lie whole in a
 * page found busy: many small objects cost as few large. */
static uint16_t busy_pages(const struct span *span) {
    const uint64_t used =
        0x8181818181818181u; /* of a live or cached state; a hole has neither */
    uint32_t size = class_infos[span->class].size;
    uintptr_t carved_end = span->start + (uintptr_t)span->carved * size;
    unsigned touched =
        (unsigned)((carved_end - 1) >> PAGE_SHIFT) & (PAGES_PER_UNIT - 1);
    uint16_t busy = (uint16_t)(0xFFFEu << touched);
    uintptr_t end = end_of_states(span);
    for (uintptr_t at = first_state(span); at < end;) {
        uintptr_t word_at = at & ~(uintptr_t)7;
        uint64_t word = eight_states_read(word_at);
        word &= used & ~(uint64_t)0 << (at - word_at) * 8;
        if (word == 0) {
            at = word_at + 8;
            continue;
        }
        at = word_at + ((unsigned)__builtin_ctzll(word) >> 3);
        if (at >= end) {
            break;
        }
        uintptr_t place = object_of_state(span, at);
        busy |= pages_of(place, size);
        uintptr_t last_of_page = (place + size - 1) | ((1u << PAGE_SHIFT) - 1);
        uintptr_t next = state_of_byte(span, last_of_page);
        at = next > at ? next : at + 1;
    }
    return busy;
}

_Static_assert((STATE_CACHED & 0x81) != 0 && (STATE_LIVE & 0x81) != 0 &&
                   (STATE_HOLE & 0x81) == 0 && STATE_FREE == 0,
               "busy_pages tells used states by these two bits");

unsigned span_purge(struct span *span) {
    span->purge_at = span->used - span->used / 4;
    if (span->purge_at == span->used && span->used > 0) {
        span->purge_at--;
    }
    if (range.page_bytes > (1u << PAGE_SHIFT)) {
        return 0; /* pages of 16 or 64 KiB are seldom empty inside of a span */
    }
    unsigned idle = (unsigned)(uint16_t)~(busy_pages(span) | span->purged);
    uintptr_t unit = span->start & ~(uintptr_t)(UNIT_BYTES - 1);
    unsigned purged = 0;
    while (idle != 0) {
        unsigned first = (unsigned)__builtin_ctz(idle);
        unsigned count = (unsigned)__builtin_ctz(~(idle >> first));
        unsigned mask = ((1u << count) - 1) << first;
        if (os_purge((void *)(unit + ((uintptr_t)first << PAGE_SHIFT)),
                     (size_t)count << PAGE_SHIFT)) {
            span->purged |= (uint16_t)mask;
            purged += count;
        }
        idle &= ~mask;
    }
    return purged;
}

uintptr_t span_object_at(const struct span *span, uintptr_t place) {
    uint32_t size = class_infos[span->class].size;
    if (place < span->start) {
        return 0;
    }
    uintptr_t number = (place - span->start) / size;
    return number < span->capacity ? span->start + number * size : 0;
}
