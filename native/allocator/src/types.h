/* The allocator's nouns as structures; README.md defines them and numbers the
 * invariants.
 *
 * `struct cache` is what every operation reads and lives in thread-local storage;
 * `struct heap` is read once per batch; the rest is per span or unit. */
#ifndef PACELINE_TYPES_H
#define PACELINE_TYPES_H

#include "os.h"

#include <stdalign.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define COLD __attribute__((cold, noinline))
#define SLOW __attribute__((noinline))
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    GRAIN_SHIFT =
        4, /* every object is a multiple of 16 bytes at a multiple of 16 */
    UNIT_SHIFT = 16,
    SEGMENT_SHIFT = 22,
    SEGMENT_UNITS = 1 << (SEGMENT_SHIFT - UNIT_SHIFT),

    CLASS_COUNT = 72,
    SMALL_CLASSES =
        47, /* those whose states mark every multiple of 16: size < 4,096 */
    SMALL_MAX = 3840,
    MEDIUM_MAX = 32768,
    MEDIUM_GRAIN_SHIFT =
        9, /* medium objects are multiples of 512 at multiples of 512 */
    MIN_SHIFT = 4,
    MAX_SHIFT = 15, /* log2 of the largest class */

    MAGAZINE_SLOTS = 64, /* slot 0 is never an object */
    MAGAZINE_BYTES = MAGAZINE_SLOTS * 8,
    BATCH_OBJECTS = 30, /* makes a batch of 256 bytes */
    MAX_HEAPS = 16384,
};

#define UNIT_BYTES ((size_t)1 << UNIT_SHIFT)
#define SEGMENT_BYTES ((size_t)1 << SEGMENT_SHIFT)
#define LARGE_MAX ((size_t)256 << 20)
#define HUGE_PAGE ((size_t)2 << 20)

