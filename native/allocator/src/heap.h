/* Heaps: where a thread's magazines get objects from and return them to.
 *
 * A magazine, spare, outgoing batch or inbox holds only cached objects of its
 * class, of any owner. Ownership routes objects; no check depends on it. Locks:
 * invariant 5 of README.md. */
#ifndef PACELINE_HEAP_H
#define PACELINE_HEAP_H

#include "range.h"
#include "span.h"

/* Initial-exec: the general model calls a function per access. */
extern _Thread_local struct cache thread_cache
    __attribute__((tls_model("initial-exec")));
/* Empty and full at once; every bin of a thread that has not yet used a class.
 */
extern void *const no_magazine[2 * MAGAZINE_SLOTS];
#define NO_MAGAZINE ((void **)(uintptr_t)(no_magazine + MAGAZINE_SLOTS))

/* --- heap.c: magazines and spans; spares.c: batches kept near --- */

/* Fills the thread's empty magazine and takes one object; NULL when memory is
 * out. */
void *heap_refill(struct heap *heap, unsigned class);
/* What is near, or new: cached objects of a class into `out`, which has room
 * for BATCH_OBJECTS; how many. Spans are asked when no batch was near, for
 * `want`. */
unsigned heap_take_batch(struct heap *heap, unsigned class, void **out);
unsigned heap_take_spans(struct heap *heap, unsigned class, void **out,
                         unsigned want);
/* Keeps a batch of cached objects near, or gives them back. */
void heap_put_batch(struct heap *heap, unsigned class, void **objects,
                    unsigned count);
/* Makes room in the thread's full magazine. */
void heap_make_room(struct heap *heap, unsigned class);
/* Gives cached objects of one class back to their spans, whoever owns these. */
void heap_return(void **objects, unsigned count);
/* One object from the heap of threads that have ended, and of those that never
 * got one. */
void *shared_take(unsigned class);
/* Gives every object of this heap's caches back to its span; keeps the
 * magazines usable. */
void heap_drain(struct heap *heap);
/* Ends the empty span that each class keeps, without a look at the others;
 * bytes of their units. */
size_t heap_end_empty_spans(struct heap *heap);
/* Ends all spans of this heap that hold no object, and purges the pages of the
 * rest; bytes given back. */
size_t heap_purge(struct heap *heap);

/* Under the lock: the span leaves its list and this heap's counts, or joins
 * them and is its from now on. */
void heap_give_away(struct heap *heap, struct span *span);
void heap_take_over(struct heap *heap, struct span *span);
/* In the child of a fork: what only the thread that is gone knew of is lost. */
void heap_forget_thread(struct heap *heap);

/* --- exchange.c: batches between threads --- */

struct batch *batch_blank(struct heap *heap);
void batch_discard(struct heap *heap, struct batch *batch);
/* Gives the objects of these batches back to their spans. */
void batches_return(struct heap *heap, struct batch *batch);
/* A freed object whose span has another owner. */
void heap_send(struct heap *heap, unsigned class, void *object);
/* Everything others sent this heap of a class, or NULL. */
struct batch *heap_receive(struct heap *heap, unsigned class);
void exchange_lock(void);
void exchange_unlock(void);

/* --- thread.c: heaps and threads --- */

struct heap *thread_attach(void);
/* The calling thread's heap, given to it on first use; NULL when it has ended
 * or memory is out. Only after started() (start.h) was true. */
static inline struct heap *thread_heap(void) {
    struct heap *heap = thread_cache.heap;
    return LIKELY(heap != NULL) ? heap : thread_attach();
}
struct heap *heap_by_id(uint32_t id);
uint32_t heap_count(void);
/* With all locks held, as between heaps_before_fork and heaps_after_fork. */
bool heap_exists(uint32_t id);
/* Whether no second thread ever asked for a heap. */
bool heap_is_alone(void);
/* Moves a span of this class with free objects from a heap without a thread to
 * `heap`; whether there was one. What was moved is in the list of `heap` like
 * any other of its spans. */
bool span_adopt(struct heap *heap, unsigned class);
void note_idle_partial(unsigned class);
void heaps_prepare(void);
void thread_exit_handler(void *token);
/* Holding every lock of heaps, batches and the range while the process is
 * copied. */
void heaps_before_fork(void);
void heaps_after_fork(bool child);

static inline bool heap_has_thread(const struct heap *heap) {
    return !atomic_load_explicit(&heap->idle, memory_order_relaxed);
}

/* Of a counter only its own thread writes: no locked instruction. */
static inline void count_up(_Atomic uint64_t *counter, uint64_t by) {
    uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + by, memory_order_relaxed);
}

static inline void **magazine_begin(struct heap *heap, unsigned class) {
    return &heap->magazines[class]
                           [MAGAZINE_SLOTS - class_infos[class].capacity];
}

#endif
