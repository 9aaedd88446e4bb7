/* Objects over 32 KiB: up to 256 MiB they are runs of units; larger ones, and those
 * over 2 MiB for which there is no run ("huge"), are mappings of their own.
 *
 * A run's first unit has the entry ENTRY_RUN and a span structure with its size;
 * its other units have no entry, so an address inside it belongs to nobody. A huge
 * object is in the registry. */
#ifndef PACELINE_LARGE_H
#define PACELINE_LARGE_H

#include "range.h"

/* Takes an object of a size over MEDIUM_MAX, or of an alignment (a power of
 * two) that no span offers. NULL when memory is out. *zero becomes true if the
 * memory reads as zeros. */
void *large_take(size_t size, size_t alignment, bool *zero);
/* Frees a run or a huge object. `place` must not be in a span. If it is neither,
 * that is a bad free, which ends the process. */
void large_give(void *place);
/* Returns the usable bytes of a large object; 0 if `place` is none. */
size_t large_usable(void *place);
/* Returns the requested size of a large object; 0 if `place` is none. */
size_t large_size(void *place);
/* Returns the bytes from a live large object's begin to the end of its run or
 * mapping. */
size_t large_room(void *place);
/* Gives the pages of a live large object back, so that it reads as zeros; false:
 * it is as it was. */
bool large_discard(void *place);
/* Changes the size of a large object in place, or by moving its pages. NULL if
 * that is not possible: then the caller must copy. */
void *large_resize(void *place, size_t size);
/* Unmaps all huge mappings that are kept for reuse; returns their bytes. */
size_t huge_purge(void);
/* Unmaps the huge mappings that have been kept for a decay period. */
void huge_age(uint64_t now);

struct huge_counts {
    size_t objects, bytes, kept_bytes;
};
/* Counts huge objects; the caller holds the lock (huge_lock). */
struct huge_counts huge_count(void);
void huge_lock(void);
void huge_unlock(void);

/* --- huge.c: the functions above, for huge objects --- */

void *huge_take(size_t size, size_t alignment, bool *zero);
void huge_give(void *place);
size_t huge_usable(void *place);
size_t huge_size(void *place);
void *huge_resize(void *place, size_t size);

#endif
