/* start.h: what the first allocation prepares, and the fork handlers.
 *
 * Until `start_done` nothing is called that may allocate. pthread_atfork may (in
 * musl), so it comes right after, still within the first allocation: other
 * constructors run before ours and may fork. */
#include "start.h"

#include "canary.h"
#include "guarded.h"
#include "heap.h"
#include "large.h"
#include "options.h"
#include "resting.h"

_Atomic bool start_done;
static struct os_lock start_lock;
static bool start_failed;

static void before_fork(void) {
    if (started()) {
        heaps_before_fork();
        resting_lock();
        huge_lock();
        guarded_lock();
    }
}

static void after_fork(bool child) {
    if (started()) {
        guarded_unlock();
        huge_unlock();
        resting_unlock();
        heaps_after_fork(child);
    }
}

static void in_parent(void) { after_fork(false); }

static void in_child(void) { after_fork(true); }

bool start_slowly(void) {
    bool begun = false;
    os_lock(&start_lock);
    if (!atomic_load(&start_done) && !start_failed) {
        options_read();
        begun = range_prepare();
        start_failed = !begun;
    }
    if (begun) {
        canary_draw_secrets();
        heaps_prepare();
        (void)os_prepare_thread_exit(thread_exit_handler);
        atomic_store_explicit(&start_done, true, memory_order_release);
    }
    os_unlock(&start_lock);
    if (begun) {
        os_on_fork(before_fork, in_parent, in_child);
    }
    return !start_failed;
}

__attribute__((constructor)) static void on_load(void) { (void)started(); }
