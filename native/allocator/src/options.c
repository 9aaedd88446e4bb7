/* options.h from getenv. Runs inside the first malloc, so it must not allocate. */
#include "options.h"

#include <stdlib.h>
#include <sys/auxv.h>

struct options options = {
    .huge_after = 4,
    .range_gib = 256,
    .dirty_units = (32u << 20) >> 16,
    .sample_every = 16384,
    .decay_ms = 1000,
};

static size_t number(const char *name, size_t otherwise, size_t least,
                     size_t most) {
    /* What glibc's secure_getenv asks; musl has none. */
    const char *text = getauxval(AT_SECURE) != 0 ? NULL : getenv(name);
    if (text == NULL || *text == '\0') {
        return otherwise;
    }
    size_t value = 0;
    for (; *text >= '0' && *text <= '9' && value <= most; text++) {
        value = value * 10 + (size_t)(*text - '0');
    }
    return *text == '\0' && value >= least && value <= most ? value : otherwise;
}

void options_read(void) {
    options.hardened = number("PACELINE_ALLOC_HARDENED", 0, 0, 1) != 0;
    options.huge_after =
        number("PACELINE_ALLOC_HUGE_PAGES", options.huge_after, 0, 1 << 20);
    options.show_stats = number("PACELINE_ALLOC_STATS", 0, 0, 1) != 0;
    options.range_gib =
        number("PACELINE_ALLOC_RANGE_GIB", options.range_gib, 16, 4096);
    options.dirty_units = number("PACELINE_ALLOC_DIRTY_MIB",
                                 options.dirty_units / 16, 0, 1 << 20) *
                          16;
    options.sample_every =
        number("PACELINE_ALLOC_SAMPLE", options.sample_every, 0, 1 << 30);
    options.decay_ms =
        number("PACELINE_ALLOC_DECAY_MS", (size_t)options.decay_ms, 0, 1 << 30);
}
