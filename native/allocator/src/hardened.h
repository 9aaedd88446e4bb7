/* Hardened mode: every operation comes here instead of to the magazines.
 *
 * Invariant: what default mode catches is caught here too, and at the same call. */
#ifndef PACELINE_HARDENED_H
#define PACELINE_HARDENED_H

#include "heap.h"

/* `alignment` is a power of two; 1 means malloc's own. errno is set on failure. */
void *hardened_allocate(size_t size, size_t alignment);
void hardened_release(void *object);
/* The size that was asked for: the bytes behind it are guarded. */
size_t hardened_usable(void *object);

#endif
