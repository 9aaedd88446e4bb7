/* The operators of C++ without C++: what they are to a process that has no C++
 * library. operators.sh has the rest, where there is a compiler. */
#include "operators.h"

#include "check.h"
#include "paceline_alloc.h"

#include <string.h>

TEST(operators_of_every_form_make_aligned_objects) {
    int tag = 0;
    for (size_t size = 0; size < 3000000; size = size * 3 + 7) {
        for (size_t alignment = 1; alignment <= (1u << 17); alignment *= 4) {
            void *objects[] = {
                paceline_new(size), paceline_new_nothrow(size, &tag),
                paceline_new_aligned(size, alignment),
                paceline_new_aligned_nothrow(size, alignment, &tag),
                paceline_new_aligned(size, alignment)};
            for (int i = 0; i < 5; i++) {
                uintptr_t least = i < 2 || alignment < 16 ? 16 : alignment;
                CHECK(objects[i] != NULL && (uintptr_t)objects[i] % least == 0);
                CHECK(paceline_malloc_usable_size(objects[i]) >= size);
                memset(objects[i], i, size);
            }
            paceline_delete(objects[0]);
            paceline_delete_nothrow(objects[1], &tag);
            paceline_delete_aligned(objects[2], alignment);
            paceline_delete_aligned_nothrow(objects[3], alignment, &tag);
            paceline_delete_sized_aligned(objects[4], size, alignment);
        }
    }
    paceline_delete(NULL);
    paceline_delete_sized(NULL, 5);
}

TEST(forms_that_do_not_throw_answer_null) {
    int tag = 0;
    CHECK(paceline_new_nothrow(SIZE_MAX, &tag) == NULL);
    CHECK(paceline_new_nothrow(PTRDIFF_MAX, &tag) == NULL);
    CHECK(paceline_new_aligned_nothrow(SIZE_MAX, 64, &tag) == NULL);
    CHECK(paceline_new_aligned_nothrow(100, 48, &tag) == NULL);
    CHECK(paceline_new_aligned_nothrow(100, 0, &tag) == NULL);
}

/* Under the sanitizers' runtimes there is a C++ library. */
static void fail(void *(*make)(size_t)) {
    SKIP_IN_SHARED_PROCESS("a C++ library may be in the process");
    (void)make(PTRDIFF_MAX);
}

static void *make_aligned(size_t size) {
    return paceline_new_aligned(size, 64);
}
static void *make_crooked(size_t size) {
    return paceline_new_aligned(size >> 40, 48);
}

DEATH(a_new_that_cannot_throw_ends_the_process, "no C++ library to throw") {
    fail(paceline_new);
}
DEATH(an_aligned_new_that_cannot_throw_ends_the_process,
      "no C++ library to throw") {
    fail(make_aligned);
}
DEATH(a_new_of_no_alignment_that_cannot_throw_ends_the_process,
      "no C++ library to throw") {
    fail(make_crooked);
}
DEATH(a_second_delete_is_a_double_free, "double free") {
    void *object = paceline_new(100);
    paceline_delete(object);
    paceline_delete_sized(object, 100);
}
/* One that is sampled is not looked at, and one of no bytes is no one's. */
HARDENED(a_delete_with_the_size_of_the_new_is_none_of_another) {
    for (size_t size = 0; size < 3000000; size = size * 3 / 2 + 1) {
        paceline_delete_sized(paceline_new(size), size);
    }
}
HARDENED_DEATH(a_delete_with_another_size_is_caught,
               "delete with another size") {
    paceline_delete_sized(paceline_new(100), 104);
}
HARDENED_DEATH(a_delete_of_a_medium_object_with_another_size_is_caught,
               "delete with another size") {
    paceline_delete_sized(paceline_new(5000), 100);
}
HARDENED_DEATH(a_second_delete_with_its_size_is_a_double_free, "double free") {
    void *object = paceline_new(100);
    paceline_delete_sized(object, 100);
    paceline_delete_sized(object, 100);
}
DEATH(a_delete_inside_of_an_object_is_caught, "paceline_alloc: ") {
    paceline_delete_sized_aligned((char *)paceline_new_aligned(1000, 64) + 64,
                                  1000, 64);
}
