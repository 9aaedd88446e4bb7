/* Huge objects: their huge pages, and the mappings that are kept for the next.
 */
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

TEST_(a_kept_mapping_serves_objects_of_half_its_size, NULL,
      "PACELINE_ALLOC_DECAY_MS=1000000") {
    char *first = paceline_malloc(8 * MIB - 64);
    CHECK(first != NULL);
    memset(first, 0x55, 8 * MIB - 64);
    paceline_free(first);
    char *small = paceline_malloc(3 * MIB);
    CHECK(small != NULL && small != first);
    char *half = paceline_calloc(1, 4 * MIB - 64);
    CHECK(half == first);
    for (size_t i = 0; i < 4 * MIB - 64; i++) {
        CHECK(half[i] == 0);
    }
    half = paceline_realloc(half, 5 * MIB);
    CHECK(half != NULL);
    half[5 * MIB - 1] = 1;
    paceline_free(half);
    paceline_free(small);
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
