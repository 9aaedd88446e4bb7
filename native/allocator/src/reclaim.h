/* What happens when memory is out: everything that is free goes back to the
 * system, and the allocation is tried once more.
 *
 * Invariant: called with no lock held, and before the caller took anything from
 * a cache. */
#ifndef PACELINE_RECLAIM_H
#define PACELINE_RECLAIM_H

#include "heap.h"
#include "large.h"

/* Gives free memory back from wherever it is: the calling thread's caches
 * (which hardened mode keeps as its quarantine), spans of all heaps, units and
 * kept mappings. Whether anything went back. */
bool reclaim_memory(void);
/* Over MEDIUM_MAX; sets errno on failure. */
void *allocate_large(size_t size, size_t alignment, bool *zero);
/* NULL, with errno ENOMEM. */
void *out_of_memory(void);

#endif
