/* The scenario random_mixed: pick a slot; free it if occupied, otherwise allocate
 * 16 to 1,039 bytes and touch the first.
 *
 * `compat` is the origin's bench_random_mixed: slot and size come from the same
 * draw. With a power of two of slots the size's low bits are the slot's number
 * (from 1,024 slots on, all of them), so sizes cannot drift. `independent` draws
 * twice. There are three loops, one per mode, with no test of the mode inside.
 */
#include "subject.h"
#include "ring.h"

#include <stdlib.h>

static inline uint32_t size_of_draw(uint32_t draw) {
    return SMALLEST + (draw & SIZE_MASK);
}

/* The second draw's middle bits: the low ones repeat with the slot's. */
static inline uint32_t size_apart(uint32_t draw) {
    return SMALLEST + ((draw >> 11) & SIZE_MASK);
}

static inline void *touched(uint32_t size, uint32_t stamp) {
    unsigned char *object = malloc(size);
    object[0] = (unsigned char)stamp;
    return object;
}

static void compat(struct lane *lane, uint64_t times) {
    uint32_t state = lane->state;
    const uint32_t mask = lane->mask;
    void **const slots = lane->slots;
    for (uint64_t i = 0; i < times; i++) {
        state = xorshift32(state);
        void **slot = &slots[state & mask];
        if (*slot != NULL) {
            free(*slot);
            *slot = NULL;
        } else {
            *slot = touched(size_of_draw(state), state);
        }
    }
    lane->state = state;
}

static void independent(struct lane *lane, uint64_t times) {
    uint32_t state = lane->state;
    const uint32_t mask = lane->mask;
    void **const slots = lane->slots;
    for (uint64_t i = 0; i < times; i++) {
        state = xorshift32(state);
        void **slot = &slots[state & mask];
        state = xorshift32(state);
        if (*slot != NULL) {
            free(*slot);
            *slot = NULL;
        } else {
            *slot = touched(size_apart(state), state);
        }
    }
    lane->state = state;
}

/* Frees what others sent; whether there was anything. */
static inline bool free_sent(struct ring *in) {
    void *object = ring_pop(in);
    free(object);
    return object != NULL;
}

static void send(struct lane *lane, void *object) {
    while (!ring_push(lane->out, object))
        if (!free_sent(lane->in)) /* both full would be a deadlock */
            pause_cpu();
}

/* Everything that was sent is freed before the time ends, by whom it was sent
 * to. */
static void free_the_rest(struct lane *lane) {
    atomic_store_explicit(&lane->out->closed, true, memory_order_release);
    for (;;) {
        bool closed =
            atomic_load_explicit(&lane->in->closed, memory_order_acquire);
        if (free_sent(lane->in))
            continue;
        if (closed)
            return;
        pause_cpu();
    }
}

static void ring_of_lanes(struct lane *lane, uint64_t times) {
    uint32_t state = lane->state;
    const uint32_t mask = lane->mask, remote = lane->remote;
    const bool apart = lane->options->independent != 0;
    void **const slots = lane->slots;
    for (uint64_t i = 0; i < times; i++) {
        state = xorshift32(state);
        void **slot = &slots[state & mask];
        uint32_t draw = state;
        if (apart)
            draw = state = xorshift32(state);
        if (*slot != NULL) {
            void *object = *slot;
            *slot = NULL;
            if (((draw >> 21) & 1023) < remote)
                send(lane, object);
            else
                free(object);
        } else {
            *slot =
                touched(apart ? size_apart(draw) : size_of_draw(draw), draw);
        }
        free_sent(lane->in);
    }
    free_the_rest(lane);
    lane->state = state;
}

static void work(struct lane *lane, uint64_t times) {
    if (lane->remote != 0)
        ring_of_lanes(lane, times);
    else if (lane->options->independent != 0)
        independent(lane, times);
    else
        compat(lane, times);
}

static bool prepare(struct lane *lane) {
    if (lane->options->slots == 0 || (lane->options->slots & lane->mask) != 0)
        return false; /* a mask needs a power of two */
    lane->slots = pages((size_t)lane->options->slots * sizeof(void *),
                        lane->options->layout);
    return true;
}

static uint64_t digest(const struct lane *lane) {
    uint64_t hash = fnv1a(FNV_START, lane->state);
    for (uint64_t i = 0; i < lane->options->slots; i++)
        if (lane->slots[i] != NULL)
            hash = fnv1a(fnv1a(hash, i), *(unsigned char *)lane->slots[i]);
    return hash;
}

const struct scenario random_mixed = {"random_mixed", prepare, work,
                                      digest,         NULL,    NULL};
