/* Invariants of README.md seen from inside: classes, marks and states of every address of every class. */
#include "check.h"
#include "paceline_alloc.h"
#include "range.h"
#include "span.h"

TEST(a_class_is_the_smallest_that_fits) {
    unsigned class = 0;
    for (size_t size = 0; size <= MEDIUM_MAX; size++) {
        while (class_infos[class].size < size) {
            class ++;
        }
        CHECK(class_of(size) == class);
    }
    CHECK(class == CLASS_COUNT - 1);
    CHECK(class_infos[SMALL_CLASSES - 1].size == SMALL_MAX);
}

TEST(a_magazine_holds_two_batches_and_ends_where_full_is_seen) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        const struct class_info *info = &class_infos[class];
        CHECK(info->batch >= 1 && info->batch <= BATCH_OBJECTS && info->batch * 2 <= info->capacity + 1);
        CHECK(info->capacity < MAGAZINE_SLOTS);
        CHECK(1u << info->shift <= info->size && info->size < 2u << info->shift);
    }
}

/* What free() accepts: the address is on the grain and its state is its own mark. */
static int looks_live(unsigned class, uintptr_t place) {
    uintptr_t grain = class < SMALL_CLASSES ? 16 : 512;
    return place % grain == 0 && state_read(state_of(class, place)) == live_mark(class, place);
}

TEST(no_address_inside_of_an_object_passes_for_one) {
    enum { PER_CLASS = 40 };
    if (paceline_alloc_is_hardened()) {
        SKIP("hardened objects are laid out differently");
    }
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        char *objects[PER_CLASS];
        for (int i = 0; i < PER_CLASS; i++) {
            objects[i] = paceline_malloc(class_infos[class].size);
            CHECK(looks_live(class, (uintptr_t)objects[i]));
        }
        for (int i = 0; i < PER_CLASS; i++) {
            for (uintptr_t offset = 1; offset < class_infos[class].size; offset++) {
                CHECK(!looks_live(class, (uintptr_t)objects[i] + offset));
            }
        }
        for (int i = 0; i < PER_CLASS; i++) {
            paceline_free(objects[i]);
            CHECK(!looks_live(class, (uintptr_t)objects[i]));
        }
    }
}

/* Exact counts: what span_take hands out is each object once, also after any pattern of giving back. */
TEST(a_span_hands_out_each_object_once) {
    static void *objects[4096];
    static unsigned char seen[UNIT_BYTES / 16];
    uint64_t seed = 88172645463325252u, refaulted = 0;
    paceline_free(paceline_malloc(1)); /* the allocator is ready */
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        struct span *span = span_begin(class);
        CHECK(span != NULL);
        unsigned held = 0;
        for (int step = 0; step < 200; step++) {
            held += span_take(span, objects + held, (unsigned)(next_random(&seed) % 64), &refaulted);
            CHECK(held == span->used && held <= span->capacity);
            unsigned give = (unsigned)(next_random(&seed) % 50);
            for (; give > 0 && held > 0; give--) {
                unsigned pick = (unsigned)(next_random(&seed) % held);
                CHECK(span_put(span, state_of(class, (uintptr_t)objects[pick])));
                CHECK(!span_put(span, state_of(class, (uintptr_t)objects[pick])));
                objects[pick] = objects[--held];
            }
        }
        held += span_take(span, objects + held, 4096, &refaulted);
        CHECK(held == span->capacity);
        for (unsigned i = 0; i < UNIT_BYTES / 16; i++) {
            seen[i] = 0;
        }
        for (unsigned i = 0; i < held; i++) {
            uintptr_t offset = (uintptr_t)objects[i] - span->start;
            CHECK(offset % class_infos[class].size == 0 && seen[offset / 16]++ == 0);
            CHECK(unit_of((uintptr_t)objects[i]) == (size_t)(span - range.spans));
            CHECK(unit_of((uintptr_t)objects[i] + class_infos[class].size - 1) ==
                  (size_t)(span - range.spans));
        }
        while (held > 0) {
            CHECK(span_put(span, state_of(class, (uintptr_t)objects[--held])));
        }
        span_end(span);
    }
}
