/* heap.h: batches on their way between threads.
 *
 * A freed object of another owner joins the outgoing batch of its class. A full
 * batch goes to the owner with one atomic exchange for up to 30 objects, without
 * touching a block. An inbox is a stack that is always taken as a whole, so its
 * links have no ABA problem. */
#include "heap.h"

enum { BLANKS_AT_ONCE = 8, BLANKS_KEPT = 24 };

static struct {
    struct os_lock lock;
    struct batch *blank;
} pool;

static void blanks_get(struct heap *heap) {
    os_lock(&pool.lock);
    for (unsigned i = 0; i < BLANKS_AT_ONCE && pool.blank != NULL; i++) {
        struct batch *batch = pool.blank;
        pool.blank = batch->next;
        batch->next = heap->blank;
        heap->blank = batch;
        heap->blank_count++;
    }
    os_unlock(&pool.lock);
    if (heap->blank != NULL) {
        return;
    }
    struct batch *fresh = meta_take(BLANKS_AT_ONCE * sizeof *fresh);
    for (unsigned i = 0; fresh != NULL && i < BLANKS_AT_ONCE; i++) {
        fresh[i].next = heap->blank;
        heap->blank = &fresh[i];
        heap->blank_count++;
    }
}

static void blanks_give(struct heap *heap) {
    os_lock(&pool.lock);
    for (unsigned i = 0; i < BLANKS_KEPT / 2; i++) {
        struct batch *batch = heap->blank;
        heap->blank = batch->next;
        batch->next = pool.blank;
        pool.blank = batch;
    }
    os_unlock(&pool.lock);
    heap->blank_count -= BLANKS_KEPT / 2;
}

struct batch *batch_blank(struct heap *heap) {
    if (heap->blank == NULL) {
        blanks_get(heap);
    }
    struct batch *batch = heap->blank;
    if (batch != NULL) {
        heap->blank = batch->next;
        heap->blank_count--;
        batch->next = NULL;
        batch->count = 0;
    }
    return batch;
}

void batch_discard(struct heap *heap, struct batch *batch) {
    batch->next = heap->blank;
    heap->blank = batch;
    if (++heap->blank_count > BLANKS_KEPT) {
        blanks_give(heap);
    }
}

void batches_return(struct heap *heap, struct batch *batch) {
    for (struct batch *next; batch != NULL; batch = next) {
        next = batch->next;
        heap_return(batch->objects, batch->count);
        batch_discard(heap, batch);
    }
}

struct batch *heap_receive(struct heap *heap, unsigned class) {
    /* Not relaxed: a thread that ends looks here after it has said so, a sender
     * asks for that after its push (deliver), and one of the two must see the
     * other. */
    if (atomic_load(&heap->inbox[class]) == NULL) {
        return NULL;
    }
    heap->inbox_waits[class] = false;
    struct batch *all = atomic_exchange(&heap->inbox[class], NULL);
    uint32_t count = 0;
    for (const struct batch *batch = all; batch != NULL; batch = batch->next) {
        count++;
    }
    count_up(&heap->batches_received, count);
    return all;
}

/* Whether there was room: an inbox is bounded as spares are. A batch is never
 * unmapped, so one that its taker has by now can be asked; what it says is then
 * old, and the inbox has changed. Seldom that batch is back there: then the
 * length is wrong until the inbox is taken, and the links are right. */
static bool push(struct heap *owner, unsigned class, struct batch *batch) {
    batch->next =
        atomic_load_explicit(&owner->inbox[class], memory_order_acquire);
    do {
        unsigned waiting = 0;
        if (batch->next != NULL) {
            waiting = atomic_load_explicit(&batch->next->below,
                                           memory_order_relaxed) +
                      1u;
        }
        if (waiting >= class_infos[class].max_spare) {
            return false;
        }
        atomic_store_explicit(&batch->below, (uint16_t)waiting,
                              memory_order_relaxed);
    } while (!atomic_compare_exchange_weak(&owner->inbox[class], &batch->next,
                                           batch));
    return true;
}

/* To the owner of the batch's last object; the others are mostly of the same.
 * An owner that takes nothing gets its objects put into its spans instead, or
 * an idle thread would hold what others could use. */
static void deliver(struct heap *heap, unsigned class, struct batch *batch) {
    uintptr_t last = (uintptr_t)batch->objects[batch->count - 1];
    struct heap *owner =
        heap_by_id(entry_of_unit(unit_of(last)) >> ENTRY_OWNER_SHIFT);
    if (owner == heap || !heap_has_thread(owner) ||
        !push(owner, class, batch)) {
        heap_return(batch->objects, batch->count);
        batch_discard(heap, batch);
        return;
    }
    count_up(&heap->batches_sent, 1);
    if (UNLIKELY(atomic_load(&owner->idle))) {
        /* Its thread ended meanwhile and may have looked before the push: take
         * the batches out again. */
        batches_return(heap, atomic_exchange(&owner->inbox[class], NULL));
    }
}

void heap_send(struct heap *heap, unsigned class, void *object) {
    struct batch *batch = heap->outgoing[class];
    if (batch == NULL) {
        batch = batch_blank(heap);
        if (batch == NULL) {
            heap_return(&object, 1);
            return;
        }
        batch->class = (uint16_t)class;
        heap->outgoing[class] = batch;
    }
    batch->objects[batch->count++] = object;
    if (batch->count >= class_infos[class].batch) {
        heap->outgoing[class] = NULL;
        heap->outgoing_waits[class] = false;
        deliver(heap, class, batch);
    }
}

void exchange_lock(void) { os_lock(&pool.lock); }

void exchange_unlock(void) { os_unlock(&pool.lock); }
