/* What the files of a subject share: the process that runs one arm's operations.
 *
 * The workload (bench/src) starts one subject per arm and asks them in turn for
 * rounds. Between two clock reads there are the scenario's calls of malloc and
 * free and nothing else. The subject itself never allocates outside a scenario.
 * Every decision is drawn from the seed, never from an address or a clock, so all
 * arms do the same operations. */
#ifndef PACELINE_BENCH_SUBJECT_H
#define PACELINE_BENCH_SUBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LANES_MAX = 2,
    SMALLEST = 16,    /* bytes: the origin's smallest object */
    SIZE_MASK = 1023, /* sizes are SMALLEST … SMALLEST + SIZE_MASK */
    CACHE_LINE = 64,
};

/* What the workload asked for; each scenario reads what it needs. */
struct options {
    const char *scenario;
    const char *trace; /* file of `replay` */
    uint64_t seed;
    uint64_t layout; /* offset of the slots in their page, in cache lines:
                        addresses must not decide */
    uint64_t slots; /* working set of random_mixed; objects of a server's table;
                       burst of churn */
    uint64_t remote; /* percent of objects that another lane frees */
    uint64_t lanes;
    uint64_t threads;     /* of a server; its lane only starts them */
    uint64_t independent; /* 1: a slot and a size are two draws */
    uint64_t order; /* of frees in churn: 0 last in first out, 1 first in first
                       out, 2 random */
    uint64_t bytes; /* limit of growth; size of the fragmenting burst */
    uint64_t all;   /* 1: the fragmenting burst is freed whole */
    uint64_t idle_ms; /* before the memory of an idle process is read */
};

struct ring;

/* One thread of a scenario, on a CPU of its own. */
struct lane {
    uint32_t number;
    uint32_t state;  /* xorshift32, never 0 */
    uint32_t mask;   /* slots − 1 */
    uint32_t remote; /* of 1,024 frees, how many are the other lane's */
    void **slots;
    struct ring *in; /* what others want this lane to free */
    struct ring *out;
    void *own; /* whatever else the scenario keeps */
    const struct options *options;
};

struct scenario {
    const char *name;
    bool (*prepare)(struct lane *); /* on the main thread; false: cannot */
    void (*work)(struct lane *,
                 uint64_t times); /* timed, on every lane at once */
    uint64_t (*digest)(
        const struct lane *); /* of the state after it: equal in every arm */
    uint64_t (*settle)(struct lane *); /* after a round, untimed: bytes
                                          resident; may be NULL */
    uint64_t (*idle)(
        struct lane *); /* bytes resident after a rest; may be NULL */
};

extern const struct scenario random_mixed, churn, server, producer_consumer,
    fragmentation, realloc_growth, replay;

/* Marsaglia's xorshift32 with the origin's shifts. */
static inline uint32_t xorshift32(uint32_t x) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
}

/* FNV-1a, 64 bit, a byte at a time. */
static inline uint64_t fnv1a(uint64_t hash, uint64_t value) {
    for (int i = 0; i < 8; i++)
        hash = (hash ^ ((value >> (8 * i)) & 0xff)) * 0x100000001b3u;
    return hash;
}

#define FNV_START 0xcbf29ce484222325u

static inline void pause_cpu(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* memory.c */
void *pages(
    size_t bytes,
    uint64_t layout); /* zeroed, from the kernel, not from malloc; never NULL */
uint64_t now_ns(void);
uint64_t resident_bytes(void); /* exact, by smaps_rollup */
uint64_t
peak_resident_bytes(void); /* of this program alone; lags by some dozen pages */
uint64_t page_faults(void); /* of all threads since the start */
void rest(uint64_t milliseconds);

const char *malloc_provider(void); /* provider.c */

/* wire.c: one line in, one line out, without stdio, which would allocate. */
bool read_line(char *line, size_t room);
bool word_is(const char **line, const char *word); /* and goes past it */
uint64_t take_number(const char **line);
void say(const char *text);
void say_number(uint64_t number);
void say_end(void); /* sends the line */
_Noreturn void give_up(const char *why, const char *what);

/* lanes.c */
void start_lanes(const struct scenario *scenario,
                 const struct options *options);
struct lane *first_lane(void);
void pin(uint32_t lane);
uint64_t run_lanes(uint64_t times); /* every lane's work at once; nanoseconds
                                       until the last was done */
uint64_t digest_lanes(void);

/* intact.c */
int check_intact(uint64_t seed);

#endif
