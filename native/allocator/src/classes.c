/* The tables of classes.h, written by the preprocessor from one list of sizes.
 *
 * CLASS(n) lists sizes in order; class k of the doubling from 2^n is
 * 2^n + (k + 1) * 2^n / 8. */
#include "classes.h"

#define CLAMP(low, value, high) \
    ((value) < (low) ? (low) : (value) > (high) ? (high) : (value))
#define LOG2(size) (31 - __builtin_clz(size))

/* A magazine holds at most 64 KiB, a thread's spares at most 128 KiB and 31
 * batches: what a thread keeps of a class is bounded in bytes, what it moves at
 * once in objects. */
#define CAPACITY(size) CLAMP(4, 65536 / (size), MAGAZINE_SLOTS - 1)
#define BATCH(size) CLAMP(2, CAPACITY(size) / 2, BATCH_OBJECTS)
#define SPARE(size) CLAMP(1, 131072 / ((size) * BATCH(size)), 31)

#define INVERSE(size) (uint32_t)(((1ull << 32) + (size) - 1) / (size))
#define CLASS(size)           \
    {(size),                  \
     INVERSE(size),           \
     LOG2(size),              \
     (uint8_t)CAPACITY(size), \
     (uint8_t)BATCH(size),    \
     (uint8_t)SPARE(size)}
#define DOUBLING(from)                                                     \
    CLASS((from) / 8 * 9), CLASS((from) / 8 * 10), CLASS((from) / 8 * 11), \
        CLASS((from) / 8 * 12), CLASS((from) / 8 * 13),                    \
        CLASS((from) / 8 * 14), CLASS((from) / 8 * 15), CLASS((from) * 2)

const struct class_info class_infos[CLASS_COUNT] = {
    CLASS(16),      CLASS(32),      CLASS(48),      CLASS(64),
    CLASS(80),      CLASS(96),      CLASS(112),     CLASS(128),
    DOUBLING(128),  DOUBLING(256),  DOUBLING(512),  DOUBLING(1024),
    DOUBLING(2048), DOUBLING(4096), DOUBLING(8192), DOUBLING(16384),
};

/* G(g): the class of sizes that take g grains of 16 bytes; GRAINS keeps the
 * logarithm defined where the first branch is the one that counts. */
#define GRAINS(g) ((g) < 9u ? 9u : (g))
#define LAST(g) (GRAINS(g) * 16u - 1u)
#define ABOVE_128(g) \
    ((LOG2(LAST(g)) - 7) * 8 + 8 + (int)((LAST(g) >> (LOG2(LAST(g)) - 3)) & 7))
#define G(g)                               \
    (uint16_t)(((g) == 0u  ? 0             \
                : (g) < 9u ? (int)(g) - 1  \
                           : ABOVE_128(g)) \
               << ENTRY_CLASS_SHIFT)
#define G4(g) G((g) + 0u), G((g) + 1u), G((g) + 2u), G((g) + 3u)
#define G16(g) G4((g) + 0u), G4((g) + 4u), G4((g) + 8u), G4((g) + 12u)
#define G64(g) G16((g) + 0u), G16((g) + 16u), G16((g) + 32u), G16((g) + 48u)

const uint16_t small_bin_of[SMALL_MAX / 16 + 1] = {
    G64(0u), G64(64u), G64(128u), G16(192u), G16(208u), G16(224u), G(240u),
};
