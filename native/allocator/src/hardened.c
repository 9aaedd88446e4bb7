/* hardened.h. Entries, states, magazines, spans and exchange are those of default mode; what is added lies
 * around the object and between a free and the object's next use. */
#include "hardened.h"

#include "alloc.h"
#include "guarded.h"
#include "large.h"
#include "options.h"

#include <string.h>

enum { CANARY_BYTES = 8, REST_BYTES = 2, POISON_BYTES = 16, QUARANTINE_MAX = 32 };

struct hardened_heap {
    struct bin bins[CLASS_COUNT];
    void *quarantine[CLASS_COUNT][QUARANTINE_MAX];
    uint64_t seed;
    size_t until_sample;
};

static uint64_t secret; /* written before the first thread attaches, never again */

static uint64_t draw(struct hardened_heap *own) {
    own->seed ^= own->seed << 13;
    own->seed ^= own->seed >> 7;
    own->seed ^= own->seed << 17;
    return own->seed;
}

/* --- what lies around an object --- */

static inline uint64_t canary(uintptr_t place, size_t rest) {
    return ((secret ^ place) + rest) * 0x9E3779B97F4A7C15u;
}

static inline void write_canary(uintptr_t place, unsigned class, size_t size) {
    size_t room = class_infos[class].size - CANARY_BYTES - REST_BYTES;
    uint16_t rest = (uint16_t)(room - size);
    uint64_t word = canary(place, rest);
    memcpy((unsigned char *)place + room + CANARY_BYTES, &rest, sizeof rest);
    memcpy((unsigned char *)place + size, &word, sizeof word);
}

/* The size that was asked for. A length of rest that was overwritten points to where no canary is. */
static inline size_t check_canary(uintptr_t place, unsigned class) {
    size_t room = class_infos[class].size - CANARY_BYTES - REST_BYTES;
    uint16_t rest;
    uint64_t word;
    memcpy(&rest, (unsigned char *)place + room + CANARY_BYTES, sizeof rest);
    if (UNLIKELY(rest > room)) {
        report_damage((void *)place, room, "overflow behind the end of object");
    }
    memcpy(&word, (unsigned char *)place + room - rest, sizeof word);
    if (UNLIKELY(word != canary(place, rest))) {
        report_damage((void *)place, room - rest, "overflow behind the end of object");
    }
    return room - rest;
}

static inline void poison(uintptr_t place) {
    uint64_t words[2] = {canary(place, 1u << 16), ~canary(place, 1u << 16)};
    memcpy((void *)place, words, POISON_BYTES);
}

static inline void check_poison(uintptr_t place, unsigned class) {
    uint64_t words[2];
    memcpy(words, (void *)place, POISON_BYTES);
    if (UNLIKELY(words[0] != canary(place, 1u << 16) || words[1] != ~words[0])) {
        report_damage((void *)place, class_infos[class].size, "write after free to block");
    }
}

/* --- allocate --- */

void hardened_start(void) { secret = os_random(); }

bool hardened_prepare(struct heap *heap) {
    if (heap->hardened == NULL) {
        heap->hardened = meta_take(sizeof *heap->hardened);
    }
    struct hardened_heap *own = heap->hardened;
    if (own == NULL) {
        return false;
    }
    own->seed = os_random() | 1;
    own->until_sample = options.sample_every == 0 ? SIZE_MAX : 1 + draw(own) % (2 * options.sample_every);
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        own->bins[class].top = NO_MAGAZINE;
    }
    return true;
}

static void shuffle(struct hardened_heap *own, void **objects, size_t count) {
    for (size_t i = count; i > 1; i--) {
        size_t pick = (size_t)(draw(own) % i);
        void *picked = objects[pick];
        objects[pick] = objects[i - 1];
        objects[i - 1] = picked;
    }
}

struct bin *hardened_bins(struct heap *heap) {
    return heap->hardened->bins;
}

/* The one a refill took joins the others for the draw. */
static SLOW void *refill(struct heap *heap, unsigned class) {
    void *object = heap_refill(heap, class);
    if (object != NULL) {
        struct bin *bin = &heap->bins[class];
        void **begin = magazine_begin(heap, class);
        *bin->top++ = object;
        shuffle(heap->hardened, begin, (size_t)(bin->top - begin));
        object = *--bin->top;
    }
    return object;
}

