/* The scenarios server and producer_consumer: objects freed by other threads.
 *
 * server (after Larson and Krishnan 1998): each thread replaces objects of 8 to
 * 1,000 bytes at random in its table, then ends; a new thread continues with the
 * table, so most objects are freed by a thread that did not make them. One
 * operation is one replacement. producer_consumer: lane 0 makes objects, lane 1
 * reads and frees them. One operation is one object. */
#include "subject.h"
#include "ring.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SERVER_SMALLEST = 8, SERVER_SPAN = 993 };

/* What a connection's thread works on; threads come and go, tables stay. */
struct table {
    uint32_t state;
    uint32_t cpu;
    uint64_t times;
    uint64_t slots;
    unsigned char **objects;
};

struct tables {
    uint64_t handed_over;
    struct table of[LANES_MAX];
};

static unsigned char *made(uint32_t draw) {
    unsigned char *object =
        malloc(SERVER_SMALLEST + (draw >> 12) % SERVER_SPAN);
    object[0] = (unsigned char)draw;
    return object;
}

static bool server_prepare(struct lane *lane) {
    struct tables *tables = pages(sizeof *tables, 0);
    uint64_t slots = lane->options->slots;
    lane->own = tables;
    for (uint32_t t = 0; t < LANES_MAX; t++) {
        struct table *table = &tables->of[t];
        table->state = lane->state + t * 2;
        table->slots = slots;
        table->objects =
            pages((size_t)slots * sizeof(void *), lane->options->layout);
        for (uint64_t i = 0; i < slots && t < lane->options->threads; i++) {
            table->state = xorshift32(table->state);
            table->objects[i] = made(table->state);
        }
    }
    return slots != 0 && lane->options->threads != 0 &&
           lane->options->threads <= LANES_MAX;
}

static void *connection(void *argument) {
    struct table *table = argument;
    pin(table->cpu);
    uint32_t state = table->state;
    for (uint64_t i = 0; i < table->times; i++) {
        state = xorshift32(state);
        unsigned char **object = &table->objects[state % table->slots];
        free(*object);
        *object = made(state);
    }
    table->state = state;
    return NULL;
}

static void server_work(struct lane *lane, uint64_t times) {
    struct tables *tables = lane->own;
    uint64_t threads = lane->options->threads;
    pthread_t running[LANES_MAX];
    for (uint64_t t = 0; t < threads; t++) {
        struct table *table = &tables->of[t];
        table->times = times / threads;
        table->cpu = (uint32_t)((t + tables->handed_over) % threads);
        int error = pthread_create(&running[t], NULL, connection, table);
        if (error != 0)
            give_up("the system gives no thread: ", strerror(error));
    }
    for (uint64_t t = 0; t < threads; t++)
        pthread_join(running[t], NULL);
    tables->handed_over++;
}

static uint64_t server_digest(const struct lane *lane) {
    const struct tables *tables = lane->own;
    uint64_t hash = FNV_START;
    for (uint64_t t = 0; t < lane->options->threads; t++) {
        hash = fnv1a(hash, tables->of[t].state);
        for (uint64_t i = 0; i < tables->of[t].slots; i++)
            hash = fnv1a(hash, tables->of[t].objects[i][0]);
    }
    return hash;
}

const struct scenario server = {"server",      server_prepare, server_work,
                                server_digest, NULL,           NULL};

static bool pair_prepare(struct lane *lane) {
    return lane->options->lanes == 2;
}

static void produce(struct lane *lane, uint64_t times) {
    uint32_t state = lane->state;
    for (uint64_t i = 0; i < times; i++) {
        state = xorshift32(state);
        unsigned char *object = malloc(SMALLEST + (state & SIZE_MASK));
        object[0] = (unsigned char)state;
        while (!ring_push(lane->out, object))
            pause_cpu();
    }
    lane->state = state;
}

static void consume(struct lane *lane, uint64_t times) {
    uint32_t state = lane->state;
    for (uint64_t i = 0; i < times; i++) {
        unsigned char *object;
        while ((object = ring_pop(lane->in)) == NULL)
            pause_cpu();
        state = state * 31 + object[0];
        free(object);
    }
    lane->state = state;
}

static void pair_work(struct lane *lane, uint64_t times) {
    (lane->number == 0 ? produce : consume)(lane, times);
}

static uint64_t pair_digest(const struct lane *lane) {
    return fnv1a(FNV_START, lane->state);
}

const struct scenario producer_consumer = {
    "producer_consumer", pair_prepare, pair_work, pair_digest, NULL, NULL};
