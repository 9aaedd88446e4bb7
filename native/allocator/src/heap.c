/* heap.h: refilling and emptying magazines. Objects come from the nearest place:
 * batches (spares.c), the heap's spans, unowned spans, then new spans. */
#include "heap.h"

#include "canary.h"
#include "options.h"
#include "queue.h"
#include "report.h"

#include <string.h>

/* --- the list of spans with free objects; under the lock --- */

static void list_append(struct heap *heap, struct span *span) {
    struct span_list *list = &heap->partial[span->class];
    span->next = NULL;
    span->previous = list->tail;
    *(list->tail != NULL ? &list->tail->next : &list->head) = span;
    list->tail = span;
    span->listed = true;
}

static void list_remove(struct heap *heap, struct span *span) {
    struct span_list *list = &heap->partial[span->class];
    *(span->previous != NULL ? &span->previous->next : &list->head) =
        span->next;
    *(span->next != NULL ? &span->next->previous : &list->tail) =
        span->previous;
    span->listed = false;
}

/* Forgets an empty span that leaves the heap or holds an object again. */
static void forget_empty(struct heap *heap, const struct span *span) {
    if (heap->empty[span->class] == span) {
        heap->empty[span->class] = NULL;
    }
}

/* A purge inside a span is wasted when the span ends soon afterwards, because
 * the whole span would have gone. It counts as a third of a refault. Purging
 * pays when a few objects outlive a burst. It does not pay when the program
 * frees everything and allocates again, because most of its pages are gone. */
static void count_wasted_purge(struct heap *heap, const struct span *span) {
    enum { SHARE = 3 };
    if (UNLIKELY(span->purged != 0) &&
        (uint32_t)os_clock_ms() - span->purged_ms < options.decay_ms) {
        heap->recently_refaulted +=
            (unsigned)__builtin_popcount(span->purged) / SHARE;
    }
}

static void end_span(struct heap *heap, struct span *span) {
    forget_empty(heap, span);
    list_remove(heap, span);
    count_wasted_purge(heap, span);
    heap->span_count--;
    heap->spans_ended++;
    span_end(span);
}

/* --- purging inside spans: allowed once the heap has shrunk, and stopped while
 * the purged pages fault back in or their spans end soon --- */

/* Updates whether the heap has shrunk, and returns it. The caller holds the
 * lock. */
static bool update_shrunken(struct heap *heap) {
    enum { LEAST_SPANS = 256 };
    bool shrunken = heap->span_count >= LEAST_SPANS &&
                    heap->used_bytes <= heap->span_count * UNIT_BYTES / 2;
    if (UNLIKELY(shrunken !=
                 atomic_load_explicit(&heap->shrunken, memory_order_relaxed))) {
        atomic_store_explicit(&heap->shrunken, shrunken, memory_order_relaxed);
    }
    return shrunken;
}

/* Returns whether the heap may purge inside spans now. After too many refaults
 * it may not for one decay period. The caller holds the lock. */
static bool purge_is_allowed(struct heap *heap) {
    enum { TRUST_PAGES = 256 };
    if (!update_shrunken(heap)) {
        return false;
    }
    if (heap->recently_purged > TRUST_PAGES &&
        heap->recently_refaulted > heap->recently_purged / 2) {
        uint64_t now = os_clock_ms();
        if (now - heap->purge_period_ms < options.decay_ms) {
            return false;
        }
        heap->purge_period_ms = now;
        heap->recently_purged = heap->recently_refaulted = 0;
    }
    return true;
}

static void purge_span(struct heap *heap, struct span *span) {
    bool first = span->purged == 0;
    unsigned pages = span_purge(span);
    heap->pages_purged += pages;
    heap->recently_purged += pages;
    if (first && pages > 0) {
        span->purged_ms = (uint32_t)os_clock_ms();
    }
}

/* Purges a few spans, in turn, for each batch that is returned. Spans that
 * emptied before purging was allowed are not touched by later frees, and
 * sweeping all of them at once would be a pause. */
