/* Threads that allocate, hand on and free under stamps; thread exit; fork under
 * load.
 *
 * --steps=N sets the length of each thread's work. */
#define _GNU_SOURCE
#include "check.h"
#include "heap.h"
#include "paceline_alloc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, SHARED = 1024, OWN = 256 };

struct message {
    size_t size;
    unsigned char stamp;
    unsigned char bytes[];
};

static _Atomic(struct message *) mailbox[SHARED];
static atomic_int stop_now;

static struct message *make(uint64_t *seed) {
    size_t kind = next_random(seed) % 200;
    size_t size = next_random(seed) % (kind == 0   ? 200000
                                       : kind < 10 ? 9000
                                                   : 700);
    struct message *message = paceline_malloc(sizeof *message + size);
    CHECK(message != NULL);
    message->size = size;
    message->stamp = (unsigned char)next_random(seed);
    memset(message->bytes, message->stamp, size);
    return message;
}

static void consume(struct message *message) {
    for (size_t i = 0; i < message->size; i += message->size < 1024 ? 1 : 97) {
        CHECK(message->bytes[i] == message->stamp);
    }
    memset(message, 0xDD, sizeof *message + message->size);
    paceline_free(message);
}

static void *mix(void *argument) {
    uint64_t seed = (uint64_t)(uintptr_t)argument * 7919 + 1;
    struct message *own[OWN] = {NULL};
    long steps = check_parameter("steps", 60000);
    for (long i = 0; i < steps; i++) {
        size_t slot = next_random(&seed) % OWN;
        if (own[slot] != NULL) {
            consume(own[slot]);
        }
        own[slot] = make(&seed);
        struct message *other =
            atomic_exchange(&mailbox[next_random(&seed) % SHARED], own[slot]);
        own[slot] = NULL;
        if (other != NULL && next_random(&seed) % 2 == 0) {
            own[slot] = other;
        } else if (other != NULL) {
            consume(other);
        }
    }
    for (int i = 0; i < OWN; i++) {
        if (own[i] != NULL) {
            consume(own[i]);
        }
    }
    return NULL;
}

