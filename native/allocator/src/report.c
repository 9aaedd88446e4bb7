/* report.h: finds out from entries and states which misuse it was, says so in one
 * line and aborts. */
#include "report.h"

#include "range.h"
#include "span.h"
#include "text.h"

static _Noreturn void end_with(struct text *message) {
    text_add_char(message, '\n');
    size_t most = message->capacity - 1;
    os_abort(message->bytes, message->length < most ? message->length : most);
}

static void add_address(struct text *message, uintptr_t place) {
    text_add(message, " 0x");
    text_add_number(message, place, 16);
}

static void describe_in_span(struct text *message, uintptr_t place) {
    const struct span *span = span_of(place);
    uintptr_t object = span_object_at(span, place);
    if (object == 0) {
        text_add(message, "invalid free of");
        add_address(message, place);
        text_add(message, ": no object is there");
        return;
    }
    uint8_t seen = state_read(state_of(span->class, object));
    text_add(message,
             (seen & STATE_LIVE) == 0 ? "double free of" : "interior free of");
    add_address(message, place);
    if (object != place) {
        text_add(message, ", inside the object at");
        add_address(message, object);
    }
    text_add(message, ", size class ");
    text_add_number(message, class_infos[span->class].size, 10);
}

static void describe(struct text *message, uintptr_t place) {
    if (!in_range(place)) {
        text_add(message, "foreign free of");
        add_address(message, place);
        text_add(
            message,
            ": not from this allocator, inside an object, or freed before");
    } else if (entry_of_unit(unit_of(place)) >> ENTRY_OWNER_SHIFT != 0) {
        describe_in_span(message, place);
    } else {
        text_add(message, entry_of_unit(unit_of(place)) == ENTRY_RUN
                              ? "interior free of"
                              : "invalid free of");
        add_address(message, place);
        text_add(message, ": no object begins there, or it was freed before");
    }
}

COLD _Noreturn void report_bad_free(void *object, const char *caught) {
    char bytes[256];
    struct text message = {bytes, sizeof bytes, 0};
    text_add(&message, "paceline_alloc: ");
    if (caught != NULL) {
        text_add(&message, caught);
        add_address(&message, (uintptr_t)object);
    } else {
        describe(&message, (uintptr_t)object);
    }
    end_with(&message);
}

COLD _Noreturn void report_damage(void *object, size_t size, const char *what) {
    char bytes[256];
    struct text message = {bytes, sizeof bytes, 0};
    text_add(&message, "paceline_alloc: ");
    text_add(&message, what);
    add_address(&message, (uintptr_t)object);
    text_add(&message, " of ");
    text_add_number(&message, size, 10);
    text_add(&message, " bytes");
    end_with(&message);
}
