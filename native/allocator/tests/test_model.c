/* A random sequence of every operation against a model that knows what each
 * object must contain.
 *
 * Invariant checked: no two live objects overlap (each is filled with its own
 * stamp over its whole usable size, and the stamp is intact when it goes),
 * alignment, usable size, calloc's zeros, realloc's contents.
 * --operations=N sets the length (100,000,000 is the full run), --seed=N the
 * sequence. */
#include "check.h"
#include "paceline_alloc.h"

#include <string.h>

enum { SLOTS = 4096 };

struct object {
    unsigned char *place;
    size_t size;
    unsigned char stamp;
};

static struct object objects[SLOTS];
static uint64_t seed;

static size_t below(size_t bound) {
    return (size_t)(next_random(&seed) % bound);
}

/* Mostly small, sometimes medium, seldom large or huge: as programs are. */
static size_t random_size(void) {
    size_t kind = below(1000);
    if (kind < 900) {
        return below(1100);
    }
    if (kind < 980) {
        return below(20000);
    }
    if (kind < 998) {
        return below(300000);
    }
    return below(below(8) == 0 ? 20u << 20 : 5u << 20);
}

static void check_stamp(const struct object *object, size_t count) {
    /* First, last and some between: all of a huge object would make the run
     * about memory bandwidth. */
    size_t step = count < 4096 ? 1 : count / 1024;
    for (size_t i = 0; i < count; i += step) {
        CHECK(object->place[i] == object->stamp);
    }
    CHECK(count == 0 || object->place[count - 1] == object->stamp);
}

static void fill(struct object *object) {
    object->size = paceline_malloc_usable_size(object->place);
    object->stamp = (unsigned char)next_random(&seed);
    memset(object->place, object->stamp, object->size);
}

static void allocate_into(struct object *object) {
    size_t size = random_size();
    size_t alignment = 16;
    switch (below(8)) {
    case 0: {
        unsigned char *place = paceline_calloc(1, size);
        for (size_t i = 0; i < size; i += size < 4096 ? 1 : 61) {
            CHECK(place[i] == 0);
        }
        object->place = place;
        break;
    }
    case 1:
        /* Now and then of a mapping. */
        alignment = below(500) == 0 ? 8u << 20 : (size_t)8 << below(12);
        object->place = paceline_memalign(alignment, size);
        break;
    case 2:
        object->place = paceline_realloc(NULL, size);
        break;
    default:
        object->place = paceline_malloc(size);
        break;
    }
    CHECK(object->place != NULL && (uintptr_t)object->place % alignment == 0);
    CHECK(paceline_malloc_usable_size(object->place) >= size);
    fill(object);
}

static void reallocate(struct object *object) {
    size_t size = random_size() + 1;
    size_t least = object->size < size ? object->size : size;
    object->place = paceline_realloc(object->place, size);
    CHECK(object->place != NULL);
    check_stamp(object, least);
    fill(object);
}

static void release(struct object *object) {
    check_stamp(object, object->size);
    paceline_free(object->place);
    object->place = NULL;
}

static void run_model(void) {
    long operations = check_parameter("operations", 300000);
    seed = (uint64_t)check_parameter("seed", 20260729);
    for (long i = 0; i < operations; i++) {
        struct object *object = &objects[below(SLOTS)];
        if (object->place == NULL) {
            allocate_into(object);
        } else if (below(5) == 0) {
            reallocate(object);
        } else {
            release(object);
        }
        if (i % 500000 == 499999) {
            (void)paceline_malloc_trim(0);
        }
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        if (objects[i].place != NULL) {
            release(&objects[i]);
        }
    }
}

TEST(random_operations_agree_with_the_model) { run_model(); }
HARDENED(random_operations_agree_with_the_model_in_hardened_mode) {
    run_model();
}
TEST_(random_operations_agree_with_immediate_purging, NULL,
      "PACELINE_ALLOC_DIRTY_MIB=0") {
    run_model();
}