static void run_threads(void *(*work)(void *), int count) {
    pthread_t threads[64];
    for (int i = 0; i < count; i++) {
        CHECK(pthread_create(&threads[i], NULL, work,
                             (void *)(uintptr_t)(i + 1)) == 0);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void empty_mailbox(void) {
    for (int i = 0; i < SHARED; i++) {
        struct message *left = atomic_exchange(&mailbox[i], NULL);
        if (left != NULL) {
            consume(left);
        }
    }
}

static void exchange_stamped(void) {
    run_threads(mix, THREADS);
    empty_mailbox();
    run_threads(mix, THREADS); /* in the heaps of those that ended */
    empty_mailbox();
}

TEST(objects_handed_between_threads_keep_their_contents) { exchange_stamped(); }
HARDENED(objects_handed_between_threads_keep_their_contents_in_hardened_mode) {
    exchange_stamped();
}

/* --- one thread allocates, another frees --- */

static void *produce(void *unused) {
    uint64_t seed = 99;
    (void)unused;
    for (long i = 0, steps = check_parameter("steps", 60000) * 2; i < steps;
         i++) {
        struct message *message = make(&seed);
        struct message *expected = NULL;
        while (!atomic_compare_exchange_weak(&mailbox[i % 64], &expected,
                                             message)) {
            expected = NULL;
            sched_yield();
        }
    }
    atomic_store(&stop_now, 1);
    return NULL;
}

static void *free_all(void *unused) {
    (void)unused;
    for (;;) {
        int last = atomic_load(&stop_now);
        for (int i = 0; i < 64; i++) {
            struct message *message = atomic_exchange(&mailbox[i], NULL);
            if (message != NULL) {
                consume(message);
            }
        }
        if (last) {
            return NULL;
        }
    }
}

static void *by_role(void *argument) {
    return (uintptr_t)argument == 1 ? produce(NULL) : free_all(NULL);
}

TEST(a_consumer_returns_what_a_producer_makes) {
    run_threads(by_role, 2);
    CHECK(CHECK_SHARED_PROCESS || resident_bytes() < 64u << 20);
}

enum {
    SENT = 20,
    TAKEN = 200
}; /* more than half of a batch, less than a whole one */

static void *free_and_take(void *argument) {
    void **sent = argument;
    for (int i = 0; i < SENT; i++) {
        paceline_free(sent[i]);
    }
    for (int i = 0; i < TAKEN; i++) {
        const void *own = paceline_malloc(500);
        for (int j = 0; j < SENT; j++) {
            CHECK(own != sent[j]);
        }
    }
    return NULL;
}

static void free_for_others(void) {
    void *sent[SENT];
    for (int i = 0; i < SENT; i++) {
        sent[i] = paceline_malloc(500);
    }
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, free_and_take, sent) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

TEST(a_thread_leaves_what_it_frees_for_others_to_them) { free_for_others(); }
HARDENED(a_thread_leaves_what_it_frees_for_others_to_them_hardened) {
    free_for_others();
}

/* --- threads that come and go --- */

static void *touch(void *unused) {
    (void)unused;
    for (int i = 0; i < 50; i++) {
        paceline_free(paceline_malloc(100 + (size_t)i * 40));
    }
    return paceline_malloc(300);
}

TEST(heaps_of_ended_threads_are_reused) {
    for (int i = 0; i < 2000; i++) {
        pthread_t thread;
        void *left = NULL;
        CHECK(pthread_create(&thread, NULL, touch, NULL) == 0);
        pthread_join(thread, &left);
        paceline_free(left);
    }
    CHECK(CHECK_SHARED_PROCESS || resident_bytes() < 64u << 20);
}

static pthread_key_t late_key;

/* A system runs handlers again up to four times; in the last of them the thread
 * sanitizer has already ended what it knows of the thread, and sees races in
 * whatever that does next. */
#if defined(__SANITIZE_THREAD__)
enum { LATE_ROUNDS = 3 };
#else
enum { LATE_ROUNDS = 4 };
#endif

/* Runs after the allocator's own handler in some round: the thread has no heap
 * any more. */
static void late_handler(void *value) {
    uintptr_t round = (uintptr_t)value;
    void *objects[100];
    for (int i = 0; i < 100; i++) {
        objects[i] = paceline_malloc((size_t)i * 60);
        memset(objects[i], 1, (size_t)i * 60);
    }
    for (int i = 0; i < 100; i++) {
        paceline_free(objects[i]);
    }
    if (round < LATE_ROUNDS) {
        pthread_setspecific(late_key, (void *)(round + 1));
    }
}

static void *leave_late(void *unused) {
    (void)unused;
    pthread_setspecific(late_key, (void *)1);
    paceline_free(paceline_malloc(10));
    return NULL;
}

static void allocate_late(void) {
    CHECK(pthread_key_create(&late_key, late_handler) == 0);
    for (int i = 0; i < 50; i++) {
        run_threads(leave_late, 3);
    }
}

TEST(exit_handlers_may_allocate_after_the_heap_is_gone) { allocate_late(); }
HARDENED(exit_handlers_may_allocate_after_the_hardened_heap_is_gone) {
    allocate_late();
}

/* What an ended thread takes and frees is checked like all else. */
static void overflow_late(void *unused) {
    (void)unused;
    if (thread_cache.heap != NULL) {
        pthread_setspecific(late_key, (void *)1);
        return;
    }
    char *volatile object = paceline_malloc(100);
    object[100] = (char)(object[100] + 1);
    paceline_free(object);
}

HARDENED_DEATH(overflow_found_after_the_hardened_heap_is_gone, "overflow") {
    CHECK(pthread_key_create(&late_key, overflow_late) == 0);
    run_threads(leave_late, 1);
}

/* Spans pass between the shared heap, which several ended threads use at once,
 * and heaps of new threads. */
static void exchange_small(uintptr_t seed_of_thread, long steps) {
    uint64_t seed = seed_of_thread;
    for (long i = 0; i < steps; i++) {
        size_t size = 3000 + next_random(&seed) % 700;
        struct message *message = paceline_malloc(sizeof *message + size);
        CHECK(message != NULL);
        *message = (struct message){.size = size, .stamp = (unsigned char)i};
        memset(message->bytes, message->stamp, size);
        struct message *other =
            atomic_exchange(&mailbox[next_random(&seed) % SHARED], message);
        if (other != NULL) {
            consume(other);
        }
    }
}

static void exchange_late(void *value) {
    uintptr_t round = (uintptr_t)value >> 8, thread = (uintptr_t)value & 255;
    exchange_small((uintptr_t)value,
                   round > 1 ? check_parameter("steps", 60000) / 60 : 1);
    if (round < LATE_ROUNDS) {
        pthread_setspecific(late_key, (void *)((round + 1) << 8 | thread));
    }
}

static void *leave_exchanging(void *thread) {
    pthread_setspecific(late_key,
                        (void *)((uintptr_t)1 << 8 | (uintptr_t)thread));
    exchange_small((uintptr_t)thread + 1000, 300);
    return NULL;
}

static void share_spans(void) {
    CHECK(pthread_key_create(&late_key, exchange_late) == 0);
    for (int i = 0; i < 20; i++) {
        run_threads(leave_exchanging, 6);
        empty_mailbox();
    }
}

TEST(ended_threads_share_spans_with_new_ones) { share_spans(); }
HARDENED(ended_threads_share_spans_with_new_ones_in_hardened_mode) {
    share_spans();
}

/* --- fork --- */

static void *churn(void *argument) {
    uint64_t seed = (uint64_t)(uintptr_t)argument;
    while (!atomic_load(&stop_now)) {
        consume(make(&seed));
    }
    return NULL;
}

static void *more(void *argument) {
    uint64_t seed = (uint64_t)(uintptr_t)argument;
    for (int i = 0; i < 300; i++) {
        consume(make(&seed));
    }
    return NULL;
}

static void fork_under_load(void) {
    SKIP_IN_SHARED_PROCESS(
        "threads cannot be started in the child of a threaded process");
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, churn,
                             (void *)(uintptr_t)(i + 1)) == 0);
    }
    for (int i = 0; i < 60; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            run_threads(more, 3);
            (void)paceline_malloc_trim(0);
            _Exit(0);
        }
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    atomic_store(&stop_now, 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

TEST(children_of_a_busy_process_can_allocate_in_threads) { fork_under_load(); }
HARDENED(children_of_a_busy_hardened_process_can_allocate_in_threads) {
    fork_under_load();
}
