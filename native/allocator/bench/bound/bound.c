/* An allocator that never looks anything up: the floor the others are compared
 * with. No program should use it.
 *
 * Each object has its class in the eight bytes before it, written when it is
 * carved. malloc pops its class's list, free pushes to it; the links are in the
 * freed objects. Lists are per thread, and an object freed by another thread
 * stays there. Nothing is checked, given back or shared. It is no strict bound:
 * without headers objects are denser, which may be faster for large sets. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    STEP = 16,
    HEADER = 8,
    CLASSES =
        129, /* strides of 16 … 2,048 bytes; beyond, a mapping of its own */
    LARGEST = (CLASSES - 1) * STEP - HEADER,
    PIECE = 1 << 20, /* taken from the kernel at once */
    PAGE = 4096,
};

struct object {
    struct object *next;
};

static _Thread_local struct object *lists[CLASSES];
static _Thread_local char *fresh, *fresh_end;

/* Of an object of its own mapping: where that begins and how long it is. The
 * class before the object is 0. */
struct mapping {
    void *start;
    size_t length;
    size_t bytes;
    uint64_t class;
};

static inline uint64_t *header(void *object) { return (uint64_t *)object - 1; }

static inline struct mapping *mapping_of(void *object) {
    return (struct mapping *)object - 1;
}

static void *map(size_t bytes) {
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return start == MAP_FAILED ? NULL : start;
}

static void *mapped(size_t bytes, size_t alignment) {
    size_t room = alignment > PAGE ? alignment : PAGE;
    if (bytes > PTRDIFF_MAX - 2 * room - PAGE) {
        errno = ENOMEM;
        return NULL;
    }
    size_t length = (bytes + room + PAGE - 1) / PAGE * PAGE;
    char *start = map(length);
    if (start == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    uintptr_t first = (uintptr_t)start + sizeof(struct mapping);
    size_t aligned =
        (size_t)(((first + alignment - 1) & ~(uintptr_t)(alignment - 1)) -
                 (uintptr_t)start);
    void *object = start + aligned;
    *mapping_of(object) = (struct mapping){start, length, bytes, 0};
    return object;
}

__attribute__((noinline)) static void *carve(size_t class) {
    size_t stride = class * STEP;
    if ((size_t)(fresh_end - fresh) < stride + STEP) {
        char *piece = map(PIECE);
        if (piece == NULL) {
            errno = ENOMEM;
            return NULL;
        }
        fresh = piece + HEADER; /* so that objects are aligned */
        fresh_end = piece + PIECE;
    }
    void *object = fresh + HEADER;
    *header(object) = class;
    fresh += stride;
    return object;
}

void *malloc(size_t bytes) {
    if (__builtin_expect(bytes > LARGEST, 0))
        return mapped(bytes, STEP);
    size_t class = (bytes + HEADER + STEP - 1) / STEP;
    struct object *object = lists[class];
    if (__builtin_expect(object == NULL, 0))
        return carve(class);
    lists[class] = object->next;
    return object;
}

void free(void *address) {
    if (address == NULL)
        return;
    uint64_t class = *header(address);
    if (__builtin_expect(class == 0, 0)) {
        struct mapping own = *mapping_of(address);
        munmap(own.start, own.length);
        return;
    }
    struct object *object = address;
    object->next = lists[class];
    lists[class] = object;
}

size_t malloc_usable_size(void *address) {
    if (address == NULL)
        return 0;
    uint64_t class = *header(address);
    return class == 0 ? mapping_of(address)->bytes : class * STEP - HEADER;
}

void *calloc(size_t count, size_t bytes) {
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    void *object = malloc(total);
    return object == NULL ? NULL : memset(object, 0, total);
}

void *realloc(void *address, size_t bytes) {
    size_t before = malloc_usable_size(address);
    if (address != NULL && bytes <= before && bytes >= before / 2)
        return address;
    void *object = malloc(bytes);
    if (object == NULL || address == NULL)
        return object;
    memcpy(object, address, bytes < before ? bytes : before);
    free(address);
    return object;
}

int posix_memalign(void **address, size_t alignment, size_t bytes) {
    *address = alignment <= STEP ? malloc(bytes) : mapped(bytes, alignment);
    return *address == NULL ? ENOMEM : 0;
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    return alignment <= STEP ? malloc(bytes) : mapped(bytes, alignment);
}

void *memalign(size_t alignment, size_t bytes) {
    return aligned_alloc(alignment, bytes);
}
