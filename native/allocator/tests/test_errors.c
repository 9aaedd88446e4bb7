/* Every double, invalid, interior and foreign free of every kind of object ends
 * the process with its line. */
#include "canary.h"
#include "check.h"
#include "guarded.h"
#include "paceline_alloc.h"

#include <pthread.h>
#include <string.h>

/* volatile: the compiler knows malloc and free and would warn about, or remove,
 * what is tested. */
static void *volatile kept;
static char *volatile bytes;

static void free_twice(size_t size) {
    kept = paceline_malloc(size);
    paceline_free(kept);
    paceline_free(kept);
}

DEATH(double_free_of_16_bytes, "double free") { free_twice(16); }
DEATH(double_free_of_500_bytes, "double free") { free_twice(500); }
DEATH(double_free_of_3840_bytes, "double free") { free_twice(3840); }
DEATH(double_free_of_a_medium_object, "double free") { free_twice(9000); }
DEATH(double_free_of_a_large_object, "invalid free") { free_twice(100000); }
DEATH(double_free_of_a_long_run, "invalid free") { free_twice(5u << 20); }
DEATH(double_free_of_a_huge_object, "foreign free") { free_twice(300u << 20); }

DEATH(double_free_with_others_between, "double free") {
    void *objects[200];
    for (int i = 0; i < 200; i++) {
        objects[i] = paceline_malloc(48);
    }
    for (int i = 0; i < 200; i++) {
        paceline_free(objects[i]);
    }
    kept = objects[3];
    paceline_free(kept);
}

DEATH(double_free_after_the_span_ended, "free of") {
    static void *objects[20000];
    for (int i = 0; i < 20000; i++) {
        objects[i] = paceline_malloc(512);
    }
    for (int i = 0; i < 20000; i++) {
        paceline_free(objects[i]);
    }
    paceline_malloc_trim(0);
    kept = objects[10000];
    paceline_free(kept);
}

static void *free_it(void *object) {
    paceline_free(object);
    return NULL;
}

DEATH(double_free_by_another_thread, "double free") {
    pthread_t thread;
    kept = paceline_malloc(64);
    pthread_create(&thread, NULL, free_it, kept);
    pthread_join(thread, NULL);
    paceline_free(kept);
}

DEATH(remote_double_free, "double free") {
    pthread_t thread;
    kept = paceline_malloc(64);
    paceline_free(kept);
    pthread_create(&thread, NULL, free_it, kept);
    pthread_join(thread, NULL);
}

static void free_inside(size_t size, size_t offset) {
    bytes = paceline_malloc(size);
    paceline_free(bytes + offset);
}

DEATH(interior_free_off_by_one, "free of") { free_inside(100, 1); }
DEATH(interior_free_off_by_eight, "free of") { free_inside(100, 8); }
DEATH(interior_free_off_by_16, "free of") { free_inside(100, 16); }
DEATH(interior_free_in_a_small_object, "interior free") {
    free_inside(3000, 2048);
}
DEATH(interior_free_in_a_medium_object, "interior free") {
    free_inside(20000, 16);
}
DEATH(interior_free_in_a_medium_object_at_its_grain, "interior free") {
    free_inside(20000, 512 * 9);
}
DEATH(interior_free_in_a_large_object, "interior free") {
    free_inside(100000, 4096);
}
DEATH(interior_free_at_a_unit_of_a_large_object, "invalid free") {
    free_inside(200000, 65536);
}
DEATH(interior_free_in_a_long_run, "interior free") {
    free_inside(5u << 20, 4096);
}
DEATH(interior_free_in_the_next_segment_of_a_long_run, "invalid free") {
    free_inside(9u << 20, 4u << 20);
}
DEATH(interior_free_in_a_huge_object, "foreign free") {
    free_inside(300u << 20, 4096);
}

DEATH(free_of_a_never_allocated_object, "free of") {
    bytes = paceline_malloc(256);
    paceline_free(bytes + 256 * 40);
}

DEATH(free_of_a_stack_address, "foreign free") {
    int local = 0;
    kept = &local;
    paceline_free(kept);
}

DEATH(free_of_a_static_address, "foreign free") {
    static char object[64];
    kept = object;
    paceline_free(kept);
}

DEATH(free_of_a_small_number, "foreign free") {
    kept = (void *)0x10;
    paceline_free(kept);
}

DEATH(free_of_a_wild_address, "foreign free") {
    kept = (void *)0xFFFFFFFFFFFFFFF0;
    paceline_free(kept);
}

DEATH(realloc_of_a_freed_object, "double free") {
    kept = paceline_malloc(100);
    paceline_free(kept);
    kept = paceline_realloc(kept, 200);
}

