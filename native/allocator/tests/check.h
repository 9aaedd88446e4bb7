/* A test runner of one page: every test is a function in a process of its own,
 * so tests may die or leak.
 *
 * A test's name is a claim. DEATH names what the last line on stderr must
 * contain; the process must end by SIGABRT. FAULT is the same with SIGSEGV, and
 * the test itself says on stderr how far it came. A test that cannot run here
 * calls SKIP with the feature the machine lacks. */
#ifndef PACELINE_CHECK_H
#define PACELINE_CHECK_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct check_test {
    const char *name;
    void (*run)(void);
    const char *death;       /* NULL: must return */
    const char *environment; /* "NAME=value NAME=value", needed from the start
                                of the process; or NULL */
    int signal;              /* by which it dies */
    struct check_test *next;
};

void check_register(struct check_test *test);
/* A number given as --NAME=value on the command line. */
long check_parameter(const char *name, long otherwise);
int check_is_emulated(void);
/* Of this process, by the kernel. */
size_t resident_bytes(void);

#define CHECK_CONCAT_(a, b) a##b
#define TEST_BY_(claim, dies, env, by)                                        \
    static void claim(void);                                                  \
    __attribute__((constructor)) static void CHECK_CONCAT_(register_,         \
                                                           claim)(void) {     \
        static struct check_test test = {#claim, claim, dies, env, by, NULL}; \
        check_register(&test);                                                \
    }                                                                         \
    static void claim(void)
#define TEST_(claim, dies, env) TEST_BY_(claim, dies, env, SIGABRT)
#define TEST(claim) TEST_(claim, NULL, NULL)
#define DEATH(claim, message) TEST_(claim, message, NULL)
#define HARDENED(claim) TEST_(claim, NULL, "PACELINE_ALLOC_HARDENED=1")
/* Without guarded objects, drawn by chance, whose misuse ends by SIGSEGV. */
#define HARDENED_DEATH(claim, message) \
    TEST_(claim, message, "PACELINE_ALLOC_HARDENED=1 PACELINE_ALLOC_SAMPLE=0")
#define FAULT(claim, message, env) TEST_BY_(claim, message, env, SIGSEGV)

enum { CHECK_SKIPPED = 77 };

#if defined(__SANITIZE_THREAD__)
#define CHECK_SANITIZER "ThreadSanitizer"
#elif defined(__SANITIZE_ADDRESS__)
#define CHECK_SANITIZER "AddressSanitizer"
#else
#define CHECK_SANITIZER NULL
#endif
/* A sanitizer's runtime or an emulator is in the process: its memory is not
 * ours alone. */
#define CHECK_SHARED_PROCESS (CHECK_SANITIZER != NULL || check_is_emulated())
#define SKIP_IN_SHARED_PROCESS(what)                                         \
    do {                                                                     \
        if (CHECK_SHARED_PROCESS) {                                          \
            fprintf(stderr,                                                  \
                    "skipped: " what " under a sanitizer or an emulator\n"); \
            _Exit(CHECK_SKIPPED);                                            \
        }                                                                    \
    } while (0)

#define CHECK(condition)                                               \
    do {                                                               \
        if (!(condition)) {                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, \
                    #condition);                                       \
            _Exit(1);                                                  \
        }                                                              \
    } while (0)
#define SKIP(reason)                              \
    do {                                          \
        fprintf(stderr, "skipped: %s\n", reason); \
        _Exit(CHECK_SKIPPED);                     \
    } while (0)

/* xorshift64*: the tests' own source of numbers, seeded and the same
 * everywhere. */
static inline uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 0x2545F4914F6CDD1Du;
}

#endif
