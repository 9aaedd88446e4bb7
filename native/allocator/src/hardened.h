/* Hardened mode: every operation comes here instead of to the thread's own bins.
 *
 * Right behind an object lie eight bytes of canary, made of a secret, the address and the rest of the block;
 * the last two bytes of the block say how long that rest is. Large objects have the canary alone.
 *
 *   ┌────────────── size asked for ──────────────┬ canary:64 ┬─ rest ─┬ length of rest:16 ┐
 *
 * A freed object waits in its thread's quarantine and leaves it in random order; its first 16 bytes say until
 * then whether somebody wrote to it. One allocation in some thousands is guarded (guarded.h).
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

/* Draws the secret of all canaries. Once per process. */
void hardened_start(void);
/* A thread's quarantine and magazines, kept with its heap; false when memory is out. */
bool hardened_prepare(struct heap *heap);
struct bin *hardened_bins(struct heap *heap);
/* Gives what is in quarantine back to the spans. */
void hardened_drain(struct heap *heap);

#endif
