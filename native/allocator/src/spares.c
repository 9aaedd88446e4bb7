/* heap.h: the batches that a thread keeps near.
 *
 * When a thread needs objects it takes its spares, then what others freed for it,
 * then asks spans (heap.c). It does not reuse what it freed for others: two threads
 * that allocate from one span would take each other's cache line of states. Spares
 * belong to the thread, so locks are needed only to give objects back. */
#include "heap.h"

#include <string.h>

/* There is one. */
static struct batch *spare_take(struct heap *heap, unsigned class) {
    struct batch *batch = heap->spares[class];
    heap->spares[class] = batch->next;
    uint8_t left = --heap->spare_count[class];
    heap->spare_low[class] =
        left < heap->spare_low[class] ? left : heap->spare_low[class];
    return batch;
}

static void return_batch(struct heap *heap, struct batch *batch) {
    count_up(&heap->flushes, 1);
    heap_return(batch->objects, batch->count);
    batch_discard(heap, batch);
}

/* In a heap that shrank, a spare object often is the last on its page. So once
 * frees run over what is kept, the class ebbs: until something is taken again
 * nothing is kept, and with each batch goes an older one. */
static void keep_or_return(struct heap *heap, struct batch *batch) {
    unsigned class = batch->class;
    if (heap->spare_count[class] < class_infos[class].max_spare &&
        !heap->ebbing[class]) {
        batch->next = heap->spares[class];
        heap->spares[class] = batch;
        heap->spare_count[class]++;
        return;
    }
    heap->ebbing[class] =
        atomic_load_explicit(&heap->shrunken, memory_order_relaxed);
    return_batch(heap, batch);
    if (heap->ebbing[class] && heap->spares[class] != NULL) {
        return_batch(heap, spare_take(heap, class));
    }
}

/* A batch of cached objects from the nearest place that has one. */
static struct batch *nearest_batch(struct heap *heap, unsigned class) {
    heap->ebbing[class] = false;
    if (heap->spares[class] != NULL) {
        return spare_take(heap, class);
    }
    struct batch *batch = heap_receive(heap, class);
    if (batch != NULL) {
        for (struct batch *rest = batch->next, *next; rest != NULL;
             rest = next) {
            next = rest->next;
            keep_or_return(heap, rest);
        }
    }
    return batch;
}

unsigned heap_take_batch(struct heap *heap, unsigned class, void **out) {
    count_up(&heap->refills, 1);
    struct batch *batch = nearest_batch(heap, class);
    if (batch == NULL) {
        return 0;
    }
    unsigned count = batch->count;
    memcpy(out, batch->objects, count * sizeof *out);
    batch_discard(heap, batch);
    return count;
}

void heap_put_batch(struct heap *heap, unsigned class, void **objects,
                    unsigned count) {
    struct batch *batch = batch_blank(heap);
    if (batch != NULL) {
        batch->class = (uint16_t)class;
        batch->count = count;
        memcpy(batch->objects, objects, count * sizeof *objects);
        keep_or_return(heap, batch);
    } else {
        heap_return(objects, count);
    }
}
