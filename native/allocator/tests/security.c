/* security.c: how much misuse of the heap an allocator notices.
 *
 *   security LIBRARY             every case without a library, with it and with it in hardened mode: a table
 *   security LIBRARY --check     in hardened mode only; fails if a case is missed that may not be
 *   security --case=N SIZE       the case of kind N, from 0, in this process
 *
 * Each case is a process of its own that misuses one object and then goes on like
 * any program: 262,144 objects come and go. It is *caught* when a signal ends
 * the process, *harmless* when the misuse had no effect (memory that was refused,
 * an address that was not reused, bytes of which nothing is left), and else
 * *missed*. What misuse there is, is that of mimalloc-bench's directory
 * `security`, 37 kinds of three sizes and five of C++; the last kind is ours. */
#define _GNU_SOURCE
#include <alloca.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SMALL = 8, MEDIUM = 4096, LARGE = 256 << 10, MIB = 1 << 20 };
enum { MISSED = 0, HARMLESS = 10, NO_CASE = 11 };

/* The operators, where the process has them; the usual ones are malloc and free. */
extern void *new_object(size_t) __asm__("_Znwm") __attribute__((weak));
extern void *new_array(size_t) __asm__("_Znam") __attribute__((weak));
extern void delete_object(void *, size_t) __asm__("_ZdlPvm")
    __attribute__((weak));
extern void delete_array(void *, size_t) __asm__("_ZdaPvm")
    __attribute__((weak));

/* --- the program around the misuse --- */

/* volatile: the compiler knows malloc and free, and would warn about, or remove,
 * what is tested. */
static char *volatile object;
static char *volatile other;

static void *take(size_t size) {
    object = malloc(size);
    if (object == NULL) {
        _exit(NO_CASE);
    }
    return object;
}

static void change(char *place) { *(volatile char *)place ^= 'A'; }

static void write_all(char *place, char value, size_t size) {
    for (size_t i = 0; i < size; i++) {
        ((volatile char *)place)[i] = value;
    }
}

static void go_on(void) {
    enum { LIVE = 256, TURNS = 1024 };
    static char *volatile live[LIVE];
    for (size_t i = 0; i < LIVE * TURNS; i++) {
        free(live[i % LIVE]);
        size_t size = i * 7919 % 1024 + 16;
        live[i % LIVE] = malloc(size);
        memset(live[i % LIVE], 'C', size);
    }
}

static _Noreturn void end_if(bool harmless) {
    go_on();
    _exit(harmless ? HARMLESS : MISSED);
}

/* As many objects of a size as memory allows at once. */
static size_t many(size_t size) { return size < LARGE ? 4096 : 64; }

/* --- writes beyond an object --- */

static void overflow(size_t size, size_t distance) {
    change((char *)take(size) + size - 1 + distance);
    free(object);
}
static void overflow_1(size_t size) { overflow(size, 1); }
static void overflow_32(size_t size) { overflow(size, 32); }
static void overflow_mib(size_t size) { overflow(size, MIB); }

static void underflow(size_t size, size_t distance) {
    change((char *)take(size) - distance);
    free(object);
}
static void underflow_1(size_t size) { underflow(size, 1); }
static void underflow_32(size_t size) { underflow(size, 32); }
static void underflow_mib(size_t size) { underflow(size, MIB); }

/* Of zeros, from a page of the program's own; never freed. */
static void copy(size_t size, ptrdiff_t begin, size_t more) {
    static char zeros[LARGE + MIB];
    memcpy((char *)take(size) + begin, zeros, size + more);
}
static void copy_over_1(size_t size) { copy(size, 0, 1); }
static void copy_over_32(size_t size) { copy(size, 0, 32); }
static void copy_over_mib(size_t size) { copy(size, 0, MIB); }
static void copy_under_1(size_t size) { copy(size, -1, 0); }
static void copy_under_32(size_t size) { copy(size, -32, 0); }
static void copy_under_mib(size_t size) { copy(size, -MIB, 0); }

/* --- objects of no bytes, made in three ways --- */

static void take_empty(size_t size) {
    object = size == SMALL    ? malloc(0)
             : size == MEDIUM ? calloc(0, size)
                              : realloc(NULL, 0);
    if (object == NULL) {
        _exit(HARMLESS);
    }
}
static void read_empty(size_t size) {
    take_empty(size);
    (void)*(volatile char *)object;
}
static void read_empty_and_free(size_t size) {
    read_empty(size);
    free(object);
}
static void write_empty(size_t size) {
    take_empty(size);
    change(object);
}
static void write_empty_and_free(size_t size) {
    write_empty(size);
    free(object);
}

