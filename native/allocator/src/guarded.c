/* guarded.h. Slots are freed and taken in turn: the one freed longest ago is taken next. */
#include "guarded.h"

#include "range.h"
#include "report.h"

enum { SLOTS = 64 };

static struct {
    struct os_lock lock;
    _Atomic uintptr_t base; /* guard page, slot 0, guard page, slot 1, … guard page; 0: not mapped yet */
    struct {
        uintptr_t object; /* 0: free */
        size_t size;
    } slots[SLOTS];
    unsigned next;
} guarded;

static bool prepare(void) {
    size_t bytes = (2 * SLOTS + 1) * range.page_bytes;
    if (atomic_load_explicit(&guarded.base, memory_order_relaxed) != 0) {
        return true;
    }
    void *place = os_map(bytes);
    if (place == NULL) {
        return false;
    }
    if (!os_forbid(place, bytes)) {
        os_unmap(place, bytes);
        return false;
    }
    atomic_store_explicit(&guarded.base, (uintptr_t)place, memory_order_relaxed);
    return true;
}

static uintptr_t page_of_slot(unsigned slot) {
    return atomic_load_explicit(&guarded.base, memory_order_relaxed) + (2 * slot + 1) * range.page_bytes;
}

void *guarded_take(size_t size, size_t alignment) {
    size_t step = alignment < 16 ? 16 : alignment;
    size_t room = (size + step - 1) & ~(step - 1);
    if (size > range.page_bytes || room > range.page_bytes || size == 0) {
        return NULL;
    }
    uintptr_t object = 0;
    os_lock(&guarded.lock);
    for (unsigned i = 0; i < SLOTS && object == 0 && prepare(); i++) {
        unsigned slot = guarded.next;
        guarded.next = (slot + 1) % SLOTS;
        if (guarded.slots[slot].object == 0 && os_permit((void *)page_of_slot(slot), range.page_bytes)) {
            object = page_of_slot(slot) + range.page_bytes - room;
            guarded.slots[slot].object = object;
            guarded.slots[slot].size = size;
        }
    }
    os_unlock(&guarded.lock);
    return (void *)object;
}

/* The slot an address belongs to, or -1. */
static int slot_of(uintptr_t place) {
    uintptr_t base = atomic_load_explicit(&guarded.base, memory_order_relaxed);
    if (base == 0 || place - base >= (2 * SLOTS + 1) * range.page_bytes) {
        return -1;
    }
    size_t page = (place - base) / range.page_bytes;
    return page == 0 ? 0 : (int)((page - 1) / 2);
}

bool guarded_release(void *place) {
    int slot = slot_of((uintptr_t)place);
    if (slot < 0) {
        return false;
    }
    os_lock(&guarded.lock);
    bool live = guarded.slots[slot].object == (uintptr_t)place;
    if (live) {
        guarded.slots[slot].object = 0;
        (void)os_purge((void *)page_of_slot((unsigned)slot), range.page_bytes);
        (void)os_forbid((void *)page_of_slot((unsigned)slot), range.page_bytes);
    }
    os_unlock(&guarded.lock);
    if (!live) {
        report_bad_free(place, "double or interior free of guarded object");
    }
    return true;
}

size_t guarded_size(void *place) {
    int slot = slot_of((uintptr_t)place);
    if (slot < 0) {
        return 0;
    }
    os_lock(&guarded.lock);
    size_t size = guarded.slots[slot].object == (uintptr_t)place ? guarded.slots[slot].size + 1 : 0;
    os_unlock(&guarded.lock);
    if (size == 0) {
        report_bad_free(place, "use of freed guarded object");
    }
    return size;
}

void guarded_lock(void) { os_lock(&guarded.lock); }

void guarded_unlock(void) { os_unlock(&guarded.lock); }