static void purge_some(struct heap *heap, unsigned class) {
    enum { SPANS_PER_BATCH = 2 };
    for (unsigned i = 0; i < SPANS_PER_BATCH && purge_is_allowed(heap); i++) {
        struct span *span = heap->partial[class].head;
        if (span == NULL) {
            return;
        }
        list_remove(heap, span);
        list_append(heap, span);
        if (span->used > 0 && span->used <= span->purge_at) {
            purge_span(heap, span);
        }
    }
}

/* --- giving objects back --- */

/* Accounts for `bytes` of objects that were returned to the span: lists it,
 * ends it when it is empty, or purges it. The caller holds the lock. */
static inline void account_return(struct heap *heap, struct span *span,
                                  size_t bytes) {
    heap->used_bytes -= bytes;
    if (!span->listed) {
        list_append(heap, span);
        if (!heap_has_thread(heap)) {
            note_idle_partial(span->class);
        }
    }
    if (UNLIKELY(span->used == 0)) {
        bool only = span->next == NULL && span->previous == NULL;
        if (!only || !heap_has_thread(heap)) {
            end_span(heap, span);
        } else {
            heap->empty[span->class] = span;
        }
    } else if (UNLIKELY(span->used <= span->purge_at) &&
               purge_is_allowed(heap)) {
        purge_span(heap, span);
    }
}

/* Locks and returns the heap that owns the span. The owner may change until its
 * lock is held, so it is read again then (invariant 5). */
static struct heap *lock_owner(const struct span *span) {
    for (;;) {
        uint32_t id = atomic_load_explicit(&span->owner, memory_order_relaxed);
        struct heap *heap = heap_by_id(id);
        os_lock(&heap->lock);
        if (LIKELY(atomic_load_explicit(&span->owner, memory_order_relaxed) ==
                   id)) {
            return heap;
        }
        os_unlock(&heap->lock);
    }
}

void heap_return(void **objects, unsigned count) {
    struct heap *locked = NULL;
    uint32_t owner = 0; /* the id of no heap */
    unsigned class = count > 0 ? span_of((uintptr_t)objects[0])->class : 0;
    if (UNLIKELY(options.hardened)) {
        check_poisons(class, objects, count);
    }
    states_t states = range.states[class_infos[class].shift];
    size_t size = class_infos[class].size;
    for (unsigned i = 0, put; i < count; i += put) {
        struct span *span = span_of((uintptr_t)objects[i]);
        if (UNLIKELY(atomic_load_explicit(&span->owner, memory_order_relaxed) !=
                     owner)) {
            if (locked != NULL) {
                os_unlock(&locked->lock);
            }
            locked = lock_owner(span);
            owner = locked->id;
        }
        put = span_put(span, objects + i, count - i, states);
        if (UNLIKELY(put == 0)) {
            os_unlock(&locked->lock); /* a handler of the signal may allocate */
            report_bad_free(objects[i], "double free, by two threads at once,");
        }
        account_return(locked, span, put * size);
    }
    if (locked != NULL) {
        purge_some(locked, class);
        os_unlock(&locked->lock);
    }
}

/* --- taking objects --- */

/* Takes up to `want` objects of the span. The caller holds the lock. */
static unsigned take_from(struct heap *heap, struct span *span, void **out,
                          unsigned want) {
    uint64_t refaulted = 0;
    unsigned taken = span_take(span, out, want, &refaulted);
    forget_empty(heap, span);
    heap->used_bytes += (uint64_t)taken * class_infos[span->class].size;
    heap->pages_refaulted += refaulted;
    heap->recently_refaulted += refaulted;
    if (span->used == span->capacity) {
        list_remove(heap, span);
    }
    return taken;
}

static unsigned take_from_spans(struct heap *heap, unsigned class, void **out,
                                unsigned want) {
    os_lock(&heap->lock);
    struct span *span;
    /* In the shared heap, another thread may use up or end an adopted span
     * before this one holds the lock again. */
    while ((span = heap->partial[class].head) == NULL) {
        os_unlock(&heap->lock);
        if (!span_adopt(heap, class)) {
            span = span_begin(class);
            if (span == NULL) {
                return 0;
            }
            os_lock(&heap->lock);
            heap->spans_begun++;
            heap_take_over(heap, span);
            break;
        }
        os_lock(&heap->lock);
    }
    unsigned taken = take_from(heap, span, out, want);
    (void)update_shrunken(heap);
    os_unlock(&heap->lock);
    return taken;
}