static inline size_t round_up(size_t value, size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/* States of an object (invariant 2). A live one is LIVE | bits of its own
 * address. */
enum { STATE_FREE = 0, STATE_CACHED = 1, STATE_HOLE = 2, STATE_LIVE = 0x80 };

/* Entries of units. Without an owner (id 0) the first unit of a run differs
 * from what is nobody's; a span's is its owner's id and its class, the latter
 * as the offset of the class's bin in a cache. */
enum {
    ENTRY_NONE = 0,
    ENTRY_RUN = 1,
    ENTRY_CLASS_SHIFT = 4,
    ENTRY_OWNER_SHIFT = 12
};

/* A state is a character, which C lets be read as any other type, and eight of
 * them are searched and cleared as one word that may alias them. Both are always
 * accessed atomically: a thread with a wrong address may look at any state. */
typedef unsigned char state_t;
typedef uint64_t __attribute__((may_alias)) eight_states_t;
_Static_assert(_Generic((state_t *)NULL, unsigned char *: true, default: false),
               "no other type may be read as a word");

/* The states of one power of two: the byte for address p is at states + (p >>
 * (states & 63)). The tables are placed so that the low six bits of that sum's
 * first term are the shift. */
typedef uintptr_t states_t;

struct bin {
    void **top; /* the slot after the last cached object */
    states_t states;
};

/* What every operation reads, but for a bin, is in the first cache line, which
 * one byte of an instruction addresses; no bin lies across two lines. */
struct cache {
    alignas(64) size_t small_end; /* sizes below it are served by the bins; 0 in
                                     hardened mode */
    uintptr_t base;               /* of the range */
    uintptr_t grains; /* length of the range / 16; 0 sends every free elsewhere,
                         as in hardened mode */
    uintptr_t hardened_grains; /* the same in hardened mode, else 0 */
    _Atomic uint32_t *entries;
    struct hardened_heap
        *hardened; /* in hardened mode: every operation is its */
    struct heap *heap;
    uint32_t tag;    /* the entry of own spans of class 0 */
    uint32_t exited; /* the thread's exit handler has run */
    struct bin bins[CLASS_COUNT];
    uint32_t slow_calls;
};

_Static_assert(offsetof(struct cache, bins) == 64,
               "what every operation reads is in one line");
_Static_assert(64 % sizeof(struct bin) == 0, "no bin lies across two lines");
_Static_assert(sizeof(struct cache) <= 1280,
               "glibc keeps 1,664 bytes for the thread-local storage of all "
               "libraries that are loaded late");

struct batch {
    struct batch *next;
    uint32_t count;
    uint16_t class;
    /* How many were in the inbox when it came. Senders may read it of one that
     * was taken meanwhile. */
    _Atomic uint16_t below;
    void *objects[BATCH_OBJECTS];
};

struct span {
    struct span *next, *previous; /* among the owner's spans of this class that
                                     have free objects */
    uintptr_t start;              /* of the first object */
    uint32_t capacity;            /* objects; for a run: its units */
    uint32_t
        carved; /* objects ever handed out; those behind were never touched */
    uint32_t used;
    uint32_t scan;     /* index, from the first state, where the next search for
                          free objects begins */
    uint32_t purge_at; /* look for empty pages when `used` falls to this */
    _Atomic uint32_t owner;
    uint8_t class;
    bool listed;
    bool guarded; /* its last page is forbidden */
    uint16_t
        purged; /* pages given back, one bit for each sixteenth of the unit */
    uint32_t purged_ms; /* when the first of them were; the clock's low bits */
};

struct span_list {
    struct span *head, *tail;
};

/* One segment's units, a bit each. */
struct segment {
    uint64_t free;
    uint64_t dirty;     /* subset of free */
    uint64_t old_dirty; /* dirty for a whole decay period */
    uint64_t purged;    /* given back in this decay period; clean and free */
    bool unmapped; /* given back whole, in a range that is mapped piece by piece
                    */
    uint8_t permitted; /* units from the first on that may be touched */
};

struct heap {
    /* Read and written by others. */
    struct os_lock lock;
    uint32_t id;
    _Atomic bool idle; /* no thread has it, or the one that has is leaving */
    bool parked;       /* in the list of idle heaps; under its lock */
    _Atomic bool
        shrunken; /* more than half of it is empty; written under its lock */
    _Atomic(struct batch *) inbox[CLASS_COUNT];

    /* Under the lock. */
    struct span_list partial[CLASS_COUNT];
    struct span *empty[CLASS_COUNT]; /* among them: the one that holds nothing
                                        and was kept, if one was */
    uint64_t span_count;
    uint64_t used_bytes; /* of objects that are not free */
    uint64_t spans_begun, spans_ended, pages_purged, pages_refaulted;
    /* Of this decay period: purging stops while what it gave back is soon
     * wanted again, or was of spans that soon ended. */
    uint64_t recently_purged, recently_refaulted, purge_period_ms;
    struct heap *next_idle;

    /* The thread's own. */
    struct batch *spares[CLASS_COUNT];
    uint8_t spare_count[CLASS_COUNT];
    uint8_t spare_low[CLASS_COUNT]; /* the least of it in this decay period */
    uint64_t aged_ms;               /* when that began */
    bool inbox_waits[CLASS_COUNT];  /* it was not empty then, and nothing was
                                       taken from it since */
    bool ebbing[CLASS_COUNT]; /* frees ran over what is kept, and nothing was
                                 taken since */
    struct batch *outgoing[CLASS_COUNT];
    bool outgoing_waits[CLASS_COUNT]; /* it held objects then, and was not sent
                                         since */
    struct batch *blank;              /* empty batches */
    uint32_t blank_count;
    struct bin *bins; /* of the thread that has this heap */
    struct hardened_heap *hardened;
    _Atomic uint64_t refills, flushes, batches_sent, batches_received;

    /* A magazine ends at a multiple of its size: that is how a full one is
     * seen. */
    alignas(MAGAZINE_BYTES) void *magazines[CLASS_COUNT][MAGAZINE_SLOTS];
};

#endif
