/* The format of a recorded trace: what a program asked of its allocator.
 *
 * A file is the header, then `events` events; all integers are little-endian. An
 * event is one or two numbers in LEB128 (base 128, low bits first, the high bit
 * of a byte says that another follows):
 *
 *   first  = argument × 8 + kind
 *   kind 0   malloc    argument: bytes                 the object gets a number
 *   kind 1   free      argument: the object's number   the number is free again
 *   kind 2   realloc   argument: the object's number   second: bytes
 *   kind 3   calloc    argument: bytes                 gets a number
 *   kind 4   aligned   argument: log2 of the alignment second: bytes; a number
 *   kind 5   thread    argument: which thread what follows is of, from 0
 *   kind 6   written   argument: the object's number   second: bytes, each page of
 *            which is written to; no recorder sees that, ../../traces/patterns.py
 *            makes it up
 *
 * A trace begins on thread 0. Numbers are not in the file: an object gets the one
 * that was given back last, otherwise the next unused one; `objects` numbers are
 * enough. free(NULL) is not recorded, realloc(NULL, n) is a malloc, realloc(p, 0)
 * a free. Objects alive at the end are freed by the replayer, in their order.
 */
#ifndef PACELINE_BENCH_TRACE_H
#define PACELINE_BENCH_TRACE_H

#include <stdint.h>

#define TRACE_MAGIC "PLTRACE1"

enum trace_kind {
    TRACE_MALLOC,
    TRACE_FREE,
    TRACE_REALLOC,
    TRACE_CALLOC,
    TRACE_ALIGNED,
    TRACE_THREAD,
    TRACE_WRITTEN
};

enum {
    TRACE_KIND_BITS = 3,
    TRACE_EVENTS_MAX = 1 << 24,
    TRACE_BYTES_MAX = 0x7fffffff
};

struct trace_header {
    char magic[8];
    uint32_t objects;
    uint32_t events;
};

#endif