DEATH(realloc_of_a_foreign_address, "foreign free") {
    static char object[64];
    kept = object;
    kept = paceline_realloc(kept, 200);
}

/* --- hardened mode: the same, and what only it sees --- */

HARDENED_DEATH(hardened_double_free, "double free") { free_twice(100); }
HARDENED_DEATH(hardened_double_free_of_a_medium_object, "double free") {
    free_twice(9000);
}
HARDENED_DEATH(hardened_double_free_of_a_large_object, "invalid free") {
    free_twice(100000);
}
HARDENED_DEATH(hardened_double_free_of_a_long_run, "invalid free") {
    free_twice(5u << 20);
}
HARDENED_DEATH(hardened_double_free_of_a_huge_object, "foreign free") {
    free_twice(300u << 20);
}
HARDENED_DEATH(hardened_interior_free, "interior free") {
    free_inside(1000, 48);
}
HARDENED_DEATH(hardened_foreign_free, "foreign free") {
    static char object[64];
    kept = object;
    paceline_free(kept);
}

/* By a thread that has an outgoing batch of the class, so that the object is
 * put there without a detour. */
static void *free_two(void *objects) {
    paceline_free(((void **)objects)[0]);
    paceline_free(((void **)objects)[1]);
    return NULL;
}

static void free_two_elsewhere(void *one, void *two) {
    pthread_t thread;
    void *objects[] = {one, two};
    pthread_create(&thread, NULL, free_two, objects);
    pthread_join(thread, NULL);
}

/* At the call, so not "double free, by two threads at once", which the span
 * says later. */
HARDENED_DEATH(hardened_double_free_by_another_thread, "double free of") {
    kept = paceline_malloc(64);
    free_two_elsewhere(kept, kept);
}

HARDENED_DEATH(overflow_found_by_another_thread, "overflow") {
    kept = paceline_malloc(64);
    bytes = paceline_malloc(64);
    bytes[64] = (char)(bytes[64] + 1);
    free_two_elsewhere(kept, bytes);
}

HARDENED_DEATH(overflow_found_by_another_threads_first_free, "overflow") {
    bytes = paceline_malloc(64);
    bytes[64] = (char)(bytes[64] + 1);
    free_two_elsewhere(bytes, NULL);
}

static void write_behind(size_t size, size_t count) {
    bytes = paceline_malloc(size);
    for (size_t i = 0; i < count; i++) {
        bytes[size + i] = (char)(bytes[size + i] + 1);
    }
    paceline_free(bytes);
}

HARDENED_DEATH(overflow_by_one_byte, "overflow") { write_behind(100, 1); }
HARDENED_DEATH(overflow_by_one_byte_of_a_full_block, "overflow") {
    write_behind(120, 1);
}
HARDENED_DEATH(overflow_by_many_bytes, "overflow") { write_behind(33, 40); }
HARDENED_DEATH(overflow_of_a_medium_object, "overflow") {
    write_behind(5000, 1);
}
HARDENED_DEATH(overflow_of_a_large_object, "overflow") {
    write_behind(100000, 1);
}
HARDENED_DEATH(overflow_of_a_long_run, "overflow") { write_behind(3000000, 1); }
HARDENED_DEATH(overflow_of_a_huge_object, "overflow") {
    write_behind(300000000, 1);
}

/* A block of 128: the seven bytes between its canary and its fence are nobody's. */
static void overwrite_the_rest(int value) {
    bytes = paceline_malloc(105);
    memset(bytes + 113, value, 7);
    CHECK(paceline_malloc_usable_size(bytes) == 105);
}

/* Of a sampled object every byte up to the end of its page is looked at. */
TEST_(no_byte_of_a_block_says_where_its_canary_lies, NULL,
      "PACELINE_ALLOC_HARDENED=1 PACELINE_ALLOC_SAMPLE=0") {
    for (int value = 0; value < 256; value++) {
        overwrite_the_rest(value);
        paceline_free(bytes);
    }
}

HARDENED_DEATH(overflow_is_caught_whatever_the_rest_of_the_block_says,
               "overflow") {
    overwrite_the_rest(0x41);
    bytes[105] = (char)(bytes[105] + 1);
    paceline_free(bytes);
}

/* --- in front, further behind, and of what nobody frees --- */

/* In front of a unit lies a forbidden page, or another's. */
static void write_in_front(size_t size, size_t distance) {
    do {
        bytes = paceline_malloc(size);
    } while ((uintptr_t)bytes % UNIT_BYTES == 0);
    bytes[-(ptrdiff_t)distance] ^= 1;
    paceline_free(bytes);
}

