/* Looks at objects that nobody frees or takes, a few at a time: what was written
 * around a live one or to a freed one is found though no call names it.
 *
 * Only while the process never had a second thread, since another could be using
 * the object at that moment. */
#ifndef PACELINE_SWEEP_H
#define PACELINE_SWEEP_H

/* Looks at the next objects of the process, `looks` at most; damage ends it. Every
 * cached object must be poisoned, and every live one have its canary. */
void sweep(unsigned looks);

#endif
