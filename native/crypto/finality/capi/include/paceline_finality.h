/* A graph of blocks that become final by weight, for C. Library:
 * libpaceline_finality.
 *
 * Ownership: paceline_graph_new and paceline_graph_restore give a handle; it is
 * the caller's until paceline_graph_free, once, when no other thread uses it.
 * No call keeps a pointer to the caller's memory, and none frees it.
 *
 * Threads: any number of them may use one handle at a time.
 * paceline_graph_is_final takes no lock and never waits (but for ids that begin
 * with eight zero bytes, which take 2^64 hashes to find); the other calls take
 * one lock among themselves. What is final stays final, and so do its
 * ancestors.
 *
 * Errors: negative numbers. A refused call changes nothing. A bug's panic
 * becomes PACELINE_PANICKED and never unwinds into the caller. Null where a
 * pointer is demanded is PACELINE_ARGUMENT; results marked "may be null" are
 * left out then. Ids are 32 bytes, without alignment.
 */
#ifndef PACELINE_FINALITY_H
#define PACELINE_FINALITY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PACELINE_FINALITY_ABI 1u
#define PACELINE_ID_BYTES 32
#define PACELINE_PARENTS_MAX 16

#define PACELINE_OK 0
#define PACELINE_ARGUMENT (-1)  /* a pointer is null, a size cannot be */
#define PACELINE_DUPLICATE (-2) /* insert: the block is known */
#define PACELINE_PARENTS (-3)   /* insert: none, more than 16, or one twice */
#define PACELINE_UNKNOWN_PARENT (-4) /* insert */
#define PACELINE_BELOW_FINALITY \
    (-5) /* insert: it does not build on the last final block */
#define PACELINE_UNKNOWN \
    (-6) /* attest, finalise: no such block, or it was abandoned */
#define PACELINE_ALREADY_FINAL (-7) /* attest, finalise */
#define PACELINE_CONFLICTS \
    (-8) /* attest, finalise: only a block that merges it can make it final */
#define PACELINE_UNDERWEIGHT (-9)      /* finalise */
#define PACELINE_WEIGHT_OVERFLOW (-10) /* attest */
#define PACELINE_SNAPSHOT (-11)        /* restore: these bytes are none */
#define PACELINE_TOO_SMALL (-12)       /* snapshot: *size says what it needs */
#define PACELINE_PANICKED (-13)        /* a bug */

typedef struct paceline_graph paceline_graph;

/* The ABI of the library that was loaded; compare with PACELINE_FINALITY_ABI.
 */
uint32_t paceline_finality_abi(void);

/* A sentence about a status: static, ended by 0, never null. */
const char *paceline_status_text(int32_t status);

/* A graph whose one block, genesis, is final; blocks need `threshold` weight.
 * Null: genesis was null. */
paceline_graph *paceline_graph_new(const uint8_t genesis[PACELINE_ID_BYTES],
                                   uint64_t threshold);

/* Frees it; null is nothing. */
void paceline_graph_free(paceline_graph *graph);

/* 1: the block is final; 0: it is not. */
int32_t paceline_graph_is_final(const paceline_graph *graph,
                                const uint8_t id[PACELINE_ID_BYTES]);

/* The empty call, always 0: what a call costs by itself. */
int32_t paceline_graph_nothing(const paceline_graph *graph,
                               const uint8_t id[PACELINE_ID_BYTES]);

/* Adds a block on `count` parents, whose ids lie one after the other. `height`
 * may be null. */
int32_t paceline_graph_insert(const paceline_graph *graph,
                              const uint8_t id[PACELINE_ID_BYTES],
                              const uint8_t *parents, size_t count,
                              uint64_t *height);

/* Adds weight to a block; `sum` gets its weight and may be null. */
int32_t paceline_graph_attest(const paceline_graph *graph,
                              const uint8_t id[PACELINE_ID_BYTES],
                              uint64_t weight, uint64_t *sum);

/* Makes a block that has the weight, and its ancestors, final. `finalised` and
 * `abandoned` may be null. */
int32_t paceline_graph_finalise(const paceline_graph *graph,
                                const uint8_t id[PACELINE_ID_BYTES],
                                uint64_t *finalised, uint64_t *abandoned);

/* Forgets all of final blocks lower than `below` but that they are final.
 * `forgotten` may be null. */
int32_t paceline_graph_prune(const paceline_graph *graph, uint64_t below,
                             uint64_t *forgotten);

/* Copies a snapshot to `buffer`. Ask with a null buffer for the size; another
 * thread may make it grow, then PACELINE_TOO_SMALL comes again. `size` may be
 * null. */
int32_t paceline_graph_snapshot(const paceline_graph *graph, uint8_t *buffer,
                                size_t capacity, size_t *size);

/* Reads any bytes as a snapshot; *graph is a new handle, or null. */
int32_t paceline_graph_restore(const uint8_t *bytes, size_t size,
                               paceline_graph **graph);

#ifdef __cplusplus
}
#endif
#endif
