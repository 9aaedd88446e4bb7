/* Hardened mode: every operation comes here instead of to the thread's own
 * bins.
 *
 * Live objects have a canary behind them and freed ones poison at their start
 * (canary.h). Per class a thread has a queue (queue.h): an object is handed out
 * again when at least a quarter of a magazine was freed after it; that is the
 * quarantine. What comes from a span is shuffled, and what was freed is
 * exchanged here and there on its way, so neither neighbours in memory nor in
 * time of free are neighbours in time of use. One allocation in some thousands
 * is guarded (guarded.h).
 *
 * Invariant: what default mode catches is caught here too, and at the same
 * call. */
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
