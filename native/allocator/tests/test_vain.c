/* Purging inside spans stops soon when memory is refilled, and goes on for heaps
 * that stay shrunken. */
#include "check.h"
#include "heap.h"
#include "paceline_alloc.h"

#include <sched.h>

enum { COUNT = 60000, PAGE = 4096 };

static char *objects[COUNT];
static uint64_t seed = 11;

static void fill(size_t most) {
    for (int i = 0; i < COUNT; i++) {
        size_t size = 16 + next_random(&seed) % most;
        objects[i] = paceline_malloc(size);
        CHECK(objects[i] != NULL);
        objects[i][0] = objects[i][size - 1] = 1;
    }
    for (size_t i = COUNT - 1; i > 0; i--) {
        size_t other = next_random(&seed) % (i + 1);
        char *object = objects[i];
        objects[i] = objects[other];
        objects[other] = object;
    }
}

static void drop(int from, int to) {
    for (int i = from; i < to; i++) {
        paceline_free(objects[i]);
    }
}

static uint64_t pages_purged(void) {
    struct heap *heap = thread_heap();
    os_lock(&heap->lock);
    uint64_t pages = heap->pages_purged;
    os_unlock(&heap->lock);
    return pages;
}

static void fill_and_drop(void) {
    enum { FIRST = 4, ROUNDS = 12 };
    uint64_t first = 0;
    if (os_page_bytes() > PAGE) {
        SKIP("pages are larger than 4 KiB, so none is purged inside a span");
    }
    for (int round = 0; round < ROUNDS; round++) {
        fill(round % 2 == 0 ? 300 : 2000); /* units change their class: what
                                              faults then is another span */
        drop(0, COUNT);
        first = round < FIRST ? pages_purged() : first;
        fprintf(stderr, "round %d: %d pages purged in all\n", round,
                (int)pages_purged());
    }
    fprintf(stderr, "%d pages purged in %d rounds, %d at the end\n", (int)first,
            FIRST, (int)pages_purged());
    CHECK(first > 256); /* or nothing was tried */
    CHECK(pages_purged() - first <= first / 4);
}

/* The decay period is longer than the test, so no time passes by the
 * allocator's measure. */
TEST_(filling_and_dropping_is_soon_left_alone, NULL,
      "PACELINE_ALLOC_DECAY_MS=1000000") {
    fill_and_drop();
}
TEST_(hardened_filling_and_dropping_is_soon_left_alone, NULL,
      "PACELINE_ALLOC_DECAY_MS=1000000 PACELINE_ALLOC_HARDENED=1 "
      "PACELINE_ALLOC_SAMPLE=0") {
    fill_and_drop();
}

/* A twentieth of it lives on for so long. */
static void burst_again_and_again(size_t most, uint64_t rest_ms) {
    enum { ROUNDS = 5, LEFT = COUNT / 20 };
    uint64_t first = 0;
    if (os_page_bytes() > PAGE) {
        SKIP("pages are larger than 4 KiB, so none is purged inside a span");
    }
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t before = pages_purged();
        fill(most);
        drop(0, COUNT - LEFT);
        uint64_t purged = pages_purged() - before;
        first = round == 0 ? purged : first;
        fprintf(stderr, "round %d: %d pages purged\n", round, (int)purged);
        CHECK(purged > 256 && purged >= first / 2);
        for (uint64_t end = os_clock_ms() + rest_ms; os_clock_ms() < end;) {
            (void)sched_yield();
        }
        drop(COUNT - LEFT, COUNT);
        const struct heap *heap =
            thread_heap(); /* no other thread has any object */
        fprintf(stderr, "of %d pages %d in vain\n", (int)heap->recently_purged,
                (int)heap->recently_refaulted);
        CHECK(rest_ms == 0 ||
              heap->recently_refaulted * 50 < heap->recently_purged);
    }
}

TEST_(what_stays_away_for_a_decay_period_was_not_purged_in_vain, NULL,
      "PACELINE_ALLOC_DECAY_MS=90") {
    burst_again_and_again(1000, 120);
}
TEST_(bursts_of_which_little_is_left_are_purged_each_time, NULL,
      "PACELINE_ALLOC_DECAY_MS=1000000") {
    burst_again_and_again(4000, 0);
}
