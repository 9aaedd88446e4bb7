/* Tests of little memory: a limit on address space that is there at the start,
 * one that is set later, and the memory that stays resident after a burst. */
#include "check.h"
#include "paceline_alloc.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs the test `claim` in a new process that may have at most `mib` MiB of
 * addresses; returns its exit status. */
static int rerun_limited(const char *claim, rlim_t mib) {
    char inner[128];
    snprintf(inner, sizeof inner, "--inner=%s", claim);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {mib << 20, mib << 20};
        setrlimit(RLIMIT_AS, &limit);
        execl("/proc/self/exe", "check", inner, "--limited=1", (char *)NULL);
        _Exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static size_t fill_memory(size_t size) {
    size_t got = 0;
    void **list = NULL;
    for (void **object; (object = paceline_malloc(size)) != NULL; got += size) {
        object[0] = list;
        list = object;
    }
    CHECK(errno == ENOMEM);
    while (list != NULL) {
        void **next = list[0];
        paceline_free(list);
        list = next;
    }
    return got;
}

static void use_limited_memory(void) {
    enum { MIB = 1 << 20 };
    CHECK(fill_memory(100) > 100u * MIB);
    CHECK(fill_memory(5000) > 100u * MIB);
    CHECK(fill_memory(100000) > 100u * MIB);
    CHECK(fill_memory(3u * MIB) > 60u * MIB);
    errno = 0;
    CHECK(paceline_malloc((size_t)1 << 30) == NULL && errno == ENOMEM);
    char *object = paceline_malloc(64);
    CHECK(object != NULL);
    CHECK(paceline_realloc(object, (size_t)1 << 30) == NULL && errno == ENOMEM);
    object[63] = 1;
    paceline_free(object);
}

static void in_limited_memory(const char *claim, void (*use)(void)) {
    SKIP_IN_SHARED_PROCESS("address space cannot be limited");
    if (check_parameter("limited", 0)) {
        use();
        return;
    }
    CHECK(rerun_limited(claim, 256) == 0);
}

TEST(under_an_address_space_limit_memory_is_used_up_and_comes_back) {
    in_limited_memory(
        "under_an_address_space_limit_memory_is_used_up_and_comes_back",
        use_limited_memory);
}

HARDENED(
    under_an_address_space_limit_hardened_memory_is_used_up_and_comes_back) {
    in_limited_memory("under_an_address_space_limit_hardened_memory_is_used_up_"
                      "and_comes_back",
                      use_limited_memory);
}

/* Uses up all memory, then frees a few objects and allocates as many again.
 * They are fewer than a quarantine holds, but there is no other memory. */
static void use_the_last_objects(void) {
    static void *objects[4 << 20];
    static const size_t sizes[] = {100, 5000, 100};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t count = 0;
        while ((objects[count] = paceline_malloc(sizes[s])) != NULL) {
            count++;
        }
        CHECK(errno == ENOMEM && count > 1000);
        for (size_t freed = 1; freed < 60; freed += 7) {
            for (size_t i = 0; i < freed; i++) {
                paceline_free(objects[i * 16]);
            }
            for (size_t i = 0; i < freed; i++) {
                objects[i * 16] = paceline_malloc(sizes[s]);
                CHECK(objects[i * 16] != NULL);
            }
        }
        while (count > 0) {
            paceline_free(objects[--count]);
        }
    }
}

TEST(every_freed_object_is_memory_when_there_is_no_other) {
    in_limited_memory("every_freed_object_is_memory_when_there_is_no_other",
                      use_the_last_objects);
}

/* Samples are off, because a freed sample's page can only hold another one. */
TEST_(every_freed_hardened_object_is_memory_when_there_is_no_other, NULL,
      "PACELINE_ALLOC_HARDENED=1 PACELINE_ALLOC_SAMPLE=0") {
    in_limited_memory(
        "every_freed_hardened_object_is_memory_when_there_is_no_other",
        use_the_last_objects);
}

TEST(a_limit_set_later_makes_huge_objects_fail_and_small_ones_work) {
    SKIP_IN_SHARED_PROCESS("address space cannot be limited");
    paceline_free(paceline_malloc(1));
    struct rlimit limit = {64u << 20, 64u << 20};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    errno = 0;
    CHECK(paceline_malloc(256u << 20) == NULL && errno == ENOMEM);
    char *object = paceline_malloc(1000);
    CHECK(object != NULL);
    memset(object, 1, 1000);
    paceline_free(object);
}

static void *use_in_a_thread(void *unused) {
    (void)unused;
    char *object = paceline_malloc(100);
    memset(object, 1, 100);
    return object;
}