/* --- freed objects --- */

static void free_twice(size_t size) {
    take(size);
    free(object);
    free(object);
}
static void free_twice_and_reuse(size_t size) {
    free_twice(size);
    for (int i = 0; i < 16384; i++) {
        free(malloc(size));
    }
}
static void free_twice_later(size_t size) {
    take(size);
    free(object);
    for (int i = 0; i < 1024; i++) {
        free(malloc(size));
    }
    free(object);
}
static void free_twice_around_another(size_t size) {
    other = take(size);
    take(size);
    free(other);
    free(object);
    free(other);
}
static void free_twice_around_a_new(size_t size) {
    take(size);
    free(object);
    other = malloc(size);
    free(object);
    free(other);
}

static void write_freed(size_t size) {
    take(size);
    free(object);
    write_all(object, 'A', size);
}
static void write_freed_and_reuse(size_t size) {
    write_freed(size);
    for (int i = 0; i < 16384; i++) {
        free(malloc(size));
    }
}
/* Of eight bytes this is the next object. */
static void write_freed_at_16(size_t size) {
    take(size);
    free(object);
    change(object + (size > 16 ? 16 : 0));
}

static void read_freed(size_t size) {
    bool left = false;
    write_all(take(size), 'B', size);
    free(object);
    for (size_t i = 0; i < size; i++) {
        left |= ((volatile char *)object)[i] == 'B';
    }
    end_if(!left);
}
static void read_new(size_t size) {
    static char *volatile objects[4096];
    bool left = false;
    for (size_t i = 0; i < many(size); i++) {
        objects[i] = malloc(size);
        write_all(objects[i], 'B', size);
    }
    for (size_t i = 0; i < many(size); i++) {
        free(objects[i]);
    }
    take(size);
    for (size_t i = 0; i < size; i++) {
        left |= ((volatile char *)object)[i] == 'B';
    }
    end_if(!left);
}

static void reuse(size_t size, size_t next) {
    uintptr_t place = (uintptr_t)take(size);
    free(object);
    end_if((uintptr_t)malloc(next) != place);
}
static void reuse_at_once(size_t size) { reuse(size, size); }
static void reuse_by_half(size_t size) { reuse(size, size / 2); }

/* An object that grows in place is the same: nothing was misused, and nothing
 * caught. */
static void write_to_what_was_reallocated(size_t size) {
    other = take(size);
    object = realloc(other, 4 * size);
    write_all(other, 'A', size);
}

/* --- addresses that are no objects --- */

static void free_nowhere(size_t size) { free((void *)(size * 16 + 16)); }
static void free_far(size_t size) { free((char *)take(size) + 64 * MIB); }
static void free_close(size_t size) { free((char *)take(size) + 4096); }
static void free_stack(size_t size) {
    char *volatile buffer = (char[LARGE]){0};
    free(buffer + LARGE - size);
}
static void free_alloca(size_t size) {
    char *volatile buffer = alloca(size);
    write_all(buffer, 0, size);
    free(buffer);
}
static void free_unaligned(size_t size) { free((char *)take(size) + 1); }
static void free_inside(size_t size) {
    free((char *)take(size) + (size > 16 ? size / 2 : 4));
}

/* --- the rest --- */

static void run_heap(size_t size) {
#if defined(__x86_64__)
    static const unsigned char come_back[] = {0xC3};
#elif defined(__aarch64__)
    static const unsigned char come_back[] = {0xC0, 0x03, 0x5F, 0xD6};
#else
    static const unsigned char come_back[] = {0};
    _exit(NO_CASE);
#endif
    memcpy(take(size), come_back, sizeof come_back);
    void (*function)(void);
    char *begin = object;
    memcpy(&function, &begin, sizeof function);
    function();
}
static void ask_for_too_much(size_t size) {
    volatile size_t most = SIZE_MAX;
    end_if(malloc(most - size) == NULL);
}

