/* reclaim.h. */
#include "reclaim.h"

#include "options.h"
#include "start.h"

#include <errno.h>

COLD void *out_of_memory(void) {
    errno = ENOMEM;
    return NULL;
}

bool reclaim_memory(void) {
    struct heap *heap = thread_heap();
    if (heap != NULL && !options.hardened) {
        heap_drain(heap);
    }
    size_t bytes = 0;
    for (uint32_t id = 1, count = heap_count(); id <= count; id++) {
        bytes += heap_purge(heap_by_id(id));
    }
    bytes += units_purge() * UNIT_BYTES + huge_purge() + segments_unmap();
    return bytes > 0;
}

void *allocate_large(size_t size, size_t alignment, bool *zero) {
    if (UNLIKELY(!started())) {
        return out_of_memory();
    }
    void *object = large_take(size, alignment, zero);
    if (UNLIKELY(object == NULL) && size <= PTRDIFF_MAX - alignment &&
        reclaim_memory()) {
        object = large_take(size, alignment, zero);
    }
    return object != NULL ? object : out_of_memory();
}
