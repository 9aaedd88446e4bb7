/* Sampled objects, and pages that may not be touched: where a write ends the process at once, and where at the
 * object's next use. */
#include "guarded.h"
#include "check.h"
#include "paceline_alloc.h"
#include "range.h"

#include <string.h>

#define SAMPLE_ALL "PACELINE_ALLOC_HARDENED=1 PACELINE_ALLOC_SAMPLE=1"
#define SAMPLE_NONE "PACELINE_ALLOC_HARDENED=1 PACELINE_ALLOC_SAMPLE=0"

/* volatile: the compiler knows malloc and free and would warn about, or remove, what is tested. */
static char *volatile bytes;

static char *sampled(size_t alignment, size_t size) {
    for (int i = 0; i < 1000; i++) {
        char *object = paceline_memalign(alignment, size);
        if (is_guarded(object)) {
            return object;
        }
        paceline_free(object);
    }
    CHECK(!"one of a thousand is sampled");
    return NULL;
}

/* --- the bytes between the end of a sampled object and that of its page --- */

static void change(char *place) { *place = (char)(*place + 1); }

TEST_(overflow_of_a_sampled_object, "overflow", SAMPLE_ALL) {
    bytes = sampled(1, 100);
    change(bytes + 100);
    paceline_free(bytes);
}

TEST_(overflow_of_a_sampled_object_to_the_end_of_its_page, "overflow", SAMPLE_ALL) {
    bytes = sampled(512, 10);
    change(bytes + 511);
    paceline_free(bytes);
}

/* In a page that was another's before. */
TEST_(overflow_of_a_sampled_object_by_the_end_of_a_string, "overflow", SAMPLE_ALL) {
    for (int i = 0; i < 200; i++) {
        bytes = sampled(1, 112);
        memset(bytes, 0, 112);
        paceline_free(bytes);
    }
    bytes = sampled(1, 100);
    bytes[100] = 0;
    paceline_free(bytes);
}

TEST_(overflow_of_a_sampled_object_found_by_realloc, "overflow", SAMPLE_ALL) {
    bytes = sampled(1, 100);
    change(bytes + 100);
    bytes = paceline_realloc(bytes, 90);
}

TEST_(overflow_of_a_sampled_object_found_by_its_size, "overflow", SAMPLE_ALL) {
    bytes = sampled(1, 100);
    change(bytes + 107);
    (void)paceline_malloc_usable_size(bytes);
}

TEST_(overflow_of_a_sampled_object_of_no_bytes, "overflow", SAMPLE_ALL) {
    bytes = sampled(1, 0);
    change(bytes);
    paceline_free(bytes);
}

/* --- pages that may not be touched --- */

/* Says on stderr that the next write is the one that must not pass. */
static void write_where_forbidden(char *place) {
    fprintf(stderr, "at the forbidden page\n");
    *(volatile char *)place = 1;
}

FAULT(running_on_from_a_span_ends_the_process, "at the forbidden page", SAMPLE_NONE) {
    bytes = paceline_malloc(100);
    if (range.page_bytes > UNIT_BYTES / 4) {
        SKIP("pages of 64 KiB leave a span none to spare");
    }
    char *end = bytes + (UNIT_BYTES - range.page_bytes - (uintptr_t)bytes % UNIT_BYTES);
    change(end - 1);
    write_where_forbidden(end);
}

FAULT(running_on_from_a_sampled_object_ends_the_process, "at the forbidden page", SAMPLE_ALL) {
    bytes = sampled(1, 112);
    change(bytes + 111);
    write_where_forbidden(bytes + 112);
}

FAULT(a_write_to_a_freed_sampled_object_ends_the_process, "at the forbidden page", SAMPLE_ALL) {
    bytes = sampled(1, 112);
    change(bytes);
    paceline_free(bytes);
    write_where_forbidden(bytes);
}
