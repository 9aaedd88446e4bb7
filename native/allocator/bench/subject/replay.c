/* The scenario replay: a recorded trace (recorder/trace.h), by one thread.
 *
 * One operation is the whole trace, decoded before anything is timed. The first
 * and last byte of each object are written, and of each page where a trace says so:
 * a recorded one does not say what its program did with them. */
#define _GNU_SOURCE
#include "subject.h"
#include "../recorder/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct step {
    uint32_t kind : TRACE_KIND_BITS;
    uint32_t number : 29;
    uint32_t bytes;
    uint32_t alignment;
};

struct trace {
    uint32_t objects;
    uint32_t steps;
    struct step *of;
};

/* What is left of the file; a number that does not end is a broken file. */
struct reader {
    const unsigned char *at, *end;
};

static uint64_t number_of(struct reader *reader) {
    uint64_t value = 0;
    for (unsigned shift = 0; reader->at < reader->end && shift < 63;
         shift += 7) {
        unsigned char byte = *reader->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    give_up("broken trace: ", "a number does not end");
}

static uint32_t bytes_of(uint64_t bytes) {
    if (bytes > TRACE_BYTES_MAX)
        give_up("broken trace: ", "an object of 2 GiB");
    return (uint32_t)bytes;
}

/* Gives out numbers as the recorder did. */
struct numbers {
    uint32_t *free_ones;
    unsigned char *live;
    uint32_t free_count, next, limit;
};

static uint32_t next_number(struct numbers *numbers) {
    uint32_t number = numbers->free_count
                          ? numbers->free_ones[--numbers->free_count]
                          : numbers->next++;
    if (number >= numbers->limit)
        give_up("broken trace: ", "more objects than it says");
    numbers->live[number] = 1;
    return number;
}

static uint32_t live_number(const struct numbers *numbers, uint64_t number) {
    if (number >= numbers->limit || !numbers->live[number])
        give_up("broken trace: ", "an object that is not alive");
    return (uint32_t)number;
}

static bool decode(struct reader *reader, struct numbers *numbers,
                   struct step *step) {
    uint64_t first = number_of(reader), argument = first >> TRACE_KIND_BITS;
    step->kind = first & 7;
    switch (step->kind) {
    case TRACE_MALLOC:
    case TRACE_CALLOC:
        step->bytes = bytes_of(argument);
        step->number = next_number(numbers) & 0x1fffffff;
        return true;
    case TRACE_FREE:
        step->number = live_number(numbers, argument) & 0x1fffffff;
        numbers->live[step->number] = 0;
        numbers->free_ones[numbers->free_count++] = step->number;
        return true;
    case TRACE_REALLOC:
        step->number = live_number(numbers, argument) & 0x1fffffff;
        step->bytes = bytes_of(number_of(reader));
        return true;
    case TRACE_ALIGNED:
        if (argument > 30)
            give_up("broken trace: ", "an alignment beyond 1 GiB");
        step->alignment = 1u << argument;
        step->bytes = bytes_of(number_of(reader));
        step->number = next_number(numbers) & 0x1fffffff;
        return true;
    case TRACE_WRITTEN:
        step->number = live_number(numbers, argument) & 0x1fffffff;
        step->bytes = bytes_of(number_of(reader));
        return true;
    case TRACE_THREAD:
        return false;
    default:
        give_up("broken trace: ", "an unknown kind");
    }
}

static bool prepare(struct lane *lane) {
    const char *path = lane->options->trace;
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0 ||
        (size_t)about.st_size < sizeof(struct trace_header))
        give_up("no trace: ", path == NULL ? "none named" : path);
    const unsigned char *map =
        mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED)
        give_up("no trace: ", strerror(errno));
    struct trace_header header;
    memcpy(&header, map, sizeof header);
    if (memcmp(header.magic, TRACE_MAGIC, 8) != 0 ||
        header.events > TRACE_EVENTS_MAX || header.objects > TRACE_EVENTS_MAX)
        give_up("not a trace: ", path);
    struct trace *trace = pages(sizeof *trace, 0);
    struct reader reader = {map + sizeof header, map + about.st_size};
    struct numbers numbers = {pages(4 * (size_t)header.events + 4, 0),
                              pages(header.objects + (size_t)1, 0), 0, 0,
                              header.objects};
    trace->objects = header.objects;
    trace->of = pages(sizeof(struct step) * ((size_t)header.events + 1),
                      lane->options->layout);
    for (uint32_t i = 0; i < header.events; i++)
        trace->steps += decode(&reader, &numbers, &trace->of[trace->steps]);
    lane->slots = pages(sizeof(void *) * ((size_t)header.objects + 1),
                        lane->options->layout);
    lane->own = trace;
    munmap((void *)(uintptr_t)map, (size_t)about.st_size);
    close(file);
    return true;
}

static void *made(const struct step *step, void *before) {
    unsigned char *object = NULL;
    switch (step->kind) {
    case TRACE_MALLOC:
        object = malloc(step->bytes);
        break;
    case TRACE_REALLOC:
        object = realloc(before, step->bytes);
        break;
    case TRACE_CALLOC:
        object = calloc(1, step->bytes);
        break;
    default:
        if (posix_memalign((void **)&object, step->alignment, step->bytes) != 0)
            give_up("replay: ", "aligned allocation failed");
    }
    if (step->bytes != 0) {
        object[0] = (unsigned char)step->number;
        object[step->bytes - 1] = (unsigned char)step->bytes;
    }
    return object;
}

static void write_to(unsigned char *object, const struct step *step) {
    enum { PAGE = 4096 };
    for (size_t at = 0; at < step->bytes; at += PAGE)
        object[at] = (unsigned char)step->number;
}

static void work(struct lane *lane, uint64_t times) {
    const struct trace *trace = lane->own;
    for (uint64_t done = 0; done < times; done++) {
        for (uint32_t i = 0; i < trace->steps; i++) {
            const struct step *step = &trace->of[i];
            void **object = &lane->slots[step->number];
            if (step->kind == TRACE_FREE) {
                free(*object);
                *object = NULL;
            } else if (step->kind == TRACE_WRITTEN) {
                write_to(*object, step);
            } else {
                *object = made(step, *object);
            }
        }
        for (uint32_t i = 0; i < trace->objects; i++) {
            free(lane->slots[i]);
            lane->slots[i] = NULL;
        }
        lane->state++;
    }
}

static uint64_t digest(const struct lane *lane) {
    const struct trace *trace = lane->own;
    return fnv1a(fnv1a(FNV_START, trace->steps), lane->state);
}

const struct scenario replay = {"replay", prepare, work, digest, NULL, NULL};
