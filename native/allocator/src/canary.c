/* Implements canary.h: the secrets, and the check of many freed objects. */
#include "canary.h"

struct canary_secrets canary_secrets;

void canary_draw_secrets(void) {
    canary_secrets.factor = os_random() | 1;
    canary_secrets.addend = os_random() | 1;
}

void check_poisons(void *const *objects, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        check_poison((uintptr_t)objects[i]);
    }
}
