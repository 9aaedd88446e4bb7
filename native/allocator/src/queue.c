/* queue.h: turning queues, and filling them from batches and spans. */
#include "queue.h"

#include "options.h"

static uint64_t draw(struct hardened_heap *own) {
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

/* Which of the two objects are put into; a full first one ends before the
 * second begins. */
static unsigned filled_array(struct hardened_heap *own, unsigned class) {
    return own->queues[class].top >= array_begin(own, class, 1);
}

/* At least 1: a refill may then have one object. */
static void draw_sample(struct hardened_heap *own) {
    size_t every = options.sample_every < UINT32_MAX / 2 ? options.sample_every
                                                         : UINT32_MAX / 2;
    own->until_sample =
        every == 0 ? UINT32_MAX : 1 + (uint32_t)(draw(own) % (2 * every));
}

/* Objects of the class can be guarded: they fit a page. Others do not count, or
 * they would be samples that cannot be taken. */
static bool is_sampled(unsigned class) {
    return class_infos[class].size <= range.page_bytes;
}

/* How many objects a queue of the class may get. */
static size_t most_until_sample(const struct hardened_heap *own,
                                unsigned class) {
    return is_sampled(class) ? own->until_sample : SIZE_MAX;
}

/* A queue got so many, which is at most that. */
static void count_towards_sample(struct hardened_heap *own, unsigned class,
                                 size_t count) {
    if (is_sampled(class)) {
        own->until_sample -= (uint32_t)count;
        if (UNLIKELY(own->until_sample == 0)) {
            own->sample_due[class] = true;
            draw_sample(own);
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
    draw_sample(own);
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        const struct class_info *info = &class_infos[class];
        own->sample_due[class] = false;
        own->queues[class] = (struct queue){
            .next = array_begin(own, class, 0),
            .top = array_begin(own, class, 1),
            .states = range.states[info->shift],
            .lengths = range.lengths[info->shift],
        };
        *own->queues[class].next = NULL;
    }
    return true;
}

/* --- order --- */

static void exchange(void **one, void **two) {
    void *object = *one;
    *one = *two;
    *two = object;
}

/* Of what comes from spans, where neighbours in memory are neighbours in the
 * array. */
static void shuffle(struct hardened_heap *own, void **objects, unsigned count) {
    for (unsigned i = count; i > 1; i--) {
        exchange(&objects[(draw(own) >> 32) * i >> 32], &objects[i - 1]);
    }
}

/* Of what was freed: here and there two are exchanged, so that the order of
 * frees does not tell that of reuse. */
static inline void stir(struct hardened_heap *own, void **objects,
                        size_t count) {
    enum { OBJECTS_PER_DRAW = 16 };
    for (size_t i = 0; i < count; i += OBJECTS_PER_DRAW) {
        uint64_t drawn = draw(own);
        exchange(&objects[(drawn & UINT16_MAX) * count >> 16],
                 &objects[(drawn >> 16 & UINT16_MAX) * count >> 16]);
        exchange(&objects[(drawn >> 32 & UINT16_MAX) * count >> 16],
                 &objects[(drawn >> 48) * count >> 16]);
    }
}

/* --- turns --- */

/* A queue is turned when this many quarters of a magazine were freed, of which
 * all but one are then there to be taken. More would be fewer turns and a
 * colder ring, and cut_to_sample would need room elsewhere. */
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

/* turn_class, inlined where the capacity is known: most classes have the same.
 */
static inline bool turn(struct hardened_heap *own, unsigned class,
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
    size_t most = most_until_sample(own, class);
    moved = LIKELY(moved < most) ? moved : most;
    count_towards_sample(own, class, moved);
    copy(other, begin + moved, count - moved);
    begin[moved] = NULL;
    stir(own, begin, moved);
    queue->next = begin;
    queue->top = other + (count - moved);
    return true;
}

/* The filled array is taken from now on, but for the newest quarter of a
 * magazine: these begin the other one. False: too little was freed, and a turn
 * is not yet worth it. */
static bool turn_class(struct hardened_heap *own, unsigned class) {
    size_t capacity = class_infos[class].capacity;
    return LIKELY(capacity == MAGAZINE_SLOTS - 1)
               ? turn(own, class, MAGAZINE_SLOTS - 1)
               : turn(own, class, capacity);
}

/* More than until the next sample goes before what was freed: a later turn
 * takes that first. There is room: less than half a magazine was freed, or
 * there had been a turn, and a batch is half of one at most. */
static unsigned cut_to_sample(struct hardened_heap *own, unsigned class,
                              void **begin, unsigned count) {
    size_t most = most_until_sample(own, class);
    if (UNLIKELY(count > most)) {
        struct queue *queue = &own->queues[class];
        void **freed = array_begin(own, class, filled_array(own, class));
        unsigned surplus = count - (unsigned)most;
        count -= surplus;
        memmove(freed + surplus, freed,
                (size_t)(queue->top - freed) * sizeof *freed);
        memcpy(freed, begin + count, surplus * sizeof *freed);
        queue->top += surplus;
    }
    count_towards_sample(own, class, count);
    return count;
}

/* What comes from a batch has its poison; what comes from a span may be new.
 * While objects circulate, spans are asked for as few as a turn lacks: every
 * further one would only make the ring longer, and colder. */
static SLOW bool refill_from_heap(struct hardened_heap *own, unsigned class) {
    struct queue *queue = &own->queues[class];
    unsigned filled = filled_array(own, class);
    void **begin = array_begin(own, class, 1 - filled);
    unsigned count = heap_take_batch(own->heap, class, begin);
    if (count > 0) {
        stir(own, begin, count);
    } else {
        unsigned most = class_infos[class].batch, least = (most + 3) / 4;
        unsigned freed =
            (unsigned)(queue->top - array_begin(own, class, filled));
        count = heap_take_spans(own->heap, class, begin,
                                freed + least < most ? most - freed : least);
        for (unsigned i = 0; i < count; i++) {
            poison((uintptr_t)begin[i]);
        }
        shuffle(own, begin, count);
    }
    count = cut_to_sample(own, class, begin, count);
    begin[count] = NULL;
    queue->next = begin;
    return count > 0;
}

bool queue_refill(struct hardened_heap *own, unsigned class) {
    return LIKELY(turn_class(own, class)) || refill_from_heap(own, class);
}

/* What goes to the spares keeps its poison and is checked when it comes back,
 * or goes on to its span. */
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
