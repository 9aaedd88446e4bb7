/* Prepares the allocator once per process, in the first allocation, which may come
 * before any constructor. */
#ifndef PACELINE_START_H
#define PACELINE_START_H

#include <stdatomic.h>
#include <stdbool.h>

extern _Atomic bool start_done;
bool start_slowly(void);

/* Prepares the allocator if no call has done so. False if that is impossible,
 * because the system did not even give it a range of addresses. */
static inline bool started(void) {
    return atomic_load_explicit(&start_done, memory_order_acquire) ||
           start_slowly();
}

#endif