static void *take_large(size_t size, size_t alignment) {
    bool zero;
    unsigned char *object = allocate_large(size + CANARY_BYTES, alignment, &zero);
    if (object != NULL) {
        uint64_t word = canary((uintptr_t)object, 0);
        memcpy(object + size, &word, sizeof word);
    }
    return object;
}

static SLOW void *take_sampled(struct heap *heap, size_t size, size_t alignment) {
    heap->hardened->until_sample = 1 + draw(heap->hardened) % (2 * options.sample_every);
    return guarded_take(size, alignment);
}

static inline void *take(struct heap *heap, unsigned class) {
    if (UNLIKELY(heap == NULL)) {
        return shared_take(class);
    }
    struct bin *bin = &heap->bins[class];
    void *object = bin->top[-1];
    if (UNLIKELY(object == NULL)) {
        return refill(heap, class);
    }
    bin->top--;
    return object;
}

void *hardened_allocate(size_t size, size_t alignment) {
    struct heap *heap = thread_heap();
    if (UNLIKELY(heap != NULL && --heap->hardened->until_sample == 0)) {
        void *guarded = take_sampled(heap, size, alignment);
        if (guarded != NULL) {
            return guarded;
        }
    }
    size_t needed = size + CANARY_BYTES + REST_BYTES;
    if (UNLIKELY(size > MEDIUM_MAX - CANARY_BYTES - REST_BYTES || alignment > MEDIUM_MAX)) {
        return size > PTRDIFF_MAX - CANARY_BYTES ? out_of_memory() : take_large(size, alignment);
    }
    unsigned class = class_of(needed > alignment ? needed : alignment);
    while (UNLIKELY(class < CLASS_COUNT && (class_infos[class].size & (alignment - 1)) != 0)) {
        class ++;
    }
    if (UNLIKELY(class == CLASS_COUNT)) {
        return take_large(size, alignment);
    }
    void *object = take(heap, class);
    if (UNLIKELY(object == NULL)) {
        return out_of_memory();
    }
    uintptr_t place = (uintptr_t)object;
    write_canary(place, class, size);
    state_write(state_of(class, place), live_mark(class, place));
    return object;
}

/* --- release --- */

static inline void to_magazine(struct heap *heap, unsigned class, void *object) {
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

static inline void quarantine(struct heap *heap, unsigned class, void *object) {
    struct hardened_heap *own = heap->hardened;
    uint64_t room = class_infos[class].capacity / 2u + 1;
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
    size -= CANARY_BYTES;
    uint64_t word;
    memcpy(&word, (unsigned char *)object + size, sizeof word);
    if (word != canary((uintptr_t)object, 0)) {
        report_damage(object, size, "overflow behind the end of object");
    }
    return size;
}

/* The class of a live object of a span, or CLASS_COUNT: then it is large, or an error. */
static inline unsigned class_at(void *object) {
    uint32_t entry = in_range((uintptr_t)object) ? entry_of_unit(unit_of((uintptr_t)object)) : ENTRY_NONE;
    if (entry >> ENTRY_OWNER_SHIFT == 0) {
        return CLASS_COUNT;
    }
    unsigned class = entry_class(entry);
    check_live(object, class);
    return class;
}

void hardened_release(void *object) {
    if (UNLIKELY(is_guarded(object))) {
        guarded_release(object);
        return;
    }
    unsigned class = class_at(object);
    if (UNLIKELY(class == CLASS_COUNT)) {
        (void)check_large(object);
        large_give(object);
        return;
    }
    uintptr_t place = (uintptr_t)object;
    (void)check_canary(place, class);
    state_write(state_of(class, place), STATE_CACHED);
    struct heap *heap = thread_heap();
    if (UNLIKELY(heap == NULL)) {
        heap_return(&object, 1);
        return;
    }
    poison(place);
    quarantine(heap, class, object);
}

size_t hardened_usable(void *object) {
    if (UNLIKELY(is_guarded(object))) {
        return guarded_size(object);
    }
    unsigned class = class_at(object);
    return class == CLASS_COUNT ? check_large(object) : check_canary((uintptr_t)object, class);
}

void hardened_drain(struct heap *heap) {
    struct hardened_heap *own = heap->hardened;
    for (unsigned class = 0; own != NULL && class < CLASS_COUNT; class ++) {
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
