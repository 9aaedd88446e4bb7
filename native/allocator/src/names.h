/* Gives our functions the standard names, as aliases, so that a call of malloc
 * lands in the fast path itself.
 *
 * Left out with -DPACELINE_OWN_NAMES_ONLY: sanitizers and benchmarks keep the
 * system's malloc. */
#ifndef PACELINE_NAMES_H
#define PACELINE_NAMES_H

#if defined(__has_attribute) && __has_attribute(copy)
#define PACELINE_LIKE(ours) copy(ours)
#else
#define PACELINE_LIKE(ours)
#endif

#ifdef PACELINE_OWN_NAMES_ONLY
#define PACELINE_NAME(type, name, parameters, ours) _Static_assert(1, "");
#else
#define PACELINE_NAME(type, name, parameters, ours)     \
    __attribute__((visibility("default"), alias(#ours), \
                   PACELINE_LIKE(ours))) type name parameters;
#endif

#endif