void *shared_take(unsigned class) {
    void *object = NULL;
    return take_from_spans(heap_by_id(1), class, &object, 1) == 1 ? object
                                                                  : NULL;
}

unsigned heap_take_spans(struct heap *heap, unsigned class, void **out,
                         unsigned want) {
    return take_from_spans(heap, class, out, want);
}

void *heap_refill(struct heap *heap, unsigned class) {
    void **begin = magazine_begin(heap, class);
    unsigned count = heap_take_batch(heap, class, begin);
    if (count == 0) {
        count = heap_take_spans(heap, class, begin, class_infos[class].batch);
    }
    begin[-1] = NULL;
    heap->bins[class].top = begin + count - (count > 0);
    return count > 0 ? begin[count - 1] : NULL;
}

void heap_make_room(struct heap *heap, unsigned class) {
    struct bin *bin = &heap->bins[class];
    void **begin = magazine_begin(heap, class);
    if (bin->top == NO_MAGAZINE) {
        begin[-1] = NULL;
        bin->top = begin;
        return;
    }
    unsigned count = class_infos[class].batch;
    heap_put_batch(heap, class, begin, count);
    bin->top -= count;
    memmove(begin, begin + count, (size_t)(bin->top - begin) * sizeof *begin);
}

/* --- giving everything back --- */

void heap_drain(struct heap *heap) {
    queues_drain(heap);
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        struct bin *bin = &heap->bins[class];
        if (bin->top != NO_MAGAZINE) {
            void **begin = magazine_begin(heap, class);
            heap_return(begin, (unsigned)(bin->top - begin));
            bin->top = begin;
        }
        struct batch *spares = heap->spares[class];
        heap->spares[class] = NULL;
        heap->spare_count[class] = heap->spare_low[class] = 0;
        batches_return(heap, spares);
        if (heap->outgoing[class] != NULL) {
            heap->outgoing[class]->next = NULL;
            batches_return(heap, heap->outgoing[class]);
            heap->outgoing[class] = NULL;
        }
        batches_return(heap, heap_receive(heap, class));
    }
}

size_t heap_end_empty_spans(struct heap *heap) {
    size_t bytes = 0;
    os_lock(&heap->lock);
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        if (heap->empty[class] != NULL) {
            end_span(heap, heap->empty[class]);
            bytes += UNIT_BYTES;
        }
    }
    os_unlock(&heap->lock);
    return bytes;
}

size_t heap_purge(struct heap *heap) {
    size_t ended = 0;
    os_lock(&heap->lock);
    uint64_t before = heap->pages_purged;
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        for (struct span *span = heap->partial[class].head, *next; span != NULL;
             span = next) {
            next = span->next;
            if (span->used == 0) {
                end_span(heap, span);
                ended += UNIT_BYTES;
            } else {
                purge_span(heap, span);
            }
        }
    }
    size_t pages = heap->pages_purged - before;
    os_unlock(&heap->lock);
    return ended + pages * range.page_bytes;
}

void heap_give_away(struct heap *heap, struct span *span) {
    forget_empty(heap, span);
    list_remove(heap, span);
    heap->span_count--;
    heap->used_bytes -= (uint64_t)span->used * class_infos[span->class].size;
}

void heap_take_over(struct heap *heap, struct span *span) {
    atomic_store_explicit(&span->owner, heap->id, memory_order_relaxed);
    entry_set((size_t)(span - range.spans), entry_for(heap->id, span->class));
    list_append(heap, span);
    if (span->used == 0 && heap->empty[span->class] == NULL) {
        heap->empty[span->class] = span;
    }
    heap->span_count++;
    heap->used_bytes += (uint64_t)span->used * class_infos[span->class].size;
}

void heap_forget_thread(struct heap *heap) {
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        heap->spares[class] = NULL;
        heap->spare_count[class] = heap->spare_low[class] = 0;
        heap->outgoing[class] = NULL;
    }
    heap->blank = NULL;
    heap->blank_count = 0;
    heap->bins = NULL;
    heap->hardened = NULL;
}