static void *made(void *make(size_t), size_t size) {
    return make != NULL ? make(size) : malloc(size);
}
static void delete_by(void delete(void *, size_t), void *place, size_t size) {
    if (delete != NULL) {
        delete(place, size);
    } else {
        free(place);
    }
}
static void delete_of_another_size(size_t size) {
    delete_by(delete_object, made(new_object, 1), size);
}
static void delete_array_of_an_object(size_t size) {
    (void)size;
    object = made(new_object, 1);
    delete_by(delete_array, object, 1);
}
static void delete_object_of_an_array(size_t size) {
    (void)size;
    object = made(new_array, 1);
    delete_by(delete_object, object, 1);
}
/* An array of objects that have a destructor begins with their number. */
static void delete_array_of_a_string(size_t size) {
    object = made(new_object, size);
    for (size_t i = *(volatile size_t *)(object - 8); i-- > 0;) {
        (void)*(volatile char *)(object + i * size);
    }
    delete_by(delete_array, object - 8, 8 + size);
}
static void delete_string_of_an_array(size_t size) {
    object = made(new_array, 8 + 4 * size);
    delete_by(delete_object, object + 8, size);
}

/* --- the table --- */

enum { SIZES = 3 };
static const size_t sizes[SIZES] = {SMALL, MEDIUM, LARGE};

struct kind {
    const char *name;
    void (*misuse)(size_t);
    const char *misses; /* which of s, m and l hardened mode may miss */
    size_t only;        /* the one size of a kind that has no other */
};

static const struct kind kinds[] = {
    {"write 1 byte behind, free", overflow_1, "", 0},
    {"write 32 bytes behind, free", overflow_32, "s", 0},
    {"write 1 MiB behind, free", overflow_mib, "sml", 0},
    {"write 1 byte in front, free", underflow_1, "", 0},
    {"write 32 bytes in front, free", underflow_32, "s", 0},
    {"write 1 MiB in front, free", underflow_mib, "sml", 0},
    {"copy 1 byte too much", copy_over_1, "", 0},
    {"copy 32 bytes too much", copy_over_32, "", 0},
    {"copy 1 MiB too much", copy_over_mib, "", 0},
    {"copy to 1 byte in front", copy_under_1, "", 0},
    {"copy to 32 bytes in front", copy_under_32, "s", 0},
    {"copy to 1 MiB in front", copy_under_mib, "sml", 0},
    {"read an object of no bytes", read_empty, "", 0},
    {"read one and free it", read_empty_and_free, "", 0},
    {"write to an object of no bytes", write_empty, "", 0},
    {"write to one and free it", write_empty_and_free, "", 0},
    {"free twice", free_twice, "", 0},
    {"free twice, and reuse", free_twice_and_reuse, "", 0},
    {"free twice, 1,024 pairs between", free_twice_later, "", 0},
    {"free twice, another's free between", free_twice_around_another, "", 0},
    {"free twice, a new object between", free_twice_around_a_new, "", 0},
    {"write to a freed object", write_freed, "", 0},
    {"write to a freed object, and reuse", write_freed_and_reuse, "", 0},
    {"read what a freed object held", read_freed, "m", 0},
    {"read in a new object what another held", read_new, "ml", 0},
    {"address reused at once", reuse_at_once, "", 0},
    {"address reused at once by half the size", reuse_by_half, "", 0},
    {"write to what was reallocated", write_to_what_was_reallocated, "", 0},
    {"free an address of no memory", free_nowhere, "", 0},
    {"free an address far from the object", free_far, "", 0},
    {"free an address close to the object", free_close, "", 0},
    {"free an array of the stack", free_stack, "", 0},
    {"free what alloca made", free_alloca, "", 0},
    {"free an odd address", free_unaligned, "", 0},
    {"free the middle of an object", free_inside, "", 0},
    {"run code in an object", run_heap, "", 0},
    {"ask for more than there can be", ask_for_too_much, "", 0},
    {"delete with another size", delete_of_another_size, "", 72},
    {"delete[] of one character", delete_array_of_an_object, "s", 1},
    {"delete of an array of characters", delete_object_of_an_array, "s", 1},
    {"delete[] of one string", delete_array_of_a_string, "", 32},
    {"delete of an array of strings", delete_string_of_an_array, "", 32},
    {"write to a freed object at byte 16", write_freed_at_16, "", 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct mode {
    const char *name;
    bool preloaded, hardened;
};

static const struct mode modes[] = {
    {"the C library", false, false},
    {"default", true, false},
    {"hardened", true, true},
};
enum { MODES = sizeof modes / sizeof *modes, HARDENED = MODES - 1 };

static size_t size_of(const struct kind *kind, unsigned which) {
    return kind->only != 0 ? kind->only : sizes[which];
}

static unsigned count_sizes(const struct kind *kind) {
    return kind->only != 0 ? 1 : SIZES;
}

/* --- processes --- */

static _Noreturn void run_case(const struct kind *kind, size_t size) {
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    for (unsigned i = 0; i < 64; i++) { /* a program has some objects */
        free(malloc(i * 40 + 1));
        other = malloc(i * 40 + 1);
    }
    kind->misuse(size);
    end_if(false);
}

static _Noreturn void exec_case(const struct mode *mode, const char *library,
                                unsigned kind, size_t size) {
    char name[32], bytes[32];
    snprintf(name, sizeof name, "--case=%u", kind);
    snprintf(bytes, sizeof bytes, "%zu", size);
    if (mode->preloaded) {
        setenv("LD_PRELOAD", library, 1);
    }
    setenv("PACELINE_ALLOC_HARDENED", mode->hardened ? "1" : "0", 1);
    setenv("PACELINE_ALLOC_SAMPLE", "0", 1); /* nothing is caught by chance */
    if (freopen("/dev/null", "w", stderr) == NULL) {
        _exit(NO_CASE);
    }
    execl("/proc/self/exe", "security", name, bytes, (char *)NULL);
    _exit(NO_CASE);
}

/* c, h, - or ?: caught, harmless, missed, no answer. */
static char try_case(const struct mode *mode, const char *library,
                     unsigned kind, size_t size) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        exec_case(mode, library, kind, size);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return '?';
    }
    if (WIFSIGNALED(status)) {
        return 'c';
    }
    return WEXITSTATUS(status) == HARMLESS ? 'h'
           : WEXITSTATUS(status) == MISSED ? '-'
                                           : '?';
}

