/* heap.h: which thread has which heap.
 *
 *   no heap ──first slow path──▶ has a heap ──thread exit──▶ exited
 *
 * After exit other handlers may still allocate, and ours will not run again: they
 * are served by the shared heap, one object at a time under its lock.
 *
 * A heap is never freed. One without a thread keeps its spans; threads that need a
 * span take those first, and a new thread takes the whole heap. In a fork's child
 * the heaps of other threads are idle, and what their magazines held is lost,
 * because the positions were in those threads. */
#include "heap.h"

#include "options.h"
#include "queue.h"

#include <string.h>

/* NULL before, a multiple of the magazine's size at: `top[-1]` says empty, its
 * low bits say full. */
alignas(MAGAZINE_BYTES) void *const no_magazine[2 * MAGAZINE_SLOTS] = {NULL};

#define N1 {.top = NO_MAGAZINE}
#define N8 N1, N1, N1, N1, N1, N1, N1, N1
#define N24 N8, N8, N8
_Thread_local struct cache thread_cache
    __attribute__((tls_model("initial-exec"))) = {
        .bins = {N24, N24, N24},
        .small_end = SMALL_MAX + 1,
};

static struct {
    struct os_lock lock;
    uint32_t count; /* ids 1 to count exist; 1 is the shared heap */
    struct heap *idle;
    /* Some idle heap may have a span with free objects of the class. */
    _Atomic bool idle_partial[CLASS_COUNT];
} heaps;

struct heap *heap_by_id(uint32_t id) { return &range.heaps[id]; }

uint32_t heap_count(void) {
    os_lock(&heaps.lock);
    uint32_t count = heaps.count;
    os_unlock(&heaps.lock);
    return count;
}

bool heap_exists(uint32_t id) { return id <= heaps.count; }

void note_idle_partial(unsigned class) {
    atomic_store_explicit(&heaps.idle_partial[class], true,
                          memory_order_relaxed);
}

/* Under heaps.lock. */
static struct heap *new_heap(void) {
    uint32_t id = heaps.count + 1;
    if (!heap_storage_ensure(id)) {
        return NULL;
    }
    heaps.count = id;
    range.heaps[id].id = id;
    return &range.heaps[id];
}

void heaps_prepare(void) {
    struct heap *shared = new_heap();
    if (shared != NULL) {
        atomic_store(&shared->idle, true);
    }
}

/* --- attach --- */

/* Under heaps.lock. */
static void park(struct heap *heap) {
    heap->next_idle = heaps.idle;
    heaps.idle = heap;
    heap->parked = true;
}

static void make_idle(struct heap *heap) {
    os_lock(&heaps.lock);
    park(heap);
    os_unlock(&heaps.lock);
}

static void attach(struct heap *heap) {
    struct cache *cache = &thread_cache;
    cache->heap = heap;
    heap->bins = cache->bins;
    cache->base = range.base;
    cache->entries = range.entries;
    cache->tag = entry_for(heap->id, 0);
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        cache->bins[class].states = range.states[class_infos[class].shift];
    }
    uintptr_t grains = range.bytes >> GRAIN_SHIFT;
    if (options.hardened) {
        /* No size is small and no address in the range: every operation leaves
         * default mode's paths there. */
        cache->hardened = heap->hardened;
        cache->small_end = 0;
        cache->hardened_grains = grains;
    } else {
        cache->grains = grains;
    }
}

static _Atomic uint32_t attached; /* two: or more */

bool heap_is_alone(void) {
    return atomic_load_explicit(&attached, memory_order_relaxed) < 2;
}

COLD struct heap *thread_attach(void) {
    if (thread_cache.exited) {
        return NULL;
    }
    if (heap_is_alone()) {
        atomic_fetch_add(&attached, 1);
    }
    os_lock(&heaps.lock);
    struct heap *heap = heaps.idle;
    if (heap != NULL) {
        heaps.idle = heap->next_idle;
        heap->next_idle = NULL;
        heap->parked = false;
    } else {
        heap = new_heap();
    }
    os_unlock(&heaps.lock);
    if (heap != NULL && options.hardened && !queues_prepare(heap)) {
        make_idle(heap);
        return NULL;
    }
    if (heap != NULL) {
        atomic_store(&heap->idle, false);
        attach(heap);
        os_arm_thread_exit(heap);
    }
    return heap;
}

