/* The command check: whether this process's allocator returns correct memory.
 *
 * Every object is filled with bytes of its own and compared before it goes, so
 * objects that overlap, move without their content, or are not zero when they
 * must be are found. It runs once per arm before any timing, in a process of its
 * own, so that no arm is measured on a used heap. */
#define _GNU_SOURCE
#include "subject.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 4096, STEPS = 200000, THREAD_STEPS = 20000 };

struct object {
    unsigned char *at;
    size_t size;
    unsigned char stamp;
};

static const char *fault;

static bool expect(bool holds, const char *what) {
    if (!holds && fault == NULL)
        fault = what;
    return holds;
}

static bool filled(const struct object *object, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (object->at[i] != object->stamp)
            return false;
    return true;
}

/* Fills an object with a stamp that comes from `draw`, a random number. */
static void fill(struct object *object, uint32_t draw, size_t size) {
    object->stamp = (unsigned char)(draw >> 8 | 1);
    object->size = size;
    if (expect(object->at != NULL, "no memory"))
        memset(object->at, object->stamp, size);
}

/* Returns a size: mostly one of the bench, now and then up to 300 KB. */
static size_t size_of(uint32_t draw) {
    return (draw & 0xff0000) == 0 ? (draw >> 3) % 300000 + 1
                                  : 1 + (draw >> 5) % 1039;
}

static void make(struct object *object, uint32_t draw) {
    size_t size = size_of(draw),
           alignment = (size_t)16
                       << (draw >> 29); /* some refuse more than a page */
    switch (draw >> 24 & 7) {
    case 0:
        object->at = calloc(size, 1);
        for (size_t i = 0; object->at != NULL && i < size; i++)
            expect(object->at[i] == 0, "calloc gave memory that is not zero");
        break;
    case 1:
        object->at =
            aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
        expect(((uintptr_t)object->at & (alignment - 1)) == 0,
               "aligned_alloc gave another alignment");
        break;
    default:
        object->at = malloc(size);
        expect(((uintptr_t)object->at & (size < 16 ? 7 : 15)) == 0,
               "malloc gave less alignment");
    }
    expect(malloc_usable_size(object->at) >= size,
           "usable size is less than asked for");
    fill(object, draw, size);
}

static void change(struct object *object, uint32_t draw) {
    if (object->at == NULL) {
        make(object, draw);
        return;
    }
    expect(filled(object, object->size), "an object's content changed");
    if ((draw >> 27 & 3) == 0) {
        size_t size = size_of(xorshift32(draw)),
               kept = size < object->size ? size : object->size;
        object->at = realloc(object->at, size);
        if (expect(object->at != NULL, "no memory"))
            expect(filled(object, kept), "realloc lost content");
        fill(object, draw, size);
    } else {
        free(object->at);
        object->at = NULL;
    }
}

static void steps(struct object *objects, uint32_t state, int count) {
    for (int i = 0; i < count && fault == NULL; i++) {
        state = xorshift32(state);
        change(&objects[state % OBJECTS], xorshift32(state ^ 0x9e3779b9u));
    }
}

/* The objects and the random state with which the other thread goes on. */
struct passed_on {
    struct object *objects;
    uint32_t state;
};

static void *other_thread(void *argument) {
    struct passed_on *passed = argument;
    steps(passed->objects, passed->state, THREAD_STEPS);
    return NULL;
}

/* Runs the check and prints "intact" or the first fault. Returns 0 if intact. */
int check_intact(uint64_t seed) {
    struct passed_on passed = {pages(OBJECTS * sizeof(struct object), 0),
                               (uint32_t)seed | 1};
    steps(passed.objects, passed.state, STEPS);
    pthread_t thread;
    if (pthread_create(&thread, NULL, other_thread, &passed) != 0)
        fault = "no thread";
    else
        /* That thread freed objects made here; below, this one frees its own. */
        pthread_join(thread, NULL);
    for (int i = 0; i < OBJECTS && fault == NULL; i++) {
        if (passed.objects[i].at != NULL)
            expect(filled(&passed.objects[i], passed.objects[i].size),
                   "an object's content changed");
        free(passed.objects[i].at);
    }
    say(fault == NULL ? "intact" : fault);
    say_end();
    return fault == NULL ? 0 : 1;
}
