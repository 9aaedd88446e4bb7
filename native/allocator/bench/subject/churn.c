/* The scenarios churn and realloc_growth, for one thread.
 *
 * churn: a burst of small objects (most under 128 bytes) is allocated and then
 * freed: last in first out, first in first out, or at random. One operation is
 * one object's malloc and free. realloc_growth: eight buffers grow in turn by
 * half, from 16 bytes to a limit, so that none can grow in place for free; each
 * time the new end is touched. One operation is one such series. */
#include "subject.h"

#include <stdlib.h>

enum { BUFFERS = 8 };

/* 16 << 0…3 and a few bytes: a mean of 77 bytes; one in 16 is up to 2,063. */
static inline uint32_t small_size(uint32_t draw) {
    uint32_t size = (16u << (draw & 3)) + ((draw >> 2) & 15);
    return (draw & 0xf00) == 0 ? size + ((draw >> 12) & 2047) : size;
}

/* A random order of `count` numbers, in memory of its own. */
static uint32_t *shuffled(struct lane *lane, uint64_t count) {
    uint32_t *order = pages((size_t)count * sizeof *order, 0);
    for (uint64_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (uint64_t i = count - 1; i > 0; i--) {
        lane->state = xorshift32(lane->state);
        uint64_t j = lane->state % (i + 1);
        uint32_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    return order;
}

static bool churn_prepare(struct lane *lane) {
    uint64_t burst = lane->options->slots;
    if (burst == 0)
        return false;
    lane->slots = pages((size_t)burst * sizeof(void *), lane->options->layout);
    uint32_t *order = shuffled(lane, burst);
    for (uint64_t i = 0; i < burst && lane->options->order != 2; i++)
        order[i] = (uint32_t)(lane->options->order == 0 ? burst - 1 - i : i);
    lane->own = order;
    return true;
}

static void churn_work(struct lane *lane, uint64_t times) {
    const uint64_t burst = lane->options->slots;
    const uint32_t *order = lane->own;
    uint32_t state = lane->state;
    for (uint64_t done = 0; done < times; done += burst) {
        for (uint64_t i = 0; i < burst; i++) {
            state = xorshift32(state);
            unsigned char *object = malloc(small_size(state));
            object[0] = (unsigned char)state;
            lane->slots[i] = object;
        }
        for (uint64_t i = 0; i < burst; i++)
            free(lane->slots[order[i]]);
    }
    lane->state = state;
}

/* Nothing is alive between rounds: how far the draws came is all there is. */
static uint64_t state_digest(const struct lane *lane) {
    return fnv1a(FNV_START, lane->state);
}

const struct scenario churn = {"churn",      churn_prepare, churn_work,
                               state_digest, NULL,          NULL};

static bool growth_prepare(struct lane *lane) {
    lane->slots = pages(BUFFERS * sizeof(void *), lane->options->layout);
    return lane->options->bytes >= SMALLEST;
}

static void growth_work(struct lane *lane, uint64_t times) {
    const size_t limit = (size_t)lane->options->bytes;
    for (uint64_t done = 0; done < times; done++) {
        for (size_t size = SMALLEST; size <= limit; size += size / 2) {
            for (int i = 0; i < BUFFERS; i++) {
                unsigned char *buffer = realloc(lane->slots[i], size);
                lane->state =
                    lane->state * 31 + (size > SMALLEST ? buffer[size / 2] : 0);
                buffer[size - 1] = (unsigned char)i;
                buffer[size * 3 / 4] =
                    (unsigned char)(size + (size_t)i); /* read next time */
                lane->slots[i] = buffer;
            }
        }
        for (int i = 0; i < BUFFERS; i++) {
            free(lane->slots[i]);
            lane->slots[i] = NULL;
        }
    }
}

const struct scenario realloc_growth = {
    "realloc_growth", growth_prepare, growth_work, state_digest, NULL, NULL};
