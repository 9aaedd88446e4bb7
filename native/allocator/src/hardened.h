/* Hardened mode: every operation comes here instead of to the thread's bins.
 *
 * Live objects have a canary behind them and a fence in front, freed ones poison at
 * their start (canary.h); a few are looked at now and then (sweep.h). Large objects
 * end at a page that may not be touched, and rest when they are freed (resting.h). A queue per class (queue.h) is the quarantine: an object is handed
 * out again only after at least a quarter of a magazine was freed after it.
 * Objects from a span are shuffled and freed ones are exchanged here and
 * there, so objects that are neighbours in memory, or were freed one after the
 * other, are not reused one after the other. One allocation in some thousands
 * is guarded (guarded.h).
 *
 * What default mode catches is caught here too, at the same call. */
#ifndef PACELINE_HARDENED_H
#define PACELINE_HARDENED_H

#include "heap.h"

/* `alignment` is a power of two; 1 means malloc's own. errno is set on failure.
 */
void *hardened_allocate(size_t size, size_t alignment);
void hardened_release(void *object);
/* The size that was asked for: the bytes behind it are guarded. */
size_t hardened_usable(void *object);
/* Another size without a move, if the block has room and is half used: true.
 * `object` is checked, and *old_size is what was asked for. */
bool hardened_resize(void *object, size_t size, size_t *old_size);

#endif
