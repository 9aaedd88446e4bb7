/* Implements guarded.h. The slot freed longest ago is reused first. Each slot's
 * page is a mapping of its own from the start. */
#include "guarded.h"

#include "canary.h"
#include "range.h"
#include "report.h"

enum { SLOTS = 64, EMPTY_OBJECTS = 1 << 14, GRAIN = 1 << GRAIN_SHIFT };

_Atomic uintptr_t guarded_base;
size_t guarded_bytes;

static struct {
    struct os_lock lock;
    struct {
        uintptr_t object; /* 0 if free */
        size_t size;
    } slots[SLOTS];
    unsigned next;
    uint64_t empty[EMPTY_OBJECTS / 64]; /* bit set if live */
    unsigned next_empty;
} guarded;

static size_t slot_bytes(void) { return (2 * SLOTS + 1) * range.page_bytes; }

static bool prepare(void) {
    size_t bytes = slot_bytes() +
                   round_up((size_t)EMPTY_OBJECTS * GRAIN, range.page_bytes);
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

/* Returns the slot of an address. A guard page belongs to the slot before it,
 * the first guard page to the first slot. */
static unsigned slot_of(const void *place) {
    size_t page = ((uintptr_t)place -
                   atomic_load_explicit(&guarded_base, memory_order_relaxed)) /
                  range.page_bytes;
    return page == 0 ? 0 : (unsigned)((page - 1) / 2);
}

/* Returns the unused bytes between an object's end and its guard page, which
 * alignment causes. Each is the first byte of the object's canary, which is odd,
 * so that a string's terminating zero is detected. */
static size_t slack_of(uintptr_t object, size_t size) {
    return page_of_slot(slot_of((void *)object)) + range.page_bytes -
           (object + size);
}

static void fill_slack(uintptr_t object, size_t size) {
    memset((void *)(object + size), (uint8_t)canary(object),
           slack_of(object, size));
}

/* Returns whether the unused bytes are unchanged. The slot must be live, so that
 * its page can be read. */
static bool slack_is_whole(uintptr_t object, size_t size) {
    const unsigned char *behind = (const unsigned char *)(object + size);
    const unsigned char expected = (uint8_t)canary(object);
    unsigned char changed = 0;
    for (size_t i = 0, slack = slack_of(object, size); i < slack; i++) {
        changed |= behind[i] ^ expected;
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

/* --- objects of zero bytes --- */

static size_t offset_of(const void *place) {
    return (uintptr_t)place -
           atomic_load_explicit(&guarded_base, memory_order_relaxed);
}

static bool is_empty(const void *place) {
    return offset_of(place) >= slot_bytes();
}

/* Returns the word of an object's bit and sets *bit, to 0 if no object begins
 * at `place`. */
static uint64_t *empty_word(const void *place, uint64_t *bit) {
    size_t offset = offset_of(place) - slot_bytes();
    size_t index = offset / GRAIN % EMPTY_OBJECTS;
    *bit = offset % GRAIN == 0 ? (uint64_t)1 << index % 64 : 0;
    return &guarded.empty[index / 64];
}

/* Takes the objects in turn, so that an address is reused as late as possible. */
void *guarded_take_empty(void) {
    void *object = NULL;
    os_lock(&guarded.lock);
    unsigned index = guarded.next_empty;
    for (unsigned words = 0;
         words <= EMPTY_OBJECTS / 64 && object == NULL && prepare(); words++) {
        uint64_t *word = &guarded.empty[index / 64];
        uint64_t free = ~*word & ~(uint64_t)0 << index % 64;
        if (free != 0) {
            index = index / 64 * 64 + (unsigned)__builtin_ctzll(free);
            *word |= (uint64_t)1 << index % 64;
            object = (void *)(atomic_load_explicit(&guarded_base,
                                                   memory_order_relaxed) +
                              slot_bytes() + (size_t)index * GRAIN);
            guarded.next_empty = (index + 1) % EMPTY_OBJECTS;
        }
        index = (index / 64 + 1) * 64 % EMPTY_OBJECTS;
    }
    os_unlock(&guarded.lock);
    return object;
}

static void release_empty(void *place) {
    uint64_t bit;
    os_lock(&guarded.lock);
    uint64_t *word = empty_word(place, &bit);
    bool live = (*word & bit) != 0;
    *word &= ~bit;
    os_unlock(&guarded.lock);
    if (!live) {
        report_bad_free(place, "double or interior free of guarded object");
    }
}

static size_t size_of_empty(void *place) {
    uint64_t bit;
    os_lock(&guarded.lock);
    bool live = (*empty_word(place, &bit) & bit) != 0;
    os_unlock(&guarded.lock);
    if (!live) {
        report_bad_free(place, "use of freed guarded object");
    }
    return 0;
}

/* --- slots and objects of zero bytes --- */

void guarded_release(void *place) {
    if (is_empty(place)) {
        release_empty(place);
        return;
    }
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
    if (is_empty(place)) {
        return size_of_empty(place);
    }
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
