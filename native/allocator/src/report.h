/* What is said before the process ends because memory was misused.
 *
 * Invariant: nothing here allocates, takes a lock or returns; the message is
 * one line on stderr. */
#ifndef PACELINE_REPORT_H
#define PACELINE_REPORT_H

#include <stddef.h>
#include <stdint.h>

/* Finds out what is wrong with this address and says so. `caught` may name it;
 * NULL: look. */
_Noreturn void report_bad_free(void *place, const char *caught);
/* A block was written behind its end, or after it was freed. */
_Noreturn void report_damage(void *place, size_t size, const char *what);

#endif
