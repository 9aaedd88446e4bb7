/* Sampled guarded allocations of hardened mode: an object at the end of a page of its own, before a page that
 * may not be touched. Its page is forbidden on free and reused last, so late reads and writes end the process.
 *
 * Invariant: the slots are few and fixed; when all are in use there is no guarded object. */
#ifndef PACELINE_GUARDED_H
#define PACELINE_GUARDED_H

#include <stdbool.h>
#include <stddef.h>

/* NULL when it does not fit a page, or no slot is free. */
void *guarded_take(size_t size, size_t alignment);
/* False: not a guarded object's address. A bad free of one ends the process. */
bool guarded_release(void *place);
/* The size asked for plus one, or 0: not a guarded object's address. */
size_t guarded_size(void *place);
void guarded_lock(void);
void guarded_unlock(void);

#endif
