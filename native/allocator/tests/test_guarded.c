/* Sampled objects, and pages that may not be touched: where a write ends the
 * process at once, and where at the object's next use. */
#include "guarded.h"
#include "canary.h"
#include "check.h"
#include "heap.h"
#include "paceline_alloc.h"

#include <string.h>

#define SAMPLE_ALL "PACELINE_ALLOC_HARDENED=1 PACELINE_ALLOC_SAMPLE=1"
#define SAMPLE_NONE "PACELINE_ALLOC_HARDENED=1 PACELINE_ALLOC_SAMPLE=0"
#define SAMPLE_TENTH "PACELINE_ALLOC_HARDENED=1 PACELINE_ALLOC_SAMPLE=10"

/* volatile: the compiler knows malloc and free and would warn about, or remove,
 * what is tested. */
static char *volatile bytes;

static char *sampled(size_t alignment, size_t size) {
    for (int i = 0; i < 1000; i++) {
        char *object = paceline_memalign(alignment, size);
        if (is_guarded(object)) {
            return object;
        }
        paceline_free(object);
    }
    CHECK(!"one of a thousand is sampled");
    return NULL;
}

/* --- the bytes between the end of a sampled object and that of its page --- */

static void change(char *place) { *place = (char)(*place + 1); }

TEST_(overflow_of_a_sampled_object, "overflow", SAMPLE_ALL) {
    bytes = sampled(1, 100);
    change(bytes + 100);
    paceline_free(bytes);
}

TEST_(overflow_of_a_sampled_object_to_the_end_of_its_page, "overflow",
      SAMPLE_ALL) {
    bytes = sampled(512, 10);
    change(bytes + 511);
    paceline_free(bytes);
}

/* In a page that was another's before. */
TEST_(overflow_of_a_sampled_object_by_the_end_of_a_string, "overflow",
      SAMPLE_ALL) {
    for (int i = 0; i < 200; i++) {
        bytes = sampled(1, 112);
        memset(bytes, 0, 112);
        paceline_free(bytes);
    }
    bytes = sampled(1, 100);
    bytes[100] = 0;
    paceline_free(bytes);
}

TEST_(overflow_of_a_sampled_object_found_by_realloc, "overflow", SAMPLE_ALL) {
    bytes = sampled(1, 100);
    change(bytes + 100);
    bytes = paceline_realloc(bytes, 90);
}

TEST_(overflow_of_a_sampled_object_found_by_its_size, "overflow", SAMPLE_ALL) {
    bytes = sampled(1, 100);
    change(bytes + 107);
    (void)paceline_malloc_usable_size(bytes);
}

/* Objects of no bytes are samples only where they must be aligned. */
TEST_(overflow_of_a_sampled_object_of_no_bytes, "overflow", SAMPLE_ALL) {
    bytes = sampled(64, 0);
    change(bytes);
    paceline_free(bytes);
}

/* --- which objects are sampled --- */

/* Of each of two sizes in turn, how many of `rounds` are guarded. */
static void count_guarded(const size_t sizes[2], int rounds, int guarded[2]) {
    guarded[0] = guarded[1] = 0;
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < 2; k++) {
            void *object = paceline_malloc(sizes[k]);
            guarded[k] += is_guarded(object);
            paceline_free(object);
        }
    }
    fprintf(stderr, "%d of %zu bytes and %d of %zu\n", guarded[0], sizes[0],
            guarded[1], sizes[1]);
}

TEST_(objects_that_cannot_be_guarded_take_no_samples_away, NULL, SAMPLE_TENTH) {
    enum { ROUNDS = 20000 };
    int guarded[2];
    paceline_free(paceline_malloc(1)); /* the allocator knows the page */
    count_guarded((size_t[]){100, range.page_bytes + 4000}, ROUNDS, guarded);
    CHECK(guarded[0] > ROUNDS / 15 && guarded[0] < ROUNDS / 7);
    CHECK(guarded[1] == 0);
}

/* The queue of the larger ones is four times shorter, so it is refilled four
 * times as often. */
TEST_(classes_have_their_share_of_samples_however_often_they_are_refilled, NULL,
      "PACELINE_ALLOC_HARDENED=1 PACELINE_ALLOC_SAMPLE=100") {
    enum { ROUNDS = 200000 };
    int guarded[2];
    count_guarded((size_t[]){100, 3800}, ROUNDS, guarded);
    for (int k = 0; k < 2; k++) {
        CHECK(guarded[k] > ROUNDS / 130 && guarded[k] < ROUNDS / 75);
    }
}

