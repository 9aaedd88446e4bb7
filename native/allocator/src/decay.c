/* decay.h: what a thread does about it, once per period. */
#include "decay.h"

#include "options.h"

enum { SLOW_CALLS_PER_LOOK = 16 };

/* Spares of which a whole period needed none: their objects pin spans, and pages, that could go. */
static void return_unneeded_spares(struct heap *heap) {
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        for (unsigned left = heap->spare_low[class]; left > 0; left--) {
            struct batch *batch = heap->spares[class];
            heap->spares[class] = batch->next;
            heap->spare_count[class]--;
            heap_return(batch->objects, batch->count);
            batch_discard(heap, batch);
        }
        heap->spare_low[class] = heap->spare_count[class];
    }
}

static SLOW void look(struct heap *heap) {
    uint64_t now = os_clock_ms();
    if (heap != NULL) {
        if (now - heap->aged_ms < options.decay_ms) {
            return;
        }
        heap->aged_ms = now;
        return_unneeded_spares(heap);
        (void)heap_end_empty_spans(heap);
    }
    units_age(now);
    huge_age(now);
}

void decay_tick(void) {
    struct cache *cache = &thread_cache;
    if (UNLIKELY(++cache->slow_calls % SLOW_CALLS_PER_LOOK == 0)) {
        look(cache->heap);
    }
}
