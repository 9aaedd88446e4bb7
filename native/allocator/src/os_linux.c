/* os.h for Linux with pthreads (glibc and musl): mmap, madvise, futex.
 *
 * errno never changes, because malloc and free, the callers, must keep it. */
#define _GNU_SOURCE
#include "os.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef GRND_NONBLOCK
#define GRND_NONBLOCK 1
#endif

/* From linux/futex.h, which musl's compiler does not find. */
enum { FUTEX_WAIT_HERE = 0 | 128, FUTEX_WAKE_HERE = 1 | 128 };

enum {
    ANONYMOUS = MAP_PRIVATE | MAP_ANONYMOUS,
    READ_WRITE = PROT_READ | PROT_WRITE
};

size_t os_page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static void *map(void *hint, size_t bytes, int flags) {
    int saved = errno;
    void *place = mmap(hint, bytes, READ_WRITE, ANONYMOUS | flags, -1, 0);
    errno = saved;
    return place == MAP_FAILED ? NULL : place;
}

void *os_reserve(size_t bytes) { return map(NULL, bytes, MAP_NORESERVE); }

bool os_map_at(uintptr_t place, size_t bytes) {
    /* Kernels before 4.17, and valgrind, take the flag for a hint: so the
     * answer is compared. */
    void *got = map((void *)place, bytes, MAP_FIXED_NOREPLACE);
    if (got == NULL) {
        got = map((void *)place, bytes, 0);
    }
    if (got != NULL && (uintptr_t)got != place) {
        os_unmap(got, bytes);
        return false;
    }
    return got != NULL;
}

void *os_map(size_t bytes) { return map(NULL, bytes, 0); }

void os_unmap(void *place, size_t bytes) {
    int saved = errno;
    (void)munmap(place, bytes);
    errno = saved;
}

void *os_remap(void *place, size_t old_bytes, size_t new_bytes) {
    int saved = errno;
    void *moved = mremap(place, old_bytes, new_bytes, MREMAP_MAYMOVE);
    errno = saved;
    return moved == MAP_FAILED ? NULL : moved;
}

static bool advise(void *place, size_t bytes, int advice) {
    int saved = errno;
    int failed = madvise(place, bytes, advice);
    errno = saved;
    return failed == 0;
}

bool os_purge(void *place, size_t bytes) {
    return advise(place, bytes, MADV_DONTNEED);
}

void os_refuse_huge_pages(void *place, size_t bytes) {
    (void)advise(place, bytes, MADV_NOHUGEPAGE);
}

void os_ask_huge_pages(void *place, size_t bytes) {
    (void)advise(place, bytes, MADV_HUGEPAGE);
}

static bool protect(void *place, size_t bytes, int rights) {
    int saved = errno;
    int failed = mprotect(place, bytes, rights);
    errno = saved;
    return failed == 0;
}

bool os_forbid(void *place, size_t bytes) {
    return protect(place, bytes, PROT_NONE);
}

bool os_permit(void *place, size_t bytes) {
    return protect(place, bytes, READ_WRITE);
}

/* By a flag the neighbours lack. */
void os_keep_apart(void *place, size_t bytes) {
    (void)advise(place, bytes, MADV_DONTDUMP);
}

/* The thread sanitizer's runtime, where this process has it. */
extern void __tsan_init(void);
#pragma weak __tsan_init

bool os_refuses_far_mappings(void) { return __tsan_init != NULL; }

size_t os_address_space_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return SIZE_MAX;
    }
    return (size_t)limit.rlim_cur;
}

uint64_t os_clock_ms(void) {
    struct timespec now;
    /* The coarse clock is a read of memory; its few milliseconds of grain do
     * for decay. */
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

uint64_t os_random(void) {
    uint64_t value = 0;
    int saved = errno;
    if (syscall(SYS_getrandom, &value, sizeof value, GRND_NONBLOCK) !=
        (long)sizeof value) {
        struct timespec now;
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        value = (uint64_t)now.tv_nsec * 0x9E3779B97F4A7C15u ^
                (uint64_t)(uintptr_t)&value;
    }
    errno = saved;
    return value;
}

/* --- the lock: 0 free, 1 held, 2 held and somebody may sleep (Drepper,
 * "Futexes are tricky", mutex 2) --- */

static void lock_slowly(struct os_lock *lock) {
    int saved = errno;
    for (int spins = 0; spins < 100; spins++) {
        uint32_t seen = atomic_load_explicit(&lock->word, memory_order_relaxed);
        if (seen == 0 && atomic_compare_exchange_weak_explicit(
                             &lock->word, &seen, 1, memory_order_acquire,
                             memory_order_relaxed)) {
            return;
        }
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire) !=
           0) {
        (void)syscall(SYS_futex, &lock->word, FUTEX_WAIT_HERE, 2, NULL, NULL,
                      0);
    }
    errno = saved;
}

void os_lock(struct os_lock *lock) {
    uint32_t expected = 0;
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &expected, 1,
                                                 memory_order_acquire,
                                                 memory_order_relaxed)) {
        lock_slowly(lock);
    }
}

void os_unlock(struct os_lock *lock) {
    if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2) {
        int saved = errno;
        (void)syscall(SYS_futex, &lock->word, FUTEX_WAKE_HERE, 1, NULL, NULL,
                      0);
        errno = saved;
    }
}

/* --- the process --- */

void os_write(int fd, const char *text, size_t length) {
    while (length > 0) {
        ssize_t done = write(fd, text, length);
        if (done <= 0) {
            return;
        }
        text += done;
        length -= (size_t)done;
    }
}

/* Not in a static program, nor where they are in a library of their own that
 * nobody loaded. */
#pragma weak dlopen
#pragma weak dlsym

void *os_find_loaded(const char *library, const char *name) {
    int saved = errno;
    void *handle = dlopen != NULL && dlsym != NULL
                       ? dlopen(library, RTLD_LAZY | RTLD_NOLOAD)
                       : NULL;
    errno = saved;
    return handle != NULL ? dlsym(handle, name) : NULL;
}

_Noreturn void os_abort(const char *message, size_t length) {
    os_write(STDERR_FILENO, message, length);
    abort();
}

static pthread_key_t exit_key;
static bool exit_key_made;

bool os_prepare_thread_exit(void (*callback)(void *)) {
    exit_key_made = pthread_key_create(&exit_key, callback) == 0;
    return exit_key_made;
}

void os_arm_thread_exit(void *token) {
    if (exit_key_made) {
        (void)pthread_setspecific(exit_key, token);
    }
}

void os_on_fork(void (*before)(void), void (*in_parent)(void),
                void (*in_child)(void)) {
    (void)pthread_atfork(before, in_parent, in_child);
}
