/* Implements resting.h. The size of a large object (large.h) is what was asked for
 * and one page, which the forbidden ones begin with. */
#include "resting.h"

#include "canary.h"
#include "large.h"
#include "reclaim.h"

/* Each forbidden stretch costs two of the mappings the system allows a process
 * (span.c has the others). Objects of more than MOST_BYTES do not rest. */
enum {
    MOST_SURROUNDED = 4096,
    MOST_RESTING = 8,
    MOST_BYTES = 1 << 20,
    MOST_BYTES_RESTING = 2 << 20
};

struct rest {
    void *object; /* NULL: none */
    size_t bytes;
};

static struct {
    struct os_lock lock;
    struct rest rests[MOST_RESTING]; /* the oldest at `first` */
    unsigned first, count;
    size_t bytes;
} resting;

static _Atomic size_t live_objects;

static size_t used_pages(size_t size) {
    return round_up(size, range.page_bytes);
}

static size_t canary_bytes(size_t size) {
    size_t left = used_pages(size) - size;
    return left < CANARY_BYTES ? left : CANARY_BYTES;
}

void *take_surrounded(size_t size, size_t alignment) {
    bool zero;
    if (size > PTRDIFF_MAX - 2 * range.page_bytes) {
        return out_of_memory();
    }
    size_t with_page = size + range.page_bytes;
    char *object = allocate_large(with_page, alignment, &zero);
    if (object == NULL && end_rest()) {
        object = allocate_large(with_page, alignment, &zero);
    }
    if (object == NULL) {
        return NULL;
    }
    if (atomic_fetch_add_explicit(&live_objects, 1, memory_order_relaxed) <
        MOST_SURROUNDED) {
        (void)os_forbid(object + used_pages(size),
                        large_room(object) - used_pages(size));
    }
    uint64_t key = key_at(canary((uintptr_t)object), size);
    memcpy(object + size, &key, canary_bytes(size));
    return object;
}

/* --- under the lock --- */

enum misuse { NO_MISUSE, NO_OBJECT, RESTS, OVERFLOWN };

static bool does_rest(const void *object) {
    for (unsigned i = 0; i < MOST_RESTING; i++) {
        if (resting.rests[i].object == object) {
            return true;
        }
    }
    return false;
}

/* Whether an address is a live large object, and its size. */
static enum misuse examine(void *object, size_t *size) {
    *size = 0;
    if (does_rest(object)) {
        return RESTS;
    }
    size_t with_page = large_size(object);
    if (with_page == 0) {
        return NO_OBJECT;
    }
    *size = with_page - range.page_bytes;
    uint64_t key = key_at(canary((uintptr_t)object), *size);
    bool whole = memcmp((char *)object + *size, &key, canary_bytes(*size)) == 0;
    return whole ? NO_MISUSE : OVERFLOWN;
}

static bool has_room(size_t bytes) {
    return resting.count < MOST_RESTING &&
           resting.bytes + bytes <= MOST_BYTES_RESTING;
}

/* Takes the oldest out until there is room for so many bytes; how many. */
static unsigned take_oldest(size_t bytes, struct rest taken[MOST_RESTING]) {
    unsigned count = 0;
    while (resting.count > 0 && !has_room(bytes)) {
        struct rest *oldest = &resting.rests[resting.first];
        taken[count++] = *oldest;
        resting.bytes -= oldest->bytes;
        *oldest = (struct rest){NULL, 0};
        resting.first = (resting.first + 1) % MOST_RESTING;
        resting.count--;
    }
    return count;
}

static void put_to_rest(struct rest rest) {
    (void)os_forbid(rest.object, rest.bytes);
    resting.rests[(resting.first + resting.count) % MOST_RESTING] = rest;
    resting.count++;
    resting.bytes += rest.bytes;
}

/* --- not under it --- */

static void give_back(const struct rest *rests, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        (void)os_permit(rests[i].object, rests[i].bytes);
        large_give(rests[i].object);
    }
}

static void end_on(enum misuse misuse, void *object, size_t size) {
    if (misuse == NO_OBJECT) {
        report_bad_free(object, NULL);
    } else if (misuse == RESTS) {
        report_bad_free(object, "invalid free or use of freed large object");
    } else if (misuse == OVERFLOWN) {
        report_damage(object, size, "overflow behind the end of object");
    }
}

void release_surrounded(void *object) {
    struct rest out[MOST_RESTING], own = {object, 0};
    unsigned count = 0;
    size_t size;
    os_lock(&resting.lock);
    enum misuse misuse = examine(object, &size);
    if (misuse == NO_MISUSE) {
        own.bytes = large_room(object);
    }
    bool rests = misuse == NO_MISUSE && own.bytes <= MOST_BYTES;
    if (rests) {
        count = take_oldest(own.bytes, out);
        put_to_rest(own);
    }
    os_unlock(&resting.lock);
    end_on(misuse, object, size);
    atomic_fetch_sub_explicit(&live_objects, 1, memory_order_relaxed);
    if (!rests) {
        give_back(&own, 1);
    }
    give_back(out, count);
}

size_t surrounded_size(void *object) {
    size_t size;
    os_lock(&resting.lock);
    enum misuse misuse = examine(object, &size);
    os_unlock(&resting.lock);
    end_on(misuse, object, size);
    return size;
}

bool end_rest(void) {
    struct rest out[MOST_RESTING];
    os_lock(&resting.lock);
    unsigned count = take_oldest(MOST_BYTES_RESTING, out);
    os_unlock(&resting.lock);
    give_back(out, count);
    return count > 0;
}

void resting_lock(void) { os_lock(&resting.lock); }

void resting_unlock(void) { os_unlock(&resting.lock); }
