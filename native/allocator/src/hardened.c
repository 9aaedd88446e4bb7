/* hardened.h. Entries, states, batches, spans and exchange are those of default mode. */
#include "hardened.h"

#include "alloc.h"
#include "canary.h"
#include "decay.h"
#include "guarded.h"
#include "large.h"
#include "options.h"

/* Two arrays that change roles: freed objects are put at `top` of one, objects are taken at `next` of the
 * other, which ends with NULL. Both end at a multiple of MAGAZINE_BYTES, as magazines do. When the second is
 * empty they are turned: first freed, first taken, without a count or a wrap on the way. */
struct queue {
    void **next;
    void **top;
    states_t states;
    size_t room; /* what can be asked for of a block of the class */
};

struct hardened_heap {
    struct queue queues[CLASS_COUNT];
    /* As in struct cache, where grains are 0. */
    uintptr_t base, grains;
    _Atomic uint32_t *entries;
    uint32_t tag;
    uint32_t until_sample; /* allocations; 0: the next is the one, if any is */
    struct heap *heap;
    uint64_t seed;
    alignas(MAGAZINE_BYTES) void *arrays[CLASS_COUNT][2][MAGAZINE_SLOTS];
    void *behind_the_last; /* slot 0 of an array is where the one before it ends with NULL */
};

uint64_t canary_secret;

static uint64_t draw(struct hardened_heap *own) {
    own->seed ^= own->seed << 13;
    own->seed ^= own->seed >> 7;
    own->seed ^= own->seed << 17;
    return own->seed;
}

static void **array_begin(struct hardened_heap *own, unsigned class, unsigned which) {
    return &own->arrays[class][which][MAGAZINE_SLOTS - class_infos[class].capacity];
}

/* Which of the two objects are put into; a full first one ends before the second begins. */
static unsigned filled_array(struct hardened_heap *own, unsigned class) {
    return own->queues[class].top >= array_begin(own, class, 1);
}

/* --- heaps --- */

void hardened_start(void) { canary_secret = os_random(); }

static void draw_sample(struct hardened_heap *own) {
    uint64_t drawn = draw(own) % (2 * options.sample_every + 1);
    own->until_sample = options.sample_every == 0 ? UINT32_MAX : (uint32_t)drawn;
}

bool hardened_prepare(struct heap *heap) {
    if (heap->hardened == NULL) {
        heap->hardened = meta_take(sizeof *heap->hardened);
    }
    struct hardened_heap *own = heap->hardened;
    if (own == NULL) {
        return false;
    }
    own->heap = heap;
    own->seed = os_random() | 1;
    own->base = range.base;
    own->grains = range.bytes >> GRAIN_SHIFT;
    own->entries = range.entries;
    own->tag = entry_for(heap->id, 0);
    draw_sample(own);
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        const struct class_info *info = &class_infos[class];
        own->queues[class] = (struct queue){
            .next = array_begin(own, class, 0),
            .top = array_begin(own, class, 1),
            .states = range.states[info->shift],
            .room = info->size - CANARY_ROOM,
        };
        *own->queues[class].next = NULL;
    }
    return true;
}

/* --- queues --- */

static void shuffle(struct hardened_heap *own, void **objects, unsigned count) {
    for (unsigned i = count; i > 1; i--) {
        unsigned pick = (unsigned)((draw(own) >> 32) * i >> 32);
        void *picked = objects[pick];
        objects[pick] = objects[i - 1];
        objects[i - 1] = picked;
    }
}

/* The filled array is taken from now on, but for the newest quarter: these begin the other one. False: it has
 * less than three quarters, and a turn is not yet worth it. A few are exchanged at random, so that the order
 * of frees does not tell that of reuse. */
static bool turn(struct hardened_heap *own, unsigned class) {
    enum { OBJECTS_PER_EXCHANGE = 8 };
    struct queue *queue = &own->queues[class];
    unsigned filled = filled_array(own, class);
    void **begin = array_begin(own, class, filled);
    size_t count = (size_t)(queue->top - begin);
    size_t keep = class_infos[class].capacity / 4u;
    if (count < 3 * keep) {
        return false;
    }
    void **other = array_begin(own, class, 1 - filled);
    count -= keep;
    for (size_t i = 0; i < keep; i++) {
        other[i] = begin[count + i];
    }
    begin[count] = NULL;
    for (size_t i = 0; i < count; i += OBJECTS_PER_EXCHANGE) {
        uint64_t drawn = draw(own);
        void **one = begin + ((drawn & UINT32_MAX) * count >> 32),
             **two = begin + ((drawn >> 32) * count >> 32);
        void *object = *one;
        *one = *two;
        *two = object;
    }
    queue->next = begin;
    queue->top = other + keep;
    return true;
}

