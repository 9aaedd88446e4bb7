/* Objects over 32 KiB: runs of units up to 2 MiB, mappings of their own beyond
 * ("huge").
 *
 * A run's first unit has the entry ENTRY_RUN and a span structure with its size;
 * its other units have no entry, so an address inside it belongs to nobody. A huge
 * object is in the registry. */
#ifndef PACELINE_LARGE_H
#define PACELINE_LARGE_H

#include "range.h"

/* Any size over MEDIUM_MAX, or any alignment (a power of two); NULL when memory
 * is out. *zero: reads as zeros. */
void *large_take(size_t size, size_t alignment, bool *zero);
/* `place` is outside of every span: a run, a huge object or an error, which
 * ends the process. */
void large_give(void *place);
/* Bytes that may be used, or 0 for what is no large object. */
size_t large_usable(void *place);
/* The size that was asked for, or 0 for what is no large object. */
size_t large_size(void *place);
/* Changes the size without a copy by the caller: in place, or by moving pages.
 * NULL: not possible. */
void *large_resize(void *place, size_t size);
/* Unmaps kept huge mappings; bytes given back. */
size_t huge_purge(void);
/* Unmaps those kept for a decay period. */
void huge_age(uint64_t now);

struct huge_counts {
    size_t objects, bytes, kept_bytes;
};
/* With the lock held. */
struct huge_counts huge_count(void);
void huge_lock(void);
void huge_unlock(void);

/* --- huge.c --- */

void *huge_take(size_t size, size_t alignment, bool *zero);
void huge_give(void *place);
size_t huge_usable(void *place);
size_t huge_size(void *place);
void *huge_resize(void *place, size_t size);

#endif
