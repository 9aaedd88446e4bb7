/* check.h: runs the registered tests.
 *
 *   PROGRAM [--list] [--only=TEXT] [--inner=TEST] [--emulator=PATH]
 *           [--NAME=number]...
 *
 * Each test runs this program again with --inner, so that it starts with the
 * environment it needs. The exit status is 0 when none failed. The last line is
 * "N passed, N failed", with ", N skipped" where some were. */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct check_test *tests;
static int argument_count;
static char **arguments;

void check_register(struct check_test *test) {
    test->next = tests;
    tests = test;
}

static const char *argument(const char *name) {
    size_t length = strlen(name);
    for (int i = 1; i < argument_count; i++) {
        const char *text = arguments[i];
        if (strncmp(text, "--", 2) == 0 &&
            strncmp(text + 2, name, length) == 0 && text[2 + length] == '=') {
            return text + 2 + length + 1;
        }
    }
    return NULL;
}

long check_parameter(const char *name, long otherwise) {
    const char *text = argument(name);
    return text == NULL ? otherwise : atol(text);
}

int check_is_emulated(void) { return argument("emulator") != NULL; }

static void run_inner(const struct check_test *test, int errors) {
    char inner[256];
    char *argv[64] = {arguments[0], inner};
    int count = 2;
    snprintf(inner, sizeof inner, "--inner=%s", test->name);
    for (int i = 1; i < argument_count && count < 63; i++) {
        argv[count++] = arguments[i];
    }
    if (test->environment != NULL) {
        char *rest = NULL;
        for (char *one = strtok_r(strdup(test->environment), " ", &rest); one;
             one = strtok_r(NULL, " ", &rest)) {
            putenv(one);
        }
    }
    dup2(errors, STDERR_FILENO);
    const char *emulator = argument("emulator");
    if (emulator != NULL) {
        memmove(argv + 1, argv, (size_t)count * sizeof *argv);
        argv[0] = (char *)(uintptr_t)emulator;
        execv(emulator, argv);
    }
    execv("/proc/self/exe", argv);
    _Exit(127);
}

size_t resident_bytes(void) {
    unsigned long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu %lu", &pages, &resident) == 2);
    fclose(file);
    return resident * 4096;
}

/* Returns the wait status of the test's process, and its stderr in `text`. */
static int run_process(const struct check_test *test, char *text,
                       size_t capacity) {
    int ends[2];
    int status = -1;
    if (pipe(ends) != 0) {
        return -1;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_inner(test, ends[1]);
    }
    close(ends[1]);
    size_t length = 0;
    char chunk[4096];
    for (ssize_t got; (got = read(ends[0], chunk, sizeof chunk)) > 0;) {
        size_t room = capacity - 1 - length;
        size_t keep = (size_t)got < room ? (size_t)got : room;
        memcpy(text + length, chunk, keep);
        length += keep;
    }
    text[length] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    return status;
}

static const char *verdict(const struct check_test *test, int status,
                           const char *text) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == CHECK_SKIPPED) {
        return "skip";
    }
    if (test->death == NULL) {
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "ok" : "FAIL";
    }
    int killed = WIFSIGNALED(status) && WTERMSIG(status) == test->signal;
    return killed && strstr(text, test->death) != NULL ? "ok" : "FAIL";
}

static int run_all(const char *only) {
    static char text[1 << 16];
    int passed = 0, failed = 0, skipped = 0;
    for (const struct check_test *test = tests; test != NULL;
         test = test->next) {
        if (only != NULL && strstr(test->name, only) == NULL) {
            continue;
        }
        int status = run_process(test, text, sizeof text);
        const char *word = verdict(test, status, text);
        printf("%-4s %s\n", word, test->name);
        if (strcmp(word, "FAIL") == 0) {
            printf("     status %#x, stderr: %s\n", (unsigned)status, text);
            failed++;
        } else if (strcmp(word, "skip") == 0) {
            printf("     %s", text);
            skipped++;
        } else {
            passed++;
        }
        fflush(stdout);
    }
    printf("%d passed, %d failed", passed, failed);
    if (skipped > 0) {
        printf(", %d skipped", skipped);
    }
    printf("\n");
    return failed > 0;
}

int main(int count, char **values) {
    argument_count = count;
    arguments = values;
    const char *inner = argument("inner");
    if (count == 2 && strcmp(values[1], "--list") == 0) {
        for (const struct check_test *test = tests; test != NULL;
             test = test->next) {
            printf("%s %s\n", test->death != NULL ? "dies" : "lives",
                   test->name);
        }
        return 0;
    }
    if (inner == NULL) {
        return run_all(argument("only"));
    }
    for (const struct check_test *test = tests; test != NULL;
         test = test->next) {
        if (strcmp(test->name, inner) == 0) {
            if (test->signal == SIGSEGV) {
                signal(SIGSEGV, SIG_DFL); /* not a sanitizer's handler */
            }
            test->run();
            return 0;
        }
    }
    fprintf(stderr, "no test %s\n", inner);
    return 2;
}
