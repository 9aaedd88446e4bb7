/* Finds out where this process's malloc comes from; the workload compares that
 * with the arm it wanted.
 *
 * On a host the loader tells the file. A static program (PACELINE_STATIC: Android
 * devices) has no loader: there an arm's code lies between two marks of the linker
 * (../linked/), with the C library behind them. */
#define _GNU_SOURCE
#include "subject.h"

#include <stdlib.h>
#include <string.h>

#ifdef PACELINE_STATIC

void paceline_arm_begins(void);
void paceline_arm_ends(void);

static bool is_of_arm(uintptr_t function) {
    return (uintptr_t)paceline_arm_begins < function &&
           function < (uintptr_t)paceline_arm_ends;
}

const char *malloc_provider(void) {
    const uintptr_t family[] = {(uintptr_t)malloc, (uintptr_t)free,
                                (uintptr_t)calloc, (uintptr_t)realloc,
                                (uintptr_t)aligned_alloc};
    size_t of_arm = 0, count = sizeof family / sizeof *family;
    for (size_t i = 0; i < count; i++)
        of_arm += is_of_arm(family[i]);
    return of_arm == count ? "subject"
           : of_arm == 0   ? "libc.a"
                           : "an arm and libc.a";
}

#else

#include <dlfcn.h>

const char *malloc_provider(void) {
    Dl_info provider = {0};
    void *(*made_by)(size_t) = malloc;
    void *address;
    memcpy(&address, &made_by, sizeof address);
    dladdr(address, &provider);
    return provider.dli_fname == NULL ? "unknown" : provider.dli_fname;
}

#endif
