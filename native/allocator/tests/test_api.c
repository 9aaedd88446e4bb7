/* Every function of the family at its edges: sizes 0 and huge, overflow,
 * alignment, errno, realloc, usable.
 */
#include "check.h"
#include "paceline_alloc.h"

#include <errno.h>
#include <string.h>

static volatile size_t
    zero_size; /* volatile: the compiler must not know sizes and drop calls */

static int is_filled(const unsigned char *bytes, size_t count, int value) {
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != value) {
            return 0;
        }
    }
    return 1;
}

TEST(malloc_of_zero_gives_distinct_addresses) {
    void *a = paceline_malloc(zero_size);
    void *b = paceline_malloc(zero_size);
    CHECK(a != NULL && b != NULL && a != b);
    paceline_free(a);
    paceline_free(b);
}

TEST(every_size_to_40000_is_aligned_usable_and_writable) {
    for (size_t size = 0; size < 40000; size += size < 5000 ? 1 : 37) {
        unsigned char *object = paceline_malloc(size);
        CHECK(object != NULL && (uintptr_t)object % 16 == 0);
        CHECK(paceline_malloc_usable_size(object) >= size);
        memset(object, 0xA5, paceline_malloc_usable_size(object));
        paceline_free(object);
    }
}

TEST(sizes_past_all_boundaries_work) {
    static const size_t near[] = {3840,     4096,     32768,    65536,
                                  2u << 20, 4u << 20, 64u << 20};
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        for (size_t size = near[i] - 1; size <= near[i] + 1; size++) {
            unsigned char *object = paceline_malloc(size);
            CHECK(object != NULL);
            object[0] = 1;
            object[size - 1] = 2;
            CHECK(paceline_malloc_usable_size(object) >= size);
            paceline_free(object);
        }
    }
}

TEST(impossible_sizes_fail_with_enomem) {
    volatile size_t sizes[] = {SIZE_MAX, SIZE_MAX - 15, (size_t)PTRDIFF_MAX + 1,
                               PTRDIFF_MAX, (size_t)1 << 62};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        errno = 0;
        CHECK(paceline_malloc(sizes[i]) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(paceline_calloc(1, sizes[i]) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(paceline_memalign(64, sizes[i]) == NULL && errno == ENOMEM);
        void *object = paceline_malloc(100);
        errno = 0;
        CHECK(paceline_realloc(object, sizes[i]) == NULL && errno == ENOMEM);
        paceline_free(object);
    }
}

TEST(products_that_overflow_fail_with_enomem) {
    volatile size_t half = SIZE_MAX / 2 + 2;
    errno = 0;
    CHECK(paceline_calloc(half, 2) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(paceline_reallocarray(NULL, half, 2) == NULL && errno == ENOMEM);
}

TEST(calloc_is_zero_in_memory_that_was_used) {
    static const size_t sizes[] = {1,      16,       100,      1000,
                                   3840,   5000,     32768,    40000,
                                   200000, 1u << 20, 3u << 20, 9u << 20};
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            unsigned char *object = paceline_malloc(sizes[i]);
            memset(object, 0xFF, sizes[i]);
            paceline_free(object);
            object = paceline_calloc(1, sizes[i]);
            CHECK(is_filled(object, sizes[i], 0));
            memset(object, 0xFF, sizes[i]);
            paceline_free(object);
        }
    }
}

TEST(every_alignment_to_8_mib_holds_for_every_function) {
    for (size_t alignment = 8; alignment <= 8u << 20; alignment *= 2) {
        for (size_t size = 1; size < 300000; size = size * 3 + 7) {
            void *object = NULL;
            CHECK(paceline_posix_memalign(&object, alignment, size) == 0);
            CHECK(object != NULL && (uintptr_t)object % alignment == 0);
            CHECK(paceline_malloc_usable_size(object) >= size);
            memset(object, 1, size);
            paceline_free(object);
            object = paceline_aligned_alloc(alignment, size);
            CHECK(object != NULL && (uintptr_t)object % alignment == 0);
            paceline_free(object);
        }
    }
}

TEST(bad_alignments_are_refused) {
    void *object = &object;
    CHECK(paceline_posix_memalign(&object, 24, 8) == EINVAL);
    CHECK(paceline_posix_memalign(&object, 4, 8) == EINVAL);
    CHECK(paceline_posix_memalign(&object, 0, 8) == EINVAL);
    errno = 7;
    CHECK(paceline_posix_memalign(&object, 64, SIZE_MAX / 2 + 9) == ENOMEM &&
          errno == 7);
    CHECK(object == (void *)&object);
    errno = 0;
    CHECK(paceline_aligned_alloc(48, 8) == NULL && errno == EINVAL);
}

