/* Objects over 2 MiB: their huge pages, the runs and mappings that serve the next,
 * and what is given back of them. */
#define _GNU_SOURCE
#include "check.h"
#include "paceline_alloc.h"
#include "range.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

/* Whether the mapping this address lies in has the flag, by /proc/self/smaps.
 */
static int mapping_has_flag(const void *place, const char *flag) {
    char line[1024];
    int inside = 0, found = -1;
    FILE *file = fopen("/proc/self/smaps", "r");
    CHECK(file != NULL);
    while (found < 0 && fgets(line, sizeof line, file) != NULL) {
        uintptr_t begin, end;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
            inside = (uintptr_t)place >= begin && (uintptr_t)place < end;
        } else if (inside && strncmp(line, "VmFlags:", 8) == 0) {
            found = strstr(line, flag) != NULL;
        }
    }
    fclose(file);
    CHECK(found >= 0);
    return found;
}

static void skip_without_huge_pages(void) {
    SKIP_IN_SHARED_PROCESS("mappings are the runtime's");
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) != 0) {
        SKIP("this kernel has no transparent huge pages");
    }
}

TEST(huge_objects_have_huge_pages_from_their_first_byte_on) {
    static const size_t sizes[] = {2 * MIB + 1, 3 * MIB, 5 * MIB - 1, 40 * MIB};
    char *objects[sizeof sizes / sizeof *sizes];
    skip_without_huge_pages();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        objects[i] = paceline_malloc(sizes[i]);
        CHECK(objects[i] != NULL && (uintptr_t)objects[i] % (2 * MIB) == 0);
        CHECK(mapping_has_flag(objects[i], " hg"));
        objects[i][sizes[i] - 1] = 1;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        paceline_free(objects[i]);
    }
}

TEST_(without_huge_pages_no_object_asks_for_any, NULL,
      "PACELINE_ALLOC_HUGE_PAGES=0") {
    skip_without_huge_pages();
    for (size_t size = 1 * MIB; size <= 64 * MIB; size *= 2) {
        char *object = paceline_malloc(size + 1);
        CHECK(object != NULL && !mapping_has_flag(object, " hg"));
        object = paceline_realloc(object, size * 3);
        CHECK(object != NULL && !mapping_has_flag(object, " hg"));
        paceline_free(object);
    }
}

/* Exactly so many addresses that the object fits and nothing beside it. */
TEST(huge_objects_need_no_more_addresses_than_their_own_when_these_are_short) {
    SKIP_IN_SHARED_PROCESS("address space cannot be limited");
    unsigned long pages = 0;
    paceline_free(paceline_malloc(3 * MIB)); /* the registry is there */
    (void)paceline_malloc_trim(0);
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    rlim_t limit =
        (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + 32 * MIB + MIB;
    CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit}) == 0);
    char *object = paceline_malloc(32 * MIB);
    CHECK(object != NULL);
    object[32 * MIB - 1] = 1;
    paceline_free(object);
}

/* An alignment no run of units has: such an object is a mapping. */
enum { MAPPED = 8 << 20 };

TEST_(a_kept_mapping_serves_objects_of_half_its_size, NULL,
      "PACELINE_ALLOC_DECAY_MS=1000000") {
    char *first = paceline_memalign(MAPPED, 8 * MIB - 64);
    CHECK(first != NULL);
    memset(first, 0x55, 8 * MIB - 64);
    paceline_free(first);
    char *small = paceline_memalign(MAPPED, 3 * MIB);
    CHECK(small != NULL && small != first);
    char *half = paceline_memalign(MAPPED, 4 * MIB - 64);
    CHECK(half == first);
    half = paceline_realloc(half, 5 * MIB);
    CHECK(half != NULL && half[4 * MIB - 65] == 0x55);
    half[5 * MIB - 1] = 1;
    paceline_free(half);
    paceline_free(small);
}

static size_t faults(void) {
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    return (size_t)usage.ru_minflt;
}

/* Blocks that come and go, of 64 KiB to 24 MiB, half of 24 places filled, written
 * to at every page; the faults of it. */
static size_t come_and_go(uint64_t seed, int times) {
    enum { PLACES = 24 };
    static char *blocks[PLACES];
    static size_t sizes[PLACES];
    size_t before = faults();
    for (int i = 0; i < times; i++) {
        size_t place = next_random(&seed) % PLACES;
        if (blocks[place] == NULL) {
            size_t grade = (size_t)64 << 10 << next_random(&seed) % 8;
            size_t size = grade + next_random(&seed) % (2 * grade);
            blocks[place] = paceline_malloc(size);
            CHECK(blocks[place] != NULL);
            for (size_t at = 0; at < size; at += 4096) {
                blocks[place][at] = (char)place;
            }
            blocks[place][size - 1] = (char)place;
            sizes[place] = size;
        } else {
            for (size_t at = 0; at < sizes[place]; at += 4096) {
                CHECK(blocks[place][at] == (char)place);
            }
            CHECK(blocks[place][sizes[place] - 1] == (char)place);
            paceline_free(blocks[place]);
            blocks[place] = NULL;
        }
    }
    for (size_t place = 0; place < PLACES; place++) {
        paceline_free(blocks[place]);
        blocks[place] = NULL;
    }
    return faults() - before;
}

