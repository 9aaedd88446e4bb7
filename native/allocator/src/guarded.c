/* guarded.h: slots are reused in turn, the one freed longest ago first. Each
 * slot's page is a mapping of its own from the start. */
#include "guarded.h"

#include "canary.h"
#include "range.h"
#include "report.h"

enum { SLOTS = 64 };

_Atomic uintptr_t guarded_base;
size_t guarded_bytes;

static struct {
    struct os_lock lock;
    struct {
        uintptr_t object; /* 0: free */
        size_t size;
    } slots[SLOTS];
    unsigned next;
} guarded;

static bool prepare(void) {
    size_t bytes = (2 * SLOTS + 1) * range.page_bytes;
    if (atomic_load_explicit(&guarded_base, memory_order_relaxed) != 0) {
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
    for (size_t page = 0; page <= 2 * SLOTS; page += 2) {
        os_keep_apart((char *)place + page * range.page_bytes,
                      range.page_bytes);
    }
    guarded_bytes = bytes;
    atomic_store_explicit(&guarded_base, (uintptr_t)place,
                          memory_order_release);
    return true;
}

static uintptr_t page_of_slot(unsigned slot) {
    return atomic_load_explicit(&guarded_base, memory_order_relaxed) +
           (2 * slot + 1) * range.page_bytes;
}

/* A guard page belongs to the slot in front of it, the first to the first. */
static unsigned slot_of(const void *place) {
    size_t page = ((uintptr_t)place -
                   atomic_load_explicit(&guarded_base, memory_order_relaxed)) /
                  range.page_bytes;
    return page == 0 ? 0 : (unsigned)((page - 1) / 2);
}

/* An object must be aligned, so between its end and the forbidden page there
 * may be bytes that are nobody's. Each is one byte of the secret: the odd one,
 * so that a string's end is seen. */
static size_t slack_of(uintptr_t object, size_t size) {
    return page_of_slot(slot_of((void *)object)) + range.page_bytes -
           (object + size);
}

static void fill_slack(uintptr_t object, size_t size) {
    memset((void *)(object + size), (uint8_t)canary_secret,
           slack_of(object, size));
}

/* The page may be touched: its slot is live. */
static bool slack_is_whole(uintptr_t object, size_t size) {
    const unsigned char *behind = (const unsigned char *)(object + size);
    unsigned char changed = 0;
    for (size_t i = 0, slack = slack_of(object, size); i < slack; i++) {
        changed |= behind[i] ^ (uint8_t)canary_secret;
    }
    return changed == 0;
}

void *guarded_take(size_t size, size_t alignment) {
    size_t step = alignment < 16 ? 16 : alignment;
    size_t room = (size + (size == 0) + step - 1) & ~(step - 1);
    if (size > range.page_bytes || room > range.page_bytes) {
        return NULL;
    }
    uintptr_t object = 0;
    os_lock(&guarded.lock);
    for (unsigned i = 0; i < SLOTS && object == 0 && prepare(); i++) {
        unsigned slot = guarded.next;
        guarded.next = (slot + 1) % SLOTS;
        if (guarded.slots[slot].object == 0 &&
            os_permit((void *)page_of_slot(slot), range.page_bytes)) {
            object = page_of_slot(slot) + range.page_bytes - room;
            guarded.slots[slot].object = object;
            guarded.slots[slot].size = size;
        }
    }
    os_unlock(&guarded.lock);
    if (object != 0) {
        fill_slack(object, size);
    }
    return (void *)object;
}

void guarded_release(void *place) {
    unsigned slot = slot_of(place);
    os_lock(&guarded.lock);
    bool live = guarded.slots[slot].object == (uintptr_t)place;
    size_t size = guarded.slots[slot].size;
    bool whole = live && slack_is_whole((uintptr_t)place, size);
    if (whole) {
        guarded.slots[slot].object = 0;
        (void)os_forbid((void *)page_of_slot(slot), range.page_bytes);
    }
    os_unlock(&guarded.lock);
    if (!live) {
        report_bad_free(place, "double or interior free of guarded object");
    }
    if (!whole) {
        report_damage(place, size, "overflow behind the end of object");
    }
}

size_t guarded_size(void *place) {
    unsigned slot = slot_of(place);
    os_lock(&guarded.lock);
    bool live = guarded.slots[slot].object == (uintptr_t)place;
    size_t size = guarded.slots[slot].size;
    bool whole = live && slack_is_whole((uintptr_t)place, size);
    os_unlock(&guarded.lock);
    if (!live) {
        report_bad_free(place, "use of freed guarded object");
    }
    if (!whole) {
        report_damage(place, size, "overflow behind the end of object");
    }
    return size;
}

void guarded_lock(void) { os_lock(&guarded.lock); }

void guarded_unlock(void) { os_unlock(&guarded.lock); }
