/* Writes and checks what surrounds live objects, and poison in freed ones.
 *
 * The key of a block is eight bytes made of two secrets and its address. Where a
 * block must not be written, the byte at each address is the byte of the key that
 * the address chooses by its last three bits, so whatever overlaps agrees:
 *
 *   fence ┌─────── requested size ───────┬ canary:64 ┬ nobody's ┬ fence:64 ┐
 *
 * The canary follows the requested size. A table outside the blocks (range.h) has
 * that size, so nothing in a block tells where its canary is. The *fence* is the
 * last word of each block, which no object reaches and the canary may overlap. It
 * is written when a block comes from its span and stays, whoever uses the block: so
 * each free can also look at the word in front of its object. Medium blocks have
 * fences of 32 bytes, and up to 64 bytes of keys behind the requested size.
 *
 * The first and the third word of a freed block are poison, which is the key again:
 * it shows later writes to the block. The object's state says which of the two a
 * block must have.
 *
 * The secrets are written once, before the first thread attaches. Every byte of a
 * key is odd, so it differs from the zero at the end of a string. An attacker who
 * reads one key knows one equation for two secrets; the canary of another object
 * does not follow from it. This is no cipher: two keys reveal both secrets. */
#ifndef PACELINE_CANARY_H
#define PACELINE_CANARY_H

#include "range.h"
#include "report.h"

#include <string.h>

enum {
    CANARY_BYTES = 8,
    HARDENED_SMALL_MAX = SMALL_MAX - CANARY_BYTES,
    MEDIUM_FENCE_BYTES = 32,
    FILLED_BYTES = 64 /* behind a medium object, if its block has them */
};

/* Hidden visibility avoids looking up the address at run time. */
extern struct canary_secrets {
    uint64_t factor, addend, odd_bytes;
} canary_secrets __attribute__((visibility("hidden")));

/* `mixed` of the block in front is that of this one less the class's size times
 * the factor. */
static inline uint64_t key_mixed(uintptr_t place) {
    return place * canary_secrets.factor + canary_secrets.addend;
}

static inline uint64_t key_of_mixed(uint64_t mixed) {
    return mixed | canary_secrets.odd_bytes;
}

static inline uint64_t canary(uintptr_t place) {
    return key_of_mixed(key_mixed(place));
}

/* The word of keys at `offset` from the begin of a block. */
static inline uint64_t key_at(uint64_t key, size_t offset) {
    unsigned bits = (unsigned)offset * 8u;
    return key >> bits % 64u | key << -bits % 64u;
}

/* Writes a word of keys to `place`. */
static inline void write_key(uint64_t key, uintptr_t place) {
    memcpy((void *)place, &key, sizeof key);
}

static inline bool has_key(uint64_t key, uintptr_t place) {
    uint64_t word;
    memcpy(&word, (const void *)place, sizeof word);
    return word == key;
}

static inline void write_end(uint64_t key, uintptr_t place, size_t size) {
    write_key(key_at(key, size), place + size);
}

static inline bool has_end(uint64_t key, uintptr_t place, size_t size) {
    return has_key(key_at(key, size), place + size);
}

/* --- fences: words that two threads may write, with the same bytes, while a
 * third compares them --- */

typedef uint64_t __attribute__((may_alias)) fence_t;

#if defined(__SANITIZE_THREAD__)
#define SAME_BYTES __attribute__((noinline, unused, no_sanitize_thread)) static
#else
#define SAME_BYTES static inline
#endif

SAME_BYTES uint64_t fence_read(uintptr_t place) {
    return __atomic_load_n((const fence_t *)place, __ATOMIC_RELAXED);
}

SAME_BYTES void fence_write(uint64_t key, uintptr_t place) {
    __atomic_store_n((fence_t *)place, key, __ATOMIC_RELAXED);
}

static inline size_t fence_bytes(unsigned class) {
    return class < SMALL_CLASSES ? CANARY_BYTES : MEDIUM_FENCE_BYTES;
}

static inline uint64_t key_in_front(unsigned class, uintptr_t place) {
    return canary(place - class_infos[class].size);
}

/* Writes the fences behind and in front of a block that comes from its span.
 * Nothing lies in front of a unit. */
void write_fences(uintptr_t place, unsigned class);
/* Whether the fence in front of an object is as it was written. */
bool front_holds(uintptr_t place, unsigned class);

/* --- the requested size, and what follows it --- */

static inline size_t length_read(const _Atomic uint16_t *length) {
    return atomic_load_explicit(length, memory_order_relaxed);
}

static inline void length_write(_Atomic uint16_t *length, size_t size) {
    atomic_store_explicit(length, (uint16_t)size, memory_order_relaxed);
}

/* Writes and checks the bytes behind a medium object. */
void fill_behind(uintptr_t place, unsigned class, size_t size);
void check_behind(uintptr_t place, unsigned class, size_t size);

/* Writes the canary of an object of a class. */
static inline void write_canary(uintptr_t place, unsigned class, size_t size) {
    length_write(length_of(class, place), size);
    write_end(canary(place), place, size);
    if (class >= SMALL_CLASSES) {
        fill_behind(place, class, size);
    }
}

/* Ends the process if something was written beyond the requested size. */
static inline void check_end(uintptr_t place, size_t size) {
    if (UNLIKELY(!has_end(canary(place), place, size))) {
        report_damage((void *)place, size, "overflow behind the end of object");
    }
}

/* Returns the requested size of a live object of a class; a write around it ends
 * the process. */
static inline size_t check_canary(uintptr_t place, unsigned class) {
    size_t size = length_read(length_of(class, place));
    check_end(place, size);
    if (class >= SMALL_CLASSES) {
        check_behind(place, class, size);
    }
    bool small = LIKELY(class < SMALL_CLASSES);
    if (LIKELY(small && fence_read(place - 8) == key_in_front(class, place))) {
        return size;
    }
    if (UNLIKELY(!front_holds(place, class))) {
        report_damage((void *)place, size, "write in front of object");
    }
    return size;
}

/* --- poison --- */

/* Where the second word of poison is: the smallest block has no other than its
 * fence. */
static inline size_t second_poison(unsigned class) {
    return class == 0 ? 8 : 16;
}

static inline void poison(uint64_t key, uintptr_t place, size_t second) {
    write_key(key, place);
    write_key(key, place + second);
}

static inline bool is_poisoned(uint64_t key, uintptr_t place, size_t second) {
    return LIKELY(has_key(key, place)) && LIKELY(has_key(key, place + second));
}

/* Returns a pointer only so that callers can tail-call it without a frame. */
static COLD void *report_late_write(uintptr_t place) {
    report_damage((void *)place, class_infos[span_of(place)->class].size,
                  "write after free to block");
    return NULL;
}

static inline void check_poison(uintptr_t place, unsigned class) {
    if (UNLIKELY(!is_poisoned(canary(place), place, second_poison(class)))) {
        (void)report_late_write(place);
    }
}

/* Checks that nothing was written to freed objects of a class before they return
 * to spans. */
void check_poisons(unsigned class, void *const *objects, unsigned count);
/* Draws the secrets. Call it once, before the first thread attaches. */
void canary_draw_secrets(void);

#endif
