/* large.h: objects with a mapping of their own, found by address in a hash table.
 *
 * An address leaves the registry before its mapping may end, and a mapping moves
 * only under the lock; otherwise another thread could get the address and register
 * it too early. Some freed mappings are kept, because new pages cost a fault each.
 */
#include "large.h"

#include "options.h"
#include "report.h"

enum { KEPT_MAX = 16, FIRST_SLOTS = 1024 };

struct huge {
    uintptr_t place; /* 0: empty slot */
    size_t mapped;
    size_t size;
};

static struct {
    struct os_lock lock;
    struct huge *slots; /* open addressing, linear probing, at most half full */
    size_t slot_count;
    size_t count;
    size_t bytes;
    struct huge kept[KEPT_MAX];
    uint64_t kept_ms[KEPT_MAX];
    size_t kept_bytes;
} huges;

/* --- the registry, under the lock --- */

static size_t home_of(uintptr_t place) {
    return (size_t)((place >> 12) * 0x9E3779B97F4A7C15u >> 20) &
           (huges.slot_count - 1);
}

static struct huge *find(uintptr_t place) {
    if (huges.slot_count == 0) {
        return NULL;
    }
    for (size_t i = home_of(place);; i = (i + 1) & (huges.slot_count - 1)) {
        if (huges.slots[i].place == place) {
            return &huges.slots[i];
        }
        if (huges.slots[i].place == 0) {
            return NULL;
        }
    }
}

static void insert(struct huge huge) {
    size_t i = home_of(huge.place);
    while (huges.slots[i].place != 0) {
        i = (i + 1) & (huges.slot_count - 1);
    }
    huges.slots[i] = huge;
    huges.count++;
    huges.bytes += huge.mapped;
}

/* Moves later members of the same probe sequence up, so that no search ends
 * early. */
static void erase(struct huge *huge) {
    size_t mask = huges.slot_count - 1;
    size_t hole = (size_t)(huge - huges.slots);
    huges.count--;
    huges.bytes -= huge->mapped;
    for (size_t i = (hole + 1) & mask; huges.slots[i].place != 0;
         i = (i + 1) & mask) {
        size_t home = home_of(huges.slots[i].place);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            huges.slots[hole] = huges.slots[i];
            hole = i;
        }
    }
    huges.slots[hole] = (struct huge){0};
}

static bool make_room(void) {
    if (huges.count * 2 < huges.slot_count) {
        return true;
    }
    struct huge *old = huges.slots;
    size_t old_count = huges.slot_count;
    size_t count = old_count == 0 ? FIRST_SLOTS : old_count * 2;
    struct huge *slots = os_map(round_up(count * sizeof *slots, UNIT_BYTES));
    if (slots == NULL) {
        return false;
    }
    huges.slots = slots;
    huges.slot_count = count;
    huges.count = huges.bytes = 0;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].place != 0) {
            insert(old[i]);
        }
    }
    if (old != NULL) {
        os_unmap(old, round_up(old_count * sizeof *old, UNIT_BYTES));
    }
    return true;
}

/* --- kept mappings, under the lock --- */

static struct huge take_kept(unsigned index) {
    struct huge huge = huges.kept[index];
    huges.kept_bytes -= huge.mapped;
    huges.kept[index].place = 0;
    return huge;
}

static struct huge find_kept(size_t bytes, size_t alignment) {
    unsigned best = KEPT_MAX;
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        const struct huge *kept = &huges.kept[i];
        bool fits = kept->place != 0 && kept->mapped >= bytes &&
                    kept->mapped <= 2 * bytes &&
                    (kept->place & (alignment - 1)) == 0;
        if (fits &&
            (best == KEPT_MAX || kept->mapped < huges.kept[best].mapped)) {
            best = i;
        }
    }
    return best == KEPT_MAX ? (struct huge){0} : take_kept(best);
}

/* One kept mapping that is too old, or `all`; to be unmapped by the caller.
 * place 0: none. */
static struct huge pop_stale(uint64_t now, bool all) {
    for (unsigned i = 0; i < KEPT_MAX && huges.kept_bytes > 0; i++) {
        if (huges.kept[i].place != 0 &&
            (all || period_is_over(huges.kept_ms[i], now))) {
            return take_kept(i);
        }
    }
    return (struct huge){0};
}

static size_t unmap_stale(uint64_t now, bool all) {
    size_t bytes = 0;
    for (;;) {
        os_lock(&huges.lock);
        struct huge huge = pop_stale(now, all);
        os_unlock(&huges.lock);
        if (huge.place == 0) {
            return bytes;
        }
        os_unmap((void *)huge.place, huge.mapped);
        bytes += huge.mapped;
    }
}

