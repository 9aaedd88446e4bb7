/* Records what a program asks of its allocator into a trace (trace.h).
 *
 *   LD_PRELOAD=libpaceline_trace.so PACELINE_TRACE_FILE=out.trace
 *       [PACELINE_TRACE_EVENTS=200000] program …
 *
 * The memory itself is glibc's. The first process makes the file; processes it
 * starts find the file and record nothing, nor does a forked child. One lock
 * covers "ask glibc, then write the event", so the file's order really happened.
 * The recorder's own memory is mapped, never malloc'ed. Recording ends at the
 * limit of events, at exit or in a fork's child; the file is complete in each of
 * these cases, but not after a kill. */
#define _GNU_SOURCE
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    TABLE = 1 << 22,
    OUT_BYTES = 1 << 16,
    EVENT_BYTES_MAX = 24,
    EVENTS_DEFAULT = 200000
};

/* glibc's own, which no preloading hides. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

/* Address → number; open addressing, deletion by moving back, so that chains
 * stay whole. */
struct place {
    void *address;
    uint32_t number;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool recording;
static struct place *table;
static uint32_t *free_numbers;
static uint32_t free_count, next_number, live;
static unsigned char *out;
static size_t out_used;
static int file = -1;
static uint32_t events, events_limit, threads, last_thread;
static _Thread_local uint32_t own_thread
    __attribute__((tls_model("initial-exec"))); /* + 1; 0: none yet */

static void *mapped(size_t bytes) {
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return start == MAP_FAILED ? NULL : start;
}

static void flush(void) {
    for (size_t sent = 0; sent < out_used;) {
        ssize_t now = write(file, out + sent, out_used - sent);
        if (now <= 0)
            break;
        sent += (size_t)now;
    }
    out_used = 0;
}

static void finish(void) {
    if (!recording)
        return;
    recording = false;
    flush();
    struct trace_header header = {TRACE_MAGIC, next_number, events};
    ssize_t written = pwrite(file, &header, sizeof header, 0);
    (void)written; /* a header of zeros is refused by who reads it */
    close(file);
}

static void put(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        out[out_used++] = (unsigned char)(value | 0x80);
    out[out_used++] = (unsigned char)value;
}

/* The event's first number; under the lock. */
static void event(enum trace_kind kind, uint64_t argument) {
    if (own_thread == 0)
        own_thread = ++threads;
    if (out_used > OUT_BYTES - EVENT_BYTES_MAX)
        flush();
    if (own_thread - 1 != last_thread) {
        last_thread = own_thread - 1;
        events++;
        put((uint64_t)last_thread << TRACE_KIND_BITS | TRACE_THREAD);
    }
    events++;
    put(argument << TRACE_KIND_BITS | kind);
}

static size_t home(const void *address) {
    return (size_t)(((uintptr_t)address >> 4) * 0x9e3779b97f4a7c15u >> 42) %
           TABLE;
}

static struct place *place_of(const void *address) {
    for (size_t i = home(address);; i = (i + 1) % TABLE)
        if (table[i].address == address || table[i].address == NULL)
            return &table[i];
}

static void remember(void *address, uint32_t number) {
    *place_of(address) = (struct place){address, number};
    if (++live > TABLE / 2)
        finish(); /* a program with so many objects has told enough */
}

static void forget(struct place *gone) {
    size_t hole = (size_t)(gone - table);
    live--;
    for (size_t i = (hole + 1) % TABLE; table[i].address != NULL;
         i = (i + 1) % TABLE) {
        size_t wanted = home(table[i].address);
        if ((i - wanted + TABLE) % TABLE >= (i - hole + TABLE) % TABLE) {
            table[hole] = table[i];
            hole = i;
        }
    }
    table[hole].address = NULL;
}

static void born(void *address) {
    if (address != NULL)
        remember(address,
                 free_count != 0 ? free_numbers[--free_count] : next_number++);
    if (events >= events_limit)
        finish();
}

/* Whether it was known: what was made before recording began is not. */
static bool gone(void *address) {
    struct place *place = place_of(address);
    if (place->address == NULL)
        return false;
    event(TRACE_FREE, place->number);
    free_numbers[free_count++] = place->number;
    forget(place);
    return true;
}

static void in_child(void) {
    recording = false;
    pthread_mutex_init(&lock, NULL);
}

static void before_fork(void) { pthread_mutex_lock(&lock); }

static void in_parent(void) { pthread_mutex_unlock(&lock); }

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("PACELINE_TRACE_FILE"),
               *limit = getenv("PACELINE_TRACE_EVENTS");
    if (path == NULL)
        return;
    file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0)
        return;
    unsigned long asked =
        limit == NULL ? EVENTS_DEFAULT : strtoul(limit, NULL, 10);
    events_limit =
        asked < TRACE_EVENTS_MAX - 4 ? (uint32_t)asked : TRACE_EVENTS_MAX - 4;
    table = mapped(TABLE * sizeof *table);
    free_numbers = mapped(TABLE * sizeof *free_numbers);
    out = mapped(OUT_BYTES);
    struct trace_header header = {{0}, 0, 0};
    if (table == NULL || free_numbers == NULL || out == NULL ||
        write(file, &header, sizeof header) != (ssize_t)sizeof header)
        return;
    pthread_atfork(before_fork, in_parent, in_child);
    recording = true;
}