static int check_hardened(const char *library) {
    unsigned cases = 0, missed = 0, unexpected = 0;
    for (unsigned k = 0; k < KINDS; k++) {
        for (unsigned i = 0; i < count_sizes(&kinds[k]); i++, cases++) {
            size_t size = size_of(&kinds[k], i);
            char seen = try_case(&modes[HARDENED], library, k, size);
            missed += seen == '-';
            if (seen == '?' ||
                (seen == '-' && strchr(kinds[k].misses, "sml"[i]) == NULL)) {
                printf("FAIL %s, %zu bytes: %s\n", kinds[k].name, size,
                       seen == '-' ? "missed" : "did not run");
                unexpected++;
            }
        }
    }
    printf("%u of %u cases of misuse are caught or harmless\n", cases - missed,
           cases);
    return unexpected > 0;
}

static int print_table(const char *library) {
    unsigned caught[MODES] = {0}, harmless[MODES] = {0}, cases = 0;
    printf("| misuse of 8 bytes, 4 KiB, 256 KiB |");
    for (unsigned m = 0; m < MODES; m++) {
        printf(" %s |", modes[m].name);
    }
    printf("\n| --- | --- | --- | --- |\n");
    for (unsigned k = 0; k < KINDS; k++) {
        printf("| %s |", kinds[k].name);
        for (unsigned m = 0; m < MODES; m++) {
            for (unsigned i = 0; i < count_sizes(&kinds[k]); i++) {
                char seen =
                    try_case(&modes[m], library, k, size_of(&kinds[k], i));
                caught[m] += seen == 'c';
                harmless[m] += seen == 'h';
                cases += m == 0;
                printf(" %s", seen == 'c'   ? "caught"
                              : seen == 'h' ? "harmless"
                              : seen == '-' ? "–"
                                            : "?");
            }
            printf(" |");
        }
        printf("\n");
        fflush(stdout);
    }
    printf("| **caught or harmless, of %u** |", cases);
    for (unsigned m = 0; m < MODES; m++) {
        printf(" **%u** (%u caught) |", caught[m] + harmless[m], caught[m]);
    }
    printf("\n");
    return 0;
}

int main(int count, char **arguments) {
    unsigned kind;
    if (count == 3 && sscanf(arguments[1], "--case=%u", &kind) == 1 &&
        kind < KINDS) {
        run_case(&kinds[kind], (size_t)strtoul(arguments[2], NULL, 10));
    }
    if (count == 2) {
        return print_table(arguments[1]);
    }
    if (count == 3 && strcmp(arguments[2], "--check") == 0) {
        return check_hardened(arguments[1]);
    }
    fprintf(stderr, "usage: security LIBRARY [--check]\n");
    return 2;
}
