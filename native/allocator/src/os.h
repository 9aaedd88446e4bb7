/* The only boundary to the operating system, implemented by os_linux.c.
 *
 * What can fail returns NULL or false and leaves errno as it was. Sizes are in
 * bytes and multiples of the page. Nothing here allocates. */
#ifndef PACELINE_OS_H
#define PACELINE_OS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A lock of one word, zero when free. Waiters sleep in the kernel: a holder may
 * be preempted. */
struct os_lock {
    _Atomic uint32_t word;
};

size_t os_page_bytes(void);

/* Addresses with pages that appear when touched, counted against no limit of
 * memory in use. NULL when the system refuses, which limits on address space
 * (ulimit -v) and strict overcommit do. */
void *os_reserve(size_t bytes);
/* Readable, zeroed pages at exactly this free place; false when anything is
 * mapped there. */
bool os_map_at(uintptr_t place, size_t bytes);
void *os_map(size_t bytes);
void os_unmap(void *place, size_t bytes);
/* Grows or shrinks a mapping made by os_map, moving it if need be; NULL leaves
 * it as it was. */
void *os_remap(void *place, size_t old_bytes, size_t new_bytes);
/* Gives the pages back; they read as zeros afterwards. False: they were kept,
 * with their contents. */
bool os_purge(void *place, size_t bytes);
bool os_forbid(void *place, size_t bytes);
bool os_permit(void *place, size_t bytes);
/* These pages are one mapping from now on, whatever is forbidden beside them:
 * to forbid and permit what lies between two of them then splits and merges
 * nothing, which is half of what it costs. */
void os_keep_apart(void *place, size_t bytes);
/* Metadata is touched sparsely: a huge page for each touch would cost more than
 * all objects. */
void os_refuse_huge_pages(void *place, size_t bytes);
void os_ask_huge_pages(void *place, size_t bytes);
/* This process ends when it maps memory far from where the system would. */
bool os_refuses_far_mappings(void);
/* Bytes of address space this process may have, or SIZE_MAX. */
size_t os_address_space_limit(void);

uint64_t os_clock_ms(void);
uint64_t os_random(void);

void os_lock(struct os_lock *lock);
void os_unlock(struct os_lock *lock);

/* A function of a library that this process has loaded by whatever way; NULL
 * when it has not. */
void *os_find_loaded(const char *library, const char *name);

_Noreturn void os_abort(const char *message, size_t length);
void os_write(int fd, const char *text, size_t length);

/* The callback runs when a thread that called os_arm_thread_exit ends. Prepared
 * once per process. */
bool os_prepare_thread_exit(void (*callback)(void *));
void os_arm_thread_exit(void *token);
void os_on_fork(void (*before)(void), void (*in_parent)(void),
                void (*in_child)(void));

#endif
