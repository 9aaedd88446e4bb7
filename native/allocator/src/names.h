/* The standard names of our functions, as aliases: a call to malloc lands in the fast path itself.
 *
 * Left out with -DPACELINE_OWN_NAMES_ONLY, for sanitizers and benchmarks that keep the system's malloc. */
#ifndef PACELINE_NAMES_H
#define PACELINE_NAMES_H

#ifdef PACELINE_OWN_NAMES_ONLY
#define PACELINE_NAME(type, name, parameters, ours) _Static_assert(1, "");
#else
#define PACELINE_NAME(type, name, parameters, ours) \
    __attribute__((visibility("default"), alias(#ours), copy(ours))) type name parameters;
#endif

#endif
