/* Decay of unused memory, fork and signal handlers, and statistics that add up.
 */
#define _GNU_SOURCE
#include "canary.h"
#include "check.h"
#include "decay.h"
#include "heap.h"
#include "paceline_alloc.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEDIUM = 20000, MANY = 6000 };

static void *objects[MANY];

static void make(int count, size_t size) {
    for (int i = 0; i < count; i++) {
        objects[i] = paceline_malloc(size);
        CHECK(objects[i] != NULL);
    }
}

static void free_every(int step, int count) {
    for (int i = 0; i < count; i += step) {
        paceline_free(objects[i]);
        objects[i] = NULL;
    }
}

/* --- empty spans --- */

/* Half of each span's objects are freed; then the pages of the structures in
 * their midst are forbidden. */
TEST(ending_empty_spans_looks_at_no_other_span) {
    SKIP_IN_SHARED_PROCESS("pages of tables are watched");
    make(MANY, MEDIUM);
    free_every(2, MANY);
    struct heap *heap = thread_heap();
    uintptr_t page = range.page_bytes;
    uintptr_t first = (uintptr_t)span_of((uintptr_t)objects[MANY / 4 + 1]);
    uintptr_t last = (uintptr_t)span_of((uintptr_t)objects[3 * MANY / 4 + 1]);
    uintptr_t begin = (first + page) & ~(page - 1);
    size_t bytes = (last & ~(page - 1)) - begin;
    CHECK(last > first && bytes >= 4 * page && bytes < 64 * page);
    CHECK(mprotect((void *)begin, bytes, PROT_NONE) == 0);
    (void)heap_end_empty_spans(heap);
    CHECK(mprotect((void *)begin, bytes, PROT_READ | PROT_WRITE) == 0);
}

static uint64_t spans_of(struct heap *heap) {
    os_lock(&heap->lock);
    uint64_t count = heap->span_count;
    os_unlock(&heap->lock);
    return count;
}

TEST(of_each_class_one_empty_span_is_kept_and_ended) {
    struct heap *heap = thread_heap();
    uint64_t before = spans_of(heap); /* a C library may have allocated */
    make(MANY, MEDIUM);
    free_every(1, MANY);
    heap_drain(heap);
    unsigned class = class_of(MEDIUM);
    CHECK(paceline_alloc_is_hardened() ||
          (heap->empty[class] != NULL && heap->empty[class]->used == 0));
    (void)heap_end_empty_spans(heap);
    CHECK(heap->empty[class] == NULL && heap->partial[class].head == NULL);
    CHECK(paceline_alloc_is_hardened() || spans_of(heap) <= before);
}

/* --- who frees only, or asks for large objects only, lets time pass as well
 * --- */

static void *make_objects(void *size) {
    make(MANY, (size_t)(uintptr_t)size);
    return NULL;
}

static void run(void *(*work)(void *), void *argument) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work, argument) == 0);
    pthread_join(thread, NULL);
}

static uint32_t slow_calls_of_freeing_what_another_made(void) {
    paceline_free(
        paceline_malloc(1)); /* or this thread would get the other's heap */
    run(make_objects, (void *)(uintptr_t)200);
    uint32_t before = thread_cache.slow_calls;
    free_every(1, MANY);
    return thread_cache.slow_calls - before;
}

TEST(frees_of_what_others_made_let_time_pass) {
    CHECK(slow_calls_of_freeing_what_another_made() >= MANY / BATCH_OBJECTS);
}
HARDENED(hardened_frees_of_what_others_made_let_time_pass) {
    CHECK(slow_calls_of_freeing_what_another_made() >= MANY / BATCH_OBJECTS);
}

static uint32_t slow_calls_of_freeing(void) {
    make(MANY, 200);
    uint32_t before = thread_cache.slow_calls;
    free_every(1, MANY);
    return thread_cache.slow_calls - before;
}

TEST(frees_alone_let_time_pass) {
    CHECK(slow_calls_of_freeing() >= MANY / MAGAZINE_SLOTS);
}
HARDENED(hardened_frees_alone_let_time_pass) {
    CHECK(slow_calls_of_freeing() >= MANY / MAGAZINE_SLOTS);
}

TEST(aligned_and_cleared_large_objects_let_time_pass) {
    void *kept[20];
    uint32_t before = thread_cache.slow_calls;
    for (int i = 0; i < 10; i++) {
        kept[i] = paceline_calloc(1, 100000);
        kept[i + 10] = paceline_aligned_alloc(64, 640);
    }
    CHECK(thread_cache.slow_calls - before >= 20);
    for (int i = 0; i < 20; i++) {
        paceline_free(kept[i]);
    }
}

/* --- what others sent in vain --- */

static void *free_them(void *unused) {
    free_every(1, MANY);
    return unused;
}

