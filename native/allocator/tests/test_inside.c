/* Invariants of README.md seen from inside: classes, marks and states of every
 * address of every class. */
#include "check.h"
#include "paceline_alloc.h"
#include "range.h"
#include "span.h"

#include <string.h>

TEST(a_class_is_the_smallest_that_fits) {
    unsigned class = 0;
    for (size_t size = 0; size <= MEDIUM_MAX; size++) {
        while (class_infos[class].size < size) {
            class++;
        }
        CHECK(class_of(size) == class);
    }
    CHECK(class == CLASS_COUNT - 1);
    CHECK(class_infos[SMALL_CLASSES - 1].size == SMALL_MAX);
}

TEST(a_magazine_holds_two_batches_and_ends_where_full_is_seen) {
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        const struct class_info *info = &class_infos[class];
        CHECK(info->batch >= 1 && info->batch <= BATCH_OBJECTS &&
              info->batch * 2 <= info->capacity + 1);
        CHECK(info->capacity < MAGAZINE_SLOTS);
        CHECK(1u << info->shift <= info->size &&
              info->size < 2u << info->shift);
    }
}

/* What free() accepts: the address is on the grain and its state is its own
 * mark. */
static int looks_live(unsigned class, uintptr_t place) {
    uintptr_t grain = class < SMALL_CLASSES ? 16 : 512;
    return place % grain == 0 &&
           state_read(state_of(class, place)) == live_mark(class, place);
}

TEST(no_address_inside_of_an_object_passes_for_one) {
    enum { PER_CLASS = 40 };
    if (paceline_alloc_is_hardened()) {
        SKIP("hardened objects are laid out differently");
    }
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        char *objects[PER_CLASS];
        for (int i = 0; i < PER_CLASS; i++) {
            objects[i] = paceline_malloc(class_infos[class].size);
            CHECK(looks_live(class, (uintptr_t)objects[i]));
        }
        for (int i = 0; i < PER_CLASS; i++) {
            for (uintptr_t offset = 1; offset < class_infos[class].size;
                 offset++) {
                CHECK(!looks_live(class, (uintptr_t)objects[i] + offset));
            }
        }
        for (int i = 0; i < PER_CLASS; i++) {
            paceline_free(objects[i]);
            CHECK(!looks_live(class, (uintptr_t)objects[i]));
        }
    }
}

static unsigned give_back(struct span *span, void *const *objects,
                          unsigned count) {
    return span_put(span, objects, count,
                    range.states[class_infos[span->class].shift]);
}

/* Exact counts: what span_take hands out is each object once, also after any
 * pattern of giving back. */
TEST(a_span_hands_out_each_object_once) {
    static void *objects[4096];
    static unsigned char seen[UNIT_BYTES / 16];
    uint64_t seed = 88172645463325252u, refaulted = 0;
    paceline_free(paceline_malloc(1)); /* the allocator is ready */
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        struct span *span = span_begin(class);
        CHECK(span != NULL);
        unsigned held = 0;
        for (int step = 0; step < 200; step++) {
            held += span_take(span, objects + held,
                              (unsigned)(next_random(&seed) % 64), &refaulted);
            CHECK(held == span->used && held <= span->capacity);
            unsigned give = (unsigned)(next_random(&seed) % 50);
            for (; give > 0 && held > 0; give--) {
                unsigned pick = (unsigned)(next_random(&seed) % held);
                CHECK(give_back(span, &objects[pick], 1) == 1);
                CHECK(give_back(span, &objects[pick], 1) == 0);
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
            CHECK(offset % class_infos[class].size == 0 &&
                  seen[offset / 16]++ == 0);
            CHECK(unit_of((uintptr_t)objects[i]) ==
                  (size_t)(span - range.spans));
            CHECK(unit_of((uintptr_t)objects[i] + class_infos[class].size -
                          1) == (size_t)(span - range.spans));
        }
        CHECK(give_back(span, objects, held) == held && span->used == 0);
        span_end(span);
    }
}

TEST(objects_come_back_up_to_one_of_another_span_or_one_that_is_free) {
    uint64_t refaulted = 0;
    void *objects[4], *elsewhere;
    paceline_free(paceline_malloc(1));
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        unsigned count = class_infos[class].size <= 8192 ? 4 : 2;
        struct span *span = span_begin(class), *other = span_begin(class);
        CHECK(span != NULL && other != NULL);
        CHECK(span_take(span, objects, count, &refaulted) == count);
        CHECK(span_take(other, &elsewhere, 1, &refaulted) == 1);
        void *mixed[] = {objects[0], elsewhere, objects[1]};
        CHECK(give_back(span, mixed, 3) == 1 && span->used == count - 1);
        void *doubled[] = {objects[1], objects[0]};
        CHECK(give_back(span, doubled, 2) == 1 && span->used == count - 2);
        CHECK(give_back(span, doubled, 2) == 0 && span->used == count - 2);
        CHECK(count == 2 ||
              give_back(span, objects + 2, count - 2) == count - 2);
        CHECK(give_back(other, &elsewhere, 1) == 1);
        span_end(span);
        span_end(other);
    }
}

static unsigned empty_pages(const struct span *span, void *const *held,
                            unsigned count) {
    uintptr_t unit = span->start & ~(uintptr_t)(UNIT_BYTES - 1);
    uint32_t size = class_infos[span->class].size, busy = 0;
    for (unsigned i = 0; i < count; i++) {
        uintptr_t begin = (uintptr_t)held[i] - unit;
        for (uintptr_t page = begin / 4096; page <= (begin + size - 1) / 4096;
             page++) {
            busy |= 1u << page;
        }
    }
    unsigned touched =
        (unsigned)((span->start + (uintptr_t)span->carved * size - 1 - unit) /
                   4096) +
        1;
    return touched - (unsigned)__builtin_popcount(busy);
}

/* Of every class, with few and with many objects left, spread and together: the
 * pages given back are exactly those that hold nothing, and what is left keeps
 * its bytes. */
TEST(a_span_purges_the_pages_that_hold_nothing) {
    static void *objects[4096];
    uint64_t seed = 88172645463325252u, refaulted = 0;
    if (range.page_bytes > 4096) {
        SKIP("needs pages of 4 KiB");
    }
    paceline_free(paceline_malloc(1));
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        for (unsigned left = 0; left < 64; left++) {
            struct span *span = span_begin(class);
            CHECK(span != NULL);
            uint32_t size = class_infos[class].size;
            unsigned some = 1 + (unsigned)(next_random(&seed) % span->capacity);
            unsigned held =
                span_take(span, objects, left % 3 == 0 ? span->capacity : some,
                          &refaulted);
            unsigned keep = left < held ? left : held;
            for (unsigned i = 0; i < held && left % 2 == 0; i++) {
                unsigned other = (unsigned)(next_random(&seed) % held);
                void *swapped = objects[i];
                objects[i] = objects[other];
                objects[other] = swapped;
            }
            for (unsigned i = 0; i < held; i++) {
                memset(objects[i], (int)(i % 255 + 1), size);
            }
            for (unsigned i = keep; i < held; i++) {
                CHECK(give_back(span, &objects[i], 1) == 1);
            }
            CHECK(span_purge(span) == empty_pages(span, objects, keep));
            for (unsigned i = 0; i < keep; i++) {
                const unsigned char *bytes = objects[i];
                for (uint32_t at = 0; at < size; at++) {
                    CHECK(bytes[at] == i % 255 + 1);
                }
            }
            CHECK(keep == 0 || give_back(span, objects, keep) == keep);
            span_end(span);
        }
    }
}