static void limit_myself(void) {
    SKIP_IN_SHARED_PROCESS("address space cannot be limited");
    enum { MIB = 1 << 20 };
    paceline_free(paceline_malloc(1));
    struct rlimit limit = {(rlim_t)4 << 30, (rlim_t)4 << 30};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    char *large = paceline_malloc(64u * MIB);
    CHECK(large != NULL);
    large[0] = large[64u * MIB - 1] = 1;
    paceline_free(large);
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) {
        CHECK(pthread_create(&threads[i], NULL, use_in_a_thread, NULL) == 0);
    }
    for (int i = 0; i < 8; i++) {
        void *object = NULL;
        CHECK(pthread_join(threads[i], &object) == 0 && object != NULL);
        paceline_free(object);
    }
    CHECK(fill_memory(100000) > 2000u * (size_t)MIB);
    CHECK(fill_memory(3u * MIB) > 2000u * (size_t)MIB);
    CHECK(fill_memory(100000) > 2000u * (size_t)MIB);
}

/* Huge pages are off, because with them all of these 4 GiB would be touched. */
TEST_(a_process_that_limits_itself_keeps_large_objects_and_threads, NULL,
      "PACELINE_ALLOC_HUGE_PAGES=0") {
    limit_myself();
}
TEST_(a_hardened_process_that_limits_itself_keeps_large_objects_and_threads,
      NULL, "PACELINE_ALLOC_HUGE_PAGES=0 PACELINE_ALLOC_HARDENED=1") {
    limit_myself();
}

/* Allocates and frees little, as a program at a low rate does: some objects of
 * a few sizes, for which the allocator hardly ever takes a unit. */
static void work_a_little(uint64_t *seed) {
    void *objects[40];
    for (int i = 0; i < 40; i++) {
        objects[i] = paceline_malloc(next_random(seed) % 6000);
    }
    for (int i = 0; i < 40; i++) {
        paceline_free(objects[i]);
    }
}

static void burst_then_work_a_little(void) {
    SKIP_IN_SHARED_PROCESS("resident memory is the runtime's");
    enum { SMALL = 20000, LARGE = 40 };
    static char *objects[SMALL + LARGE];
    uint64_t seed = 5;
    work_a_little(&seed);
    size_t before = resident_bytes();
    for (int i = 0; i < SMALL + LARGE; i++) {
        size_t size = i < SMALL               ? 1000
                      : i < SMALL + LARGE / 2 ? 100000
                                              : 3000000;
        objects[i] = paceline_malloc(size);
        memset(objects[i], 1, size);
    }
    for (int i = 0; i < SMALL + LARGE; i++) {
        paceline_free(objects[i]);
    }
    size_t after = resident_bytes();
    CHECK(after >
          before + (8u << 20)); /* or there would be nothing to give back */
    size_t left = after;
    for (long i = 0; i < 1000000 && left > before + (6u << 20); i++) {
        work_a_little(&seed);
        left = i % 1000 == 999 ? resident_bytes() : left;
    }
    fprintf(stderr, "%zu KiB before, %zu after, %zu left\n", before >> 10,
            after >> 10, left >> 10);
    CHECK(left <= before + (6u << 20));
}

TEST_(little_work_after_a_burst_gives_its_memory_back, NULL,
      "PACELINE_ALLOC_DECAY_MS=10") {
    burst_then_work_a_little();
}
TEST_(little_hardened_work_after_a_burst_gives_its_memory_back, NULL,
      "PACELINE_ALLOC_DECAY_MS=10 PACELINE_ALLOC_HARDENED=1 "
      "PACELINE_ALLOC_SAMPLE=0") {
    burst_then_work_a_little();
}

TEST(most_memory_is_gone_after_freeing_most_objects_at_random) {
    SKIP_IN_SHARED_PROCESS("resident memory is the runtime's");
    enum { COUNT = 100000 };
    static char *objects[COUNT];
    uint64_t seed = 7;
    for (int i = 0; i < COUNT; i++) {
        size_t size = 16 + next_random(&seed) % 1024;
        objects[i] = paceline_malloc(size);
        memset(objects[i], 1, size);
    }
    size_t full = resident_bytes();
    for (int i = 0; i < COUNT; i++) {
        if (next_random(&seed) % 100 < 95) {
            paceline_free(objects[i]);
        }
    }
    size_t left = resident_bytes();
    fprintf(stderr, "%zu KiB full, %zu KiB left\n", full >> 10, left >> 10);
    CHECK(paceline_alloc_is_hardened() || left < full * 2 / 5);
}
