/* hardened.h. Entries, states, magazines, spans and exchange are those of default mode; what is added lies
 * around the object and between a free and the object's next use. */
#include "hardened.h"

#include "alloc.h"
#include "guarded.h"
#include "large.h"
#include "options.h"

#include <string.h>

enum { TRAILER_BYTES = 8, POISON_BYTES = 16, QUARANTINE_MAX = 32 };

struct hardened_heap {
    struct bin bins[CLASS_COUNT];
    void *quarantine[CLASS_COUNT][QUARANTINE_MAX];
    uint64_t seed;
    size_t until_sample;
};

static _Atomic uint64_t secret_word;

/* Drawn on first use, never 0; of two threads that draw at once one wins. */
static uint64_t secret(void) {
    uint64_t value = atomic_load_explicit(&secret_word, memory_order_relaxed);
    if (UNLIKELY(value == 0)) {
        uint64_t none = 0;
        (void)atomic_compare_exchange_strong(&secret_word, &none, os_random() | 1);
        value = atomic_load(&secret_word);
    }
    return value;
}

static uint64_t draw(struct hardened_heap *own) {
    own->seed ^= own->seed << 13;
    own->seed ^= own->seed >> 7;
    own->seed ^= own->seed << 17;
    return own->seed;
}

/* --- what lies around an object --- */

static uint64_t canary(uintptr_t place, size_t slack) {
    uint64_t mixed = (secret() ^ place) * 0x9E3779B97F4A7C15u;
    return (mixed & ~(uint64_t)0xFFFF) | (slack & 0xFFFF);
}

static unsigned char *trailer_of(uintptr_t place, unsigned class) {
    return (unsigned char *)place + class_infos[class].size - TRAILER_BYTES;
}

static void write_trailer(uintptr_t place, unsigned class, size_t size) {
    unsigned char *trailer = trailer_of(place, class);
    size_t slack = class_infos[class].size - TRAILER_BYTES - size;
    uint64_t word = canary(place, slack);
    memset(trailer - slack, (int)(word >> 56), slack);
    memcpy(trailer, &word, sizeof word);
}

/* The size that was asked for. */
static size_t check_trailer(uintptr_t place, unsigned class) {
    const unsigned char *trailer = trailer_of(place, class);
    size_t room = class_infos[class].size - TRAILER_BYTES;
    uint64_t word;
    memcpy(&word, trailer, sizeof word);
    size_t slack = word & 0xFFFF;
    if (UNLIKELY(word != canary(place, slack) || slack > room)) {
        report_damage((void *)place, room, "overflow behind the end of object");
    }
    for (size_t i = 1; i <= slack; i++) {
        if (UNLIKELY(trailer[-(ptrdiff_t)i] != (unsigned char)(word >> 56))) {
            report_damage((void *)place, room - slack, "overflow behind the end of object");
        }
    }
    return room - slack;
}

static void poison(uintptr_t place) {
    uint64_t words[2] = {canary(place, 1), canary(place, 2)};
    memcpy((void *)place, words, POISON_BYTES);
}

static void check_poison(uintptr_t place, unsigned class) {
    uint64_t words[2];
    memcpy(words, (void *)place, POISON_BYTES);
    if (UNLIKELY(words[0] != canary(place, 1) || words[1] != canary(place, 2))) {
        report_damage((void *)place, class_infos[class].size - TRAILER_BYTES, "write after free to object");
    }
}

/* --- allocate --- */

void hardened_attach(struct heap *heap) {
    if (heap->hardened == NULL) {
        heap->hardened = meta_take(sizeof *heap->hardened);
    }
    struct hardened_heap *own = heap->hardened;
    if (own != NULL) {
        own->seed = os_random() | 1;
        own->until_sample = options.sample_every == 0 ? SIZE_MAX : 1 + draw(own) % (2 * options.sample_every);
        for (unsigned class = 0; class < CLASS_COUNT; class++) {
            own->bins[class].top = NO_MAGAZINE;
        }
        heap->bins = own->bins;
    }
}

/* The thread's heap if it has what hardened mode needs. */
static struct heap *own_heap(void) {
    struct heap *heap = thread_heap();
    return heap != NULL && heap->hardened != NULL ? heap : NULL;
}

static void shuffle(struct hardened_heap *own, void **objects, size_t count) {
    for (size_t i = count; i > 1; i--) {
        size_t pick = (size_t)(draw(own) % i);
        void *picked = objects[pick];
        objects[pick] = objects[i - 1];
        objects[i - 1] = picked;
    }
}

static void *take(unsigned class) {
    struct heap *heap = own_heap();
    if (UNLIKELY(heap == NULL)) {
        return shared_take(class);
    }
    struct bin *bin = &heap->bins[class];
    void *object = bin->top[-1];
    if (LIKELY(object != NULL)) {
        bin->top--;
        return object;
    }
    object = heap_refill(heap, class);
    if (object != NULL) {
        /* The one taken joins the others for the draw. */
        void **begin = magazine_begin(heap, class);
        *bin->top++ = object;
        shuffle(heap->hardened, begin, (size_t)(bin->top - begin));
        object = *--bin->top;
    }
    return object;
}