static void fill_the_inbox(void) {
    make(MANY, 200);
    struct heap *heap = thread_heap();
    uint64_t before = heap->used_bytes;
    unsigned class =
        class_of(paceline_alloc_is_hardened() ? 200 + CANARY_BYTES : 200);
    run(free_them, NULL);
    unsigned waiting = 0, kept = 0;
    for (const struct batch *batch = heap->inbox[class]; batch != NULL;
         batch = batch->next) {
        CHECK(batch->next == NULL || batch->below == batch->next->below + 1);
        waiting++;
        kept += batch->count;
    }
    CHECK(waiting == class_infos[class].max_spare &&
          heap->inbox[class]->below == waiting - 1);
    CHECK(before - heap->used_bytes >= (MANY - kept) * (uint64_t)200);
}

TEST(an_inbox_that_is_not_emptied_takes_as_much_as_spares) { fill_the_inbox(); }
TEST_(an_inbox_that_is_not_emptied_takes_as_much_as_spares_in_hardened_mode,
      NULL, "PACELINE_ALLOC_HARDENED=1 PACELINE_ALLOC_SAMPLE=0") {
    fill_the_inbox();
}

/* At another class, so that nothing is wanted of the first. */
static void work_until(uint64_t end_ms) {
    while (os_clock_ms() < end_ms) {
        paceline_free(paceline_malloc(MEDIUM + 10000));
        decay_tick();
    }
}

static void send_then_let_time_pass(void) {
    make(MANY, 200);
    struct heap *heap = thread_heap();
    unsigned class =
        class_of(paceline_alloc_is_hardened() ? 200 + CANARY_BYTES : 200);
    run(free_them, NULL);
    CHECK(heap->inbox[class] != NULL);
    uint64_t deadline = os_clock_ms() + 60000;
    while (heap->inbox[class] != NULL && os_clock_ms() < deadline) {
        work_until(os_clock_ms() + 1);
    }
    CHECK(heap->inbox[class] == NULL);
}

TEST_(what_others_sent_in_vain_goes_to_its_spans, NULL,
      "PACELINE_ALLOC_DECAY_MS=10") {
    send_then_let_time_pass();
}
TEST_(what_others_sent_in_vain_goes_to_its_spans_in_hardened_mode, NULL,
      "PACELINE_ALLOC_DECAY_MS=10 PACELINE_ALLOC_HARDENED=1 "
      "PACELINE_ALLOC_SAMPLE=0") {
    send_then_let_time_pass();
}

/* --- what is too little to be sent --- */

static void *free_a_few_then_let_time_pass(void *unused) {
    enum { FEW = 10 };
    unsigned class =
        class_of(paceline_alloc_is_hardened() ? 200 + CANARY_BYTES : 200);
    free_every(1, FEW);
    const struct heap *heap = thread_heap();
    CHECK(heap->outgoing[class] != NULL && heap->outgoing[class]->count == FEW);
    uint64_t deadline = os_clock_ms() + 60000;
    while (heap->outgoing[class] != NULL && os_clock_ms() < deadline) {
        work_until(os_clock_ms() + 1);
    }
    CHECK(heap->outgoing[class] == NULL);
    return unused;
}

TEST_(what_is_too_little_to_be_sent_goes_to_its_spans, NULL,
      "PACELINE_ALLOC_DECAY_MS=10") {
    make(MANY, 200);
    run(free_a_few_then_let_time_pass, NULL);
}
TEST_(what_is_too_little_to_be_sent_goes_to_its_spans_in_hardened_mode, NULL,
      "PACELINE_ALLOC_DECAY_MS=10 PACELINE_ALLOC_HARDENED=1 "
      "PACELINE_ALLOC_SAMPLE=0") {
    make(MANY, 200);
    run(free_a_few_then_let_time_pass, NULL);
}

/* --- writes to what is in a batch --- */

static void write_into_batches(void) {
    make(MANY, 100);
    free_every(1, MANY);
    struct heap *heap = thread_heap();
    struct batch *batch = heap->spares[class_of(100 + CANARY_BYTES)];
    CHECK(batch != NULL && batch->count > 0);
    memset(batch->objects[0], 0x41, 8);
    heap_drain(heap);
}

HARDENED_DEATH(write_after_free_to_an_object_of_a_batch, "write after free") {
    write_into_batches();
}

/* --- a handler of SIGABRT allocates --- */

static void allocate_then_die(int number) {
    signal(number, SIG_DFL);
    make(MANY, 200);
    raise(number);
}

DEATH(a_double_free_that_the_span_notices_holds_no_lock,
      "double free, by two threads") {
    void *object = paceline_malloc(200);
    void *other = paceline_malloc(200);
    CHECK(object != NULL && other != NULL);
    signal(SIGABRT, allocate_then_die);
    alarm(240); /* a watchdog: a lock that is held would wait for ever */
    state_write(state_of(class_of(200), (uintptr_t)object), STATE_CACHED);
    heap_return(&object, 1);
    heap_return(&object, 1);
}

