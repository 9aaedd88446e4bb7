/* Implements queue.h: turns queues, and refills them from batches and spans. */
#include "queue.h"

#include "options.h"
#include "sweep.h"

static uint64_t next_random(struct hardened_heap *own) {
    own->seed ^= own->seed << 13;
    own->seed ^= own->seed >> 7;
    own->seed ^= own->seed << 17;
    return own->seed;
}

static void **array_begin(struct hardened_heap *own, unsigned class,
                          unsigned which) {
    return &own->arrays[class][which]
                       [MAGAZINE_SLOTS - class_infos[class].capacity];
}

/* The index of the array that `top` is in. The top of a full first array is
 * still below the begin of the second. */
static unsigned filled_array(struct hardened_heap *own, unsigned class) {
    return own->queues[class].top >= array_begin(own, class, 1);
}

/* Sets until_sample to at least 1, so that a refill may have one object. */
static void choose_next_sample(struct hardened_heap *own) {
    size_t every = options.sample_every < UINT32_MAX / 2 ? options.sample_every
                                                         : UINT32_MAX / 2;
    own->until_sample = every == 0
                            ? UINT32_MAX
                            : 1 + (uint32_t)(next_random(own) % (2 * every));
}

/* Whether objects of the class fit a page, so that they can be guarded. Larger
 * objects are not counted, because they could not be taken as samples. */
static bool is_sampled(unsigned class) {
    return class_infos[class].size <= range.page_bytes;
}

/* How many objects a queue of the class may get before the next sample. */
static size_t limit_until_sample(const struct hardened_heap *own,
                                 unsigned class) {
    return is_sampled(class) ? own->until_sample : SIZE_MAX;
}

/* Counts objects that a queue got; `count` must not exceed
 * limit_until_sample. */
static void count_towards_sample(struct hardened_heap *own, unsigned class,
                                 size_t count) {
    if (is_sampled(class)) {
        own->until_sample -= (uint32_t)count;
        if (UNLIKELY(own->until_sample == 0)) {
            own->sample_due[class] = true;
            choose_next_sample(own);
        }
    }
}

bool queue_sample(struct hardened_heap *own, unsigned class) {
    bool due = own->sample_due[class];
    own->sample_due[class] = false;
    return due;
}

bool queues_prepare(struct heap *heap) {
    if (heap->hardened == NULL) {
        heap->hardened = meta_take(sizeof *heap->hardened);
    }
    struct hardened_heap *own = heap->hardened;
    if (own == NULL) {
        return false;
    }
    own->heap = heap;
    own->seed = os_random() | 1;
    choose_next_sample(own);
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        const struct class_info *info = &class_infos[class];
        own->sample_due[class] = false;
        own->queues[class] = (struct queue){
            .next = array_begin(own, class, 0),
            .top = array_begin(own, class, 1),
            .states = range.states[info->shift],
            .lengths = range.lengths[info->shift],
            .to_front = info->size * canary_secrets.factor,
            .second_poison = second_poison(class),
        };
        *own->queues[class].next = NULL;
    }
    return true;
}

/* --- order --- */

static void swap(void **one, void **two) {
    void *object = *one;
    *one = *two;
    *two = object;
}

/* Puts objects into a random order. Used for objects from spans, because they
 * arrive in the order of their addresses. */
static void shuffle(struct hardened_heap *own, void **objects, unsigned count) {
    for (unsigned i = count; i > 1; i--) {
        swap(&objects[(next_random(own) >> 32) * i >> 32], &objects[i - 1]);
    }
}

/* Swaps a few random pairs. Used for freed objects, so that the order of frees
 * does not reveal the order of reuse; a full shuffle would cost more. */
static inline void swap_some(struct hardened_heap *own, void **objects,
                             size_t count) {
    enum { OBJECTS_PER_DRAW = 16 };
    for (size_t i = 0; i < count; i += OBJECTS_PER_DRAW) {
        uint64_t random = next_random(own);
        swap(&objects[(random & UINT16_MAX) * count >> 16],
             &objects[(random >> 16 & UINT16_MAX) * count >> 16]);
        swap(&objects[(random >> 32 & UINT16_MAX) * count >> 16],
             &objects[(random >> 48) * count >> 16]);
    }
}

/* --- turns --- */

/* A queue is turned once this many quarters of a magazine were freed. A turn
 * makes all but one quarter available. A larger number would make turns rarer,
 * but objects would be colder when they are reused, and cut_to_sample would
 * find no room for its surplus. */
enum { QUARTERS_FOR_TURN = 2 };

