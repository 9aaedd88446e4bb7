/* Hardened mode: every operation comes here instead of to the thread's own bins.
 *
 * A block of a class holds the object, a pattern, and eight last bytes: how long the pattern is, and a canary
 * made of a secret, the address and that length. Large objects have the canary right behind them.
 *
 *   ┌────────────── size asked for ──────────────┬─ pattern ─┬ slack:16 │ canary:48 ┐
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

/* A thread's quarantine and magazines, kept with its heap. */
void hardened_attach(struct heap *heap);
/* Gives what is in quarantine back to the spans. */
void hardened_drain(struct heap *heap);

#endif
