/*
 * Lets `make bench` end with the exit code of the bench itself.
 *
 * GNU make answers 2 for every failed recipe, so 1 (error), 2 (a gate or rule failed) and 3 (inconclusive)
 * would look alike. This loadable extension (GNU make >= 4.0, `load` in the manual) adds one function,
 * $(exit-with CODE), which flushes and ends make with CODE; 0 and an empty CODE do nothing.
 * It is loaded only for the goal `bench`. Where make cannot load it, `scripts/bench` gives the same codes.
 */
#include <gnumake.h>
#include <stdio.h>
#include <stdlib.h>

int plugin_is_GPL_compatible; /* GNU make refuses to load an object without this symbol */

static char *exit_with(const char *name, unsigned int argc, char **argv) {
    (void)name;
    (void)argc;
    int code = atoi(argv[0]);
    if (code != 0) {
        fflush(NULL);
        exit(code);
    }
    return NULL;
}

int make_exit_gmk_setup(void) {
    gmk_add_function("exit-with", exit_with, 1, 1, GMK_FUNC_DEFAULT);
    return 1;
}
