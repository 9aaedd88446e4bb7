/* canary.h: the process's secret, and the check of many freed objects at once.
 */
#include "canary.h"

uint64_t canary_secret;

/* Odd: an address is a multiple of 16, so the first byte of its canary is not
 * the zero of a string's end. */
void canary_draw_secret(void) { canary_secret = os_random() | 1; }

void check_poisons(void *const *objects, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        check_poison((uintptr_t)objects[i]);
    }
}