/* --- a fork before constructors of this library --- */

static struct {
    pthread_barrier_t held;
    int status;
} early;

static void *hold_the_range(void *unused) {
    range_lock();
    pthread_barrier_wait(&early.held);
    for (int i = 0; i < 20000; i++) {
        sched_yield();
    }
    range_unlock();
    return unused;
}

/* As a library that was loaded before ours may do it: its constructor has a
 * thread and forks. */
__attribute__((constructor(101))) static void fork_early(void) {
    if (getenv("PACELINE_CHECK_EARLY") == NULL) {
        return;
    }
    pthread_t holder;
    paceline_free(paceline_malloc(1));
    pthread_barrier_init(&early.held, NULL, 2);
    CHECK(pthread_create(&holder, NULL, hold_the_range, NULL) == 0);
    pthread_barrier_wait(&early.held);
    pid_t child = fork();
    if (child == 0) {
        alarm(240);
        range_lock(); /* free in the child, if a handler waited for it in the
                         parent */
        _Exit(0);
    }
    CHECK(waitpid(child, &early.status, 0) == child);
    pthread_join(holder, NULL);
}

TEST_(a_fork_before_our_constructor_copies_no_lock_that_is_held, NULL,
      "PACELINE_CHECK_EARLY=1") {
    CHECK(early.status == 0);
}

/* --- statistics --- */

/* The number behind the first KEY at or after `text`. */
static uint64_t number_after(const char *text, const char *key) {
    const char *found = strstr(text, key);
    CHECK(found != NULL);
    return strtoull(found + strlen(key), NULL, 10);
}

static uint64_t sum_of(const char *text, const char *key) {
    uint64_t sum = 0;
    for (const char *at = strstr(text, "\"classes\":");
         (at = strstr(at, key)) != NULL; at++) {
        sum += number_after(at, key);
    }
    return sum;
}

TEST(statistics_count_spans_objects_and_huge_mappings_exactly) {
    enum { COUNT = 500 };
    static char before[1 << 16], after[1 << 16];
    if (paceline_alloc_is_hardened()) {
        SKIP("hardened objects are of other classes");
    }
    paceline_free(paceline_malloc(1));
    CHECK(paceline_alloc_stats_json(before, sizeof before) < sizeof before);
    CHECK(strstr(before, "\"size\":20480") == NULL);
    make(COUNT, MEDIUM);
    void *huge = paceline_malloc(300 << 20);
    CHECK(paceline_alloc_stats_json(after, sizeof after) < sizeof after);
    const char *own = strstr(after, "{\"size\":20480,");
    CHECK(own != NULL);
    struct heap *heap = thread_heap();
    unsigned class = class_of(MEDIUM);
    uint64_t cached =
        (uint64_t)(thread_cache.bins[class].top - magazine_begin(heap, class));
    CHECK(number_after(own, "\"used_objects\":") == COUNT + cached);
    uint64_t spans = number_after(own, "\"spans\":");
    CHECK(number_after(own, "\"capacity_objects\":") ==
          spans * 3); /* of 20 KiB in 64 */
    CHECK(spans == (COUNT + cached + 2) / 3);
    CHECK(number_after(after, "\"used_bytes\":") -
              number_after(before, "\"used_bytes\":") ==
          spans << UNIT_SHIFT);
    CHECK(number_after(strstr(after, "\"huge\""), "\"objects\":") == 1);
    CHECK(number_after(strstr(after, "\"huge\""), "\"bytes\":") >= 300 << 20);
    paceline_free(huge);
}

static atomic_bool stop_now;

static void *begin_and_end_spans(void *unused) {
    void *few[60];
    while (!atomic_load(&stop_now)) {
        for (int i = 0; i < 60; i++) {
            few[i] = paceline_malloc(MEDIUM);
        }
        for (int i = 0; i < 60; i++) {
            paceline_free(few[i]);
        }
        heap_drain(thread_heap());
    }
    return unused;
}

TEST(statistics_are_of_one_moment) {
    static char text[1 << 16];
    pthread_t threads[2];
    paceline_free(paceline_malloc(1));
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, begin_and_end_spans, NULL) ==
              0);
    }
    for (long i = 0, rounds = check_parameter("rounds", 300) * 20; i < rounds;
         i++) {
        CHECK(paceline_alloc_stats_json(text, sizeof text) < sizeof text);
        CHECK(sum_of(text, "\"spans\":") << UNIT_SHIFT <=
              number_after(text, "\"used_bytes\":"));
    }
    atomic_store(&stop_now, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
}