static void *take_large(size_t size, size_t alignment) {
    bool zero;
    unsigned char *object = allocate_large(size + TRAILER_BYTES, alignment, &zero);
    if (object != NULL) {
        uint64_t word = canary((uintptr_t)object, 0);
        memcpy(object + size, &word, sizeof word);
    }
    return object;
}

static bool sample_is_due(void) {
    struct heap *heap = own_heap();
    if (LIKELY(heap == NULL || --heap->hardened->until_sample != 0)) {
        return false;
    }
    heap->hardened->until_sample = 1 + draw(heap->hardened) % (2 * options.sample_every);
    return true;
}

void *hardened_allocate(size_t size, size_t alignment) {
    if (UNLIKELY(size > PTRDIFF_MAX - TRAILER_BYTES)) {
        return out_of_memory();
    }
    if (UNLIKELY(options.sample_every != 0 && sample_is_due())) {
        void *guarded = guarded_take(size, alignment);
        if (guarded != NULL) {
            return guarded;
        }
    }
    size_t needed = size + TRAILER_BYTES < POISON_BYTES + TRAILER_BYTES ? POISON_BYTES + TRAILER_BYTES : size + TRAILER_BYTES;
    needed = needed > alignment ? needed : alignment;
    if (UNLIKELY(needed > MEDIUM_MAX)) {
        return take_large(size > MEDIUM_MAX ? size : MEDIUM_MAX + 1, alignment);
    }
    unsigned class = class_of(needed);
    while (class_infos[class].size & (alignment - 1)) {
        class++;
    }
    void *object = take(class);
    if (UNLIKELY(object == NULL)) {
        return out_of_memory();
    }
    uintptr_t place = (uintptr_t)object;
    write_trailer(place, class, size);
    state_write(state_of(class, place), live_mark(class, place));
    return object;
}

/* --- release --- */

static void to_magazine(struct heap *heap, unsigned class, void *object) {
    check_poison((uintptr_t)object, class);
    if (entry_of_unit(unit_of((uintptr_t)object)) >> ENTRY_OWNER_SHIFT != heap->id) {
        heap_send(heap, class, object);
        return;
    }
    struct bin *bin = &heap->bins[class];
    if (((uintptr_t)bin->top & (MAGAZINE_BYTES - 1)) == 0) {
        heap_make_room(heap, class);
    }
    *bin->top++ = object;
}

static void quarantine(struct heap *heap, unsigned class, void *object) {
    struct hardened_heap *own = heap->hardened;
    unsigned room = class_infos[class].capacity / 2 < QUARANTINE_MAX ? class_infos[class].capacity / 2u : QUARANTINE_MAX;
    void **slot = &own->quarantine[class][(draw(own) >> 32) * room >> 32];
    void *leaves = *slot;
    *slot = object;
    if (leaves != NULL) {
        to_magazine(heap, class, leaves);
    }
}

static size_t check_large(void *object) {
    size_t size = large_size(object);
    if (size == 0) {
        report_bad_free(object, NULL);
    }
    size -= TRAILER_BYTES;
    uint64_t word;
    memcpy(&word, (unsigned char *)object + size, sizeof word);
    if (word != canary((uintptr_t)object, 0)) {
        report_damage(object, size, "overflow behind the end of object");
    }
    return size;
}

/* The class of a live object of a span, or CLASS_COUNT: then it is large, or an error. */
static unsigned class_at(void *object) {
    uint32_t entry = in_range((uintptr_t)object) ? entry_of_unit(unit_of((uintptr_t)object)) : ENTRY_NONE;
    if (entry >> ENTRY_OWNER_SHIFT == 0) {
        return CLASS_COUNT;
    }
    unsigned class = entry & ((1u << ENTRY_OWNER_SHIFT) - 1);
    check_live(object, class);
    return class;
}

void hardened_release(void *object) {
    if (UNLIKELY(guarded_release(object))) {
        return;
    }
    unsigned class = class_at(object);
    if (UNLIKELY(class == CLASS_COUNT)) {
        (void)check_large(object);
        large_give(object);
        return;
    }
    uintptr_t place = (uintptr_t)object;
    (void)check_trailer(place, class);
    state_write(state_of(class, place), STATE_CACHED);
    struct heap *heap = own_heap();
    if (UNLIKELY(heap == NULL)) {
        heap_return(&object, 1);
        return;
    }
    poison(place);
    quarantine(heap, class, object);
}

size_t hardened_usable(void *object) {
    size_t guarded = guarded_size(object);
    if (guarded != 0) {
        return guarded - 1;
    }
    unsigned class = class_at(object);
    return class == CLASS_COUNT ? check_large(object) : check_trailer((uintptr_t)object, class);
}

void hardened_drain(struct heap *heap) {
    struct hardened_heap *own = heap->hardened;
    for (unsigned class = 0; own != NULL && class < CLASS_COUNT; class++) {
        for (unsigned i = 0; i < QUARANTINE_MAX; i++) {
            void *object = own->quarantine[class][i];
            if (object != NULL) {
                own->quarantine[class][i] = NULL;
                check_poison((uintptr_t)object, class);
                heap_return(&object, 1);
            }
        }
    }
}
