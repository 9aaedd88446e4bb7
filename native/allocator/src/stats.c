/* What the allocator holds, as JSON, on demand and at exit.
 *
 * Hot paths count nothing, so this walks over spans and heaps with every lock held:
 * a consistent snapshot at the cost of a pause. Caches of running threads count as
 * used. Keys are only ever added. Sizes are in bytes; counts end with their noun.
 */
#include "heap.h"
#include "large.h"
#include "options.h"
#include "paceline_alloc.h"
#include "start.h"
#include "text.h"

struct class_counts {
    uint64_t spans, objects_used, objects_capacity;
};

struct totals {
    uint64_t heaps, heaps_idle, spans_begun, spans_ended, pages_purged,
        pages_refaulted;
    uint64_t refills, flushes, batches_sent, batches_received;
    struct class_counts classes[CLASS_COUNT];
};

static void add_heap(struct totals *totals, const struct heap *heap) {
    totals->heaps++;
    totals->heaps_idle += !heap_has_thread(heap);
    totals->spans_begun += heap->spans_begun;
    totals->spans_ended += heap->spans_ended;
    totals->pages_purged += heap->pages_purged;
    totals->pages_refaulted += heap->pages_refaulted;
    totals->refills +=
        atomic_load_explicit(&heap->refills, memory_order_relaxed);
    totals->flushes +=
        atomic_load_explicit(&heap->flushes, memory_order_relaxed);
    totals->batches_sent +=
        atomic_load_explicit(&heap->batches_sent, memory_order_relaxed);
    totals->batches_received +=
        atomic_load_explicit(&heap->batches_received, memory_order_relaxed);
}

static void add_spans(struct totals *totals, size_t units) {
    for (size_t unit = 0; unit < units; unit++) {
        uint32_t entry = entry_of_unit(unit);
        if (entry >> ENTRY_OWNER_SHIFT == 0) {
            continue;
        }
        const struct span *span = &range.spans[unit];
        struct class_counts *counts = &totals->classes[span->class];
        counts->spans++;
        counts->objects_used += span->used;
        counts->objects_capacity += span->capacity;
    }
}

static void add_key(struct text *text, const char *key) {
    char last = text->length > 0 && text->length < text->capacity
                    ? text->bytes[text->length - 1]
                    : ',';
    if (last != '{' && last != '[') {
        text_add_char(text, ',');
    }
    text_add_char(text, '"');
    text_add(text, key);
    text_add(text, "\":");
}

static void add_value(struct text *text, const char *key, uint64_t value) {
    add_key(text, key);
    text_add_number(text, value, 10);
}

static void add_range(struct text *text, struct range_counts counts) {
    add_key(text, "range");
    text_add_char(text, '{');
    add_value(text, "reserved", counts.reserved);
    add_value(text, "bytes", range.bytes);
    add_value(text, "segments", counts.segments);
    add_value(text, "used_bytes", (uint64_t)counts.units_used << UNIT_SHIFT);
    add_value(text, "dirty_bytes", (uint64_t)counts.units_dirty << UNIT_SHIFT);
    add_value(text, "purged_bytes",
              (uint64_t)counts.units_purged << UNIT_SHIFT);
    add_value(text, "meta_bytes", counts.meta_bytes);
    text_add_char(text, '}');
}

static void add_huge(struct text *text, struct huge_counts counts) {
    add_key(text, "huge");
    text_add_char(text, '{');
    add_value(text, "objects", counts.objects);
    add_value(text, "bytes", counts.bytes);
    add_value(text, "kept_bytes", counts.kept_bytes);
    text_add_char(text, '}');
}

static void add_totals(struct text *text, const struct totals *totals) {
    add_value(text, "heaps", totals->heaps);
    add_value(text, "heaps_idle", totals->heaps_idle);
    add_value(text, "spans_begun", totals->spans_begun);
    add_value(text, "spans_ended", totals->spans_ended);
    add_value(text, "span_pages_purged", totals->pages_purged);
    add_value(text, "span_pages_refaulted", totals->pages_refaulted);
    add_value(text, "refills", totals->refills);
    add_value(text, "flushes", totals->flushes);
    add_value(text, "batches_sent", totals->batches_sent);
    add_value(text, "batches_received", totals->batches_received);
    add_key(text, "classes");
    text_add_char(text, '[');
    bool first = true;
    for (unsigned class = 0; class < CLASS_COUNT; class++) {
        const struct class_counts *counts = &totals->classes[class];
        if (counts->spans == 0) {
            continue;
        }
        text_add(text, first ? "{" : ",{");
        first = false;
        add_value(text, "size", class_infos[class].size);
        add_value(text, "spans", counts->spans);
        add_value(text, "used_objects", counts->objects_used);
        add_value(text, "capacity_objects", counts->objects_capacity);
        text_add_char(text, '}');
    }
    text_add_char(text, ']');
}

size_t paceline_alloc_stats_json(char *bytes, size_t capacity) {
    struct text text = {bytes, capacity, 0};
    struct totals totals = {0};
    if (capacity > 0) {
        bytes[0] = '\0';
    }
    if (!started()) {
        text_add(&text, "{}");
        return text.length;
    }
    heaps_before_fork();
    huge_lock();
    struct range_counts counts = range_count();
    struct huge_counts huge = huge_count();
    for (uint32_t id = 1; heap_exists(id); id++) {
        add_heap(&totals, heap_by_id(id));
    }
    add_spans(&totals, counts.segments * SEGMENT_UNITS);
    huge_unlock();
    heaps_after_fork(false);
    text_add_char(&text, '{');
    add_value(&text, "v", 1);
    add_value(&text, "hardened", options.hardened);
    add_value(&text, "page_bytes", range.page_bytes);
    add_range(&text, counts);
    add_huge(&text, huge);
    add_totals(&text, &totals);
    text_add_char(&text, '}');
    return text.length;
}

__attribute__((destructor)) static void on_exit_of_process(void) {
    if (options.show_stats) {
        static char text[1 << 16];
        size_t length = paceline_alloc_stats_json(text, sizeof text);
        os_write(2, text, length < sizeof text ? length : sizeof text - 1);
        os_write(2, "\n", 1);
    }
}