/* After the first round it is known that what a purge gives back is wanted again. */
TEST_(large_blocks_that_come_again_find_their_pages, NULL,
      "PACELINE_ALLOC_HUGE_PAGES=0 PACELINE_ALLOC_DECAY_MS=1000000") {
    SKIP_IN_SHARED_PROCESS("faults are the runtime's, too");
    size_t first = come_and_go(41, 2000);
    size_t again = come_and_go(41, 2000);
    fprintf(stderr, "%zu faults, then %zu\n", first, again);
    CHECK(first > 4096 && again < first / 4);
}

TEST_(large_blocks_are_given_back_at_once_when_nothing_may_be_dirty, NULL,
      "PACELINE_ALLOC_HUGE_PAGES=0 PACELINE_ALLOC_DIRTY_MIB=0") {
    static char text[1 << 16];
    (void)come_and_go(42, 500);
    CHECK(paceline_alloc_stats_json(text, sizeof text) < sizeof text);
    const char *dirty = strstr(text, "\"dirty_bytes\":");
    CHECK(dirty != NULL && strtoull(dirty + 14, NULL, 10) < MIB);
}

TEST_(a_zeroed_table_of_used_addresses_has_no_pages_before_it_is_touched, NULL,
      "PACELINE_ALLOC_HUGE_PAGES=0") {
    SKIP_IN_SHARED_PROCESS("resident memory is the runtime's");
    enum { BYTES = 64 << 20 };
    char *object = paceline_malloc(BYTES);
    CHECK(object != NULL);
    memset(object, 0x55, BYTES);
    size_t full = resident_bytes();
    paceline_free(object);
    char *table = paceline_calloc(1, BYTES);
    CHECK(table != NULL);
    CHECK(paceline_alloc_is_hardened() || resident_bytes() < full - 60 * MIB);
    for (size_t i = 0; i < BYTES; i++) {
        CHECK(table[i] == 0);
    }
    paceline_free(table);
}

/* A write to the end of an object touches the whole huge page, and so units behind
 * it that no object had. */
TEST(a_trim_gives_the_rest_of_touched_huge_pages_back) {
    enum { COUNT = 40 };
    skip_without_huge_pages();
    static char *objects[COUNT];
    size_t before = resident_bytes();
    for (int i = 0; i < COUNT; i++) {
        objects[i] = paceline_malloc(2 * MIB + 1);
        CHECK(objects[i] != NULL);
        objects[i][2 * MIB] = 1;
    }
    size_t full = resident_bytes();
    for (int i = 0; i < COUNT; i++) {
        paceline_free(objects[i]);
    }
    (void)paceline_malloc_trim(0);
    size_t left = resident_bytes();
    fprintf(stderr, "%zu KiB before, %zu full, %zu left\n", before >> 10,
            full >> 10, left >> 10);
    CHECK(left < before + 4 * MIB);
}

TEST(a_long_run_grows_in_place_and_then_into_a_mapping) {
    SKIP_IN_SHARED_PROCESS("mappings are the runtime's");
    if (paceline_alloc_is_hardened()) {
        SKIP("hardened objects do not grow in place");
    }
    unsigned char *object = paceline_malloc(3 * MIB), *begin = object;
    CHECK(object != NULL && in_range((uintptr_t)object));
    for (size_t size = 3 * MIB; size < LARGE_MAX; size += 7 * MIB) {
        object = paceline_realloc(object, size);
        CHECK(object == begin);
        object[size - 1] = (unsigned char)(size >> 20);
    }
    unsigned char *moved = paceline_realloc(object, 2 * LARGE_MAX);
    CHECK(moved != NULL && !in_range((uintptr_t)moved));
    for (size_t size = 3 * MIB; size < LARGE_MAX; size += 7 * MIB) {
        CHECK(moved[size - 1] == (unsigned char)(size >> 20));
    }
    unsigned char *next = paceline_malloc(3 * MIB);
    CHECK(next == begin); /* the units are free again, all of them */
    paceline_free(next);
    paceline_free(moved);
}

/* Takes addresses, without memory, from the top until the system would map
 * `bytes` at one of the range's. */
static void take_addresses_above_the_range(size_t bytes) {
    uintptr_t end = range.base + range.bytes;
    for (size_t step = (size_t)1 << 40; step >= bytes / 2; step /= 2) {
        for (;;) {
            void *place =
                mmap(NULL, step, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            CHECK(place != MAP_FAILED);
            if ((uintptr_t)place < end) {
                CHECK(munmap(place, step) == 0);
                break;
            }
        }
    }
}

TEST(a_huge_object_at_addresses_planned_for_others_is_an_object) {
    SKIP_IN_SHARED_PROCESS("the range is reserved");
    enum { BYTES = 1 << 30 };
    paceline_free(paceline_malloc(1));
    if (range_is_reserved()) {
        SKIP("this system has too few addresses to plan a range");
    }
    take_addresses_above_the_range(BYTES);
    char *object = paceline_malloc(BYTES);
    CHECK(object != NULL && in_range((uintptr_t)object));
    CHECK(paceline_malloc_usable_size(object) == BYTES);
    object[0] = object[BYTES - 1] = 1;
    object = paceline_realloc(object, 2 * (size_t)BYTES);
    CHECK(object != NULL && object[0] == 1 && object[BYTES - 1] == 1);
    char *small = paceline_malloc(100);
    CHECK(small != NULL);
    paceline_free(small);
    paceline_free(object);
}