/* --- detach --- */

static void note_all_partial(struct heap *heap) {
    os_lock(&heap->lock);
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        if (heap->partial[class].head != NULL) {
            note_idle_partial(class);
        }
    }
    os_unlock(&heap->lock);
}

void thread_exit_handler(void *token) {
    struct heap *heap = token;
    struct cache *cache = &thread_cache;
    if (cache->heap != heap) {
        return;
    }
    /* Idle first: what is sent from now on goes to the spans, what was sent
     * before is drained. */
    atomic_store(&heap->idle, true);
    heap_drain(heap);
    (void)heap_end_empty_spans(heap);
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        cache->bins[class].top = NO_MAGAZINE;
    }
    heap->bins = NULL;
    cache->grains = cache->hardened_grains = 0;
    cache->small_end =
        SMALL_MAX + 1; /* what the bins do not have is then the slow path's */
    cache->heap = NULL;
    cache->hardened = NULL;
    cache->exited = 1;
    /* Noted last: who reads the note finds the heap in the list, or the note
     * would be gone for nothing. */
    make_idle(heap);
    note_all_partial(heap);
}

/* --- adopting spans --- */

/* Under heaps.lock, and so the only place besides fork and statistics where two
 * heaps are locked at once. A span is in one list at any moment anybody can
 * look: one that was on its way, in neither, could be adopted again as soon as
 * an object that came back had put it into the shared heap's list. */
static bool move_partial(struct heap *from, struct heap *to, unsigned class) {
    os_lock(&from->lock);
    struct span *span = from->partial[class].head;
    if (span != NULL) {
        os_lock(&to->lock);
        heap_give_away(from, span);
        heap_take_over(to, span);
        os_unlock(&to->lock);
    }
    os_unlock(&from->lock);
    return span != NULL;
}

bool span_adopt(struct heap *heap, unsigned class) {
    if (LIKELY(!atomic_load_explicit(&heaps.idle_partial[class],
                                     memory_order_relaxed))) {
        return false;
    }
    os_lock(&heaps.lock);
    atomic_store_explicit(&heaps.idle_partial[class], false,
                          memory_order_relaxed);
    bool moved = heap->id != 1 && move_partial(heap_by_id(1), heap, class);
    for (struct heap *idle = heaps.idle; idle != NULL && !moved;
         idle = idle->next_idle) {
        moved = move_partial(idle, heap, class);
    }
    if (moved) {
        note_idle_partial(class); /* there may be more */
    }
    os_unlock(&heaps.lock);
    return moved;
}

/* --- fork: every lock is held by the one thread that goes on --- */

void heaps_before_fork(void) {
    os_lock(&heaps.lock);
    for (uint32_t id = 1; id <= heaps.count; id++) {
        os_lock(&range.heaps[id].lock);
    }
    exchange_lock();
    range_lock();
}

/* Whatever a thread that is gone was about to do with a heap, it is ready for
 * another now. */
static void take_from_gone_thread(struct heap *heap) {
    if (heap->id == 1 || heap == thread_cache.heap || heap->parked) {
        return;
    }
    atomic_store(&heap->idle, true);
    heap_forget_thread(heap);
    park(heap);
}

void heaps_after_fork(bool child) {
    range_unlock();
    exchange_unlock();
    for (uint32_t id = heaps.count; id >= 1; id--) {
        os_unlock(&range.heaps[id].lock);
        if (child) {
            take_from_gone_thread(&range.heaps[id]);
        }
    }
    for (unsigned class = 0; child && class < CLASS_COUNT; class++) {
        note_idle_partial(class);
    }
    os_unlock(&heaps.lock);
}