__attribute__((destructor)) static void stop(void) {
    pthread_mutex_lock(&lock);
    finish();
    pthread_mutex_unlock(&lock);
}

/* Sizes a trace cannot hold end it: it stays a trace of what was before. */
static bool begin(size_t bytes) {
    if (!recording)
        return false;
    pthread_mutex_lock(&lock);
    if (recording && bytes > TRACE_BYTES_MAX)
        finish();
    if (recording)
        return true;
    pthread_mutex_unlock(&lock);
    return false;
}

static void *end(void *address) {
    pthread_mutex_unlock(&lock);
    return address;
}

void *malloc(size_t bytes) {
    if (!begin(bytes))
        return __libc_malloc(bytes);
    void *address = __libc_malloc(bytes);
    if (address != NULL)
        event(TRACE_MALLOC, bytes);
    born(address);
    return end(address);
}

void *calloc(size_t count, size_t bytes) {
    size_t total = 0;
    if (__builtin_mul_overflow(count, bytes, &total) || !begin(total))
        return __libc_calloc(count, bytes);
    void *address = __libc_calloc(count, bytes);
    if (address != NULL)
        event(TRACE_CALLOC, total);
    born(address);
    return end(address);
}

void free(void *address) {
    if (address != NULL && begin(0)) {
        gone(address);
        __libc_free(address);
        end(NULL);
    } else {
        __libc_free(address);
    }
}

void *realloc(void *address, size_t bytes) {
    if (address == NULL)
        return malloc(bytes);
    if (!begin(bytes))
        return __libc_realloc(address, bytes);
    struct place *place = place_of(address);
    if (place->address == NULL || bytes == 0) {
        if (bytes == 0)
            gone(address);
        return end(__libc_realloc(address, bytes));
    }
    uint32_t number = place->number;
    void *moved = __libc_realloc(address, bytes);
    if (moved != NULL) {
        event(TRACE_REALLOC, number);
        put(bytes);
        forget(place);
        remember(moved, number);
    }
    return end(moved);
}

static void *aligned(size_t alignment, size_t bytes) {
    if (alignment > (1u << 30) || alignment == 0 || !begin(bytes))
        return __libc_memalign(alignment, bytes);
    void *address = __libc_memalign(alignment, bytes);
    if (address != NULL) {
        event(TRACE_ALIGNED, (uint64_t)__builtin_ctzl(alignment));
        put(bytes);
    }
    born(address);
    return end(address);
}

void *memalign(size_t alignment, size_t bytes) {
    return aligned(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    return aligned(alignment, bytes);
}

int posix_memalign(void **address, size_t alignment, size_t bytes) {
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 ||
        alignment == 0)
        return EINVAL;
    void *made = aligned(alignment, bytes);
    if (made == NULL)
        return ENOMEM;
    *address = made;
    return 0;
}