static inline void copy(void **to, void **from, size_t count) {
    enum { USUAL = MAGAZINE_SLOTS / 4 - 1 };
    if (LIKELY(count == USUAL)) {
        memcpy(to, from, USUAL * sizeof *to);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

/* The body of turn_class. It is inlined for the capacity that most classes
 * have, which makes the copies fixed in size. */
static inline bool turn_with_capacity(struct hardened_heap *own, unsigned class,
                                      size_t capacity) {
    struct queue *queue = &own->queues[class];
    void **first = own->arrays[class][0] + MAGAZINE_SLOTS - capacity,
         **second = first + MAGAZINE_SLOTS;
    void **top = queue->top;
    void **begin = top >= second ? second : first;
    void **other = top >= second ? first : second;
    size_t count = (size_t)(top - begin);
    size_t keep = capacity / 4u;
    if (count < QUARTERS_FOR_TURN * keep || UNLIKELY(own->sample_due[class])) {
        return false;
    }
    size_t moved = count - keep;
    size_t limit = limit_until_sample(own, class);
    moved = LIKELY(moved < limit) ? moved : limit;
    count_towards_sample(own, class, moved);
    copy(other, begin + moved, count - moved);
    begin[moved] = NULL;
    swap_some(own, begin, moved);
    queue->next = begin;
    queue->top = other + (count - moved);
    return true;
}

/* Makes the freed objects available, except for the newest quarter of a
 * magazine, which moves to the begin of the other array. Returns false if too
 * few objects were freed for a turn. */
static bool turn_class(struct hardened_heap *own, unsigned class) {
    size_t capacity = class_infos[class].capacity;
    return LIKELY(capacity == MAGAZINE_SLOTS - 1)
               ? turn_with_capacity(own, class, MAGAZINE_SLOTS - 1)
               : turn_with_capacity(own, class, capacity);
}

/* Returns how many of `count` new objects may be available before the next
 * sample. The surplus moves in front of the freed objects, so that a later turn
 * makes it available first. There is room for it: fewer than half a magazine of
 * objects were freed (otherwise the queue would have been turned), and a batch
 * has at most half a magazine. */
static unsigned cut_to_sample(struct hardened_heap *own, unsigned class,
                              void **begin, unsigned count) {
    size_t limit = limit_until_sample(own, class);
    if (UNLIKELY(count > limit)) {
        struct queue *queue = &own->queues[class];
        void **freed = array_begin(own, class, filled_array(own, class));
        unsigned surplus = count - (unsigned)limit;
        count -= surplus;
        memmove(freed + surplus, freed,
                (size_t)(queue->top - freed) * sizeof *freed);
        memcpy(freed, begin + count, surplus * sizeof *freed);
        queue->top += surplus;
    }
    count_towards_sample(own, class, count);
    return count;
}

/* Takes a batch, or else objects from spans. Objects of a batch are poisoned
 * already; objects of a span may be new and get their fences and poison here.
 * Spans give only as many objects as the next turn lacks: more would circulate
 * for longer without being used, and get colder. */
static SLOW bool refill_from_heap(struct hardened_heap *own, unsigned class) {
    struct queue *queue = &own->queues[class];
    unsigned filled = filled_array(own, class);
    void **begin = array_begin(own, class, 1 - filled);
    unsigned count = heap_take_batch(own->heap, class, begin);
    if (count > 0) {
        swap_some(own, begin, count);
    } else {
        unsigned most = class_infos[class].batch, least = (most + 3) / 4;
        unsigned freed =
            (unsigned)(queue->top - array_begin(own, class, filled));
        count = heap_take_spans(own->heap, class, begin,
                                freed + least < most ? most - freed : least);
        for (unsigned i = 0; i < count; i++) {
            uintptr_t place = (uintptr_t)begin[i];
            write_fences(place, class);
            poison(canary(place), place, queue->second_poison);
        }
        shuffle(own, begin, count);
    }
    count = cut_to_sample(own, class, begin, count);
    begin[count] = NULL;
    queue->next = begin;
    return count > 0;
}

bool queue_refill(struct hardened_heap *own, unsigned class) {
    /* A turn is of more objects than most refills, and much more frequent. */
    enum { LOOKS_PER_TURN = 1, LOOKS_PER_REFILL = 8 };
    if (LIKELY(turn_class(own, class))) {
        sweep(LOOKS_PER_TURN);
        return true;
    }
    sweep(LOOKS_PER_REFILL);
    return refill_from_heap(own, class);
}

/* Turns the queue, or else puts its oldest batch into the heap. Objects of that
 * batch stay poisoned; the poison is checked when they are taken again or return
 * to their span. */
void queue_make_room(struct hardened_heap *own, unsigned class) {
    struct queue *queue = &own->queues[class];
    if (*queue->next == NULL && turn_class(own, class)) {
        return;
    }
    void **begin = array_begin(own, class, filled_array(own, class));
    unsigned count = class_infos[class].batch;
    heap_put_batch(own->heap, class, begin, count);
    queue->top -= count;
    memmove(begin, begin + count, (size_t)(queue->top - begin) * sizeof *begin);
}

void queues_drain(struct heap *heap) {
    struct hardened_heap *own = heap->hardened;
    for (unsigned class = 0; own != NULL && class < CLASS_COUNT; class++) {
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