HARDENED_DEATH(write_one_byte_in_front, "in front") { write_in_front(100, 1); }
HARDENED_DEATH(write_eight_bytes_in_front_of_the_smallest, "in front") {
    write_in_front(8, 8);
}
HARDENED_DEATH(write_thirty_two_bytes_in_front_of_a_medium_object, "in front") {
    write_in_front(4096, 32);
}
HARDENED_DEATH(write_in_front_found_by_realloc, "in front") {
    bytes = paceline_malloc(50);
    bytes[-1] ^= 1;
    bytes = paceline_realloc(bytes, 52);
}
HARDENED_DEATH(overflow_thirty_two_bytes_behind_a_medium_object, "overflow") {
    bytes = paceline_malloc(4096);
    bytes[4096 + 31] ^= 1;
    paceline_free(bytes);
}

/* An object of any size may begin its block's unit, or end it. */
HARDENED(objects_of_every_size_may_be_filled) {
    static char *objects[5000];
    for (size_t size = 0; size < 5000; size++) {
        objects[size] = paceline_malloc(size);
        memset(objects[size], 0xFF, size);
    }
    for (size_t size = 0; size < 5000; size++) {
        paceline_free(objects[size]);
    }
}

static void come_and_go(void) {
    void *objects[64] = {NULL};
    for (size_t i = 0; i < 400000; i++) {
        paceline_free(objects[i % 64]);
        objects[i % 64] = paceline_malloc(i * 7919 % 700);
    }
}

HARDENED_DEATH(overflow_of_an_object_that_nobody_frees, "overflow") {
    bytes = paceline_malloc(2000);
    bytes[2000] ^= 1;
    come_and_go();
}
/* Seen from this object or from the block in front of it. */
HARDENED_DEATH(write_in_front_of_an_object_that_nobody_frees,
               "paceline_alloc: ") {
    bytes = paceline_malloc(2000);
    bytes[-1] ^= 1;
    come_and_go();
}
HARDENED_DEATH(write_to_a_freed_object_that_nobody_takes, "write after free") {
    bytes = paceline_malloc(2000);
    paceline_free(bytes);
    bytes[16] ^= 1;
    come_and_go();
}

/* A thread that never allocated may free at any moment of a sweep. */
static void *free_all(void *objects) {
    for (void **object = objects; *object != NULL; object++) {
        paceline_free(*object);
    }
    return NULL;
}
HARDENED(what_a_first_other_thread_frees_is_no_damage) {
    static void *objects[20001];
    pthread_t thread;
    for (size_t i = 0; i < 20000; i++) {
        objects[i] = paceline_malloc(i * 7919 % 700);
    }
    pthread_create(&thread, NULL, free_all, objects);
    come_and_go();
    pthread_join(thread, NULL);
}

/* Fences of free blocks go with their pages. Objects at the begin of a page stay. */
HARDENED(pages_given_back_in_front_of_an_object_are_no_damage) {
    enum { OBJECTS = 200000 };
    static char *objects[OBJECTS];
    size_t kept_objects = 0, purged = 0;
    for (size_t i = 0; i < OBJECTS; i++) {
        objects[i] = paceline_malloc(40);
    }
    for (size_t i = 0; i < OBJECTS; i++) {
        if ((uintptr_t)objects[i] % 4096 == 0) {
            objects[kept_objects++] = objects[i];
        } else {
            paceline_free(objects[i]);
        }
    }
    paceline_malloc_trim(0);
    for (size_t i = 0; i < kept_objects; i++) {
        purged += ((volatile char *)objects[i])[-1] == 0;
        paceline_free(objects[i]);
    }
    fprintf(stderr, "%zu of %zu\n", purged, kept_objects);
    CHECK(purged > 10 || CHECK_SHARED_PROCESS);
    come_and_go();
}

/* The commonest overflow is a string's end. */
HARDENED(no_canary_begins_with_a_zero) {
    for (size_t size = 0; size < 4000; size++) {
        bytes = paceline_malloc(size);
        CHECK(is_guarded(bytes) || bytes[size] != 0);
        paceline_free(bytes);
    }
}

/* Canaries that were a secret and the address, mixed by sums or by exclusive
 * or, could be told from one that was read. */
static void forge(bool by_sum) {
    /* Read back from volatile memory, so that neither the compiler nor its
     * sanitizers know the size of the object, which is read past its end. */
    kept = paceline_malloc(100);
    char *leaking = kept;
    bytes = paceline_malloc(100);
    CHECK(!is_guarded(leaking) && !is_guarded(bytes));
    uint64_t canary_of_other;
    memcpy(&canary_of_other, leaking + 100, sizeof canary_of_other);
    uintptr_t from = (uintptr_t)leaking, to = (uintptr_t)bytes;
    uint64_t forged =
        by_sum ? canary_of_other + (to - from) : canary_of_other ^ from ^ to;
    memcpy(bytes + 100, &forged, sizeof forged);
    paceline_free(bytes);
}

