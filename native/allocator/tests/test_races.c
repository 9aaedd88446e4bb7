/* The moments between two steps of a heap's life: a thread that ends while
 * others adopt its spans, a fork while heaps change hands, statistics and trim
 * while threads work.
 *
 * --rounds=N sets how often a moment is sought; each is a few hundred
 * nanoseconds long. */
#define _GNU_SOURCE
#include "check.h"
#include "heap.h"
#include "paceline_alloc.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 3, SLOTS = 512 };

static _Atomic(unsigned char *) slots[SLOTS];
static atomic_bool stop_now;

static void start(pthread_t *thread, void *(*work)(void *),
                  uintptr_t argument) {
    CHECK(pthread_create(thread, NULL, work, (void *)argument) == 0);
}

/* Objects of many classes, whose first and last bytes say their size, change
 * hands. */
static void exchange(uint64_t *seed, int steps) {
    for (int i = 0; i < steps; i++) {
        uint64_t drawn = next_random(seed);
        size_t size =
            32 + (drawn % 50 == 0 ? drawn >> 8 & 0xFFFF : drawn >> 8 & 0x3FF);
        unsigned char *object = paceline_malloc(size);
        CHECK(object != NULL);
        memcpy(object, &size, sizeof size);
        object[size - 1] = (unsigned char)size;
        object = atomic_exchange(&slots[drawn >> 40 & (SLOTS - 1)], object);
        if (object != NULL) {
            memcpy(&size, object, sizeof size);
            CHECK(object[size - 1] == (unsigned char)size);
            paceline_free(object);
        }
    }
}

static void *work_on(void *argument) {
    uint64_t seed = (uintptr_t)argument + 1;
    while (!atomic_load(&stop_now)) {
        exchange(&seed, 100);
    }
    return NULL;
}

/* --- statistics and trim --- */

static void look_while_others_work(void) {
    static char text[1 << 16];
    pthread_t threads[WORKERS];
    uint64_t seed = 11;
    for (uintptr_t i = 0; i < WORKERS; i++) {
        start(&threads[i], work_on, i + 1);
    }
    for (long i = 0, rounds = check_parameter("rounds", 300); i < rounds; i++) {
        CHECK(paceline_alloc_stats_json(text, sizeof text) < sizeof text);
        (void)paceline_malloc_trim(0);
        exchange(&seed, 20);
    }
    atomic_store(&stop_now, true);
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
}

TEST(statistics_and_trim_may_run_beside_working_threads) {
    look_while_others_work();
}
HARDENED(statistics_and_trim_may_run_beside_working_threads_in_hardened_mode) {
    look_while_others_work();
}

/* --- the end of a thread --- */

static void *leave_one_object(void *heap_of_thread) {
    void *object = paceline_malloc(16);
    *(struct heap **)heap_of_thread = thread_heap();
    return object;
}

static void *adopt_on(void *unused) {
    (void)unused;
    while (!atomic_load(&stop_now)) {
        (void)span_adopt(heap_by_id(1), class_of(16));
    }
    return NULL;
}

TEST(what_an_ended_thread_left_can_be_adopted_whoever_looked_meanwhile) {
    paceline_free(paceline_malloc(1));
    pthread_t adopter, leaver;
    start(&adopter, adopt_on, 0);
    for (long i = 0, rounds = check_parameter("rounds", 300) * 10; i < rounds;
         i++) {
        struct heap *heap = NULL;
        void *object = NULL;
        start(&leaver, leave_one_object, (uintptr_t)&heap);
        pthread_join(leaver, &object);
        (void)span_adopt(heap_by_id(1), class_of(16));
        (void)heap_count(); /* takes the lock of the list, so who is adopting
                               has finished */
        os_lock(&heap->lock);
        bool left = heap->partial[class_of(16)].head != NULL;
        os_unlock(&heap->lock);
        CHECK(!left);
        paceline_free(object);
    }
    atomic_store(&stop_now, true);
    pthread_join(adopter, NULL);
}

/* --- fork --- */

static void *come_and_go(void *argument) {
    uint64_t seed = (uintptr_t)argument + 1;
    exchange(&seed, 200);
    return NULL;
}

static void *keep_coming_and_going(void *argument) {
    while (!atomic_load(&stop_now)) {
        pthread_t thread;
        start(&thread, come_and_go, (uintptr_t)argument);
        pthread_join(thread, NULL);
    }
    return NULL;
}

static pthread_barrier_t all_have_one;

static void *have_a_heap(void *unused) {
    CHECK(thread_heap() != NULL);
    pthread_barrier_wait(&all_have_one);
    return unused;
}

/* In a child, every heap but the shared one and its own is for new threads. */
static void use_every_heap(void) {
    enum { MOST = 64 };
    pthread_t threads[MOST];
    uint32_t before = heap_count();
    CHECK(before >= 3 && before - 2 <= MOST);
    CHECK(pthread_barrier_init(&all_have_one, NULL, before - 2) == 0);
    for (uint32_t i = 0; i < before - 2; i++) {
        start(&threads[i], have_a_heap, 0);
    }
    for (uint32_t i = 0; i < before - 2; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK(heap_count() == before);
}

static void fork_while_heaps_change_hands(void) {
    SKIP_IN_SHARED_PROCESS(
        "threads cannot be started in the child of a threaded process");
    pthread_t threads[2 * WORKERS];
    paceline_free(paceline_malloc(1));
    for (uintptr_t i = 0; i < 2 * WORKERS; i++) {
        start(&threads[i], i % 2 == 0 ? keep_coming_and_going : work_on, i);
    }
    while (heap_count() < 3) { /* the shared one, our own and a worker's */
        sched_yield();
    }
    for (long i = 0, rounds = check_parameter("rounds", 300) / 5; i < rounds;
         i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            uint64_t seed = (uint64_t)i + 1;
            use_every_heap();
            exchange(&seed, 300);
            _Exit(0);
        }
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    atomic_store(&stop_now, true);
    for (int i = 0; i < 2 * WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
}

TEST(a_child_has_every_heap_of_threads_that_were_not_copied) {
    fork_while_heaps_change_hands();
}
HARDENED(a_hardened_child_has_every_heap_of_threads_that_were_not_copied) {
    fork_while_heaps_change_hands();
}
