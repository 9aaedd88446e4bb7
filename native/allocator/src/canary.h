/* What hardened mode writes behind a live object and into a freed one.
 *
 * A canary of eight bytes, made of two secrets and the address, follows the size
 * that was asked for. A table outside the blocks (range.h) knows that size, so
 * nothing in a block tells where its canary is.
 *
 *   ┌─────── size asked for ───────┬ canary:64 ┬─ rest of the block ─┐
 *
 * The first eight bytes of a freed block are poison, the same word: they show
 * whether somebody wrote there since. The object's state says which of the two a
 * block should have.
 *
 * The secrets are written once, before the first thread attaches. The first byte
 * of a canary is odd, so it is not the zero of a string's end. Whoever reads one
 * canary knows one equation for two secrets: that of an object 2^k times an odd
 * number away may still be any of 2^(63 - k). This is no cipher: two canaries
 * that are read tell all. */
#ifndef PACELINE_CANARY_H
#define PACELINE_CANARY_H

#include "range.h"
#include "report.h"

#include <string.h>

enum { CANARY_BYTES = 8, HARDENED_SMALL_MAX = SMALL_MAX - CANARY_BYTES };

/* Hidden, so that no path looks up where it is. */
extern struct canary_secrets {
    uint64_t factor, addend;
} canary_secrets __attribute__((visibility("hidden")));

/* A multiple of 16 times the factor leaves the low four bits to the addend, which
 * is odd. */
static inline uint64_t canary(uintptr_t place) {
    return place * canary_secrets.factor + canary_secrets.addend;
}

/* `key` is canary(place), made once by who needs it twice. */
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

/* Of an object of a class. */
static inline void write_canary(uintptr_t place, unsigned class, size_t size) {
    length_write(length_of(class, place), size);
    write_key(canary(place), place + size);
}

/* Whether nothing ran over the end of what was asked for. */
static inline void check_end(uintptr_t place, size_t size) {
    if (UNLIKELY(!has_key(canary(place), place + size))) {
        report_damage((void *)place, size, "overflow behind the end of object");
    }
}

/* The size that was asked for of a live object of a class; an overflow ends the
 * process. */
static inline size_t check_canary(uintptr_t place, unsigned class) {
    size_t size = length_read(length_of(class, place));
    check_end(place, size);
    return size;
}

static inline void poison(uintptr_t place) { write_key(canary(place), place); }

/* Answers only so that the caller needs no frame to call it last. */
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

/* Of objects on their way to spans: nobody wrote to them since they were freed.
 */
void check_poisons(void *const *objects, unsigned count);
/* Once, before the first thread attaches. */
void canary_draw_secrets(void);

#endif
