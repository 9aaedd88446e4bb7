/* Large objects of hardened mode: surrounded by pages that may not be touched, and
 * put to rest when they are freed.
 *
 * Everything from an object's last page to the end of its run or mapping is
 * forbidden: so it ends at such a page, and so does what lies in front of the next
 * run. Of the last page up to eight bytes behind the object are its canary. One that
 * is freed is forbidden whole and given back after some others were freed, or much
 * was. */
#ifndef PACELINE_RESTING_H
#define PACELINE_RESTING_H

#include <stdbool.h>
#include <stddef.h>

/* errno is set on failure. */
void *take_surrounded(size_t size, size_t alignment);
/* What is no live large object ends the process, and so does an overflow. */
void release_surrounded(void *object);
/* The size asked for; the same is checked. */
size_t surrounded_size(void *object);
/* Gives back what rests; whether there was any. */
bool end_rest(void);
void resting_lock(void);
void resting_unlock(void);

#endif