static uint64_t used_bytes(struct heap *heap) {
    os_lock(&heap->lock);
    uint64_t used = heap->used_bytes;
    os_unlock(&heap->lock);
    return used;
}

/* Nearly every refill is cut short; what is cut off must be there for later
 * ones. */
TEST_(what_a_sample_cuts_off_a_batch_is_used_later, NULL, SAMPLE_TENTH) {
    enum { LIVE = 100, TURNS = 200, WARM_TURNS = 20 };
    void *live[LIVE];
    uint64_t warm = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < LIVE; i++) {
            live[i] = paceline_malloc(100);
        }
        for (int i = 0; i < LIVE; i++) {
            paceline_free(live[i]);
        }
        warm = turn == WARM_TURNS ? used_bytes(thread_heap()) : warm;
    }
    CHECK(used_bytes(thread_heap()) <
          warm +
              (uint64_t)LIVE * class_infos[class_of(100 + CANARY_BYTES)].size);
}

/* Of the slots and the forbidden pages around them. */
static int count_mappings(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int count = 0;
    if (maps == NULL) {
        SKIP("no /proc/self/maps");
    }
    while (fgets(line, sizeof line, maps) != NULL) {
        uintptr_t begin = (uintptr_t)strtoull(line, NULL, 16);
        count += begin - guarded_base < guarded_bytes;
    }
    fclose(maps);
    return count;
}

TEST_(a_sample_splits_and_merges_no_mapping, NULL,
      "PACELINE_ALLOC_HARDENED=1 PACELINE_ALLOC_SAMPLE=2") {
    SKIP_IN_SHARED_PROCESS("mappings are counted");
    void *objects[40];
    paceline_free(sampled(1, 100));
    int before = count_mappings();
    for (int i = 0; i < 40; i++) {
        objects[i] = sampled(1, 100);
    }
    CHECK(count_mappings() == before && before > 100);
    for (int i = 0; i < 40; i++) {
        paceline_free(objects[i]);
    }
    CHECK(count_mappings() == before);
}

/* --- pages that may not be touched --- */

/* Says on stderr that the next write is the one that must not pass. */
static void write_where_forbidden(char *place) {
    fprintf(stderr, "at the forbidden page\n");
    *(volatile char *)place = 1;
}

FAULT(running_on_from_a_span_ends_the_process, "at the forbidden page",
      SAMPLE_NONE) {
    bytes = paceline_malloc(100);
    if (range.page_bytes > UNIT_BYTES / 4) {
        SKIP("pages of 64 KiB leave a span none to spare");
    }
    char *end =
        bytes + (UNIT_BYTES - range.page_bytes - (uintptr_t)bytes % UNIT_BYTES);
    change(end - 1);
    write_where_forbidden(end);
}

/* The table of units is mapped whole from the start, and those of segments and
 * spans follow. */
FAULT(running_on_from_a_table_ends_the_process, "at the forbidden page", NULL) {
    paceline_free(paceline_malloc(100));
    write_where_forbidden((char *)range.segments - 1);
}
FAULT(running_back_from_a_table_ends_the_process, "at the forbidden page",
      NULL) {
    paceline_free(paceline_malloc(100));
    write_where_forbidden((char *)range.spans - 1);
}

/* --- large objects --- */

FAULT(running_on_from_a_large_object_ends_the_process, "at the forbidden page",
      SAMPLE_NONE) {
    bytes = paceline_malloc(256 << 10);
    change(bytes + (256 << 10) - 1);
    write_where_forbidden(bytes + (256 << 10));
}
FAULT(running_on_from_a_long_run_ends_the_process, "at the forbidden page",
      SAMPLE_NONE) {
    bytes = paceline_malloc(3 << 20);
    change(bytes + (3 << 20) - 1);
    write_where_forbidden(bytes + (3 << 20));
}
FAULT(running_on_from_a_huge_object_ends_the_process, "at the forbidden page",
      SAMPLE_NONE) {
    bytes = paceline_malloc(300 << 20);
    change(bytes + (300 << 20) - 1);
    write_where_forbidden(bytes + (300 << 20));
}
FAULT(running_back_from_a_large_object_ends_the_process,
      "at the forbidden page", SAMPLE_NONE) {
    bytes = paceline_malloc(100000);
    bytes = paceline_malloc(100000);
    change(bytes);
    write_where_forbidden(bytes - 1);
}
FAULT(a_write_to_a_freed_large_object_ends_the_process, "at the forbidden page",
      SAMPLE_NONE) {
    bytes = paceline_malloc(256 << 10);
    paceline_free(bytes);
    write_where_forbidden(bytes);
}

