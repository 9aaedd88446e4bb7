/* Size classes: steps of 16 bytes to 128, then eight per doubling to 32 KiB, so
 * rounding loses at most 12.5 %.
 *
 * Every power of two is a class, so its objects are aligned to it. The compiler
 * writes the tables; nothing is computed at start. */
#ifndef PACELINE_CLASSES_H
#define PACELINE_CLASSES_H

#include "types.h"

struct class_info {
    uint32_t size;
    uint32_t inverse; /* ceil(2^32 / size) */
    uint8_t shift;    /* floor(log2(size)) */
    uint8_t capacity; /* objects in a full magazine */
    uint8_t batch;    /* objects moved at once */
    uint8_t
        max_spare; /* batches a thread keeps before spans get objects back */
};

extern const struct class_info class_infos[CLASS_COUNT];
/* For (size + 15) / 16, sizes up to SMALL_MAX: the class times the size of a
 * bin. */
extern const uint16_t small_bin_of[SMALL_MAX / 16 + 1];

static inline size_t bin_of_small(size_t size) {
    return small_bin_of[(size + 15) >> GRAIN_SHIFT];
}

static inline unsigned class_of_small(size_t size) {
    return (unsigned)bin_of_small(size) >> ENTRY_CLASS_SHIFT;
}

/* For 128 < size <= MEDIUM_MAX. */
static inline unsigned class_of_medium(size_t size) {
    size_t last = size - 1;
    unsigned log = 63u - (unsigned)__builtin_clzll((unsigned long long)last);
    return (log - 7) * 8 + 8 + (unsigned)((last >> (log - 3)) & 7);
}

static inline unsigned class_of(size_t size) {
    return size <= SMALL_MAX ? class_of_small(size) : class_of_medium(size);
}

#endif