TEST(valloc_and_pvalloc_give_whole_pages) {
    void *object = paceline_valloc(10);
    CHECK((uintptr_t)object % 4096 == 0);
    paceline_free(object);
    object = paceline_pvalloc(10);
    CHECK((uintptr_t)object % 4096 == 0 &&
          paceline_malloc_usable_size(object) >= 4096);
    paceline_free(object);
}

TEST(free_of_null_does_nothing) {
    paceline_free(NULL);
    CHECK(paceline_malloc_usable_size(NULL) == 0);
}

TEST(free_keeps_errno) {
    static const size_t sizes[] = {1, 5000, 100000, 3u << 20, 200u << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *object = paceline_malloc(sizes[i]);
        errno = 4242;
        paceline_free(object);
        CHECK(errno == 4242);
    }
}

TEST(realloc_of_null_allocates_and_to_zero_frees) {
    void *object = paceline_realloc(NULL, 100);
    CHECK(object != NULL);
    CHECK(paceline_realloc(object, zero_size) == NULL);
}

TEST(realloc_keeps_contents_between_all_kinds) {
    static const size_t sizes[] = {1,      17,      300,     3000,
                                   3841,   20000,   33000,   70000,
                                   900000, 2097153, 6000000, 50};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    for (size_t from = 0; from < COUNT; from++) {
        for (size_t to = 0; to < COUNT; to++) {
            unsigned char *object = paceline_malloc(sizes[from]);
            memset(object, (int)(from + 1), sizes[from]);
            object = paceline_realloc(object, sizes[to]);
            CHECK(object != NULL);
            size_t least = sizes[from] < sizes[to] ? sizes[from] : sizes[to];
            CHECK(is_filled(object, least, (int)(from + 1)));
            memset(object, 0, sizes[to]);
            paceline_free(object);
        }
    }
}

TEST(realloc_within_a_class_stays_in_place) {
    if (paceline_alloc_is_hardened()) {
        SKIP("hardened mode moves");
    }
    char *object = paceline_malloc(1000);
    CHECK(paceline_realloc(object, 1010) == object);
    CHECK(paceline_realloc(object, 900) == object);
    paceline_free(object);
    object = paceline_malloc(100000);
    CHECK(paceline_realloc(object, 120000) == object);
    paceline_free(object);
}

TEST(growing_step_by_step_keeps_every_byte) {
    unsigned char *object = NULL;
    size_t size = 0;
    for (int step = 0; step < 400; step++) {
        size_t grown = size + size / 16 + 1 + (size_t)step * 7;
        object = paceline_realloc(object, grown);
        for (size_t i = size; i < grown; i++) {
            object[i] = (unsigned char)(i * 31);
        }
        size = grown;
        if (size > 30u << 20) {
            break;
        }
    }
    for (size_t i = 0; i < size; i++) {
        CHECK(object[i] == (unsigned char)(i * 31));
    }
    paceline_free(object);
}

TEST(trim_gives_memory_back_and_leaves_objects) {
    enum {
        COUNT = 5000
    }; /* a heap too small to be purged as objects are freed */
    static unsigned char *objects[COUNT];
    for (int i = 0; i < COUNT; i++) {
        objects[i] = paceline_malloc(1000);
        memset(objects[i], i & 0xFF, 1000);
    }
    for (int i = 0; i < COUNT; i++) {
        if (i % 20 != 0) {
            paceline_free(objects[i]);
        }
    }
    CHECK(paceline_malloc_trim(0) == 1);
    for (int i = 0; i < COUNT; i += 20) {
        CHECK(is_filled(objects[i], 1000, i & 0xFF));
        paceline_free(objects[i]);
    }
}

TEST(statistics_are_one_json_object) {
    static char text[1 << 16];
    void *object = paceline_malloc(100);
    size_t length = paceline_alloc_stats_json(text, sizeof text);
    CHECK(length > 2 && length < sizeof text && strlen(text) == length);
    CHECK(text[0] == '{' && text[length - 1] == '}');
    char small[8];
    CHECK(paceline_alloc_stats_json(small, sizeof small) >= sizeof small &&
          strlen(small) == 7);
    paceline_free(object);
}