/* What comes from a batch has its poison; what comes from a span may be new. False: memory is out. */
static SLOW bool refill(struct hardened_heap *own, unsigned class) {
    if (turn(own, class)) {
        return true;
    }
    void **begin = array_begin(own, class, 1 - filled_array(own, class));
    unsigned count = heap_take_batch(own->heap, class, begin);
    if (count == 0) {
        count = heap_take_spans(own->heap, class, begin);
        for (unsigned i = 0; i < count; i++) {
            poison((uintptr_t)begin[i]);
        }
    }
    shuffle(own, begin, count);
    begin[count] = NULL;
    own->queues[class].next = begin;
    return count > 0;
}

/* A batch leaves the queue for the spares. */
static void send_away(struct hardened_heap *own, unsigned class, void **objects, unsigned count) {
    hardened_check(objects, count);
    heap_put_batch(own->heap, class, objects, count);
}

static SLOW void make_room(struct hardened_heap *own, unsigned class) {
    struct queue *queue = &own->queues[class];
    if (*queue->next == NULL && turn(own, class)) {
        return;
    }
    void **begin = array_begin(own, class, filled_array(own, class));
    unsigned count = class_infos[class].batch;
    send_away(own, class, begin, count);
    queue->top -= count;
    memmove(begin, begin + count, (size_t)(queue->top - begin) * sizeof *begin);
}

void hardened_check(void *const *objects, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        uintptr_t place = (uintptr_t)objects[i];
        check_poison(place, class_infos[span_of(place)->class].size);
    }
}

void hardened_drain(struct heap *heap) {
    struct hardened_heap *own = heap->hardened;
    for (unsigned class = 0; own != NULL && class < CLASS_COUNT; class ++) {
        struct queue *queue = &own->queues[class];
        void **begin = array_begin(own, class, filled_array(own, class));
        heap_return(begin, (unsigned)(queue->top - begin));
        queue->top = begin;
        void **end = queue->next;
        while (*end != NULL) {
            end++;
        }
        heap_return(queue->next, (unsigned)(end - queue->next));
        queue->next = end;
    }
}

/* --- allocate --- */

static void *take_large(size_t size, size_t alignment) {
    bool zero;
    unsigned char *object = allocate_large(size + CANARY_BYTES, alignment, &zero);
    if (object != NULL) {
        uint64_t word = canary((uintptr_t)object, 0);
        memcpy(object + size, &word, sizeof word);
    }
    return object;
}

static inline void *take(struct hardened_heap *own, unsigned class, size_t size) {
    struct queue *queue = &own->queues[class];
    if (UNLIKELY(*queue->next == NULL) && !refill(own, class)) {
        return NULL;
    }
    uintptr_t place = (uintptr_t)*queue->next++;
    check_poison(place, queue->room + CANARY_ROOM);
    write_canary_by(canary(place, 0), place, queue->room, size);
    state_write(state_at(queue->states, place), live_mark(class, place));
    return (void *)place;
}

/* A thread that has ended: one at a time, without a quarantine. */
static void *take_shared(unsigned class, size_t size) {
    void *object = shared_take(class);
    if (object != NULL) {
        uintptr_t place = (uintptr_t)object;
        write_canary(place, class_infos[class].size, size);
        state_write(state_of(class, place), live_mark(class, place));
    }
    return object;
}

static unsigned class_for(size_t size, size_t alignment) {
    unsigned class = class_of(size > alignment ? size : alignment);
    while (class < CLASS_COUNT && (class_infos[class].size & (alignment - 1)) != 0) {
        class ++;
    }
    return class;
}

SLOW void *hardened_allocate(size_t size, size_t alignment) {
    decay_tick();
    struct heap *heap = thread_heap();
    struct hardened_heap *own = heap == NULL ? NULL : heap->hardened;
    if (own != NULL && own->until_sample-- == 0) {
        draw_sample(own);
        void *guarded = options.sample_every == 0 ? NULL : guarded_take(size, alignment);
        if (guarded != NULL) {
            return guarded;
        }
    }
    unsigned class = CLASS_COUNT;
    if (size <= MEDIUM_MAX - CANARY_ROOM && alignment <= MEDIUM_MAX) {
        class = class_for(size + CANARY_ROOM, alignment);
    }
    if (UNLIKELY(class == CLASS_COUNT)) {
        return size > PTRDIFF_MAX - CANARY_BYTES ? out_of_memory() : take_large(size, alignment);
    }
    void *object = own != NULL ? take(own, class, size) : take_shared(class, size);
    return object != NULL ? object : out_of_memory();
}