TEST_(a_freed_large_object_rests_before_its_address_is_used_again, NULL,
      SAMPLE_NONE) {
    enum { RESTING = 8 };
    void *last[RESTING] = {NULL};
    for (unsigned i = 0; i < 1000; i++) {
        bytes = paceline_malloc(100000);
        for (unsigned k = 0; k < RESTING; k++) {
            CHECK(bytes != last[k]);
        }
        memset(bytes, 1, 100000);
        last[i % RESTING] = bytes;
        paceline_free(bytes);
    }
}

/* Of more than a process may surround, and of sizes that leave a canary no room. */
TEST_(large_objects_of_every_number_behave_like_others, NULL, SAMPLE_NONE) {
    static char *objects[6000];
    for (size_t i = 0; i < 6000; i++) {
        size_t size = 36864 + i % 3 * 4092;
        objects[i] = paceline_malloc(size);
        objects[i][0] = objects[i][size - 1] = 1;
        CHECK(paceline_malloc_usable_size(objects[i]) == size);
    }
    for (size_t i = 0; i < 6000; i++) {
        paceline_free(objects[i]);
    }
}

TEST_(freed_large_objects_are_memory_again_by_a_trim, NULL, SAMPLE_NONE) {
    bytes = paceline_malloc(100000);
    char *first = bytes;
    paceline_free(bytes);
    (void)paceline_malloc_trim(0);
    CHECK((bytes = paceline_malloc(100000)) == first);
    memset(bytes, 1, 100000);
}

FAULT(units_of_a_small_process_that_were_never_used_may_not_be_touched,
      "at the forbidden page", SAMPLE_NONE) {
    bytes = paceline_malloc(100);
    write_where_forbidden(bytes + (1 << 20));
}

/* --- objects of no bytes --- */

FAULT(writing_to_an_object_of_no_bytes_ends_the_process,
      "at the forbidden page", SAMPLE_NONE) {
    write_where_forbidden(paceline_malloc(0));
}
FAULT(reading_an_object_of_no_bytes_ends_the_process, "at the forbidden page",
      SAMPLE_NONE) {
    bytes = paceline_calloc(7, 0);
    fprintf(stderr, "at the forbidden page\n");
    (void)*(volatile char *)bytes;
}

TEST_(objects_of_no_bytes_have_addresses_of_their_own, NULL, SAMPLE_NONE) {
    enum { MORE_THAN_ARE_GUARDED = 20000 };
    static char *objects[MORE_THAN_ARE_GUARDED];
    unsigned guarded = 0;
    for (unsigned turn = 0; turn < 3; turn++) {
        for (unsigned i = 0; i < MORE_THAN_ARE_GUARDED; i++) {
            objects[i] = paceline_malloc(0);
            guarded += is_guarded(objects[i]);
            CHECK(objects[i] != NULL && (uintptr_t)objects[i] % 16 == 0);
            CHECK(i == 0 || objects[i] != objects[i - 1]);
            CHECK(paceline_malloc_usable_size(objects[i]) == 0);
        }
        CHECK(guarded == (turn + 1) * 16384);
        for (unsigned i = 0; i < MORE_THAN_ARE_GUARDED; i++) {
            paceline_free(objects[i]);
        }
    }
    char *grown = paceline_realloc(paceline_malloc(0), 100);
    CHECK(grown != NULL && !is_guarded(grown));
    grown[99] = 1;
    paceline_free(grown);
}

TEST_(an_object_of_no_bytes_is_freed_once, "double or interior free",
      SAMPLE_NONE) {
    bytes = paceline_malloc(0);
    paceline_free(bytes);
    paceline_free(bytes);
}
TEST_(an_address_inside_of_an_object_of_no_bytes_is_none,
      "double or interior free", SAMPLE_NONE) {
    bytes = paceline_malloc(0);
    paceline_free(bytes + 8);
}

FAULT(running_on_from_a_sampled_object_ends_the_process,
      "at the forbidden page", SAMPLE_ALL) {
    bytes = sampled(1, 112);
    change(bytes + 111);
    write_where_forbidden(bytes + 112);
}

FAULT(a_write_to_a_freed_sampled_object_ends_the_process,
      "at the forbidden page", SAMPLE_ALL) {
    bytes = sampled(1, 112);
    change(bytes);
    paceline_free(bytes);
    write_where_forbidden(bytes);
}
