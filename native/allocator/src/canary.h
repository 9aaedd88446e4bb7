/* What hardened mode writes around a live object and into a freed one.
 *
 * Right behind an object lie eight bytes of canary, made of a secret, the address and the rest of the block;
 * the last two bytes of the block say how long that rest is.
 *
 *   ┌────────────── size asked for ──────────────┬ canary:64 ┬─ rest ─┬ length of rest:16 ┐
 *
 * The first eight bytes of a freed block are poison, a canary whose rest no live object has: they say whether
 * somebody wrote to it since.
 *
 * Invariant: `canary_secret` is written before the first thread attaches and never again. Nothing here is a
 * cipher: who can read a canary can make others. What it proves is that no write ran over it. */
#ifndef PACELINE_CANARY_H
#define PACELINE_CANARY_H

#include "report.h"
#include "types.h"

#include <string.h>

enum { CANARY_BYTES = 8, REST_BYTES = 2, CANARY_ROOM = CANARY_BYTES + REST_BYTES };

/* No rest is that long: the largest block less its smallest object. */
#define POISON_REST ((size_t)1 << 16)

extern uint64_t canary_secret;

static inline uint64_t canary(uintptr_t place, size_t rest) { return (canary_secret ^ place) + rest; }

/* `room`: what can be asked for of the block, its bytes less CANARY_ROOM. `key`: canary(place, 0), made once
 * by who needs it twice; a store to a block might have been to the secret, for all a compiler knows. */
static inline void write_canary_by(uint64_t key, uintptr_t place, size_t room, size_t size) {
    size_t rest = room - size;
    uint16_t length = (uint16_t)rest;
    uint64_t word = key + rest;
    memcpy((unsigned char *)place + room + CANARY_BYTES, &length, sizeof length);
    memcpy((unsigned char *)place + size, &word, sizeof word);
}

static inline void write_canary(uintptr_t place, size_t block, size_t size) {
    write_canary_by(canary(place, 0), place, block - CANARY_ROOM, size);
}

/* Whether nothing ran over the end. A length of rest that was overwritten points to where no canary is. */
static inline bool has_canary_by(uint64_t key, uintptr_t place, size_t room) {
    uint16_t rest;
    uint64_t word;
    memcpy(&rest, (const unsigned char *)place + room + CANARY_BYTES, sizeof rest);
    if (UNLIKELY(rest > room)) {
        return false;
    }
    memcpy(&word, (const unsigned char *)place + (room - rest), sizeof word);
    return word == key + rest;
}

static inline bool has_canary(uintptr_t place, size_t block) {
    return has_canary_by(canary(place, 0), place, block - CANARY_ROOM);
}

/* The size that was asked for; an overflow ends the process. */
static inline size_t check_canary(uintptr_t place, size_t block) {
    size_t room = block - CANARY_ROOM;
    uint16_t rest;
    memcpy(&rest, (unsigned char *)place + room + CANARY_BYTES, sizeof rest);
    if (UNLIKELY(!has_canary(place, block))) {
        report_damage((void *)place, rest > room ? room : room - rest, "overflow behind the end of object");
    }
    return room - rest;
}

static inline void poison_by(uint64_t key, uintptr_t place) {
    uint64_t word = key + POISON_REST;
    memcpy((void *)place, &word, sizeof word);
}

static inline void poison(uintptr_t place) { poison_by(canary(place, 0), place); }

static inline bool is_poisoned_by(uint64_t key, uintptr_t place) {
    uint64_t word;
    memcpy(&word, (void *)place, sizeof word);
    return word == key + POISON_REST;
}

static inline bool is_poisoned(uintptr_t place) { return is_poisoned_by(canary(place, 0), place); }

/* Answers only so that the caller needs no frame to call it last. */
static COLD void *report_late_write(uintptr_t place, size_t block) {
    report_damage((void *)place, block, "write after free to block");
    return NULL;
}

static inline void check_poison(uintptr_t place, size_t block) {
    if (UNLIKELY(!is_poisoned(place))) {
        (void)report_late_write(place, block);
    }
}

#endif
