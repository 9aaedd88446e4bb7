/* The scenario fragmentation measures the memory that stays resident after most
 * objects are freed.
 *
 * A burst of objects of 16 to 1,039 bytes is made and written to, then 95 % of
 * them are freed in random order. That is timed, and then the resident memory is
 * read. The rest is freed, and the next round begins with an empty heap.
 *
 * With --all every object is freed, so what stays resident is only what the
 * allocator itself keeps.
 *
 * A first burst comes before all rounds. After it the process rests, because
 * some allocators give memory back only after a while; the memory that is
 * resident then is reported at the end. So each arm is measured after one burst
 * and a rest, and again after each round. */
#include "subject.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEPT_ONE_IN = 20,
    MEAN_SIZE = SMALLEST + SIZE_MASK / 2,
    NS_PER_MS = 1000000
};

struct burst {
    uint64_t count;
    uint32_t *order;     /* the first 95 % are freed */
    uint64_t ended_ns;   /* when the first burst was over */
    uint64_t idle_bytes; /* 0: not read yet */
};

static void make_and_free_most(struct lane *lane) {
    const struct burst *burst = lane->own;
    uint32_t state = lane->state;
    for (uint64_t i = 0; i < burst->count; i++) {
        state = xorshift32(state);
        uint32_t size = SMALLEST + (state & SIZE_MASK);
        lane->slots[i] = malloc(size);
        memset(lane->slots[i], (int)(state & 0xff), size);
    }
    uint64_t kept = lane->options->all ? 0 : burst->count / KEPT_ONE_IN;
    for (uint64_t i = 0; i < burst->count - kept; i++) {
        free(lane->slots[burst->order[i]]);
        lane->slots[burst->order[i]] = NULL;
    }
    lane->state = state;
}

static bool prepare(struct lane *lane) {
    struct burst *burst = pages(sizeof *burst, 0);
    burst->count = lane->options->bytes / MEAN_SIZE;
    if (burst->count < KEPT_ONE_IN)
        return false;
    burst->order = pages((size_t)burst->count * sizeof *burst->order, 0);
    for (uint64_t i = 0; i < burst->count; i++)
        burst->order[i] = (uint32_t)i;
    for (uint64_t i = burst->count - 1; i > 0; i--) {
        lane->state = xorshift32(lane->state);
        uint64_t j = lane->state % (i + 1);
        uint32_t kept = burst->order[i];
        burst->order[i] = burst->order[j];
        burst->order[j] = kept;
    }
    lane->slots =
        pages((size_t)burst->count * sizeof(void *), lane->options->layout);
    /* The slots' own pages are resident from here on, in every arm. */
    memset(lane->slots, 0xff, (size_t)burst->count * sizeof(void *));
    memset(lane->slots, 0, (size_t)burst->count * sizeof(void *));
    lane->own = burst;
    make_and_free_most(lane);
    burst->ended_ns = now_ns();
    return true;
}

static void free_survivors(struct lane *lane) {
    const struct burst *burst = lane->own;
    for (uint64_t i = 0; i < burst->count; i++) {
        free(lane->slots[i]);
        lane->slots[i] = NULL;
    }
}

static void work(struct lane *lane, uint64_t times) {
    for (uint64_t i = 0; i < times; i++) {
        free_survivors(lane);
        make_and_free_most(lane);
    }
}

static uint64_t settle(struct lane *lane) {
    (void)lane;
    return resident_bytes();
}

static uint64_t idle(struct lane *lane) {
    struct burst *burst = lane->own;
    if (burst->idle_bytes == 0) {
        uint64_t rested_ms = (now_ns() - burst->ended_ns) / NS_PER_MS;
        if (rested_ms < lane->options->idle_ms)
            rest(lane->options->idle_ms - rested_ms);
        burst->idle_bytes = resident_bytes();
    }
    return burst->idle_bytes;
}

static uint64_t digest(const struct lane *lane) {
    const struct burst *burst = lane->own;
    uint64_t hash = fnv1a(FNV_START, lane->state);
    for (uint64_t i = 0; i < burst->count; i++)
        if (lane->slots[i] != NULL)
            hash = fnv1a(fnv1a(hash, i), *(unsigned char *)lane->slots[i]);
    return hash;
}

const struct scenario fragmentation = {"fragmentation", prepare, work,
                                       digest,          settle,  idle};
