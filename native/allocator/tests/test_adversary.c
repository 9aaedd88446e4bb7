/* Addresses that are no live object, drawn from everywhere in a process that
 * has used the allocator: each ends the process at free, realloc or
 * malloc_usable_size.
 *
 * The model knows every live object of the process, so it knows which addresses
 * are bad. Each is tried in a fork of its own; one that survives fails the test
 * and is named. --addresses=N sets how many. */
#define _GNU_SOURCE
#include "check.h"
#include "paceline_alloc.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OBJECTS = 6000 };

static struct {
    char *place;
    size_t size;
    int live;
} objects[OBJECTS];
static uint64_t seed;
static char *other_mapping;
static char *on_stack;
static char in_data[4096];

static size_t below(size_t bound) {
    return (size_t)(next_random(&seed) % bound);
}

static size_t random_size(void) {
    switch (below(20)) {
    case 0:
        return 32769 + below(2u << 20);
    case 1:
        return below(12) == 0 ? (2u << 20) + below(6u << 20) : below(60000);
    case 2:
    case 3:
        return 3841 + below(28000);
    default:
        return below(3000);
    }
}

static void take(int i) {
    objects[i].size = random_size();
    objects[i].place =
        below(6) == 0 ? paceline_memalign(
                            below(50) == 0 ? 8u << 20 : (size_t)16 << below(10),
                            objects[i].size)
                      : paceline_malloc(objects[i].size);
    CHECK(objects[i].place != NULL);
    objects[i].live = 1;
}

static void give(int i) {
    paceline_free(objects[i].place);
    objects[i].live = 0;
}

static void *give_some(void *unused) {
    (void)unused;
    for (int i = 0; i < OBJECTS; i += 7) {
        if (objects[i].live) {
            give(i);
        }
    }
    return NULL;
}

/* Live, cached and free objects; ended spans and runs; freed huge mappings;
 * frees by another thread. */
static void populate(void) {
    pthread_t thread;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < OBJECTS; i++) {
            if (!objects[i].live && below(3) != 0) {
                take(i);
            } else if (objects[i].live && below(3) != 0) {
                give(i);
            }
        }
        CHECK(pthread_create(&thread, NULL, give_some, NULL) == 0);
        pthread_join(thread, NULL);
    }
    other_mapping = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int is_live(const char *place) {
    for (int i = 0; i < OBJECTS; i++) {
        if (objects[i].live && objects[i].place == place) {
            return 1;
        }
    }
    return 0;
}

static const char *const kinds[] = {
    "freed",    "off by one to 15",   "off by 16s",   "inside",
    "far off",  "anywhere",           "stack",        "static",
    "not ours", "the program's code", "freed inside", "behind the end"};

static char *bad_address(unsigned kind) {
    unsigned i = (unsigned)below(OBJECTS);
    while (objects[i].place == NULL || (kind == 0 && objects[i].live)) {
        i = (i + 1) % OBJECTS;
    }
    char *place = objects[i].place;
    size_t size = objects[i].size + 1;
    switch (kind) {
    case 0:
        return place;
    case 1:
        return place + 1 + below(15);
    case 2:
        return place + 16 * (1 + below(64));
    case 3:
    case 10:
        return place + below(size);
    case 4:
        return place + (ptrdiff_t)below(64u << 20) - (32 << 20);
    case 5:
        return (char *)(uintptr_t)(next_random(&seed) >> below(48));
    case 6:
        return on_stack + below(64) * 8;
    case 7:
        return in_data + below(sizeof in_data);
    case 8:
        return other_mapping + below(256) * 4096 + below(2) * 16;
    case 9:
        return (char *)(uintptr_t)bad_address + below(64) * 16;
    default:
        return place + size + below(4096);
    }
}

static void misuse(char *place, unsigned how) {
    void *volatile result =
        place; /* the compiler knows what realloc promises */
    if (how == 0) {
        result = paceline_realloc(result, 1 + below(4000));
    } else if (how == 1) {
        (void)!paceline_malloc_usable_size(result);
    } else {
        paceline_free(result);
    }
}

static void try_all(long count) {
    char frame[512];
    on_stack = frame;
    populate();
    for (long i = 0; i < count; i++) {
        unsigned kind = (unsigned)i % (sizeof kinds / sizeof *kinds),
                 how = (unsigned)below(4);
        char *place = bad_address(kind);
        if (place == NULL || is_live(place)) {
            continue;
        }
        fflush(stderr);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            close(STDERR_FILENO);
            misuse(place, how);
            _Exit(0);
        }
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) {
            fprintf(stderr, "%p, %s, way %u: status %#x\n", (void *)place,
                    kinds[kind], how, (unsigned)status);
            _Exit(1);
        }
    }
}

static void no_bad_address_passes(void) {
    SKIP_IN_SHARED_PROCESS("a fork for each address is too slow");
    seed = (uint64_t)check_parameter("seed", 20260730);
    try_all(check_parameter("addresses", 400));
}

TEST(every_address_that_is_no_live_object_is_caught) {
    no_bad_address_passes();
}
HARDENED(every_address_that_is_no_live_object_is_caught_in_hardened_mode) {
    no_bad_address_passes();
}
