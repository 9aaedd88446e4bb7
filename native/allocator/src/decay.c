/* decay.h: what a thread gives back once per period. */
#include "decay.h"

#include "options.h"

/* What others sent, and a whole period passed in which this thread wanted none
 * of it. */
static void return_unwanted_inboxes(struct heap *heap) {
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        if (heap->inbox_waits[class]) {
            batches_return(heap, heap_receive(heap, class));
        }
        heap->inbox_waits[class] =
            atomic_load_explicit(&heap->inbox[class], memory_order_relaxed) !=
            NULL;
    }
}

/* What this thread freed for others, and a whole period did not make it a
 * batch: it pins their spans. */
static void return_stray_objects(struct heap *heap) {
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        if (heap->outgoing_waits[class]) {
            batches_return(heap, heap->outgoing[class]);
            heap->outgoing[class] = NULL;
        }
        heap->outgoing_waits[class] = heap->outgoing[class] != NULL;
    }
}

/* Spares of which a whole period needed none: their objects pin spans, and
 * pages, that could go. */
static void return_unneeded_spares(struct heap *heap) {
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        for (unsigned left = heap->spare_low[class]; left > 0; left--) {
            struct batch *batch = heap->spares[class];
            heap->spares[class] = batch->next;
            heap->spare_count[class]--;
            batch->next = NULL;
            batches_return(heap, batch);
        }
        heap->spare_low[class] = heap->spare_count[class];
    }
}

SLOW void decay_look(struct heap *heap) {
    uint64_t now = os_clock_ms();
    if (heap != NULL) {
        if (now - heap->aged_ms < options.decay_ms) {
            return;
        }
        heap->aged_ms = now;
        return_unneeded_spares(heap);
        return_unwanted_inboxes(heap);
        return_stray_objects(heap);
        (void)heap_end_empty_spans(heap);
    }
    units_age(now);
    huge_age(now);
}
