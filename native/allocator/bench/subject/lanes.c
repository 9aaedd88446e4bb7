/* The threads ("lanes") of a scenario, and the clock around them.
 *
 * Lane 0 is the main thread. The others sleep in the kernel while other arms are
 * measured, and spin inside a round, so that no sample contains waking up: a
 * round begins with a part that is not timed. */
#define _GNU_SOURCE
#include "subject.h"
#include "ring.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPINS_BEFORE_SLEEP = 20000 };

static const struct scenario *chosen;
static struct lane lanes[LANES_MAX];
static uint32_t count;
static cpu_set_t allowed;
static _Atomic uint32_t generation; /* of work that was given out */
static _Atomic uint32_t sleepers;
static _Atomic uint32_t finished;
static uint64_t times_asked;

/* Lane n has the n-th CPU from the end: interrupts mostly come to the first. */
void pin(uint32_t lane) {
    for (size_t cpu = CPU_SETSIZE; cpu-- > 0;) {
        if (CPU_ISSET(cpu, &allowed) && lane-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
    }
}

static void wait_for_work(uint32_t seen) {
    for (int spins = 0; spins < SPINS_BEFORE_SLEEP; spins++) {
        if (atomic_load_explicit(&generation, memory_order_acquire) != seen)
            return;
        pause_cpu();
    }
    atomic_fetch_add(&sleepers, 1);
    while (atomic_load(&generation) == seen)
        syscall(SYS_futex, &generation, FUTEX_WAIT_PRIVATE, seen, NULL, NULL,
                0);
    atomic_fetch_sub(&sleepers, 1);
}

static void *lane_thread(void *argument) {
    struct lane *lane = argument;
    pin(lane->number);
    for (uint32_t seen = 0;; seen++) {
        wait_for_work(seen);
        chosen->work(lane, times_asked);
        atomic_fetch_add_explicit(&finished, 1, memory_order_release);
    }
    return NULL;
}

uint64_t run_lanes(uint64_t times) {
    times_asked = times;
    atomic_store(&finished, 0);
    for (uint32_t i = 0; i < count; i++)
        if (lanes[i].out != NULL)
            atomic_store(&lanes[i].out->closed, false);
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t begin = now_ns();
    atomic_signal_fence(memory_order_seq_cst);
    if (count > 1) {
        atomic_fetch_add(&generation, 1);
        if (atomic_load(&sleepers) != 0)
            syscall(SYS_futex, &generation, FUTEX_WAKE_PRIVATE, LANES_MAX, NULL,
                    NULL, 0);
    }
    chosen->work(&lanes[0], times);
    while (atomic_load_explicit(&finished, memory_order_acquire) != count - 1)
        pause_cpu();
    atomic_signal_fence(memory_order_seq_cst);
    return now_ns() - begin;
}

void start_lanes(const struct scenario *scenario,
                 const struct options *options) {
    chosen = scenario;
    count = (uint32_t)options->lanes;
    sched_getaffinity(0, sizeof allowed, &allowed);
    struct ring *rings = pages(LANES_MAX * sizeof(struct ring), 0);
    for (uint32_t i = 0; i < count; i++) {
        struct lane *lane = &lanes[i];
        lane->number = i;
        lane->state = (uint32_t)fnv1a(fnv1a(FNV_START, options->seed), i) | 1;
        lane->mask = (uint32_t)options->slots - 1;
        lane->remote = (uint32_t)(options->remote * 1024 / 100);
        lane->options = options;
        if (count > 1) {
            lane->out = &rings[i];
            lane->in = &rings[(i + 1) % count];
        }
        if (!scenario->prepare(lane))
            give_up("cannot prepare ", scenario->name);
    }
    pin(0);
    for (uint32_t i = 1; i < count; i++) {
        pthread_t thread;
        int error = pthread_create(&thread, NULL, lane_thread, &lanes[i]);
        if (error != 0)
            give_up("the system gives no thread: ", strerror(error));
    }
}

struct lane *first_lane(void) { return &lanes[0]; }

uint64_t digest_lanes(void) {
    uint64_t digest = FNV_START;
    for (uint32_t i = 0; i < count; i++)
        digest = fnv1a(digest, chosen->digest(&lanes[i]));
    return digest;
}
