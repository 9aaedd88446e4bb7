/* Sequences of operations as bytes: a libFuzzer target, or with FUZZ_ALONE a
 * seeded fuzzer that shrinks.
 *
 *   fuzz --operations=N [--seed=N] [--break=N]
 *       random sequences of 4,096 operations, N operations in all
 *
 * An operation is four bytes: kind, slot, and sixteen bits of size, so any bytes
 * are a valid program. Objects carry stamps; contents, alignment, zeros and usable
 * sizes are checked at each step. A sequence runs in a fork; one that fails is cut
 * by halves to a shorter one that still does, and printed in hexadecimal. --break=N
 * makes operation N of a kind fail, to see that shrinking works. It has one thread,
 * so that failures repeat. */
#define _GNU_SOURCE
#include "paceline_alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 256, OPERATION_BYTES = 4, SEQUENCE = 4096 };

struct object {
    unsigned char *place;
    size_t size;
    unsigned char stamp;
};

static struct object objects[SLOTS];
static unsigned broken =
    256; /* an operation that fails, for a look at shrinking */

static void must(int condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "fuzz: not so: %s\n", what);
        abort();
    }
}

/* Three in four small; the top of the range is huge. Sizes beside powers of two
 * are frequent. */
static size_t size_of(unsigned code) {
    size_t low = code & 0x1FFF;
    switch (code >> 13) {
    case 0:
        return low & 0xFF;
    case 1:
    case 2:
        return low & 0x7FF;
    case 3:
        return low;
    case 4:
        return ((size_t)1 << (low & 15)) + (low >> 4 & 15) - 8 +
               16 * ((low & 15) < 4);
    case 5:
        return low * 8;
    case 6:
        return low % 8 == 0 ? low * 64 : low;
    default:
        return low % 128 == 0 ? low * 512 : low;
    }
}

/* Of what is long the ends and a byte in 509 carry the stamp: else the run
 * would be about memory bandwidth.
 */
static size_t step(size_t size) { return size < 1024 ? 1 : 509; }

static void check_stamp(const struct object *object, size_t count) {
    for (size_t i = 0; i < count; i += step(object->size)) {
        must(object->place[i] == object->stamp, "contents stay");
    }
    must(count == 0 || count < object->size ||
             object->place[count - 1] == object->stamp,
         "the last byte stays");
}

static void stamp(struct object *object, size_t size, unsigned char with) {
    must(object->place != NULL, "memory is there");
    size_t usable = paceline_malloc_usable_size(object->place);
    must(usable >= size, "usable is at least what was asked for");
    must((uintptr_t)object->place % 16 == 0, "aligned to 16");
    object->size = usable;
    object->stamp = with;
    for (size_t i = 0; i < usable; i += step(usable)) {
        object->place[i] = with;
    }
    if (usable > 0) {
        object->place[usable - 1] = with;
    }
}

static void give(struct object *object) {
    check_stamp(object, object->size);
    paceline_free(object->place);
    object->place = NULL;
}

static void take(struct object *object, unsigned what, size_t size) {
    if (what % 8 == 1) {
        object->place = paceline_calloc(1, size);
        for (size_t i = 0; i < size; i += size < 4096 ? 1 : 61) {
            must(object->place[i] == 0, "calloc reads as zeros");
        }
    } else if (what % 8 == 2) {
        size_t alignment = (size_t)16 << (what / 8 % 20);
        object->place = paceline_memalign(alignment, size);
        must((uintptr_t)object->place % alignment == 0, "aligned as asked for");
    } else {
        object->place = paceline_malloc(size);
    }
}

static void perform(const uint8_t *bytes) {
    struct object *object = &objects[bytes[1]];
    size_t size = size_of(bytes[2] | (unsigned)bytes[3] << 8);
    must(bytes[0] != broken, "this operation works");
    if (bytes[0] == 255) {
        (void)paceline_malloc_trim(0);
    } else if (object->place == NULL) {
        take(object, bytes[0], size);
        stamp(object, size, bytes[3] ^ bytes[1]);
    } else if (bytes[0] % 4 == 0) {
        size_t kept = object->size < size + 1 ? object->size : size + 1;
        object->place = paceline_realloc(object->place, size + 1);
        must(object->place != NULL, "realloc finds memory");
        check_stamp(object, kept);
        stamp(object, size + 1, bytes[2] ^ 0x5A);
    } else {
        give(object);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (size_t i = 0; i + OPERATION_BYTES <= size; i += OPERATION_BYTES) {
        perform(data + i);
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        if (objects[i].place != NULL) {
            give(&objects[i]);
        }
    }
    return 0;
}

#ifdef FUZZ_ALONE

static long parameter(int count, char **values, const char *name,
                      long otherwise) {
    size_t length = strlen(name);
    for (int i = 1; i < count; i++) {
        if (strncmp(values[i], name, length) == 0) {
            return atol(values[i] + length);
        }
    }
    return otherwise;
}

/* Whether the sequences end badly, run one after the other in one fork. */
static int ends_badly(const uint8_t *bytes, size_t size, int quiet) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (quiet) {
            close(STDERR_FILENO);
        }
        (void)LLVMFuzzerTestOneInput(bytes, size);
        _Exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status != 0;
}

/* Takes out ever smaller pieces while what is left still ends badly. */
static size_t shrink(uint8_t *bytes, size_t size) {
    static uint8_t less[SEQUENCE * OPERATION_BYTES];
    for (size_t piece = size / 2 / OPERATION_BYTES * OPERATION_BYTES;
         piece > 0;) {
        int removed = 0;
        for (size_t at = 0; at + piece <= size;) {
            memcpy(less, bytes, at);
            memcpy(less + at, bytes + at + piece, size - at - piece);
            if (ends_badly(less, size - piece, 1)) {
                size -= piece;
                memcpy(bytes, less, size);
                removed = 1;
            } else {
                at += piece;
            }
        }
        piece = removed ? piece : piece / 2 / OPERATION_BYTES * OPERATION_BYTES;
    }
    return size;
}

static int report(uint8_t *bytes, size_t size, uint64_t number) {
    size = shrink(bytes, size);
    printf("sequence %llu, cut down to %zu operations:",
           (unsigned long long)number, size / OPERATION_BYTES);
    for (size_t i = 0; i < size; i++) {
        printf("%s%02x", i % OPERATION_BYTES == 0 ? " " : "", bytes[i]);
    }
    printf("\n");
    (void)ends_badly(bytes, size, 0);
    return 1;
}

int main(int count, char **values) {
    static uint8_t bytes[SEQUENCE * OPERATION_BYTES];
    uint64_t drawn = (uint64_t)parameter(count, values, "--seed=", 20260731);
    long sequences =
        parameter(count, values, "--operations=", 400000) / SEQUENCE + 1;
    broken = (unsigned)parameter(count, values, "--break=", 256);
    for (long number = 0; number < sequences; number++) {
        for (size_t i = 0; i < sizeof bytes; i += 8) {
            drawn ^= drawn >> 12;
            drawn ^= drawn << 25;
            drawn ^= drawn >> 27;
            uint64_t word = drawn * 0x2545F4914F6CDD1Du;
            memcpy(bytes + i, &word, sizeof word);
        }
        if (ends_badly(bytes, sizeof bytes, 1)) {
            return report(bytes, sizeof bytes, (uint64_t)number);
        }
    }
    printf("%ld operations, none failed\n", sequences * SEQUENCE);
    return 0;
}

#endif
