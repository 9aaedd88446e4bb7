/* Reads what the kernel says of this process, and maps memory beside malloc. */
#define _GNU_SOURCE
#include "subject.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

void *pages(size_t bytes, uint64_t layout) {
    size_t offset = (size_t)(layout % (4096 / CACHE_LINE)) * CACHE_LINE;
    char *start = mmap(NULL, bytes + offset, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        give_up("the kernel gives no memory: ", strerror(errno));
    return start + offset;
}

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The number after `name` in a file of /proc, times 1,024; 0 when it is not
 * there. */
static uint64_t kibibytes(const char *path, const char *name) {
    static char text[4096];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return 0;
    text[length] = 0;
    const char *found = strstr(text, name);
    if (found == NULL)
        return 0;
    found += strlen(name);
    while (*found == ' ' || *found == '\t')
        found++;
    return take_number(&found) * 1024;
}

uint64_t resident_bytes(void) {
    return kibibytes("/proc/self/smaps_rollup", "\nRss:");
}

/* ru_maxrss would begin with the peak of the process that forked this one. */
uint64_t peak_resident_bytes(void) {
    return kibibytes("/proc/self/status", "\nVmHWM:");
}

uint64_t page_faults(void) {
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) != 0)
        return 0;
    return (uint64_t)used.ru_minflt + (uint64_t)used.ru_majflt;
}

void rest(uint64_t milliseconds) {
    struct timespec left = {(time_t)(milliseconds / 1000),
                            (long)(milliseconds % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}