HARDENED_DEATH(a_canary_that_was_read_tells_no_other_by_exclusive_or,
               "overflow") {
    forge(false);
}
HARDENED_DEATH(a_canary_that_was_read_tells_no_other_by_a_sum, "overflow") {
    forge(true);
}

HARDENED_DEATH(overflow_found_by_realloc, "overflow") {
    bytes = paceline_malloc(50);
    bytes[50] = (char)(bytes[50] + 1);
    bytes = paceline_realloc(bytes, 90);
}

HARDENED_DEATH(write_after_free, "write after free") {
    bytes = paceline_malloc(100);
    paceline_free(bytes);
    bytes[3] = (char)(bytes[3] + 1);
    for (int i = 0; i < 10000; i++) {
        paceline_free(paceline_malloc(100));
    }
}

HARDENED_DEATH(write_after_free_at_byte_twenty_three, "write after free") {
    bytes = paceline_malloc(100);
    paceline_free(bytes);
    bytes[23] ^= 1;
    for (int i = 0; i < 10000; i++) {
        paceline_free(paceline_malloc(100));
    }
}

HARDENED(freed_objects_are_not_reused_at_once_nor_in_order) {
    int again = 0, in_order = 0;
    uintptr_t last = 0;
    for (int i = 0; i < 1000; i++) {
        void *object = paceline_malloc(200);
        again += (uintptr_t)object == last;
        paceline_free(object);
        last = (uintptr_t)object;
    }
    CHECK(again < 100);
    last = 0;
    for (int i = 0; i < 1000; i++) {
        uintptr_t object = (uintptr_t)paceline_malloc(320);
        in_order += object - last == 352;
        last = object;
    }
    CHECK(in_order < 200);
}

/* A quarter of a magazine of 63. */
static void check_the_last_fifteen(void) {
    enum { KEPT = 15 };
    void *last[KEPT] = {NULL};
    void *live[64] = {NULL};
    uint64_t seed = 17;
    for (unsigned i = 0, freed = 0; i < 200000; i++) {
        void **slot = &live[next_random(&seed) % 64];
        if (*slot != NULL) {
            paceline_free(*slot);
            if (!is_guarded(*slot)) {
                last[freed++ % KEPT] = *slot;
            }
            *slot = NULL;
            continue;
        }
        *slot = paceline_malloc(150);
        for (int k = 0; k < KEPT; k++) {
            CHECK(last[k] == NULL || *slot != last[k]);
        }
    }
}

HARDENED(the_last_fifteen_freed_objects_of_a_class_are_not_handed_out) {
    check_the_last_fifteen();
}
TEST_(nor_are_they_where_samples_cut_batches_short, NULL,
      "PACELINE_ALLOC_HARDENED=1 PACELINE_ALLOC_SAMPLE=10") {
    check_the_last_fifteen();
}

HARDENED(usable_size_is_what_was_asked_for) {
    static const size_t sizes[] = {0,    1,     100,    3839,   3840,
                                   9000, 32760, 100000, 3000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *object = paceline_malloc(sizes[i]);
        CHECK(paceline_malloc_usable_size(object) == sizes[i]);
        memset(object, 1, sizes[i]);
        paceline_free(object);
    }
    CHECK(paceline_alloc_is_hardened());
}

/* Of two allocations in turn, of one class: a sample must not prefer where a
 * batch of the class begins. */
TEST_(one_allocation_in_so_many_is_guarded, NULL,
      "PACELINE_ALLOC_HARDENED=1 PACELINE_ALLOC_SAMPLE=10") {
    enum { PAIRS = 20000 };
    int guarded[2] = {0, 0};
    for (int i = 0; i < PAIRS; i++) {
        void *pair[2];
        for (int k = 0; k < 2; k++) {
            pair[k] = paceline_malloc(300);
            guarded[k] += is_guarded(pair[k]);
        }
        paceline_free(pair[1]);
        paceline_free(pair[0]);
    }
    fprintf(stderr, "%d and %d guarded\n", guarded[0], guarded[1]);
    CHECK(guarded[0] > PAIRS / 15 && guarded[0] < PAIRS / 7);
    CHECK(guarded[1] > PAIRS / 15 && guarded[1] < PAIRS / 7);
}

TEST_(sampled_objects_behave_like_others, NULL,
      "PACELINE_ALLOC_HARDENED=1 PACELINE_ALLOC_SAMPLE=10") {
    for (int i = 0; i < 200000; i++) {
        size_t size = (size_t)i % 4000;
        char *object = paceline_malloc(size);
        memset(object, 1, size);
        object = paceline_realloc(object, size + 10);
        CHECK(object != NULL && (size == 0 || object[size - 1] == 1));
        paceline_free(object);
    }
}
