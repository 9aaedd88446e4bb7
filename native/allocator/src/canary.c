/* Implements canary.h: the secrets, fences, and checks of many objects. */
#include "canary.h"

struct canary_secrets canary_secrets;

void canary_draw_secrets(void) {
    canary_secrets.factor = os_random() | 1;
    canary_secrets.addend = os_random();
    canary_secrets.odd_bytes = 0x0101010101010101u;
}

void check_poisons(unsigned class, void *const *objects, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        check_poison((uintptr_t)objects[i], class);
    }
}

/* --- fences --- */

static bool begins_a_unit(uintptr_t place) { return place % UNIT_BYTES == 0; }

void write_fences(uintptr_t place, unsigned class) {
    uintptr_t end = place + class_infos[class].size;
    uint64_t own = canary(place), other = key_in_front(class, place);
    for (size_t back = 8; back <= fence_bytes(class); back += 8) {
        fence_write(own, end - back);
        if (!begins_a_unit(place)) {
            fence_write(other, place - back);
        }
    }
}

/* Pages that hold nothing are given back, and read as zeros until the block in
 * front, on the last of them, is taken again. */
static bool may_be_purged(uintptr_t place) { return place % 4096 == 0; }

bool front_holds(uintptr_t place, unsigned class) {
    uint64_t key = key_in_front(class, place);
    bool whole = true;
    if (begins_a_unit(place)) {
        return true;
    }
    for (size_t back = 8; back <= fence_bytes(class); back += 8) {
        uint64_t word = fence_read(place - back);
        whole &= word == key || (word == 0 && may_be_purged(place));
    }
    return whole;
}

/* --- behind medium objects --- */

static size_t end_of_filled(unsigned class, size_t size) {
    size_t most = size + FILLED_BYTES;
    return most < class_infos[class].size ? most : class_infos[class].size;
}

void fill_behind(uintptr_t place, unsigned class, size_t size) {
    uint64_t key = canary(place);
    size_t end = end_of_filled(class, size);
    for (size_t at = size; at + 8 < end; at += 8) {
        write_end(key, place, at);
    }
    write_end(key, place, end - 8);
}

void check_behind(uintptr_t place, unsigned class, size_t size) {
    uint64_t key = canary(place);
    size_t end = end_of_filled(class, size);
    bool whole = has_end(key, place, end - 8);
    for (size_t at = size; at + 8 < end; at += 8) {
        whole &= has_end(key, place, at);
    }
    if (UNLIKELY(!whole)) {
        report_damage((void *)place, size, "overflow behind the end of object");
    }
}
