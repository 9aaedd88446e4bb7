/* Work for instructions.sh: `pairs KIND COUNT` makes COUNT malloc and free
 * pairs of a kind; `loop-KIND` is the same loop with nothing allocated. Built
 * with -fno-builtin, so that no call is removed. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SLOTS = 8192, BURST = 1000, MESSAGES = 500, LANE = 256 };

static char sink[2048];
static int empty; /* nothing is allocated */
static char *slots[MOST_SLOTS];

static void *take(size_t size) { return empty ? sink : malloc(size); }

static void give(void *object) {
    if (!empty) {
        free(object);
    }
}

static uint32_t next(uint32_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static void same(long count) {
    for (long i = 0; i < count; i++) {
        char *object = take(100);
        *object = 1;
        give(object);
    }
}

/* Two operations are a pair. */
static void mixed(long count, uint32_t slots_used) {
    uint32_t seed = 2463534242u;
    for (long i = 0; i < 2 * count; i++) {
        uint32_t drawn = next(&seed);
        char **slot = &slots[drawn & (slots_used - 1)];
        if (*slot != NULL) {
            give(*slot);
            *slot = NULL;
        } else {
            *slot = take(16 + (drawn >> 16 & 1023));
            **slot = 1;
        }
    }
}

static void burst(long count) {
    for (long done = 0; done < count; done += BURST) {
        for (int i = 0; i < BURST; i++) {
            slots[i] = take(48);
            *slots[i] = 1;
        }
        for (int i = 0; i < BURST; i++) {
            give(slots[i]);
        }
    }
}

static void grow(long count) {
    char *object = take(8);
    for (long i = 0; i < count; i++) {
        object = empty ? sink : realloc(object, (size_t)(i % 500) * 4 + 8);
    }
    give(object);
}

static void zeroed(long count) {
    for (long i = 0; i < count; i++) {
        give(empty ? sink : calloc(1, 200));
    }
}

static void *free_messages(void *unused) {
    (void)unused;
    for (int i = 0; i < MESSAGES; i++) {
        give(slots[i]);
    }
    return NULL;
}

/* Allocated here, freed by a thread; a new thread for every 500, whose start is
 * in the loop's count too. */
static void remote(long count) {
    for (long done = 0; done < count; done += MESSAGES) {
        pthread_t thread;
        for (int i = 0; i < MESSAGES; i++) {
            slots[i] = take(64);
        }
        pthread_create(&thread, NULL, free_messages, NULL);
        pthread_join(thread, NULL);
    }
}

/* --- two threads; half of what each makes is freed by the other --- */

static _Atomic(char *) lanes[2][LANE];
static _Atomic int sides_left;
static long lane_count;

/* Frees what the other side sent; how much that was. */
static int receive(uintptr_t me, unsigned *at) {
    int received = 0;
    for (char *object;
         (object = atomic_load_explicit(&lanes[me][*at % LANE],
                                        memory_order_acquire)) != NULL;) {
        atomic_store_explicit(&lanes[me][*at % LANE], NULL,
                              memory_order_release);
        give(object);
        ++*at;
        received++;
    }
    return received;
}

static void send(uintptr_t me, unsigned *sent, unsigned *received,
                 char *object) {
    _Atomic(char *) *place = &lanes[1 - me][*sent % LANE];
    while (atomic_load_explicit(place, memory_order_acquire) != NULL) {
        if (receive(me, received) == 0) {
            sched_yield();
        }
    }
    atomic_store_explicit(place, object, memory_order_release);
    ++*sent;
}

static void *ring_side(void *argument) {
    uintptr_t me = (uintptr_t)argument;
    uint32_t seed = 2463534242u + (uint32_t)me;
    unsigned sent = 0, received = 0;
    char *own[LANE] = {NULL};
    for (long i = 0; i < lane_count; i++) {
        uint32_t drawn = next(&seed);
        char *object = take(16 + (drawn >> 8 & 511));
        *object = 1;
        if (drawn & 1) {
            send(me, &sent, &received, object);
        } else {
            char **slot = &own[drawn >> 1 & (LANE - 1)];
            if (*slot != NULL) {
                give(*slot);
            }
            *slot = object;
        }
        (void)receive(me, &received);
    }
    for (atomic_fetch_sub(&sides_left, 1); atomic_load(&sides_left) > 0;) {
        if (receive(me, &received) == 0) {
            sched_yield();
        }
    }
    (void)receive(me, &received);
    return NULL;
}

static void ring(long count) {
    pthread_t other;
    lane_count = count / 2;
    sides_left = 2;
    pthread_create(&other, NULL, ring_side, (void *)1);
    ring_side((void *)0);
    pthread_join(other, NULL);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: pairs KIND COUNT\n");
        return 2;
    }
    const char *kind = argv[1];
    long count = atol(argv[2]);
    empty = strncmp(kind, "loop-", 5) == 0;
    kind += empty ? 5 : 0;
    if (strcmp(kind, "same") == 0) {
        same(count);
    } else if (strncmp(kind, "mixed-", 6) == 0) {
        mixed(count, (uint32_t)atoi(kind + 6));
    } else if (strcmp(kind, "burst") == 0) {
        burst(count);
    } else if (strcmp(kind, "realloc") == 0) {
        grow(count);
    } else if (strcmp(kind, "calloc") == 0) {
        zeroed(count);
    } else if (strcmp(kind, "ring") == 0) {
        ring(count);
    } else {
        remote(count);
    }
    return 0;
}