void *hardened_malloc(size_t size, struct hardened_heap *own) {
    if (LIKELY(size <= SMALL_MAX - CANARY_ROOM)) {
        struct queue *queue = &own->queues[class_of_small(size + CANARY_ROOM)];
        __asm__("" : "+r"(queue)); /* or it is computed twice */
        void **next = queue->next;
        uintptr_t place = (uintptr_t)*next;
        if (LIKELY(place != 0 && own->until_sample != 0)) {
            own->until_sample--;
            queue->next = next + 1;
            uint64_t key = canary(place, 0);
            if (UNLIKELY(!is_poisoned_by(key, place))) {
                return report_late_write(place, queue->room + CANARY_ROOM);
            }
            write_canary_by(key, place, queue->room, size);
            state_write(state_at(queue->states, place), live_mark_small(place));
            return (void *)place;
        }
    }
    return hardened_allocate(size, 1);
}

/* --- release --- */

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
static unsigned class_at(void *object) {
    uint32_t entry = in_range((uintptr_t)object) ? entry_of_unit(unit_of((uintptr_t)object)) : ENTRY_NONE;
    if (entry >> ENTRY_OWNER_SHIFT == 0) {
        return CLASS_COUNT;
    }
    unsigned class = entry_class(entry);
    check_live(object, class);
    return class;
}

static inline void put(struct hardened_heap *own, unsigned class, void *object) {
    struct queue *queue = &own->queues[class];
    if (UNLIKELY(((uintptr_t)queue->top & (MAGAZINE_BYTES - 1)) == 0)) {
        make_room(own, class);
    }
    *queue->top++ = object;
}

SLOW void hardened_release(void *object) {
    if (object == NULL) {
        return;
    }
    decay_tick();
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
    (void)check_canary(place, class_infos[class].size);
    state_write(state_of(class, place), STATE_CACHED);
    poison(place);
    struct heap *heap = thread_heap();
    if (UNLIKELY(heap == NULL)) {
        heap_return(&object, 1);
    } else if (entry_of_unit(unit_of(place)) >> ENTRY_OWNER_SHIFT != heap->id) {
        heap_send(heap, class, object);
    } else {
        put(heap->hardened, class, object);
    }
}

/* An entry minus the tag is the offset of a bin; a queue is so many times as long. */
enum { QUEUE_BYTES_PER_BIN_BYTE = sizeof(struct queue) / sizeof(struct bin) };
_Static_assert(sizeof(struct queue) % sizeof(struct bin) == 0, "queues follow one another as bins do");

/* The path of alloc.h's release, with the canary and a queue. */
void hardened_free(void *object, struct hardened_heap *own) {
    uintptr_t place = (uintptr_t)object;
    uintptr_t offset = place - own->base;
    uintptr_t grain = offset >> GRAIN_SHIFT | offset << (64 - GRAIN_SHIFT);
    if (LIKELY(grain < own->grains)) {
        uint32_t offset_of_bin =
            atomic_load_explicit(&own->entries[grain >> (UNIT_SHIFT - GRAIN_SHIFT)], memory_order_relaxed) -
            own->tag;
        if (LIKELY(offset_of_bin < SMALL_CLASSES << ENTRY_CLASS_SHIFT)) {
            struct queue *queue =
                (struct queue *)((char *)own->queues + (size_t)offset_of_bin * QUEUE_BYTES_PER_BIN_BYTE);
            uint64_t key = canary(place, 0);
            _Atomic uint8_t *state = state_at(queue->states, place);
            void **top = queue->top;
            if (LIKELY(state_read(state) == live_mark_small(place) &&
                       ((uintptr_t)top & (MAGAZINE_BYTES - 1)) != 0 &&
                       has_canary_by(key, place, queue->room))) {
                state_write(state, STATE_CACHED);
                poison_by(key, place);
                *top = object;
                queue->top = top + 1;
                return;
            }
        }
    }
    hardened_release(object);
}

size_t hardened_usable(void *object) {
    if (UNLIKELY(is_guarded(object))) {
        return guarded_size(object);
    }
    unsigned class = class_at(object);
    return class == CLASS_COUNT ? check_large(object)
                                : check_canary((uintptr_t)object, class_infos[class].size);
}

bool hardened_resize(void *object, size_t size) {
    if (is_guarded(object)) {
        return false;
    }
    unsigned class = class_at(object);
    if (class == CLASS_COUNT) {
        return false;
    }
    size_t block = class_infos[class].size;
    size_t old_size = check_canary((uintptr_t)object, block);
    if (size > block - CANARY_ROOM || size < old_size / 2) {
        return false;
    }
    write_canary((uintptr_t)object, block, size);
    return true;
}
