/* Sampled guarded objects of hardened mode: each ends at a page that may not be
 * touched.
 *
 * The object's own page is forbidden when it is freed and reused last, so late
 * reads and writes end the process; it is kept, because faulting it in again would
 * cost more than the rest of a sample. Bytes between the object's end and the
 * forbidden page (alignment) are filled, and checked on free and usable size.
 *
 * There is a fixed number of slots; when all are in use nothing is guarded.
 *
 * Behind the last page lie the objects of no bytes: addresses of their own, 16
 * bytes apart, that nobody may touch. */
#ifndef PACELINE_GUARDED_H
#define PACELINE_GUARDED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern _Atomic uintptr_t guarded_base; /* guard page, slot 0, guard page, slot
                                          1, … guard page; 0: none yet */
extern size_t guarded_bytes;

/* NULL when it does not fit a page, or no slot is free. */
void *guarded_take(size_t size, size_t alignment);
/* An object of no bytes; NULL when all of them are in use. */
void *guarded_take_empty(void);
/* Whether an address belongs to any slot; the functions below are for such
 * addresses. */
static inline bool is_guarded(const void *place) {
    uintptr_t base = atomic_load_explicit(
        &guarded_base, memory_order_acquire); /* bytes were written first */
    return base != 0 && (uintptr_t)place - base < guarded_bytes;
}
/* A bad free ends the process, and so does a write to the bytes behind the
 * object. */
void guarded_release(void *place);
/* The size asked for; the same is checked. */
size_t guarded_size(void *place);
void guarded_lock(void);
void guarded_unlock(void);

#endif
