/* A queue of pointers from one lane to another: one writer, one reader, no locks.
 *
 * Each side remembers what it last saw of the other, so a cache line is shared
 * only when the queue seems empty or full. */
#ifndef PACELINE_BENCH_RING_H
#define PACELINE_BENCH_RING_H

#include "subject.h"

enum { RING_SLOTS = 1024 };

struct ring {
    _Alignas(CACHE_LINE) _Atomic uint32_t written;
    uint32_t read_seen; /* by the writer */
    _Alignas(CACHE_LINE) _Atomic uint32_t read;
    uint32_t written_seen;                    /* by the reader */
    _Alignas(CACHE_LINE) _Atomic bool closed; /* the writer has nothing more for
                                                 now */
    _Alignas(CACHE_LINE) void *slots[RING_SLOTS];
};

static inline bool ring_push(struct ring *ring, void *object) {
    uint32_t at = atomic_load_explicit(&ring->written, memory_order_relaxed);
    if (at - ring->read_seen == RING_SLOTS) {
        ring->read_seen =
            atomic_load_explicit(&ring->read, memory_order_acquire);
        if (at - ring->read_seen == RING_SLOTS)
            return false;
    }
    ring->slots[at % RING_SLOTS] = object;
    atomic_store_explicit(&ring->written, at + 1, memory_order_release);
    return true;
}

/* NULL: nothing there. */
static inline void *ring_pop(struct ring *ring) {
    uint32_t at = atomic_load_explicit(&ring->read, memory_order_relaxed);
    if (at == ring->written_seen) {
        ring->written_seen =
            atomic_load_explicit(&ring->written, memory_order_acquire);
        if (at == ring->written_seen)
            return NULL;
    }
    void *object = ring->slots[at % RING_SLOTS];
    atomic_store_explicit(&ring->read, at + 1, memory_order_release);
    return object;
}

#endif
