/* Writes and checks canaries behind live objects and poison in freed ones.
 *
 * A canary of eight bytes, made of two secrets and the address, follows the
 * requested size. A table outside the blocks (range.h) has that size, so nothing
 * in a block tells where its canary is.
 *
 *   ┌─────── requested size ───────┬ canary:64 ┬─ rest of the block ─┐
 *
 * The first eight bytes of a freed block are poison, which is the same word: it
 * shows later writes to the block. The object's state says which of the two a
 * block must have.
 *
 * The secrets are written once, before the first thread attaches. The first byte
 * of a canary is odd, so it differs from the zero at the end of a string. An
 * attacker who reads one canary knows one equation for two secrets: the canary of
 * an object at a distance of 2^k times an odd number has 2^(63 - k) possible
 * values left. This is no cipher: two canaries reveal both secrets. */
#ifndef PACELINE_CANARY_H
#define PACELINE_CANARY_H

#include "range.h"
#include "report.h"

#include <string.h>

enum { CANARY_BYTES = 8, HARDENED_SMALL_MAX = SMALL_MAX - CANARY_BYTES };

/* Hidden visibility avoids looking up the address at run time. */
extern struct canary_secrets {
    uint64_t factor, addend;
} canary_secrets __attribute__((visibility("hidden")));

/* Returns the canary of an address. Addresses are multiples of 16, so the low
 * four bits are those of the addend, which is odd. */
static inline uint64_t canary(uintptr_t place) {
    return place * canary_secrets.factor + canary_secrets.addend;
}

/* Writes a canary, `key`, to `place`. */
static inline void write_key(uint64_t key, uintptr_t place) {
    memcpy((void *)place, &key, sizeof key);
}

static inline bool has_key(uint64_t key, uintptr_t place) {
    uint64_t word;
    memcpy(&word, (const void *)place, sizeof word);
    return word == key;
}

static inline size_t length_read(const _Atomic uint16_t *length) {
    return atomic_load_explicit(length, memory_order_relaxed);
}

static inline void length_write(_Atomic uint16_t *length, size_t size) {
    atomic_store_explicit(length, (uint16_t)size, memory_order_relaxed);
}

/* Writes the canary of an object of a class. */
static inline void write_canary(uintptr_t place, unsigned class, size_t size) {
    length_write(length_of(class, place), size);
    write_key(canary(place), place + size);
}

/* Ends the process if something was written beyond the requested size. */
static inline void check_end(uintptr_t place, size_t size) {
    if (UNLIKELY(!has_key(canary(place), place + size))) {
        report_damage((void *)place, size, "overflow behind the end of object");
    }
}

/* Returns the requested size of a live object of a class; an overflow ends the
 * process. */
static inline size_t check_canary(uintptr_t place, unsigned class) {
    size_t size = length_read(length_of(class, place));
    check_end(place, size);
    return size;
}

static inline void poison(uintptr_t place) { write_key(canary(place), place); }

/* Returns a pointer only so that callers can tail-call it without a frame. */
static COLD void *report_late_write(uintptr_t place) {
    report_damage((void *)place, class_infos[span_of(place)->class].size,
                  "write after free to block");
    return NULL;
}

static inline void check_poison(uintptr_t place) {
    if (UNLIKELY(!has_key(canary(place), place))) {
        (void)report_late_write(place);
    }
}

/* Checks that nothing was written to freed objects before they return to spans.
 */
void check_poisons(void *const *objects, unsigned count);
/* Draws the secrets. Call it once, before the first thread attaches. */
void canary_draw_secrets(void);

#endif
