/* The options from the environment, read once before the first allocation; see
 * README.md.
 *
 * An absent or malformed option has its default. No option changes which errors
 * default mode catches. Programs with raised privileges ignore them. */
#ifndef PACELINE_OPTIONS_H
#define PACELINE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options {
    bool hardened;      /* PACELINE_ALLOC_HARDENED */
    size_t huge_after;  /* PACELINE_ALLOC_HUGE_PAGES: ask for huge pages once so
                           many MiB are in use; 0 never */
    bool show_stats;    /* PACELINE_ALLOC_STATS: JSON on stderr at exit */
    size_t range_gib;   /* PACELINE_ALLOC_RANGE_GIB */
    size_t dirty_units; /* PACELINE_ALLOC_DIRTY_MIB, in units */
    size_t sample_every; /* PACELINE_ALLOC_SAMPLE: hardened, one guarded
                            allocation in so many; 0 none */
    uint64_t decay_ms;   /* PACELINE_ALLOC_DECAY_MS */
};

extern struct options options;

/* Whether a decay period has passed from `since` to `now`, both by the coarse
 * clock. Another thread may have read the clock later and noted so first: then
 * none has. */
static inline bool period_is_over(uint64_t since, uint64_t now) {
    return now >= since && now - since >= options.decay_ms;
}

void options_read(void);

#endif