static bool keep(struct huge huge, uint64_t now) {
    size_t allowed = options.dirty_units * UNIT_BYTES + huges.bytes / 4;
    if (huges.kept_bytes + huge.mapped > allowed) {
        return false;
    }
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        if (huges.kept[i].place == 0) {
            huges.kept[i] = huge;
            huges.kept_ms[i] = now;
            huges.kept_bytes += huge.mapped;
            return true;
        }
    }
    return false;
}

size_t huge_purge(void) { return unmap_stale(0, true); }

void huge_age(uint64_t now) { (void)unmap_stale(now, false); }

/* --- objects --- */

/* A mapping whose start is aligned; what the system gave in front and behind is
 * returned. */
static void *map_aligned(size_t bytes, size_t alignment) {
    if (alignment <= range.page_bytes) {
        return os_map(bytes);
    }
    if (bytes > SIZE_MAX / 2 - alignment) {
        return NULL;
    }
    char *got = os_map(bytes + alignment);
    if (got == NULL) {
        return NULL;
    }
    size_t front = round_up((uintptr_t)got, alignment) - (uintptr_t)got;
    if (front > 0) {
        os_unmap(got, front);
    }
    if (alignment > front) {
        os_unmap(got + front + bytes, alignment - front);
    }
    return got + front;
}

/* Where huge pages are wanted they begin with the first byte, unless addresses
 * are short. */
static uintptr_t map_new(size_t bytes, size_t alignment) {
    void *place = NULL;
    bool pages = options.huge_after != 0 && bytes >= HUGE_PAGE;
    if (pages && alignment < HUGE_PAGE) {
        place = map_aligned(bytes, HUGE_PAGE);
    }
    if (place == NULL) {
        place = map_aligned(bytes, alignment);
    }
    if (place != NULL && pages) {
        os_ask_huge_pages(place, bytes);
    }
    return (uintptr_t)place;
}

void *huge_take(size_t size, size_t alignment, bool *zero) {
    if (size > PTRDIFF_MAX - UNIT_BYTES) {
        return NULL;
    }
    size_t bytes = round_up(size, range.page_bytes);
    os_lock(&huges.lock);
    struct huge huge = find_kept(bytes, alignment);
    os_unlock(&huges.lock);
    *zero = huge.place == 0;
    if (huge.place == 0) {
        huge =
            (struct huge){.place = map_new(bytes, alignment), .mapped = bytes};
        if (huge.place == 0 && huge_purge() > 0) {
            huge.place = map_new(bytes, alignment);
        }
        if (huge.place == 0) {
            return NULL;
        }
    }
    huge.size = size;
    os_lock(&huges.lock);
    bool registered = make_room();
    if (registered) {
        insert(huge);
    }
    os_unlock(&huges.lock);
    if (!registered) {
        os_unmap((void *)huge.place, huge.mapped);
        return NULL;
    }
    return (void *)huge.place;
}

void huge_give(void *place) {
    uint64_t now = os_clock_ms();
    os_lock(&huges.lock);
    struct huge *found = find((uintptr_t)place);
    if (found == NULL) {
        os_unlock(&huges.lock);
        report_bad_free(place, NULL);
    }
    struct huge huge = *found;
    erase(found);
    bool kept = keep(huge, now);
    os_unlock(&huges.lock);
    if (!kept) {
        os_unmap((void *)huge.place, huge.mapped);
    }
    huge_age(now);
}

size_t huge_usable(void *place) {
    os_lock(&huges.lock);
    const struct huge *found = find((uintptr_t)place);
    size_t bytes = found == NULL ? 0 : found->mapped;
    os_unlock(&huges.lock);
    return bytes;
}

size_t huge_size(void *place) {
    os_lock(&huges.lock);
    const struct huge *found = find((uintptr_t)place);
    size_t size = found == NULL ? 0 : found->size;
    os_unlock(&huges.lock);
    return size;
}

void *huge_resize(void *place, size_t size) {
    if (size > PTRDIFF_MAX - UNIT_BYTES) {
        return NULL;
    }
    size_t bytes = round_up(size, range.page_bytes);
    void *moved = NULL;
    os_lock(&huges.lock);
    struct huge *found = find((uintptr_t)place);
    if (found != NULL) {
        moved = bytes == found->mapped ? place
                                       : os_remap(place, found->mapped, bytes);
        if (moved != NULL) {
            erase(found);
            insert((struct huge){
                .place = (uintptr_t)moved, .mapped = bytes, .size = size});
        }
    }
    os_unlock(&huges.lock);
    return moved;
}

struct huge_counts huge_count(void) {
    return (struct huge_counts){huges.count, huges.bytes, huges.kept_bytes};
}

void huge_lock(void) { os_lock(&huges.lock); }

void huge_unlock(void) { os_unlock(&huges.lock); }
